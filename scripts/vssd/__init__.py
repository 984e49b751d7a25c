# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd command: sets up, builds, boots, tests and measures.

The packages, each of which imports only those behind it: cli; figures, bench;
guest, sim; build; the modules beside this file (tests/scripts/test_imports.py).
"""
