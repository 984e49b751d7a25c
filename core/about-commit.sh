#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# about-commit.sh ROOT: the header with the commit of a source tree; "" where
# git does not know it.
set -eu
commit=$(git -C "$1" rev-parse --short=12 HEAD 2>/dev/null) || commit=
printf '#define VSSD_COMMIT "%s"\n' "$commit"
