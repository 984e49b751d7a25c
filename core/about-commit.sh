#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# about-commit.sh ROOT: the header with the last commit that changed what is
# built from a source tree; "" where git does not know it.  A package of the
# sources has it in the file `commit`.
set -eu
if [ -f "$1/commit" ]; then
  commit=$(cat "$1/commit")
else
  commit=$(git -C "$1" log -1 --abbrev=12 --format=%h -- \
    meson.build core ftl hw-ssd lib nand sim 2>/dev/null) || commit=
fi
printf '#define VSSD_COMMIT "%s"\n' "$commit"
