#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The step of action.yml; its inputs are INPUT_... in the environment.
set -euo pipefail

mkdir -p "$OUTPUT"

vssd=("${VSSD:-$(dirname "$0")/../../vssd}")
# The command of an image has the files of the job.
if [ -n "$INPUT_IMAGE" ]; then
    if [ -n "$INPUT_PACKAGES" ]; then
        echo "::error::packages cannot be added to the guest of image: omit one"
        exit 1
    fi
    engine=$(command -v docker || command -v podman) || {
        echo "::error::image: there is neither docker nor podman"
        exit 1
    }
    vssd=("$engine" run --rm --network none --user "$(id -u):$(id -g)"
        -v "$PWD:$PWD" -v "$OUTPUT:$OUTPUT" -w "$PWD")
    [ ! -w /dev/kvm ] || vssd+=(--device /dev/kvm)
    [ "${engine##*/}" != podman ] || vssd+=(--userns keep-id)
    vssd+=("$INPUT_IMAGE")
fi
options=(--write "$INPUT_WRITE" --check "$INPUT_CHECK" --cuts "$INPUT_CUTS"
    --seed "$INPUT_SEED" --jobs "$INPUT_JOBS" --fs "$INPUT_FS"
    --drive "$INPUT_DRIVE" --seconds "$INPUT_SECONDS"
    --output "$OUTPUT/campaign")
[ -z "$INPUT_SETUP" ] || options+=(--setup "$INPUT_SETUP")
[ -z "$INPUT_PACKAGES" ] || options+=(--packages "$INPUT_PACKAGES")
while IFS= read -r path; do
    [ -z "$path" ] || options+=(--files "$path")
done <<<"$INPUT_FILES"
read -ra instants <<<"$INPUT_AT"

status=0
"${vssd[@]}" powercut campaign "${options[@]}" --json --at "${instants[@]}" \
    >"$OUTPUT/result.json" || status=$?
found() {
    python3 - "$OUTPUT/result.json" <<'END'
import json
import sys

with open(sys.argv[1]) as f:
    bad = [row for row in json.load(f)["rows"] if not row["ok"]]
print(len(bad))
for row in bad[:1]:
    text = " ".join(row["text"].split())
    print(f"::error::power cut {row['cut']}: {text}")
    print("replay:", row["replay"])
END
}
if [ -s "$OUTPUT/result.json" ]; then
    said=$(found)
    tail -n +2 <<<"$said"
    echo "violations=$(head -n 1 <<<"$said")" >>"$GITHUB_OUTPUT"
fi
echo "output=$OUTPUT" >>"$GITHUB_OUTPUT"
exit "$status"
