# SPDX-License-Identifier: GPL-2.0-or-later
"""What H. H. Huang, S. Li, A. Szalay, A. Terzis, Performance Modeling and
Analysis of Flash-based Storage Devices, MSST 2011 (slides), have measured.
"""

from __future__ import annotations

from dataclasses import dataclass

TARGETS = ("latency", "bandwidth", "iops")


@dataclass(frozen=True)
class Known:
    """What the slides have of a device, by target: R2 and MRE of the basic and
    of the extended model; mean of what was observed."""

    basic: dict[str, tuple[float, float]]
    extended: dict[str, tuple[float, float]]
    mean: dict[str, float]


def _known(*rows: tuple[float, float, float, float, float]) -> Known:
    by = dict(zip(TARGETS, rows))
    return Known({t: r[0:2] for t, r in by.items()},
                 {t: r[2:4] for t, r in by.items()},
                 {t: r[4] for t, r in by.items()})


# Tables II and III: basic R2 and MRE, extended R2 and MRE, mean; of latency,
# bandwidth, throughput.
PAPER = {
    "SSD_I": _known((0.627, 0.63, 0.986, 0.12, 15.97),
                    (0.515, 0.40, 0.981, 0.06, 68.61),
                    (0.500, 0.53, 0.970, 0.06, 3967)),
    "SSD_A": _known((0.926, 0.23, 0.976, 0.09, 36.31),
                    (0.570, 0.86, 0.882, 0.18, 38.17),
                    (0.765, 0.19, 0.971, 0.08, 1054)),
    "SSD_S": _known((0.693, 0.55, 0.911, 0.20, 34.90),
                    (0.548, 0.63, 0.917, 0.19, 36.33),
                    (0.459, 0.48, 0.951, 0.15, 1702)),
}
# The array of SSD_I: R2, MRE of the extended model; mean.
ARRAY = {"latency": (0.939, 0.23, 8.15), "bandwidth": (0.885, 0.25, 101.70),
         "iops": (0.860, 0.17, 4875.0)}
# Table IV (a), latency of SSD_I and SSD_A: R2, MRE.
PURE = {
    "rd_only": ((0.999, 0.04), (0.999, 0.01)),
    "wr_only": ((0.996, 0.04), (0.990, 0.07)),
    "rand_only": ((0.975, 0.15), (0.991, 0.05)),
    "seq_only": ((0.954, 0.12), (0.989, 0.06)),
    "rand_rd": ((0.999, 0.02), (0.968, 0.08)),
    "rand_wr": ((0.993, 0.09), (0.993, 0.05)),
    "seq_rd": ((0.999, 0.02), (0.999, 0.06)),
    "seq_wr": ((0.999, 0.07), (0.998, 0.03)),
}
# MRE of the traces: Financial1, Financial2, WebSearch1, WebSearch2.
TRACES = {
    "latency": {"SSD_I": (0.07, 0.19, 0.01, 0.01),
                "SSD_S": (0.18, 0.15, 0.02, 0.01),
                "Array_I": (0.19, 0.11, 0.01, 0.01)},
    "bandwidth": {"SSD_I": (0.11, 0.38, 0.01, 0.01),
                  "SSD_S": (0.17, 0.14, 0.02, 0.01),
                  "Array_I": (0.26, 0.25, 0.02, 0.02)},
    "iops": {"SSD_I": (0.09, 0.37, 0.01, 0.01),
             "SSD_S": (0.15, 0.14, 0.02, 0.01),
             "Array_I": (0.25, 0.12, 0.01, 0.01)},
}
# Table III's improvement of Table II's MRE is at least 58 % (SSD_A, throughput).
IMPROVED = 0.58
