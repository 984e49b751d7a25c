# SPDX-License-Identifier: GPL-2.0-or-later
"""The laboratory of vssd: published figures, models of drives that are learnt,
benches, suites of other projects, tests and their mutants.  It uses the product,
the package vssd, which does not know it."""
