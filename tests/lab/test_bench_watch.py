# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench watch: CPU time of a thread, equal runs beside those with
readings."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

import pytest

from vssd_lab.bench import watch


def burn(seconds: float) -> None:
    """Use that much CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_cpu_of() -> None:
    """Only the main thread's own time counts, not that of others, and not what
    it uses without a call."""
    assert threading.current_thread() is threading.main_thread()
    used = watch.cpu_of(os.getpid(), lambda: burn(0.02), 10)
    assert 0.019 < used < 0.03
    used = watch.cpu_of(os.getpid(), lambda: time.sleep(0.01), 10)
    assert used < 0.005


class Fake:
    """A guest whose drive has an IOPS for each run."""

    def __init__(self, iops: list[float]) -> None:
        self.iops = iops
        self.commands: list[str] = []
        self.readings = 0

    def run(self, command: str) -> str:
        """grep for the device, or fio."""
        if not command.startswith("fio"):
            return "nvme0"
        self.commands.append(command)
        time.sleep(0.15)
        side = {"iops": self.iops.pop(0), "lat_ns": {"mean": 1},
                "clat_ns": {"mean": 1}}
        return json.dumps({"jobs": [{"read": side, "write": side}]})

    def stats(self, _drive: int = 0) -> dict[str, Any]:
        """One reading."""
        self.readings += 1
        return {}


def test_rows() -> None:
    """A ratio of equal runs, and one of readings to the run before them."""
    guest = Fake([100, 110, 99, 200, 180, 189, *[50, 40, 30] * 2])
    rows = {row["name"]: row for row in watch.cost(guest, 1, 2, 0.1)}
    equal = rows["watch_randread_4k_qd32_equal"]
    read = rows["watch_randread_4k_qd32_read"]
    assert equal["ratio"] == pytest.approx((1.1 + 0.9) / 2)
    assert "0.900 to 1.100" in equal["note"]
    assert read["ratio"] == pytest.approx((0.9 + 1.05) / 2)
    assert rows["watch_randwrite_4k_qd32_equal"]["ratio"] == 0.8
    assert rows["watch_randwrite_4k_qd32_read"]["ratio"] == 0.75
    assert guest.readings >= 4
    assert all("--cpus_allowed=0" in command for command in guest.commands)
