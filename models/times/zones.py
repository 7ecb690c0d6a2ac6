"""Abbreviations of time zones that people write after a clock time, as minutes east of UTC."""

from __future__ import annotations

ZONES: dict[str, int] = {
    "UTC": 0, "GMT": 0, "BST": 60, "CET": 60, "CEST": 120, "EET": 120, "MSK": 180, "IST": 330, "HKT": 480, "SGT": 480,
    "JST": 540, "KST": 540, "AEST": 600, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360,
    "PST": -480, "PDT": -420, "PT": -480, "ET": -300,
}  # fmt: skip
"""CST is read as North American Central time; 北京时间 is how China Standard Time is said."""
