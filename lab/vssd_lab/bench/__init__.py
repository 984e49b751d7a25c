# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmarks, a module for each.  They report, and fail nothing."""
