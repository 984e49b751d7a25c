# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures, made again on the model: a module for each paper."""
