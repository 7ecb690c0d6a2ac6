"""What English clock times and durations say: 3pm, half past seven, in two weeks, for an hour."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

from models.times.atoms import Clock, moved
from models.times.english_tables import HOUR_WORDS, UNIT_WORDS, WEEKDAYS
from models.times.frame import Frame
from models.times.numbers import english_number, number
from models.times.scan import Groups, Said


def meal(g: Groups, clock: Clock) -> Said:
    """before lunch, after breakfast."""
    return Frame(part={"breakfast": "early_morning", "lunch": "noon"}.get(g[0] or "", "evening"))


def hour_word(g: Groups, clock: Clock) -> Said:
    """noon, midnight, midafternoon."""
    hour = HOUR_WORDS[g[0] or ""]
    if hour == 24:
        return "frame", Frame(hour=12, part="midnight"), None
    return Frame(hour=hour, meridiem="24")


def _meridiem(word: str | None) -> str | None:
    letter = (word or " ").strip()[:1]
    return {"a": "am", "p": "pm"}.get(letter)


def clock_digits(g: Groups, clock: Clock) -> Said:
    """3:15, 3:15:20 pm, 15:30."""
    hour, minute = int(g[0] or 0), int(g[1] or 0)
    meridiem = _meridiem(g[3]) or ("24" if hour > 12 or (g[0] or "").startswith("0") else None)
    return Frame(hour=hour, minute=minute, second=int(g[2]) if g[2] else None, meridiem=meridiem)


def clock_h(g: Groups, clock: Clock) -> Said:
    """15h, 9h30."""
    hour = int(g[0] or 0)
    return Frame(hour=hour, minute=int(g[1] or 0), meridiem="24") if hour < 25 else None


def clock_short(g: Groups, clock: Clock) -> Said:
    """3pm, 340pm, seven pm, 9 o'clock, fifteen fifteen p m."""
    hour = number(g[0])
    minute = number(g[1]) if g[1] else None
    if hour is not None and minute is None and hour > 99:
        hour, minute = divmod(hour, 100)
    if hour is None or hour > 24 or (minute or 0) > 59:
        return None
    meridiem = _meridiem(g[2]) or ("24" if hour > 12 else None)
    return Frame(hour=hour, minute=minute, meridiem=meridiem)


def clock_words(g: Groups, clock: Clock) -> Said:
    """seven thirty, ten forty five, at 3 15, at 1030."""
    return clock_short((g[0], g[1], None), clock)


def past_hour(g: Groups, clock: Clock) -> Said:
    """half past three, a quarter to seven, 20 minutes past 3pm, 15 past noon."""
    lead, way, hour_said = g[0] or "", g[1] or "past", (g[2] or "").strip()
    minutes = 30 if lead.startswith("half") else 15 if "quarter" in lead else number(lead)
    if minutes is None or minutes > 59:
        return None
    meridiem = _meridiem(g[3])
    if hour_said in HOUR_WORDS:
        hour: int | None = HOUR_WORDS[hour_said] % 24
        meridiem = "24"
    else:
        hour = number(hour_said)
    if hour is None or hour > 24:
        return None
    if way in ("to", "till", "before", "of"):
        if hour == 7 and meridiem is None:
            meridiem = "am"
        hour, minutes = (hour - 1 if hour > 1 else hour + 11 if hour == 1 else 23), 60 - minutes
    return Frame(hour=hour, minute=minutes, meridiem=meridiem or ("24" if hour > 12 else None))


def at_hour(g: Groups, clock: Clock) -> Said:
    """at 7, around eight, 11ish: a bare number counts as an hour only after such a word."""
    hour = number(g[0])
    return ("frame", Frame(hour=hour, meridiem="24" if hour > 12 else None), None) if hour and hour <= 24 else None


def bare_hour(g: Groups, clock: Clock) -> Said:
    """The 9 of 9 tomorrow."""
    hour = number(g[0])
    return ("weak", Frame(hour=hour, meridiem="24" if hour > 12 else None), "number") if hour and hour <= 24 else None


_AMOUNTS = {
    "half": 0.5,
    "half a": 0.5,
    "half an": 0.5,
    "a half": 0.5,
    "a couple of": 2,
    "a couple": 2,
    "couple of": 2,
    "couple": 2,
    "1/2": 0.5,
    "3/4": 0.75,
    "1/4": 0.25,
}


def amount_of(word: str | None) -> float | None:
    """How many: 3, three, a, half an, a couple of, 2.5; None for "few"."""
    word = re.sub(r"\s+", " ", (word or "").strip())
    if word in _AMOUNTS:
        return _AMOUNTS[word]
    if word.endswith((" and a half", " and half")):
        whole = english_number(word.rsplit(" and ", 1)[0])
        return whole + 0.5 if whole is not None else None
    try:
        return float(word)
    except ValueError:
        found = english_number(word.removesuffix(" more"))
        return float(found) if found is not None else None


def _unit(word: str | None, amount: float) -> tuple[str, float]:
    unit = UNIT_WORDS[re.sub(r"\s+", " ", (word or "").strip().rstrip("'"))]
    return ("week", amount * 2) if unit == "fortnight" else (unit, amount)


def shift(g: Groups, clock: Clock) -> Said:
    """in two weeks, 3 minutes from now, a month ago, two years later."""
    amount = amount_of(g[0])
    if amount is None:
        return "vague", None, None
    unit, amount = _unit(g[1], amount + (0.5 if g[2] else 0))
    back = (g[3] or "") in ("ago", "back", "before", "earlier")
    found = moved(clock, amount, unit, -1 if back else 1)
    return ("frame", found[0], ("shift", unit)) if found else ("vague", None, None)


def shift_exact(g: Groups, clock: Clock) -> Said:
    """a day from right now: at the same hour."""
    amount = amount_of(g[0])
    unit, amount = _unit(g[1], amount or 0)
    found = moved(clock, amount, unit, 1)
    return Frame(exact=(found[1], "second")) if found and amount else ("vague", None, None)


def shift_from(g: Groups, clock: Clock) -> Said:
    """two days after: what follows is the day it counts from."""
    amount = 1.0 if g[0] == "the" else amount_of(g[0])
    if amount is None:
        return None
    unit, amount = _unit(g[1], amount)
    sign = -1 if (g[2] or "") in ("before", "prior to") else 1
    if g[0] == "the" and unit in ("week", "month", "year"):
        unit = f"whole {unit}"
    return "offset", None, (amount, unit, sign)


def weekdays_away(g: Groups, clock: Clock) -> Said:
    """three fridays from now, 2 thursdays back."""
    count, day = (
        amount_of(g[0]),
        WEEKDAYS[(g[1] or "").rstrip("s.") if (g[1] or "").rstrip("s.") in WEEKDAYS else (g[1] or "")[:-1]],
    )
    if not count or count > 500:
        return None
    today = clock.today
    if (g[2] or "") in ("ago", "back"):
        first = today - timedelta(days=(today.weekday() - day) % 7 or 7)
        return Frame(date=first - timedelta(weeks=int(count) - 1), relative=True)
    first = today + timedelta(days=(day - today.weekday()) % 7 or 7)
    return Frame(date=first + timedelta(weeks=int(count) - 1), relative=True)


def stretch(g: Groups, clock: Clock) -> Said:
    """next 3 days, the last two weeks, within an hour."""
    amount = amount_of(g[1])
    if amount is None:
        return "vague", None, None
    unit, amount = _unit(g[2], amount)
    back = (g[0] or "").split()[-1] in ("last", "past", "previous")
    found = moved(clock, amount, unit, -1 if back else 1)
    if not found:
        return "vague", None, None
    ends = (found[1], clock.now) if back else (clock.now, found[1])
    return "span", None, (*ends, unit)


def length(g: Groups, clock: Clock) -> Said:
    """for thirty minutes: how long what was said before lasts."""
    amount = amount_of(g[0])
    if amount is None:
        return None
    unit, amount = _unit(g[1], amount)
    found = moved(Clock(datetime.combine(clock.today, time())), amount, unit, 1)
    return ("length", None, found[1] - datetime.combine(clock.today, time())) if found else None
