"""The English word patterns of clock times and of distances in time."""

from __future__ import annotations

from models.times import english_clock as t
from models.times.atoms import Clock
from models.times.english_fragments import (
    AM_PM,
    AMOUNT,
    CARDINAL,
    FREE,
    HOUR,
    HOUR_ENDS,
    HOUR_WORD,
    MINUTE_WORD,
    MONTH,
    NO_UNIT,
    OCLOCK,
    ONES,
    ORDINAL,
    TEENS,
    TENS,
    UNIT,
    WEEKDAY,
    any_of,
    following,
)
from models.times.english_tables import HOUR_WORDS, WEEKDAYS
from models.times.numbers import number
from models.times.scan import Groups, Pattern, Said

_PART_BESIDE = (
    r"(?:tonight|tonite|tomorrow|today|yesterday|this\s(?:morning|afternoon|evening|night)"
    r"|in\sthe\s(?:morning|afternoon|evening|night)|noon\b|midnight|at\snight"
    rf"|(?:on\s)?{WEEKDAY}\b)"
)
_BARE_HOUR = following(r"\bat around about @", r"(?<=@)")


def clock_patterns() -> tuple[Pattern, ...]:
    """Clock times, surer ones first."""
    hours = any_of(HOUR_WORDS)
    minutes = rf"(?:half|(?:an?\s)?quarter|{CARDINAL}|\d{{1,2}})"
    return (
        (
            r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])"
            rf"(?:\s?({AM_PM}|[ap]\b))?(?:\s?h\b)?(?:\s{OCLOCK})?",
            t.clock_digits,
        ),
        (rf"(?<![\d:.])(1?\d|2[0-4])\.([0-5]\d)()\s?({AM_PM})", t.clock_digits),
        (following(r"\bat between") + r"(1?\d|2[0-4])\.([0-5]\d)()()(?!\d|\s?%)", t.clock_digits),
        (r"(?<![a-z\d:./])([01]?\d|2[0-4])h([0-5]\d)?(?:min)?\b(?!\s(?:ago|later|from))", t.clock_h),
        (
            rf"\b({minutes})(?:\s(?:minutes?|mins?))?\s(past|to|after|before|till|of)\s({HOUR}|{hours})(?:\b|(?=[ap]))"
            rf"(?:\s{OCLOCK})?\s?({AM_PM}|[ap]\b)?{NO_UNIT}(?!\s?[:/]\d)",
            _past_hour,
        ),
        (rf"(?<=\bat\s)(half)\s({HOUR})\b", lambda g, c: t.past_hour((g[0], "past", g[1], None), c)),
        (rf"{FREE}([01]?\d|2[0-4])([0-5]\d)?\s?({AM_PM}|(?<=\d)[ap]\b)", t.clock_short),
        (r"\b(1[0-2]|0?\d)\.\s?()(am|pm)\b", t.clock_short),
        (rf"\b({HOUR_WORD}|{TEENS})(?:[\s-]({MINUTE_WORD}))?\s({AM_PM})", t.clock_short),
        (rf"{FREE}({HOUR})(?:\s({MINUTE_WORD}))?\s?{OCLOCK}(?:\s?({AM_PM}))?", t.clock_short),
        (
            rf"\b({HOUR_WORD})[\s-]((?:{TENS})[\s-](?:{ONES})|{TENS}|{TEENS}|five|oh?\s(?:{ONES}))\b"
            rf"{NO_UNIT}(?!\s(?:hundred|thousand|{ONES})\b)",
            _word_clock,
        ),
        (following(r"\bat around") + rf"(\d)\s([0-5]\d)\b{NO_UNIT}", t.clock_words),
        (following(r"\bat around") + rf"(1[0-2])([0-5]\d)\b(?![.,]\d){NO_UNIT}", t.clock_words),
        (rf"(?<=\bat\s)(\d)([0-5]\d)\b(?![.,]\d){NO_UNIT}", t.clock_words),
        (rf"\b({hours})\b", t.hour_word),
        (rf"{_BARE_HOUR}({HOUR}){HOUR_ENDS}", t.at_hour),
        (rf"{FREE}({HOUR})ish\b", t.at_hour),
        (rf"(?:(?<=[a-z]\s)|(?<=-)|(?<=-\s)|^)({HOUR})(?=,?\s{_PART_BESIDE})", t.bare_hour),
    )


def distance_patterns(holidays: str) -> tuple[Pattern, ...]:
    """In two weeks, a month ago, two days after tomorrow, next 3 days, for an hour."""
    about = r"(?:about\s|around\s|another\s|the\s)?"
    from_now = r"from\snow|from\sright\snow|from\stoday|later|hence|ago|back|earlier|from\sthe\smoment"
    base = rf"today|tomorrow|yesterday|{MONTH}|{WEEKDAY}|the\s{ORDINAL}|\d|next|last|this|(?:{holidays})\b"
    return (
        (
            rf"\b(?:in|after)\s{about}({AMOUNT})\s?({UNIT}|h|s)\b['\u2019]?(\sand\sa\shalf)?(?:\stime)?()"
            r"(?!\s(?:of|ago|from|later)\b)",
            t.shift,
        ),
        (
            r"\bin\s(\d{1,3})(?=\s*(?:$|[.!?](?!\d)|['\u2019]))['\u2019]?",
            lambda g, c: t.shift((g[0], "min", None, ""), c),
        ),
        (rf"{FREE}({AMOUNT})\s({UNIT})\sfrom\sright\snow", t.shift_exact),
        (rf"{FREE}({AMOUNT})\s({WEEKDAY}s?)\s(from\snow|ago|back|hence)\b", t.weekdays_away),
        (rf"{FREE}{about}({AMOUNT})\s?({UNIT})(\sand\sa\shalf)?\s({from_now})\b", t.shift),
        (rf"{FREE}({AMOUNT}|the)\s({UNIT})\s(after|before|from|prior\sto|following)(?=\s(?:{base}))", t.shift_from),
        (rf"\b((?:the\s)?{ORDINAL}|the)\s({WEEKDAY}|weekend)\s(after|before)(?=\s)", _nth_after),
        (
            rf"\b(next|last|past|previous|coming|upcoming|following|within(?:\sthe\snext)?)\s({AMOUNT})\s({UNIT})\b",
            t.stretch,
        ),
        (rf"\bfor\s(?:the\snext\s)?({AMOUNT})\s({UNIT})\b(?!\s(?:past|to)\b)", t.length),
    )


def _past_hour(g: Groups, clock: Clock) -> Said:
    """ "five to seven" is a range; minutes have to be called so, save for halves, quarters and twenty."""
    said, lead = g[-1] or "", g[0] or ""
    sure = g[1] == "past" or lead.startswith(("half", "a quarter", "quarter")) or "min" in said
    if not sure and not (g[1] == "to" and said.startswith("twenty")):
        return None
    return t.past_hour(g, clock)


def _word_clock(g: Groups, clock: Clock) -> Said:
    whole = (g[-1] or "").replace("-", " ").split()
    return t.clock_words((whole[0], " ".join(w for w in whole[1:] if w not in ("o", "oh"))), clock)


def _nth_after(g: Groups, clock: Clock) -> Said:
    """third tuesday after, the weekend before: counted from what follows."""
    count = number((g[0] or "").removeprefix("the ")) if g[0] != "the" else 1
    unit: int | str = "weekend" if g[1] == "weekend" else WEEKDAYS[g[1] or "mon"]
    return ("offset", None, (count, unit, -1 if g[2] == "before" else 1)) if count else None
