# SPDX-License-Identifier: GPL-2.0-or-later
"""Installs and builds: packages, the Python environment, the model,
QEMU, kernels, the guest's tools, and where their sources come from."""
