"""The word lists of English time expressions, from ``models/lexicons/times_en.toml``."""

from __future__ import annotations

from models.lexicons import load_lexicon

_WORDS = load_lexicon("times_en.toml")
DAY_WORDS: dict[str, int] = _WORDS["days"]
DAY_PARTS: dict[str, tuple[int, str]] = {word: (offset, part) for word, (offset, part) in _WORDS["day_parts"].items()}
PART_WORDS: dict[str, str] = _WORDS["parts"]
HOUR_WORDS: dict[str, int] = _WORDS["hours"]
UNIT_WORDS: dict[str, str] = _WORDS["units"]
VAGUE_WORDS: list[str] = _WORDS["vague"]["words"]

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sep sept", "october oct", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mon", "tuesday tue tues", "wednesday wed weds", "thursday thu thur thurs", "friday fri",
            "saturday sat", "sunday sun",
        )
    )
    for name in names.split()
}  # fmt: skip
SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}
STEPS = {
    "this": 0, "current": 0, "the current": 0, "next": 1, "the next": 1, "following": 1, "the following": 1,
    "coming": 1, "the coming": 1, "upcoming": 1, "the upcoming": 1, "last": -1, "the last": -1, "past": -1,
    "the past": -1,
    "previous": -1, "the previous": -1,
}  # fmt: skip
