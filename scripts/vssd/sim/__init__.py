# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of vssd-sim, on this machine and on others, and sweeps of them."""
