# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd command: sets up, builds, boots, tests and measures."""
