# SPDX-License-Identifier: GPL-2.0-or-later
"""The scoreboard: measurements of real drives beside the model's."""
