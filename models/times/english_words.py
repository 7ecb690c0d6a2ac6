"""The word patterns of English time expressions, in order of precedence: longer and surer ones first.

Input is half-width and in lower case, so one spelling does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from models.times import english_builders as b
from models.times import english_clock as t
from models.times.atoms import Clock
from models.times.chinese_builders import iso_instant
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
from models.times.zones import ZONES


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=lambda w: (-len(w), w)))


_ONES = _any([w for w, n in ENGLISH_ONES.items() if 0 < n < 10])
_TENS = _any(ENGLISH_TENS)
_TEEN = _any([w for w, n in ENGLISH_ONES.items() if n >= 10])
CARDINAL = rf"(?:(?:{_TENS})(?:[\s-](?:{_ONES})\b)?|{_TEEN}|{_ONES})"
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|(?:{_TENS})[\s-](?:{_any([w for w, n in ENGLISH_ORDINALS.items() if n < 10 and w.isalpha()])})|{_any([w for w in ENGLISH_ORDINALS if w.isalpha()])})"
_ORDINAL_ONES = _any([w for w, n in ENGLISH_ORDINALS.items() if n < 10 and w.isalpha()])
MONTH = rf"(?:{_any(MONTHS)})"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|tues|thurs|thur|weds|mon|tue|wed|thu|fri|sat|sun"
WEEKDAY = rf"(?:{_DAYS})"
UNIT = rf"(?:{_any([w for w in UNIT_WORDS if len(w) > 1])})"
YEAR = r"(?:(?:1[5-9]|20|21)\d\d)"
YEAR_WORDS = (
    rf"(?:(?:nineteen|twenty)\s(?:{_TENS}|{_TEEN})(?:[\s-](?:{_ONES})\b)?|two\sthousand(?:\s(?:and\s)?(?:{CARDINAL}))?)"
)
AMOUNT = (
    rf"(?:\d{{1,4}}(?:\.\d{{1,2}})?|1/2|[13]/4|half\san?|half(?=\s(?:hour|day|year|month))|a\shalf|an?\s(?:couple|few)(?:\sof)?|couple(?:\sof)?|(?:a\s)?few|several|some"
    rf"|(?:one|an?)\sand\sa\shalf|{CARDINAL}|an?)(?:\smore)?"
)
AP = r"(?:[ap]\s?\.?\s?m\b|[ap]\b)"
AP_SURE = r"(?:[ap]\s?\.\s?m(?:\s?\.|\b)|[ap]\s?m\b)"
HOUR = rf"(?:1\d|2[0-4]|0?\d|{_any(['ten', 'eleven', 'twelve'])}|{_ONES})"
HOUR_W = rf"(?:{_any(['ten', 'eleven', 'twelve'])}|{_ONES})"
MINUTE_W = rf"(?:(?:{_TENS})(?:[\s-](?:{_ONES})\b)?|{_TEEN}|oh?\s(?:{_ONES})|five)"
TAIL = (
    r"(?![.,]\d)(?=\s*(?:$|[.,;!?)]|(?:gmt|utc|[cpemb][sd]?t|today|tonight|tonite|tomorrow|yesterday|on|in\sthe|this|sharp|and|or|please|to|until|till|next)\b|"
    + WEEKDAY
    + r"\b))"
)


@lru_cache(maxsize=1)
def english_patterns() -> tuple[Pattern, ...]:
    """(pattern, builder) in order of precedence."""
    holidays = _any(name for name in holiday_names("en"))
    holidays = holidays.replace("'", "['\u2019]")
    parts, step = _any(PART_WORDS), r"(?:this|next|last|past|previous|coming|upcoming|current|following)"
    free = r"(?<![a-z0-9$#])(?<!\$\s)"
    sep = r"\s?[-/.]\s?"
    return (
        (
            r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?(z\b|[+-]\d\d:?\d\d)?",
            iso_instant,
        ),
        (rf"(?<![\d.:/])({YEAR}){sep}(\d{{1,2}}|{MONTH}){sep}(\d{{1,2}}|{MONTH})(?![\d])(?:t(?=\d\d:))?", b.ymd),
        (r"(?<![\d])((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)", b.ymd),
        (rf"(?<![\d.:/])(\d{{1,2}})[-/.](\d{{1,2}})[-/.,]\s?({YEAR})(?!\d)", b.mdy),
        (r"(?<![\d.:/])(\d{1,2})/(\d{1,2})/(\d\d)(?![\d/])", b.mdy),
        (
            r"(?<![\d.:/$])(?!24/7)(\d{1,2})/(\d{1,2})(?![\d/%.]\d?|\s?(?:h|hours?|cups?|of|inch|and\sa|lbs?|rating|stars?|points?|score)\b)"
            r"|(?:(?<=nday\s)|(?<=sday\s)|(?<=iday\s)|(?<=rday\s)|(?<=mon\s)|(?<=fri\s))(\d{1,2})-(\d{1,2})(?![\d:-]|\s?[ap]\.?m)"
            r"|(?<=\bon\s)(\d{1,2})\.(\d{1,2})(?![\d.]|\s?[ap%])|^(\d{1,2})\s?-\s?(\d\d)$",
            lambda g, c: b.digits_month_day(tuple(x for x in g[:-1] if x is not None), c),
        ),
        (rf"{free}(\d{{1,2}})(?:st|nd|rd|th)?[\s.,/-]{{0,3}}({MONTH})\b\.?[\s,/-]{{1,2}}(?:of\s|in\s)?({YEAR}|\d\d(?![\d:]|\s?{AP_SURE})(?=\W*$))(?!\d)", b.day_month),
        (
            rf"{free}({MONTH})(?:\b|(?=\d))\.?,?[\s/-]{{0,2}}(?:the\s)?({ORDINAL}|\d{{1,2}}(?:th)?(?!\d|:\d|\s?{AP}|\s?%|\.\d|\s(?:{UNIT})\b)|{CARDINAL}\b)(?:(?:,\s?|\s)(?:of\s|in\s)?({YEAR}|{YEAR_WORDS}))?(?![\d])",
            b.month_day,
        ),
        (rf"(?:the\s)?ides\sof\s({MONTH})\b", b.ides),
        (
            rf"(?<![a-z0-9$#.:/])(?<!\$\s)(?:the\s)?({ORDINAL}|\d{{1,2}}(?!\d))(?:\sday)?\.?[\s-]?(?:of\s)?({MONTH})\b\.?(?:,?\s(?:of\s|in\s)?({YEAR}|\d\d(?=\W*$)|{YEAR_WORDS}))?",
            b.day_month,
        ),
        (rf"(?<![a-z$])({MONTH})\b\.?\s?[\s,/-]?\s?(?:of\s|in\s)?({YEAR})(?!\d)", b.month_year),
        (rf"(?<![\d.:/-])({YEAR})\s?[,/-]?\s?({MONTH})\b", b.year_month),
        (rf"(?<![\d.:/-])(0?[1-9]|1[0-2])\s?[/-]\s?({YEAR})(?!\d|\s?[-/]\s?\d)", b.month_year),
        (rf"(?<![\d.:/-])({YEAR})\s?[/-]\s?(0?[1-9]|1[0-2])(?![\d.:]|\s?[-/]\s?\d)", b.year_month),
        (rf"(?<![\d.:/-])q([1-4])(?:[\s-]?(?:of\s)?({YEAR}))?\b", b.quarter),
        (rf"(?<![\d.:/-])({YEAR})[\s-]?q([1-4])\b", lambda g, c: b.quarter((g[1], g[0]), c)),
        (rf"{free}h([12])(?:\s({YEAR}))?\b", b.half_year),
        (rf"{free}((?:1[6-9]|20)\d0|(?<=the\s)[2-9]0|(?<=the\s['\u2019])[2-9]0)['\u2019]?s\b", b.decade),
        (
            rf"(?<![\d.:/$-])(?:the\s)?({ORDINAL}|\d{{1,2}}|{HOUR_W})(?:\s?[-–]\s?|\s(?:to|till|until|untill|til|through|and)\s(?:the\s)?)"
            rf"(?=(?:{ORDINAL}|\d{{1,2}}(?:[:.][0-5]\d)?|{HOUR_W})\s?(?:{AP}|o['\u2019]?clock|(?:in\sthe|today|tomorrow|tonight|yesterday|next|this|last|of\s(?:this|next|last|the\smonth|{MONTH}))\b|{MONTH}\b|{WEEKDAY}\b)"
            rf"|\d{{1,2}}:[0-5]\d|{MONTH}\s\d)",
            b.half_number,
        ),
        (
            rf"(?:(?<=between\s)|(?<=from\s))(\d{{1,2}}|{HOUR_W})\s(?:and|to|till|until)\s(?=(?:\d{{1,2}}|{HOUR_W}){TAIL})",
            lambda g, c: ("half", None, (number(g[0]), "plain")),
        ),
        (r"\b(?:weekdays|workdays|business\sdays|working\sdays)\b", b.kind("pattern", "every_workday")),
        *_clocks(free),
        (r"\b((?:end|close|beginning|start|middle)\sof\s(?:the\s)?)(day|week|month|quarter|year|yr)\b", b.edge_alone),
        (r"\b(the\s)?(eod|eom|eoy|eow)\b", b.edge_alone),
        (r"(?<![a-z])(every|each)\b", b.kind("every")),
        (r"\b(?:every)(?=day\b)", b.kind("every")),
        (
            r"\b(?:once|twice|(?:one|two|three)(?:\stimes)?)\san?\s(day|week|month|year)\b",
            lambda g, c: ("pattern", None, f"every_{g[0]}"),
        ),
        (
            r"\b(daily|weekly|monthly|quarterly|yearly|annually|hourly|biweekly|nightly)\b",
            lambda g, c: ("pattern", None, _ADVERBS[g[0] or "daily"]),
        ),
        (rf"\b(?:the\s)?({_any(VAGUE_WORDS)})\b", b.kind("vague")),
        (r"\b(?:year|month|quarter)[\s-]to[\s-]date\b|\bytd\b", b.kind("vague")),
        (r"(?:(?<=before\s)|(?<=after\s)|(?<=until\s))(breakfast|lunch|dinner|supper)\b", t.meal),
        (r"\b(?:the\s)?(week|month|quarter|year|weekend)\s(after\snext|before\slast)\b", b.two_steps),
        (rf"\b(?:the\s)?({_any(DAY_WORDS)})\b(?:['\u2019]s)?", b.day_word),
        *_shifts(free, holidays),
        (rf"\b(?:(?:early|earlier|late|later)\s)?({_any(DAY_PARTS)})\b", b.day_part),
        (rf"\b(?:the\s)?({ORDINAL}(?:\s(?:to\s)?last)?|last)\s({WEEKDAY}|week|weekend|day)\b(?=\s(?:of|in)\b|\sfrom\s|\sthis\smonth)", b.nth_of),
        (rf"\b(?:the\s)?({ORDINAL})\s({WEEKDAY}|weekend)\b(?!\s(?:after|before))", b.nth_of),
        (rf"\b(?:the\s)?({ORDINAL})\s(?:quarter|qtr)\b(?:\s(?:of\s)?({YEAR})|\sof\sthe\syear\b)?", b.quarter),
        (rf"\b(?:the\s)?(first|second)\shalf\sof\s(?:the\syear\s?)?({YEAR})?", b.half_year),
        (rf"\b({step})\s({MONTH})\b", b.month_step),
        (rf"\b({MONTH})\s(after\snext)\b", lambda g, c: b.month_step((g[1], g[0]), c)),
        (rf"\b({WEEKDAY})\s(after\snext|before\slast)\b", b.weekday_after_next),
        (rf"(?:\b({step}|the|an?\s?other)\s)?\b((?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|tues|wednes|thurs|fri|satur|sun)day\s(?:mornings|afternoons|evenings|nights))\b", _plural),
        (rf"\b({step})\s({WEEKDAY})\b(?!s)", b.weekday_step),
        (rf"(?<![a-z.])({WEEKDAY})\b(?:(?<=\b[a-z]{{3}})\.(?=,|\s[a-z\d]))?(?!['\u2019]s\s)", b.weekday),
        (rf"\b({holidays})\s(?:weekend|week-end)\b", b.holiday_weekend),
        (rf"(?:\b({step})\s)?\b({holidays})(?![a-z])", b.holiday),
        (rf"\b(?:the\s)?week\s(?:of|beginning|commencing|starting)(?:\son)?\s(?=(?:the\s)?(?:{MONTH}|{WEEKDAY}|\d))", b.week_of),
        (r"\bweek\s(\d{1,2})\b", b.iso_week),
        (r"\b(the\s(?:next|following|previous))\s(day)\b", _step),
        (rf"\b({step})\s(weekend|week-end|week|wk|month|quarter|qtr|year|yr|hour|hr|minute|min|day|decade|century)\b", _step),
        (r"\b(?:remaining|remainder|rest)\sof\s(?:the\s)?(?:day|week|month|year)\b", b.kind("vague")),
        (r"(?:(?<=for\s)|(?<=of\s)|(?<=in\s)|(?<=during\s)|^)((?:the)\s)(day|week|month|quarter|year)\b(?=\s*(?:$|[.,!?;])|\s(?:before|after|and|or|so|but)\b)|^(my\s)(day|week|month)$", lambda g, c: b.unit_step((g[0] or g[2], g[1] or g[3]), c)),
        (r"()(?<!a\s)\b(weekend)\b", b.unit_step),
        (r"\b((?:this|next|last|past)\s)?(spring|summer|autumn|fall|winter)\b(?!\s(?:into|for|in\slove|off|down|apart|short|asleep|back|under|within|through))", lambda g, c: b.season(((g[0] or "").strip() or None, g[1]), c)),
        (r"\b((?:early|earlier|late|later)(?:\sin)?(?:\sthe)?\s)(morning|afternoon|evening|night)\b", b.part),
        (rf"\b(in\sthe\s|at\s(?=night))?({parts})\b", b.part),
        (r"\b(?:(beginning|start|middle|end)\sof|(mid)[\s-]|(early|earlier|late|later)(?:\sin)?\s)", lambda g, c: b.edge((g[0] or g[1] or g[2],), c)),
        (rf"(?:(?<=in\s)|(?<=since\s)|(?<=by\s)|(?<=until\s)|(?<=till\s)|(?<=from\s)|(?<=to\s)|(?<=before\s)|(?<=after\s)|(?<=of\s)|(?<=through\s)|(?<=between\s)|(?<=mid-)|(?<=early\s)|(?<=late\s)|(?<=later\s)|(?<=during\s))(may|mar|march)\b(?!\s[i\s])|^(may|march)(?=$|\s(?:in|after|before)\b)|(?<![a-z$])({_any(m for m in MONTHS if m not in ('may', 'mar', 'march'))})\b(?!['\u2019])(?:(?<=\b[a-z]{{3}})\.(?=\s[a-z\d]|,))?", lambda g, c: b.month((g[0] or g[1] or g[2],), c)),
        (
            rf"(?:(?<=in\s)|(?<=since\s)|(?<=by\s)|(?<=until\s)|(?<=till\s)|(?<=from\s)|(?<=to\s)|(?<=before\s)|(?<=after\s)|(?<=of\s)|(?<=and\s)|(?<=year\s)|(?<=during\s)|(?<=between\s)|(?<=-)|^)({YEAR}|{YEAR_WORDS})(?![\d%$]|[.:/-]\d|\s(?:people|users|items|orders|dollars|times|points|words|miles|km|hours|minutes|units))|(?<=[a-z]\s)((?:19|20)\d\d)(?=\s*(?:$|[.,!?]))|(?<=[a-z]\s)(two\sthousand\s{CARDINAL})\b",
            lambda g, c: b.year((g[0] or g[1] or g[2],), c),
        ),
        (rf"\b(the\s)(\d{{1,2}}(?:st|nd|rd|th)|(?<=\bon\sthe\s){ORDINAL}|(?:{_TENS})[\s-](?:{_ORDINAL_ONES}))(?:\sday)?(?![,.]\d)(?=\s*(?:$|[.,;!?)]|-\s|(?:at|and|or|to|till|until|through|around|please|in\sthe|of\s(?:this|next|last|the))\b|\d{{1,2}}(?::|\s?[ap]m)))", lambda g, c: b.ordinal_day((g[1],), c)),
        (r"(?:(?<=on\s)|(?<=nday\s)|(?<=sday\s)|(?<=iday\s)|(?<=rday\s)|(?<=mon\s)|(?<=tue\s)|(?<=wed\s)|(?<=thu\s)|(?<=fri\s)|(?<=sat\s)|(?<=sun\s)|(?<=to\s)|(?<=through\s)|(?<=until\s)|(?<=-\s)|(?<=-))(\d{1,2}(?:st|nd|rd|th))\b", b.ordinal_day),
        (rf"\b({ORDINAL}|\d{{1,2}})(?:\sday)?(?=\s(?:of\s)?(?:this|next|last|the|the\scurrent)\smonth)", b.ordinal_day),
        (rf"(?:(?<=nday\s)|(?<=sday\s)|(?<=iday\s)|(?<=rday\s)|(?<=mon\s)|(?<=tue\s)|(?<=wed\s)|(?<=thu\s)|(?<=fri\s)|(?<=sat\s)|(?<=sun\s))(\d{{1,2}})(?!\d|[:.]\d|\s?{AP}|\s?[-/]\s?\d|\s?%|\s[a-z]*s\b|\s(?:to|till|until)\b)", b.day_number),
        (r"\b(?:right\snow|just\snow|now|at\sthe\smoment|at\spresent|currently)\b", b.now),
        (rf"\(?\b({_any(z.lower() for z in ZONES)})\b\)?", b.zone),
        (r"(?:\bto\b|\buntill?\b|\btill?\b|\bthrough\b|\bthru\b|\btil\b|[-~–—]+|\bup\sto\b)", b.kind("range")),
        (r"\b(?:from|between)\b", b.kind("from")),
        (r"\b(?:starting|beginning|commencing)(?:\s(?:on|from|at|in))?\b|\bsince\b|\bas\searly\sas\b|\bas\sof\b|\bafter\b|\bno\searlier\sthan\b|\bfrom\b", b.kind("after")),
        (r"\b(?:no\slater\sthan|as\slate\sas|prior\sto|before|by(?!\s+(?:the\s)?year\b))\b", b.kind("before")),
        (r"\b(?:and)\b", b.kind("link")),
        (r"\b(?:around|about|approximately|roughly|circa)\b", b.kind("around", "skip")),
    )  # fmt: skip


def start_words() -> frozenset[str]:
    """The Latin words at which an expression may begin; a letter glued to digits ("q1", "mar3") stands by itself."""
    tables = (
        MONTHS, WEEKDAYS, DAY_WORDS, DAY_PARTS, PART_WORDS, HOUR_WORDS, UNIT_WORDS, VAGUE_WORDS, ENGLISH_ONES,
        ENGLISH_TENS, ENGLISH_ORDINALS, holiday_names("en"), SEASONS, _ADVERBS, [zone.lower() for zone in ZONES],
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
    "dinner supper lunch"
)
_ADVERBS = {
    "daily": "every_day", "weekly": "every_week", "monthly": "every_month", "quarterly": "every_quarter",
    "yearly": "every_year", "annually": "every_year", "hourly": "every_hour", "biweekly": "every_2_weeks",
    "nightly": "every_day_evening",
}  # fmt: skip


def _step(g: Groups, clock: Clock) -> Said:
    return b.unit_step(((g[0] or "").strip(), g[1]), clock)


def _plural(g: Groups, clock: Clock) -> Said:
    if g[0]:
        return None
    day, _, part = (g[1] or "").partition(" ")
    return b.weekdays((day, part), clock)


def _clocks(free: str) -> tuple[Pattern, ...]:
    unit_follows = rf"(?!\s?(?:{UNIT}|%|people|dollars|times|percent)\b)"
    return (
        (rf"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?:\s?({AP_SURE}|[ap]\b))?(?:\s?h\b)?(?:\so['\u2019]?clock)?", t.clock_digits),
        (rf"(?<![\d:.])(1?\d|2[0-4])\.([0-5]\d)()\s?({AP_SURE})", t.clock_digits),
        (r"(?:(?<=\bat\s)|(?<=between\s))(1?\d|2[0-4])\.([0-5]\d)()()(?!\d|\s?%)", t.clock_digits),
        (r"(?<![a-z\d:./])([01]?\d|2[0-4])h([0-5]\d)?(?:min)?\b(?!\s(?:ago|later|from))", t.clock_h),
        (rf"\b(half|(?:an?\s)?quarter|{CARDINAL}|\d{{1,2}})(?:\s(?:minutes?|mins?))?\s(past|to|after|before|till|of)\s({HOUR}|{_any(HOUR_WORDS)})(?:\b|(?=[ap]))(?:\so['\u2019]?clock)?\s?({AP_SURE}|[ap]\b)?{unit_follows}(?!\s?[:/]\d)", _past_hour),
        (rf"(?<=\bat\s)(half)\s({HOUR})\b", lambda g, c: t.past_hour((g[0], "past", g[1], None), c)),
        (rf"{free}([01]?\d|2[0-4])([0-5]\d)?\s?({AP_SURE}|(?<=\d)[ap]\b)", t.clock_short),
        (r"\b(1[0-2]|0?\d)\.\s?()(am|pm)\b", t.clock_short),
        (rf"\b({HOUR_W}|{_TEEN})(?:[\s-]({MINUTE_W}))?\s({AP_SURE})", t.clock_short),
        (rf"{free}({HOUR})(?:\s({MINUTE_W}))?\s?o['\u2019]?clock(?:\s?({AP_SURE}))?", t.clock_short),
        (rf"(?:(?<=\bat\s)|(?<=for\s)|(?<=to\s)|(?<=from\s)|(?<=until\s)|(?<=by\s)|\b)({HOUR_W})[\s-]((?:{_TENS})[\s-](?:{_ONES})|{_TENS}|{_TEEN}|five|oh?\s(?:{_ONES}))\b{unit_follows}(?!\s(?:hundred|thousand|{_ONES})\b)", _word_clock),
        (rf"(?:(?<=\bat\s)|(?<=around\s))(\d)\s([0-5]\d)\b{unit_follows}", t.clock_words),
        (rf"(?:(?<=\bat\s)|(?<=around\s))(1[0-2])([0-5]\d)\b(?![.,]\d){unit_follows}", t.clock_words),
        (rf"(?<=\bat\s)(\d)([0-5]\d)\b(?![.,]\d){unit_follows}", t.clock_words),
        (rf"\b({_any(HOUR_WORDS)})\b", t.hour_word),
        (rf"(?:(?<=\bat\s)|(?<=around\s)|(?<=about\s)|(?<=@\s)|(?<=@))({HOUR}){TAIL}", t.at_hour),
        (rf"{free}({HOUR})ish\b", t.at_hour),
        (rf"(?:(?<=[a-z]\s)|(?<=-)|(?<=-\s)|^)({HOUR})(?=,?\s(?:tonight|tonite|tomorrow|today|yesterday|this\s(?:morning|afternoon|evening|night)|in\sthe\s(?:morning|afternoon|evening|night)|noon\b|midnight|at\snight|(?:on\s)?{WEEKDAY}\b))", t.bare_hour),
    )  # fmt: skip


def _past_hour(g: Groups, clock: Clock) -> Said:
    if g[1] in ("to", "before", "of", "after", "till") and not (g[0] or "").startswith(
        ("half", "a quarter", "quarter")
    ):
        said = g[-1] or ""
        if "min" not in said and g[1] != "to":
            return None
        if g[1] == "to" and "min" not in said and not said.startswith("twenty"):
            return None
    return t.past_hour(g, clock)


def _word_clock(g: Groups, clock: Clock) -> Said:
    whole = (g[-1] or "").replace("-", " ").split()
    return t.clock_words((whole[0], " ".join(w for w in whole[1:] if w not in ("o", "oh"))), clock)


def _shifts(free: str, holidays: str) -> tuple[Pattern, ...]:
    about = r"(?:about\s|around\s|another\s|the\s)?"
    return (
        (rf"\b(?:in|after)\s{about}({AMOUNT})\s?({UNIT}|h|s)\b['\u2019]?(\sand\sa\shalf)?(?:\stime)?()(?!\s(?:of|ago|from|later)\b)", t.shift),
        (r"\bin\s(\d{1,3})(?=\s*(?:$|[.!?](?!\d)|['\u2019]))['\u2019]?", lambda g, c: t.shift((g[0], "min", None, ""), c)),
        (rf"{free}({AMOUNT})\s({UNIT})\sfrom\sright\snow", t.shift_exact),
        (rf"{free}({AMOUNT})\s({WEEKDAY}s?)\s(from\snow|ago|back|hence)\b", t.weekdays_away),
        (rf"{free}{about}({AMOUNT})\s?({UNIT})(\sand\sa\shalf)?\s(from\snow|from\sright\snow|from\stoday|later|hence|ago|back|earlier|from\sthe\smoment)\b", t.shift),
        (rf"{free}({AMOUNT}|the)\s({UNIT})\s(after|before|from|prior\sto|following)(?=\s(?:today|tomorrow|yesterday|{MONTH}|{WEEKDAY}|the\s{ORDINAL}|\d|next|last|this|(?:{holidays})\b))", t.shift_from),
        (rf"\b((?:the\s)?{ORDINAL}|the)\s({WEEKDAY}|weekend)\s(after|before)(?=\s)", _nth_after),
        (rf"\b(next|last|past|previous|coming|following|within(?:\sthe\snext)?)\s({AMOUNT})\s({UNIT})\b", t.stretch),
        (rf"\bfor\s(?:the\snext\s)?({AMOUNT})\s({UNIT})\b(?!\s(?:past|to)\b)", t.length),
    )  # fmt: skip


def _nth_after(g: Groups, clock: Clock) -> Said:
    """third tuesday after, the weekend before: counted from what follows."""
    count = number((g[0] or "").removeprefix("the ")) if g[0] != "the" else 1
    day = 5 if g[1] == "weekend" else WEEKDAYS[g[1] or "mon"]
    unit: int | str = "weekend" if g[1] == "weekend" else day
    return ("offset", None, (count, unit, -1 if g[2] == "before" else 1)) if count else None
