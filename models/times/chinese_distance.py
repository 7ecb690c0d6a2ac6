"""What Chinese distances in time say: 两小时后, 一年零三个月前, 过去三天, 三日内, 再过两周."""

from __future__ import annotations

from datetime import date

from models.times.atoms import Clock, moved
from models.times.chinese_tables import UNIT_WORDS
from models.times.frame import Frame
from models.times.numbers import chinese_amount, chinese_number
from models.times.scan import Groups
from models.times.spans import month_span


def shift(g: Groups, clock: Clock) -> tuple[str, Frame | None, object] | None:
    """两小时后, 三天前, 一个半小时后, 十天内, 半年以来."""
    amount, unit = _amount(g[0] or "", g[2], g[3] or "", g[4])
    direction = g[5] or ""
    if g[1]:
        return "vague", None, None
    if amount is None or (g[3] == "日" and direction[-1] == "前"):
        return "vague", None, None
    sign = -1 if direction[-1] == "前" or direction in ("以来", "来") else 1
    found = moved(clock, amount, unit, sign)
    if found is None:
        return "vague", None, None
    frame, moment = found
    if "内" in direction or "里" in direction or direction in ("以来", "来"):
        ends = (clock.now, moment) if sign > 0 else (moment, clock.now)
        return "span", None, (*ends, unit)
    return "frame", frame, ("shift", unit)


def compound(g: Groups, clock: Clock) -> tuple[str, Frame | None, object] | None:
    """一小时三十分后, 一年零三个月前: one step after the other."""
    sign = -1 if (g[6] or "")[-1] in "前来" else 1
    first, unit = _amount(g[0] or "", g[1], g[2] or "", None)
    second, finer = _amount(g[3] or "", g[4], g[5] or "", None)
    if first is None or second is None or _UNIT_ORDER.index(unit) >= _UNIT_ORDER.index(finer):
        return None
    moment = moved(clock, first, unit, sign)
    whole = moved(Clock(moment[1], clock.offset, clock.zone), second, finer, sign) if moment else None
    if whole is None:
        return "vague", None, None
    if "内" in (g[6] or "") or "里" in (g[6] or "") or (g[6] or "").endswith("来"):
        ends = sorted([clock.now, whole[1]])
        return "span", None, (*ends, finer)
    return "frame", whole[0], ("shift", finer)


_UNIT_ORDER = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


def first_quarters(g: Groups, clock: Clock) -> tuple[str, None, object]:
    """前三季度: those of this year."""
    count = chinese_number(g[0] or "一") or 1
    year = clock.today.year
    return "span", None, (date(year, 1, 1), month_span(year, 3 * count + 1)[0], "quarter")


def _amount(number: str, half: str | None, unit: str, tail_half: str | None) -> tuple[float | None, str]:
    amount = chinese_amount(number)
    if number in ("几", "数", "好几") or amount is None or about(number):
        return None, UNIT_WORDS[unit]
    name, factor = UNIT_WORDS[unit], 1.0
    if name == "quarter_hour":
        name, factor = "minute", 15.0
    return (amount + (0.5 if half or tail_half else 0)) * factor, name


def about(number: str) -> bool:
    """两三, 七八: two numerals in a row, the second one more, mean about so many."""
    if len(number) != 2 or number[0] not in _ROW or number[1] not in _ROW:
        return False
    return _ROW[number[1]] - _ROW[number[0]] == 1


_ROW = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}


def toward(g: Groups, clock: Clock) -> tuple[str, Frame | None, object] | None:
    """过去三年, 未来两周, 之前3小时, 前1周, 近三天: a stretch that ends or begins now."""
    amount, unit = _amount(g[1] or "", g[2], g[3] or "", g[4])
    word = g[0] or ""
    if amount is None:
        return "vague", None, None
    sign = 1 if word[0] in "未接今后往之下" and not word.endswith("前") and not word.startswith("往前") else -1
    found = moved(clock, amount, unit, sign)
    if found is None:
        return "vague", None, None
    if word in ("再过", "过", "再等", "等"):
        return "frame", moved(clock, amount, unit, 1)[0], ("shift", unit)  # type: ignore[index]
    if word == "近" and unit in ("hour", "minute", "second"):
        return None
    ends = (clock.now, found[1]) if sign > 0 else (found[1], clock.now)
    return "toward", None, (*ends, unit, amount, sign)


def wait(g: Groups, clock: Clock) -> tuple[str, Frame | None, object] | None:
    """再过三天, 过两小时."""
    amount, unit = _amount(g[0] or "", g[1], g[2] or "", g[3])
    found = moved(clock, amount, unit, 1) if amount is not None else None
    return ("frame", found[0], ("shift", unit)) if found else ("vague", None, None)
