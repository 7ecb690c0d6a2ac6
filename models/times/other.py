"""Time expressions of other languages than Chinese and English, read by `dateparser` against the utterance's clock."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from models.records import TimeExpression

_DIGIT_OR_LONG = re.compile(r"\d|\w{4}")
_CLOCK = re.compile(r"\d{1,2}\s?[:hH.]\s?\d{0,2}|\d\s?(?:Uhr|heures?|horas?|час)")


def find_other(text: str, now: datetime, lang: str) -> list[TimeExpression]:
    """The expressions that dateparser finds, by place; none where it does not know the language.

    A bare number is never taken for a date. Days have a grain and an exclusive end, clock times are instants.
    """
    from dateparser.search import search_dates  # on first use: its import takes half a second

    settings = {
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "PREFER_DATES_FROM": "future",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    try:
        found = search_dates(text, languages=[lang], settings=settings) or []
    except ValueError:
        return []
    expressions, cursor = [], 0
    for form, moment in found:
        at = text.find(form, cursor)
        if at < 0 or form.strip().isdigit() or not _DIGIT_OR_LONG.search(form):
            continue
        cursor = at + len(form)
        exact = bool(_CLOCK.search(form)) or moment.second or moment.microsecond
        start = moment.replace(tzinfo=now.tzinfo)
        if not _CLOCK.search(form):
            start = start.replace(hour=0, minute=0, second=0, microsecond=0)
            exact = False
        expressions.append(
            TimeExpression(
                original_form=form,
                start=at,
                end=cursor,
                normalized_time=start.isoformat(),
                end_time=None if exact else (start + timedelta(days=1)).isoformat(),
                grain="minute" if exact else "day",
                relative_base=now.isoformat(),
            )
        )
    return expressions
