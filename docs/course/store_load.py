# SPDX-License-Identifier: GPL-2.0-or-later
"""The load and the check of exercise 5, in the guest; grade.py runs them.

    store_load.py write    puts values, prints the number of each one that was
                           promised
    store_load.py check    each key has its promised value, or a later one
"""

import os
import sys

from store import Store  # type: ignore[import-not-found]

KEYS, EVERY = 40, 25  # puts between two checkpoints


def value(n: int) -> str:
    """Of put n: its length varies, and each part of it tells n."""
    return f"{n}." * (1 + n * 37 % 400)


def write() -> None:
    """Put after put, until it is killed."""
    store = Store(".")
    for n in range(1 << 30):
        store.put(f"key{n % KEYS}", value(n))
        print(n, flush=True)
        if n % EVERY == EVERY - 1:
            store.checkpoint()


def check() -> str:
    """What is wrong; empty: nothing."""
    with open(os.environ["VSSD_NOTES"], encoding="ascii") as f:
        promised = [int(line) for line in f]
    try:
        store = Store(".")
    except Exception as e:  # of code that is not ours
        return f"the store does not open: {type(e).__name__}: {e}"
    for key in range(KEYS):
        least = max((n for n in promised if n % KEYS == key), default=-1)
        found = store.get(f"key{key}")
        if found is None and least < 0:
            continue
        number = (found or "").partition(".")[0]
        if not number.isdigit() or found != value(int(number)):
            return f"key{key}: put {least} was promised, found {str(found)[:20]}"
        if int(number) < least:
            return f"key{key}: put {least} was promised, found put {number}"
    return ""


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write()
    sys.exit(check() or 0)
