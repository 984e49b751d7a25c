#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Make requirements*.txt of the .in files beside this script: fixed versions of all that those
# packages need, with the hashes of all files that are published of them.
#
# A version stays as long as it fits; --upgrade takes the newest ones, --upgrade-package NAME that of
# one package.  The index is that of pip's configuration.
set -eu

LEAST=3.10 # the oldest Python
NEXT=3.11  # the oldest one for files with packages that do not support LEAST

cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
    -r requirements-update.txt
index=$("$work/venv/bin/pip" config list | sed -n "s/^[a-z:]*\.index-url='\(.*\)'$/\1/p" | tail -n 1)
if [ -n "$index" ]; then
    export UV_DEFAULT_INDEX="$index"
fi

# compile PYTHON OPTION...
compile() {
    python=$1
    shift
    "$work/venv/bin/uv" pip compile --quiet --universal --python-version "$python" \
        --no-header --no-annotate "$@"
}

# One version of a package in all files, since most of them share an environment.
all=$work/all.txt
sed -n 's/\(==.*\) \\$/\1/p' requirements*.txt | sort -u > "$all"
compile "$NEXT" "$@" --output-file "$all" requirements*.in > "$work/log"

for source in requirements*.in; do
    name=${source%.in}.txt
    part=$work/$name
    cp "$name" "$part" 2> "$work/log" || :
    compile "$LEAST" "$@" --generate-hashes --constraints "$all" --output-file "$part" "$source" \
        > "$work/log" 2>&1 ||
        compile "$NEXT" "$@" --generate-hashes --constraints "$all" --output-file "$part" "$source" \
            > "$work/log"
    {
        echo "# Made from $source by update-requirements.sh."
        cat "$part"
    } > "$name"
done
