# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of the laboratory, a module for each, and what lists them."""
