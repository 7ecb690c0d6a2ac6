"""Time zones that people name beside a clock time: by abbreviation, by place; with daylight saving where a place keeps it."""

from __future__ import annotations

from datetime import date, timedelta

Zone = int | str
"""Minutes east of UTC, or the name of a place whose offset depends on the day (`PLACES`)."""

ZONES: dict[str, Zone] = {
    "UTC": 0, "GMT": 0, "BST": 60, "CET": 60, "CEST": 120, "EET": 120, "MSK": 180, "IST": 330, "HKT": 480, "SGT": 480,
    "JST": 540, "KST": 540, "AEST": 600, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360,
    "PST": -480, "PDT": -420, "PT": "pacific", "ET": "eastern",
}  # fmt: skip
"""CST is read as North American Central time; 北京时间 is how China Standard Time is said."""

PLACES: dict[str, tuple[int, str]] = {
    "eastern": (-300, "us"), "central": (-360, "us"), "mountain": (-420, "us"), "pacific": (-480, "us"),
    "london": (0, "eu"), "central europe": (60, "eu"), "sydney": (600, "au"),
}  # fmt: skip
"""Winter offset, and whose rule of daylight saving holds."""

NAMES_ZH: dict[str, Zone] = {
    "世界": 0, "格林威治": 0, "格林尼治": 0, "协调世界": 0, "北京": 480, "上海": 480, "香港": 480, "台北": 480, "台湾": 480, "中国": 480,
    "新加坡": 480, "东京": 540, "日本": 540, "首尔": 540, "韩国": 540, "曼谷": 420, "泰国": 420, "迪拜": 240, "莫斯科": 180, "印度": 330,
    "纽约": "eastern", "美东": "eastern", "美国东部": "eastern", "华盛顿": "eastern", "波士顿": "eastern", "多伦多": "eastern",
    "芝加哥": "central", "美国中部": "central", "丹佛": "mountain", "洛杉矶": "pacific", "旧金山": "pacific", "西雅图": "pacific",
    "温哥华": "pacific", "美西": "pacific", "美国西部": "pacific", "太平洋": "pacific", "伦敦": "london", "英国": "london",
    "巴黎": "central europe", "柏林": "central europe", "法国": "central europe", "德国": "central europe", "欧洲中部": "central europe",
    "悉尼": "sydney", "墨尔本": "sydney",
}  # fmt: skip
"""What may stand before 时间."""

NAMES_EN: dict[str, Zone] = {
    "beijing": 480, "shanghai": 480, "hong kong": 480, "china": 480, "singapore": 480, "tokyo": 540, "japan": 540, "seoul": 540, "korea": 540,
    "dubai": 240, "moscow": 180, "india": 330, "new york": "eastern", "eastern": "eastern", "boston": "eastern", "toronto": "eastern",
    "central": "central", "chicago": "central", "mountain": "mountain", "denver": "mountain", "pacific": "pacific", "los angeles": "pacific",
    "san francisco": "pacific", "seattle": "pacific", "london": "london", "uk": "london", "paris": "central europe", "berlin": "central europe",
    "sydney": "sydney", "melbourne": "sydney",
}  # fmt: skip
"""What may stand before "time"."""


def minutes_east(zone: Zone, day: date) -> int:
    """The offset of a zone on a day; a switch counts from the day it happens on."""
    if isinstance(zone, int):
        return zone
    winter, rule = PLACES[zone]
    return winter + (60 if _saves_daylight(rule, day) else 0)


def _saves_daylight(rule: str, day: date) -> bool:
    if rule == "us":
        return _sunday(day.year, 3, 2) <= day < _sunday(day.year, 11, 1)
    if rule == "eu":
        return _sunday(day.year, 3, -1) <= day < _sunday(day.year, 10, -1)
    return not _sunday(day.year, 4, 1) <= day < _sunday(day.year, 10, 1)


def _sunday(year: int, month: int, number: int) -> date:
    """The number-th Sunday of a month of 31 or 30 days, or its last (-1)."""
    if number > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(6 - first.weekday()) % 7 + 7 * (number - 1))
    last = date(year, month, 31)
    return last - timedelta(days=(last.weekday() + 1) % 7)
