# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd command: sets up, builds, boots, simulates.

The packages, each of which imports only those behind it: cli; watch, campaign;
guest, sim; build; the modules beside this file (tests/scripts/test_imports.py).
The laboratory (lab/) is above all of them.
"""
