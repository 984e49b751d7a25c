# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands, a module for each; main lists them.  Imports all other
packages, and none imports it."""
