"""The English word patterns of days, weeks, months and years, in order of precedence: longer and surer ones first.

Input is half-width and in lower case, so one spelling does.
"""

from __future__ import annotations

import re
from functools import lru_cache

from models.times import english_builders as b
from models.times import english_clock as t
from models.times.atoms import Clock
from models.times.chinese_builders import iso_instant
from models.times.english_clock_words import clock_patterns, distance_patterns
from models.times.english_fragments import (
    AFTER_WEEKDAY,
    AM_PM,
    AP,
    CARDINAL,
    DAY_ORDINAL,
    FREE,
    FULL_WEEKDAY,
    HOUR_ENDS,
    HOUR_WORD,
    MONTH,
    OCLOCK,
    ORDINAL,
    ORDINAL_ONES,
    STEP,
    STOP,
    TENS,
    UNIT,
    WEEKDAY,
    YEAR,
    YEAR_WORDS,
    any_of,
    following,
)
from models.times.english_tables import (
    DAY_PARTS,
    DAY_WORDS,
    HOUR_WORDS,
    MONTHS,
    PART_WORDS,
    SEASONS,
    UNIT_WORDS,
    VAGUE_WORDS,
    WEEKDAYS,
)
from models.times.holidays import holiday_names
from models.times.numbers import ENGLISH_ONES, ENGLISH_ORDINALS, ENGLISH_TENS, number
from models.times.scan import Groups, Pattern, Said
from models.times.zones import NAMES_EN, ZONES

_LINKS = "in since by until till from to before after of"
_AFTER_MONTH_LINK = following(_LINKS + " through between early late later during", r"(?<=mid-)", r"(?<=mid\s)")
_AFTER_YEAR_LINK = following(_LINKS + " and year during between", r"(?<=-)", "^")
_NO_YEAR = (
    r"(?![\da-z%$]|[.:/-]\d|\s(?:people|users|items|orders|dollars|times|points|words|miles|km|hours|minutes|units))"
)
_NO_LABEL = "".join(
    rf"(?<!{word}\s)"
    for word in [
        "room",
        "page",
        "suite",
        "code",
        "number",
        "model",
        "version",
        "order",
        "ticket",
        "no",
        "gate",
        "flight",
        "unit",
        "pin",
        "extension",
    ]
)
_NO_SEASON = r"(?!\s(?:into|for|in\slove|off|down|apart|short|asleep|back|under|within|through))"


@lru_cache(maxsize=1)
def english_patterns() -> tuple[Pattern, ...]:
    """All patterns in order of precedence."""
    holidays = any_of(holiday_names("en")).replace("'", "['\u2019]")
    return (
        *_date_patterns(),
        *_range_patterns(),
        *clock_patterns(),
        *_recurrence_patterns(),
        (rf"\b(?:the\s)?({any_of(VAGUE_WORDS)})\b", b.kind("vague")),
        (r"\b(?:year|month|quarter)[\s-]to[\s-]date\b|\bytd\b", b.kind("vague")),
        (following("before after until") + r"(breakfast|lunch|dinner|supper)\b", t.meal),
        (r"\b(?:the\s)?(week|month|quarter|year|weekend)\s(after\snext|before\slast)\b", b.two_steps),
        (rf"\b(?:(?:later|earlier)\s(?=today))?(?:the\s)?({any_of(DAY_WORDS)})\b(?:['\u2019]s)?", b.day_word),
        *distance_patterns(holidays),
        *_relative_patterns(holidays),
        *_part_patterns(),
        *_bare_patterns(),
        *_linking_patterns(),
    )


def _date_patterns() -> tuple[Pattern, ...]:
    sep, alone = r"\s?[-/.]\s?", r"(?<![\d.:/-])"
    no_fraction = r"(?![\d/%.]\d?|\s?(?:h|hours?|cups?|of|inch|and\sa|lbs?|rating|stars?|points?|score)\b)"
    year_end = rf"(?:of\s|in\s)?({YEAR}|\d\d(?![\d:]|\s?{AM_PM})(?=\W*$))(?!\d)"
    day_here = rf"{ORDINAL}|\d{{1,2}}(?:th)?(?!\d|:\d|\s?{AP}|\s?%|\.\d|\s(?:{UNIT})\b)|{CARDINAL}\b"
    return (
        (
            r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?(z\b|[+-]\d\d:?\d\d)?",
            iso_instant,
        ),
        (rf"(?<![\d.:/])({YEAR}){sep}(\d{{1,2}}|{MONTH}){sep}(\d{{1,2}}|{MONTH})(?!\d)(?:t(?=\d\d:))?", b.ymd),
        (r"(?<!\d)((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)", b.ymd),
        (rf"(?<![\d.:/])(\d{{1,2}})[-/.](\d{{1,2}})[-/.,]\s?({YEAR})(?!\d)", b.mdy),
        (r"(?<![\d.:/])(\d{1,2})/(\d{1,2})/(\d\d)(?![\d/])", b.mdy),
        (
            rf"(?<![\d.:/$])(?!24/7)(\d{{1,2}})/(\d{{1,2}}){no_fraction}"
            rf"|(?:{AFTER_WEEKDAY})(\d{{1,2}})-(\d{{1,2}})(?![\d:-]|\s?[ap]\.?m)"
            r"|(?<=\bon\s)(\d{1,2})\.(\d{1,2})(?![\d.]|\s?[ap%])|^(\d{1,2})\s?-\s?(\d\d)$",
            lambda g, c: b.digits_month_day(tuple(x for x in g[:-1] if x is not None), c),
        ),
        (rf"{FREE}(\d{{1,2}})(?:st|nd|rd|th)?[\s.,/-]{{0,3}}({MONTH})\b\.?[\s,/-]{{1,2}}{year_end}", b.day_month),
        (
            rf"{FREE}({MONTH})(?:\b|(?=\d))\.?,?[\s/-]{{0,2}}(?:the\s)?({day_here})"
            rf"(?:(?:,\s?|\s)(?:of\s|in\s)?({YEAR}|{YEAR_WORDS}))?(?!\d)",
            b.month_day,
        ),
        (rf"(?:the\s)?ides\sof\s({MONTH})\b", b.ides),
        (
            rf"(?<![a-z0-9$#.:/])(?<!\$\s)(?:the\s)?({ORDINAL}|\d{{1,2}}(?!\d))(?:\sday)?\.?[\s-]?(?:of\s)?"
            rf"({MONTH})\b\.?"
            rf"(?:,?\s(?:of\s|in\s)?({YEAR}|\d\d(?=\W*$)|{YEAR_WORDS}))?",
            b.day_month,
        ),
        (rf"(?<![a-z$])({MONTH})\b\.?\s?[\s,/-]?\s?(?:of\s|in\s)?({YEAR})(?!\d)", b.month_year),
        (rf"{alone}({YEAR})\s?[,/-]?\s?({MONTH})\b", b.year_month),
        (rf"{alone}(0?[1-9]|1[0-2])\s?[/-]\s?({YEAR})(?!\d|\s?[-/]\s?\d)", b.month_year),
        (rf"{alone}({YEAR})\s?[/-]\s?(0?[1-9]|1[0-2])(?![\d.:]|\s?[-/]\s?\d)", b.year_month),
        (rf"{alone}q([1-4])(?:[\s-]?(?:of\s)?({YEAR}))?\b", b.quarter),
        (rf"{alone}({YEAR}|\d\d)[\s-]?q([1-4])\b", lambda g, c: b.quarter((g[1], g[0]), c)),
        (rf"{FREE}(?<![</])h([12])(?:\s({YEAR}))?\b", b.half_year),
        (rf"{FREE}((?:1[6-9]|20)\d0|(?<=the\s)[2-9]0|(?<=['\u2019])[2-9]0)['\u2019]?s\b", b.decade),
        (rf"\b(?:the\s)?({ORDINAL})\scentury\b", b.nth_century),
    )


def _range_patterns() -> tuple[Pattern, ...]:
    """Numbers that take the unit of what follows: 5 to 7pm, 13th to 15th of July, tomorrow between 2 and 4."""
    to = r"(?:\s?[-–]\s?|\s(?:to|till|until|untill|til|through|and)\s(?:the\s)?)"
    month = rf"of\s(?:this|next|last|the\smonth|{MONTH})"
    beside = rf"(?:in\sthe|today|tomorrow|tonight|yesterday|next|this|last|{month})\b"
    return (
        (
            rf"(?<![\d.:/$-])(?:the\s)?({ORDINAL}|\d{{1,2}}|{HOUR_WORD}){to}"
            rf"(?=(?:{ORDINAL}|\d{{1,2}}(?:[:.][0-5]\d)?|{HOUR_WORD})\s?"
            rf"(?:{AP}|{OCLOCK}|{beside}|{MONTH}\b|{WEEKDAY}\b)"
            rf"|\d{{1,2}}:[0-5]\d|{MONTH}\s\d)",
            b.half_number,
        ),
        (
            following("between from")
            + rf"(\d{{1,2}}|{HOUR_WORD})\s(?:and|to|till|until)\s(?=(?:\d{{1,2}}|{HOUR_WORD}){HOUR_ENDS})",
            lambda g, c: ("half", None, (number(g[0]), "plain")),
        ),
    )


def _recurrence_patterns() -> tuple[Pattern, ...]:
    return (
        (r"\b(?:weekdays|workdays|(?<=on\s)(?:business|working)\sdays)\b", b.kind("pattern", "every_workday")),
        (r"\b(?:the\s)?(next|last|previous|following)\s(?:business|working)\sday\b", b.next_workday),
        (rf"\b(?:the\s)?({ORDINAL}|last)\s(?:business|working)\sday\sof\b", b.nth_workday),
        (
            rf"\b(?:(?:the\s)?end\sof\s(?:the\s)?day|eod|cob|close\sof\sbusiness)(?=,?\s(?:on\s)?(?:today|tomorrow|(?:next|this|coming)\s)|,?\s(?:on\s)?(?:{any_of(WEEKDAYS)})\b)",
            b.kind("around", "skip"),
        ),
        (r"\b((?:end|close|beginning|start|middle)\sof\s(?:the\s)?)(day|week|month|quarter|year|yr)\b", b.edge_alone),
        (r"\b(the\s)?(eod|eom|eoy|eow)\b", b.edge_alone),
        (r"(?<![a-z])(every|each)\b", b.kind("every")),
        (r"\b(?:every)(?=day\b)", b.kind("every")),
        (
            rf"\b(?:the\s)?({DAY_ORDINAL}|last\sday|first\sday)\sof\s(?:every|each|the)\s(month)(?<!the\smonth)\b",
            _day_of_every_month,
        ),
        (
            r"\b(?:once|twice|(?:one|two|three)(?:\stimes)?)\san?\s(day|week|month|year)\b",
            lambda g, c: ("pattern", None, f"every_{g[0]}"),
        ),
        (rf"\b({any_of(_ADVERBS)})\b", lambda g, c: ("pattern", None, _ADVERBS[g[0] or "daily"])),
    )


def _relative_patterns(holidays: str) -> tuple[Pattern, ...]:
    """Counted, stepped and named days: the first Monday of, next week, last Friday, Easter."""
    in_what = r"(?=\s(?:of|in)\b|\sfrom\s|\sthis\smonth)"
    units = "weekend|week-end|week|wk|month|quarter|qtr|year|yr|hour|hr|minute|min|day|decade|century"
    stops = r"(?=\s*(?:$|[.,!?;])|\s(?:before|and|or|so|but)\b)"
    week_of = rf"(?=(?:the\s)?(?:{MONTH}|{WEEKDAY}|\d))"
    return (
        (rf"\b(?:(?:early|earlier|late|later)\s)?({any_of(DAY_PARTS)})\b", b.day_part),
        (rf"\b(?:the\s)?({ORDINAL}(?:\s(?:to\s)?last)?|last)\s({WEEKDAY}|week|weekend|day)\b{in_what}", b.nth_of),
        (rf"\b(?:the\s)?({ORDINAL})\s({WEEKDAY}|weekend)\b(?!\s(?:after|before))", b.nth_of),
        (rf"\b(?:the\s)?({ORDINAL})\s(?:quarter|qtr)\b(?:\s(?:of\s)?({YEAR})|\sof\sthe\syear\b)?", b.quarter),
        (rf"\b(?:the\s)?(first|second|1st|2nd)\shalf\sof\s(?:the\syear\s?)?({YEAR})?", b.half_year),
        (rf"\b({STEP})\s({MONTH})\b", b.month_step),
        (rf"\b({MONTH})\s(after\snext)\b", lambda g, c: b.month_step((g[1], g[0]), c)),
        (rf"\b({WEEKDAY})\s(after\snext|before\slast)\b", b.weekday_after_next),
        (
            rf"(?:\b({STEP}|the|an?\s?other)\s)?\b({FULL_WEEKDAY}s"
            rf"|{FULL_WEEKDAY}\s(?:mornings|afternoons|evenings|nights))\b",
            _plural,
        ),
        (rf"\b({STEP})\s({WEEKDAY})\b(?!s)", b.weekday_step),
        (rf"(?<![a-z.])({WEEKDAY})\b{STOP}(?!['\u2019]s\s)", b.weekday),
        (rf"\b({holidays})\s(?:weekend|week-end)\b", b.holiday_weekend),
        (rf"(?:\b({STEP})\s)?\b({holidays})(?![a-z])", b.holiday),
        (rf"\b(?:the\s)?week\s(?:of|beginning|commencing|starting)(?:\son)?\s{week_of}", b.week_of),
        (rf"\bweek\s(\d{{1,2}})\b(?:\s(?:of|in)\s({YEAR}))?", b.iso_week),
        (r"\b(the\s(?:next|following|previous))\s(day)\b", _step),
        (rf"\b({STEP})\s({units})\b(?:['\u2019]s)?", _step),
        (r"\b(?:remaining|remainder|rest)\sof\s(?:the\s)?(?:day|week|month|year)\b", b.kind("vague")),
        (
            following("for of in during", "^")
            + rf"(the\s)(day|week|month|quarter|year)\b{stops}|^(my\s)(day|week|month)$",
            lambda g, c: b.unit_step((g[0] or g[2], g[1] or g[3]), c),
        ),
        (r"()(?<!a\s)\b(weekend)\b", b.unit_step),
    )


def _part_patterns() -> tuple[Pattern, ...]:
    """Seasons, parts of the day, and parts of what follows."""
    return (
        (
            rf"\b((?:this|next|last|past)\s)?({any_of(SEASONS)})\b{_NO_SEASON}",
            lambda g, c: b.season(((g[0] or "").strip() or None, g[1]), c),
        ),
        (r"\b((?:early|earlier|late|later)(?:\sin)?(?:\sthe)?\s)(morning|afternoon|evening|night)\b", b.part),
        (rf"\b(in\sthe\s|at\s(?=night))?({any_of(PART_WORDS)})\b", b.part),
        (
            r"\b(?:(beginning|start|middle|end)\sof|(mid)[\s-]|(early|earlier|late|later)(?:\sin)?\s)",
            lambda g, c: b.edge((g[0] or g[1] or g[2],), c),
        ),
    )


def _bare_patterns() -> tuple[Pattern, ...]:
    """Months, years and days of the month that need a word before them to be such."""
    plain_months = any_of(name for name in MONTHS if name not in ("may", "mar", "march"))
    here = (
        r"(?![,.]\d)(?=\s*(?:$|[.,;!?)]|-\s|(?:at|and|or|to|till|until|through|around|please|in\sthe"
        r"|of\s(?:this|next|last|the))\b|\d{1,2}(?::|\s?[ap]m)))"
    )
    no_count = rf"(?!\d|[:.]\d|\s?{AP}|\s?[-/]\s?\d|\s?%|\s[a-z]*s\b|\s(?:to|till|until)\b)"
    after_link = following("on to through until month", AFTER_WEEKDAY, r"(?<=week\sof\s)", r"(?<=-\s)", r"(?<=-)")
    return (
        (
            rf"{_AFTER_MONTH_LINK}(may|mar|march)\b(?!\s[i\s])|^(may|march)(?=$|\s(?:in|after|before)\b)"
            rf"|(?<![a-z$])({plain_months})\b(?!['\u2019]){STOP}",
            lambda g, c: b.month((g[0] or g[1] or g[2],), c),
        ),
        (r"(?<=\bin\s)['\u2019](\d\d)\b", b.year),
        (
            rf"{_AFTER_YEAR_LINK}({YEAR}|{YEAR_WORDS}){_NO_YEAR}"
            rf"|(?<=[a-z]\s){_NO_LABEL}((?:19|20)\d\d)(?=\s*(?:$|[.,!?]))"
            rf"|(?<=[a-z]\s)(two\sthousand\s{CARDINAL})\b",
            lambda g, c: b.year((g[0] or g[1] or g[2],), c),
        ),
        (
            rf"\b(the\s)({DAY_ORDINAL}|(?<=\bon\sthe\s){ORDINAL}|(?:{TENS})[\s-](?:{ORDINAL_ONES}))(?:\sday)?{here}",
            lambda g, c: b.ordinal_day((g[1],), c),
        ),
        (rf"{after_link}({DAY_ORDINAL})\b", b.ordinal_day),
        (rf"\b({ORDINAL}|\d{{1,2}})(?:\sday)?(?=\s(?:of\s)?(?:this|next|last|the|the\scurrent)\smonth)", b.ordinal_day),
        (rf"(?:{AFTER_WEEKDAY})(\d{{1,2}}){no_count}", b.day_number),
    )


def _linking_patterns() -> tuple[Pattern, ...]:
    """Words that stand between expressions or open them."""
    return (
        (r"\b(?:right\snow|just\snow|now|at\sthe\smoment|at\spresent|currently)\b", b.now),
        (
            rf"\(?\b(?:({any_of(zone.lower() for zone in ZONES)})|({any_of(NAMES_EN)})\s(?:standard\s|daylight\s|local\s)?time)\b\)?",
            b.zone,
        ),
        (r"(?:\bto\b|\buntill?\b|\btill?\b|\bthrough\b|\bthru\b|\btil\b|[-~–—]+|\bup\sto\b)", b.kind("range")),
        (r"\b(?:from|between)\b", b.kind("from")),
        (
            r"\b(?:starting|beginning|commencing)(?:\s(?:on|from|at|in))?\b|\bsince\b|\bas\searly\sas\b|\bas\sof\b"
            r"|\bafter\b|\bno\searlier\sthan\b",
            b.kind("after"),
        ),
        (r"\b(?:no\slater\sthan|as\slate\sas|prior\sto|before|by(?!\s+(?:the\s)?year\b))\b", b.kind("before")),
        (r"\b(?:and)\b", b.kind("link")),
        (r"\b(?:around|about|approximately|roughly|circa)\b", b.kind("around", "skip")),
    )


def start_words() -> frozenset[str]:
    """The Latin words at which an expression may begin; a letter glued to digits ("q1", "mar3") stands by itself."""
    tables = (
        MONTHS, WEEKDAYS, DAY_WORDS, DAY_PARTS, PART_WORDS, HOUR_WORDS, UNIT_WORDS, VAGUE_WORDS, ENGLISH_ONES,
        ENGLISH_TENS, ENGLISH_ORDINALS, holiday_names("en"), SEASONS, _ADVERBS, [zone.lower() for zone in ZONES],
        NAMES_EN,
    )  # fmt: skip
    names = [re.split(r"[^a-z]", entry)[0] for table in tables for entry in table]
    names += [f"{name}s" for name in WEEKDAYS]
    return frozenset(name for name in [*names, *_STARTERS.split()] if name)


_STARTERS = (
    "a about after an and annually approximately around as at before beginning between business by circa close commencing "
    "couple currently each earlier early end eod eom eow eoy every everyday few following for from half h ides in just late "
    "later last mid middle monthly my next no now once other past previous prior q quarter remainder remaining rest right "
    "roughly several since some start starting the this three thru through til till to twice two until untill up upcoming "
    "coming current week weekend weekdays weekly within workdays working year yearly ytd month first second breakfast "
    "dinner supper lunch cob"
)
_ADVERBS = {
    "daily": "every_day", "weekly": "every_week", "monthly": "every_month", "quarterly": "every_quarter",
    "yearly": "every_year", "annually": "every_year", "hourly": "every_hour", "biweekly": "every_2_weeks",
    "bi-weekly": "every_2_weeks", "nightly": "every_day_evening",
}  # fmt: skip


def _day_of_every_month(g: Groups, clock: Clock) -> Said:
    said = g[0] or ""
    place = {"last day": "end", "first day": "1"}.get(" ".join(said.split())) or str(number(said))
    return "pattern", None, f"every_month_{place}"


def _step(g: Groups, clock: Clock) -> Said:
    return b.unit_step(((g[0] or "").strip(), g[1]), clock)


def _plural(g: Groups, clock: Clock) -> Said:
    if g[0]:
        return None
    day, _, part = (g[1] or "").partition(" ")
    return b.weekdays((day, part), clock)
