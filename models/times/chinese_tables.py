"""The word lists of Chinese time expressions, from ``models/lexicons/times_zh.toml``."""

from __future__ import annotations

from models.lexicons import load_lexicon

_WORDS = load_lexicon("times_zh.toml")
DAY_WORDS: dict[str, int] = _WORDS["days"]
SHORT_DAYS: dict[str, tuple[int, str]] = {word: (offset, part) for word, (offset, part) in _WORDS["short_days"].items()}
PART_WORDS: dict[str, str] = _WORDS["parts"]
YEAR_WORDS: dict[str, int] = _WORDS["years"]
ERAS: dict[str, int] = _WORDS["eras"]
UNIT_WORDS: dict[str, str] = _WORDS["units"]
VAGUE_WORDS: list[str] = _WORDS["vague"]["words"]
WEEKDAY_SIGNS = (
    {sign: day for day, sign in enumerate("一二三四五六日")} | {"天": 6, "末": 5} | {str(n + 1): n for n in range(6)}
)
SEASON_WORDS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
