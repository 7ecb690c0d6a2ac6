"""Other languages are read by dateparser, against the utterance's own clock."""

from datetime import datetime

import pytest

from models.times import find_times

NOW = datetime.fromisoformat("2026-03-02T10:00:00+01:00")


@pytest.mark.parametrize(
    ("lang", "text", "start"),
    [
        ("de", "Wir treffen uns morgen um 15:30 im Büro", "2026-03-03T15:30:00+01:00"),
        ("es", "Nos vemos el 5 de abril de 2026", "2026-04-05T00:00:00+01:00"),
        ("fr", "La réunion est le 12 mars 2026", "2026-03-12T00:00:00+01:00"),
    ],
)
def test_other_languages(lang: str, text: str, start: str) -> None:
    found = find_times(text, NOW, lang)
    assert [item.normalized_time for item in found] == [start]
    assert all(text[item.start : item.end] == item.original_form for item in found)


@pytest.mark.parametrize("text", ["La porte est ouverte", "J'ai 3 chats", ""])
def test_nothing_is_made_up(text: str) -> None:
    assert find_times(text, NOW, "fr") == []


def test_an_unknown_language_is_read_as_none() -> None:
    assert find_times("Saluton mondo", NOW, "eo") == []
