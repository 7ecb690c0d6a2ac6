"""Short dialogues made from templates: what chats and service calls leave out, with what was meant."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.train.coreference_data import Example, complete, rewriting, without_marks

TEMPLATES = Path(__file__).with_name("coreference_templates.toml")
_PRONOUNS_ZH = {
    "person": ("他", "他", "她"), "place": ("那里", "那", "这里", "那儿", "这个地方"), "work": ("它", "这个", "这部", "那个", "这"),
    "food": ("它", "这个", "那个", "这"), "thing": ("它", "它", "这个", "那个", "这"),
}  # fmt: skip


def templates() -> dict[str, Any]:
    """The parts, by language."""
    with TEMPLATES.open("rb") as file:
        return tomllib.load(file)


def made_examples(rng: random.Random, count: int, names: dict[str, list[str]]) -> Iterator[Example]:
    """``count`` Chinese and a quarter as many English examples; ``names`` adds names of works, persons, places."""
    lists = templates()
    zh, en = lists["zh"], lists["en"]
    for kind, more in names.items():
        zh["names"][kind] = zh["names"][kind] + more
    for i in range(count):
        example = _answer(zh, rng) if i % 8 == 0 else _about(zh, rng, "zh")
        if example:
            yield example
        if i % 4 == 0:
            english = _about(en, rng, "en")
            if english:
                yield english


def _context(lists: dict[str, Any], kind: str, name: str, rng: random.Random, lang: str) -> list[dict[str, str]]:
    """One to three turns, of which one names the thing; at times another thing is named before."""
    opening = rng.choice(lists["open"][kind]).replace("{E}", name)
    between = rng.choice(lists["between"]["any"] + lists["between"].get(kind, []) * 3).replace("{E}", name)
    turns = [opening, between] if rng.random() < 0.85 else [opening]
    if rng.random() < 0.2:
        other = rng.choice(sorted(lists["names"]))
        turns = [
            rng.choice(lists["open"][other]).replace("{E}", rng.choice(lists["names"][other])),
            "好的" if lang == "zh" else "Okay.",
            *turns,
        ]
    who = ["customer", "agent"]
    offset = (len(turns)) % 2
    return [{"speaker": who[(i + offset) % 2], "text": t} for i, t in enumerate(turns)]


def _about(lists: dict[str, Any], rng: random.Random, lang: str) -> Example | None:
    kind = rng.choice(sorted(lists["about"]))
    name = rng.choice(lists["names"][kind])
    context = _context(lists, kind, name, rng, lang)
    role, pattern = rng.choice(lists["about"][kind]).split(" ", 1)
    full = pattern.replace("{E}", name)
    record = {"speaker": "customer", "context": context}
    if lang == "zh" and rng.random() < 0.2:
        context[:] = [{**t, "text": t["text"] + rng.choice("。！？，")} for t in context]
    roll = rng.random()
    if roll < 0.3:
        return complete(record, full, "made:complete", 60)
    if roll < 0.36:
        return complete(record, rng.choice(lists["plain"]["lines"]), "made:plain", 60)
    text = _shortened(pattern, role, kind, rng, lang)
    if lang == "en":
        full = full[0].upper() + full[1:]
    return rewriting({**record, "text": text}, [full], "made", 60)


def _shortened(pattern: str, role: str, kind: str, rng: random.Random, lang: str) -> str:
    if lang == "en":
        if kind == "person":
            pronoun = rng.choice(("he", "she")) if role == "s" else rng.choice(("him", "her"))
        else:
            pronoun = "it"
        text = pattern.replace("{E}", pronoun)
        return text[0].upper() + text[1:]
    if role == "p" and rng.random() < 0.4:
        return pattern.replace("{E}的", "")
    if role != "p" and rng.random() < 0.65:
        return pattern.replace("{E}", "")
    return pattern.replace("{E}", rng.choice(_PRONOUNS_ZH[kind]))


def _answer(lists: dict[str, Any], rng: random.Random) -> Example | None:
    """An answer that lacks what the question named."""
    question, short, full = rng.choice(lists["answers"]["pairs"])
    kind = "food" if "吃" in question or "做" in question else "place" if "去" in question else "work"
    name, value = rng.choice(lists["names"][kind]), rng.choice(lists["answers"]["values"])
    fill = {"{E}": name, "{V}": value}
    for mark, given in fill.items():
        question, short, full = (s.replace(mark, given) for s in (question, short, full))
    opening = (
        rng.choice(lists["open"][kind]).replace("{E}", name)
        if rng.random() < 0.7
        else rng.choice(lists["plain"]["lines"])
    )
    record = {
        "speaker": "customer",
        "context": [{"speaker": "customer", "text": opening}, {"speaker": "agent", "text": question}],
        "text": short,
    }
    if short == full or rng.random() < 0.3:
        return complete(record, full, "made:answer:complete", 60)
    return rewriting(record, [without_marks(full)], "made:answer", 60)
