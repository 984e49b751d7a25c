#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# about-commit.sh ROOT: the header with the last commit that changed what is
# built from a source tree; "" where git does not know it.
set -eu
commit=$(git -C "$1" log -1 --abbrev=12 --format=%h -- \
  meson.build core ftl hw-ssd nand sim 2>/dev/null) || commit=
printf '#define VSSD_COMMIT "%s"\n' "$commit"
