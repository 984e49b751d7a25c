# SPDX-License-Identifier: GPL-2.0-or-later
"""What shows a drive or a result to a user: statistics of a drive that runs,
reports and pictures of results."""
