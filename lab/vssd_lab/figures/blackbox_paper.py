# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of the slides of Huang 2011, table by table, and what they say
in words.  Knows no model.

R2 has three digits and relative errors are whole percent, so a number is known
to half of its last digit.
"""

from __future__ import annotations

from dataclasses import dataclass

TARGETS = ("latency", "bandwidth", "iops")
R2_READING = 0.0005
MRE_READING = 0.005

# Page "Model Improvements": "close to or higher than 60% improvements", "about"
# by the rule of all figures; "For SSD_I there is 80% improvement".
IMPROVED = 0.6
IMPROVED_I = 0.8
# "Latency remains most difficult to predict"; Table III has it for these two.
HARDEST = ("SSD_I", "SSD_S")
# "Large increases in R2 values for SSD_I and SSD_S".
LARGE_INCREASE = ("SSD_I", "SSD_S")


@dataclass(frozen=True)
class Cell:
    """Of a model: R2, mean absolute error, mean of the observed values,
    relative error."""

    r2: float
    mae: float
    mean: float
    mre: float

    def part(self) -> float:
        """The absolute error as a share of the mean."""
        return self.mae / self.mean

    def part_reading(self) -> float:
        """The same for its rounding: the last digit of the mean absolute
        error."""
        digit = 0.01 if self.mae < 100 and self.mae != int(self.mae) else 1
        return digit / 2 / self.mean


Table = dict[str, dict[str, Cell]]  # by device, by target


def _table(rows: dict[str, tuple[tuple[float, float, float, float], ...]]) \
        -> Table:
    return {name: {t: Cell(*c) for t, c in zip(TARGETS, cells)}
            for name, cells in rows.items()}


# Table II: the basic model.
BASIC = _table({
    "HDD_S": ((0.808, 28.94, 94.61, 0.90), (0.281, 7.29, 14.63, 1.10),
              (0.080, 467, 664, 0.50)),
    "SSD_I": ((0.627, 6.90, 15.97, 0.63), (0.515, 21.87, 68.61, 0.40),
              (0.500, 1547, 3967, 0.53)),
    "SSD_A": ((0.926, 5.61, 36.31, 0.23), (0.570, 15.72, 38.17, 0.86),
              (0.765, 246, 1054, 0.19)),
    "SSD_S": ((0.693, 14.21, 34.90, 0.55), (0.548, 13.66, 36.33, 0.63),
              (0.459, 749, 1702, 0.48)),
})
# Table III: the extended model; and the page "SSD Array".
EXTENDED = _table({
    "HDD_S": ((0.866, 17.96, 94.61, 0.26), (0.768, 3.67, 14.63, 0.35),
              (0.870, 152, 664, 0.18)),
    "SSD_I": ((0.986, 1.42, 15.97, 0.12), (0.981, 3.91, 68.61, 0.06),
              (0.970, 254, 3967, 0.06)),
    "SSD_A": ((0.976, 3.16, 36.31, 0.09), (0.882, 6.29, 38.17, 0.18),
              (0.971, 74, 1054, 0.08)),
    "SSD_S": ((0.911, 6.22, 34.90, 0.20), (0.917, 5.21, 36.33, 0.19),
              (0.951, 212, 1702, 0.15)),
    "Array_I": ((0.939, 1.43, 8.15, 0.23), (0.885, 18.45, 101.70, 0.25),
                (0.860, 934, 4875, 0.17)),
})
# Table IV (a), latency: R2 and relative error of HDD_S, SSD_I, SSD_A.
PURE = {
    "rd_only": ((0.953, 0.18), (0.999, 0.04), (0.999, 0.01)),
    "wr_only": ((0.942, 0.17), (0.996, 0.04), (0.990, 0.07)),
    "rand_only": ((0.910, 0.29), (0.975, 0.15), (0.991, 0.05)),
    "seq_only": ((0.933, 0.16), (0.954, 0.12), (0.989, 0.06)),
    "rand_rd": ((0.965, 0.46), (0.999, 0.02), (0.968, 0.08)),
    "rand_wr": ((0.984, 0.09), (0.993, 0.09), (0.993, 0.05)),
    "seq_rd": ((0.964, 0.08), (0.999, 0.02), (0.999, 0.06)),
    "seq_wr": ((0.961, 0.07), (0.999, 0.07), (0.998, 0.03)),
}
PURE_DEVICES = ("HDD_S", "SSD_I", "SSD_A")
# Page "IO Traces": relative errors of Financial1, Financial2, WebSearch1,
# WebSearch2.
TRACE_NAMES = ("Financial1", "Financial2", "WebSearch1", "WebSearch2")
TRACES = {
    "latency": {"HDD_S": (0.16, 0.12, 0.01, 0.03),
                "SSD_I": (0.07, 0.19, 0.01, 0.01),
                "SSD_S": (0.18, 0.15, 0.02, 0.01),
                "Array_I": (0.19, 0.11, 0.01, 0.01)},
    "bandwidth": {"HDD_S": (0.18, 0.30, 0.05, 0.05),
                  "SSD_I": (0.11, 0.38, 0.01, 0.01),
                  "SSD_S": (0.17, 0.14, 0.02, 0.01),
                  "Array_I": (0.26, 0.25, 0.02, 0.02)},
    "iops": {"HDD_S": (0.15, 0.26, 0.05, 0.05),
             "SSD_I": (0.09, 0.37, 0.01, 0.01),
             "SSD_S": (0.15, 0.14, 0.02, 0.01),
             "Array_I": (0.25, 0.12, 0.01, 0.01)},
}
