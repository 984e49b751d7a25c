# SPDX-License-Identifier: GPL-2.0-or-later
"""Test suites of other projects, run on a drive in a guest.

suite.py says what a suite is, sources.py gets its files, target.py boots a
guest with the drive, runner.py runs the tests; the other modules are a
project's suites each.
"""
