# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd streams: what placement by the host saves a drive, from a guest."""
