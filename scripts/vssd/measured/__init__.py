# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements of real drives: rows of files, played by the model."""
