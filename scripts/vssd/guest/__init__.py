# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest: its image, the QEMU process that runs it, the stores in it."""
