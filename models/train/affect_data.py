"""Labelled lines for the heads of filter 2, from the licensed sets: each source's own labels mapped to ours.

An `Example` holds what is known and leaves the rest None. Sources and what is taken from each stand in
``docs/models/affect.md``; suites for evaluation only are never read here.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from models.affect_cues import CueLexicon
from models.affect_net import GROUPS
from models.context import Turn, turns_from_context
from models.records import INTENTS, Role

GROUP_OF = {"gratitude": "joy", "disappointment": "sadness", "frustration": "anger"} | {name: name for name in GROUPS}
_CPED_INTENT = {"command": "request", "reject": "refuse", "disagreement": "challenge", "question": "clarify"}
_CPED_EMOTION = {
    "neutral": "calm", "anger": "anger", "depress": "sadness", "positive-other": "joy", "worried": "fear",
    "relaxed": "joy", "happy": "joy", "astonished": "surprise", "sadness": "sadness", "disgust": "disgust",
    "fear": "fear", "grateful": "joy",
}  # fmt: skip
_GO_EMOTION = {
    "neutral": "calm", "joy": "joy", "gratitude": "gratitude", "admiration": "joy", "amusement": "joy", "love": "joy",
    "excitement": "joy", "optimism": "joy", "relief": "joy", "pride": "joy", "sadness": "sadness", "grief": "sadness",
    "disappointment": "disappointment", "remorse": "sadness", "anger": "anger", "annoyance": "frustration",
    "disgust": "disgust", "fear": "fear", "nervousness": "fear", "surprise": "surprise",
}  # fmt: skip
_GO_STRESS = {
    "fear": 0.8, "nervousness": 0.8, "grief": 0.8, "sadness": 0.7, "anger": 0.65, "annoyance": 0.55, "remorse": 0.6,
    "disappointment": 0.6, "joy": 0.1, "gratitude": 0.1, "amusement": 0.1, "relief": 0.2, "love": 0.15,
    "admiration": 0.1, "excitement": 0.2, "optimism": 0.2, "neutral": 0.25, "approval": 0.2,
}  # fmt: skip
_PERSONA = {"sadness": "sadness", "anger": "anger", "joy": "joy", "fear/anxiety": "fear"}
_COOPERATIVE = {"promote-coordination", "showing-empathy", "elicit-pref", "no-need"}
_SELFISH = {"self-need", "other-need", "vouch-fair", "uv-part"}
_ASKS = re.compile(r"[?？]|吗|呢|什么|多少|哪|几|怎|\b(?:what|when|where|which|how|who|is there|does|do you)\b", re.I)


class Example(Struct, kw_only=True):
    """One line: `emotion` is a group, `levels` the seven groups' 0..1, `load` the four axes, each known or None."""

    text: str
    source: str
    weight: float = 1.0
    context: list[Turn] = field(default_factory=list)
    speaker_id: str | None = None
    role: Role = "customer"
    title: str | None = None
    intent: str | None = None
    emotion: str | None = None
    levels: list[float | None] | None = None
    finer: dict[str, float] = field(default_factory=dict)
    load: list[float | None] = field(default_factory=lambda: [None] * 4)
    held_out: bool = False
    group: str = ""
    """Dialogue of a suite's line, or what a line of ours and its counterpart in the other language share."""


def held_out(identity: str) -> bool:
    """Whether a line of a benchmark suite is kept for measuring: one dialogue (or line) in five, by hash."""
    key = identity.rsplit("_", 1)[0] if identity.startswith("cped") else identity
    return zlib.crc32(key.encode()) % 5 == 0


def rows(path: Path, name: str) -> Iterator[dict[str, Any]]:
    """The JSON lines of `name`.jsonl or .jsonl.gz in a folder; nothing where the set is absent."""
    for file in sorted(path.glob(f"{name}.jsonl*")):
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


def own(path: Path, part: str) -> list[Example]:
    """Our own labelled lines (tests/data/intents.jsonl) of one part, `train` or `test`."""
    found = []
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["part"] != part:
                continue
            group = GROUP_OF[row["emotion"]]
            levels: list[float | None] = [0.8 if name == group else 0.05 for name in GROUPS]
            found.append(
                Example(
                    text=row["text"], source="own", weight=8.0, context=turns_from_context(row.get("context", [])),
                    speaker_id=row["speaker_role"], role=row["speaker_role"], title=row.get("title"),
                    intent=row["intent"], emotion=group, levels=levels,
                    finer={group: float(row["emotion"] != group)} if group in ("joy", "sadness", "anger") else {},
                    load=[row["load"][axis] for axis in ("stress", "certainty", "urgency", "cooperation")],
                    group=row.get("group") or row["id"].split("-", 1)[1],
                )
            )  # fmt: skip
    return found


def more(path: Path) -> list[Example]:
    """Our own posts, comments, television and everyday talk (affect_more.jsonl): of each line only what it was labelled for.

    Sources are "own post" (stress), "own felt zh" and "own felt en" (0 to 3 of each emotion in `felt`), "own drama" and "own
    talk" (intent and emotion). Raises KeyError where a line has neither.
    """
    found = []
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            kind = f"own {row['kind']}" + (f" {row['lang']}" if row["kind"] == "felt" else "")
            example = Example(text=row["text"], source=kind, weight=2.0, group=row["group"])
            if row["kind"] == "post":
                example.load[0] = row["load"]["stress"]
            elif row["kind"] == "felt":
                example.levels = [row["felt"][name] / 3 if name in row["felt"] else None for name in GROUPS]
                example.levels[0] = 1 - max(row["felt"].values()) / 3
            else:
                example.context = turns_from_context(row["context"])
                example.speaker_id = example.role = row["speaker_role"]
                example.intent, group = row["intent"], GROUP_OF[row["emotion"]]
                example.emotion = group
                example.finer = {group: float(row["emotion"] != group)} if group in ("joy", "sadness", "anger") else {}
            found.append(example)
    return found


def suites(bench: Path) -> list[Example]:
    """affect_cped_zh and affect_intensity_zh/en (licensed), with the fifth that is kept for measuring marked."""
    found = []
    gold = {row["id"]: row for row in rows(bench / "affect_cped_zh", "gold")}
    for row in rows(bench / "affect_cped_zh", "cases"):
        act, feeling = gold[row["id"]]["raw"]["da"], gold[row["id"]]["raw"]["emotion"]
        group = _CPED_EMOTION.get(feeling)
        found.append(
            Example(
                text=row["text"], source="cped", context=turns_from_context(row.get("context", [])),
                speaker_id="customer", intent=_CPED_INTENT.get(act, "neutral"), emotion=group,
                held_out=held_out(row["id"]), group=row["id"].rsplit("_", 1)[0],
                load=[None, None, None, {"disagreement": 0.2, "reject": 0.2, "irony": 0.2, "agreement": 0.8,
                                         "appreciation": 0.85, "thanking": 0.8, "comfort": 0.7}.get(act)],
            )
        )  # fmt: skip
    for lang in ("zh", "en"):
        folder = bench / f"affect_intensity_{lang}"
        gold = {row["id"]: row for row in rows(folder, "gold")}
        for row in rows(folder, "cases"):
            felt = gold[row["id"]]["intensity"]
            levels = [felt[name] / 3 if name in felt else None for name in GROUPS]
            levels[0] = 1 - max(felt.values()) / 3
            worst = max(felt.get(name, 0) for name in ("anger", "fear", "sadness")) / 3
            found.append(
                Example(
                    text=row["text"], source=f"intensity_{lang}", weight=2.0, levels=levels,
                    load=[0.2 + 0.6 * worst, None, None, None], held_out=held_out(row["id"]),
                )
            )  # fmt: skip
    return found


def feelings(train: Path, limit: int) -> list[Example]:
    """GoEmotions, EmpatheticPersonas and SAD: emotions and stress."""
    found = []
    for row in sampled(rows(train, "emotion_en_goemotions"), limit):
        names = [_GO_EMOTION[name] for name in row["emotion"] if name in _GO_EMOTION]
        stress = [_GO_STRESS[name] for name in row["emotion"] if name in _GO_STRESS]
        if names:
            groups = [GROUP_OF[name] for name in names]
            finer = {group: float(name != group) for group, name in zip(groups, names, strict=True)}
            found.append(
                Example(
                    text=row["text"], source="goemotions", weight=0.5, finer=finer, emotion=groups[0],
                    levels=[0.6 if name in groups else 0.05 for name in GROUPS],
                    load=[max(stress) if stress else None, None, None, None],
                )
            )  # fmt: skip
    for lang in ("zh", "en"):
        for row in rows(train, f"emotion_{lang}_empatheticpersonas"):
            group = _PERSONA[row["emotion"]]
            levels: list[float | None] = [
                0.7 if name == group else (0.1 if name == "calm" else None) for name in GROUPS
            ]
            found.append(
                Example(
                    text=row["text"], source="personas", emotion=group, levels=levels,
                    load=[0.1 if group == "joy" else 0.8, None, None, None],
                )
            )  # fmt: skip
    for row in sampled(rows(train, "load_en_sad"), limit):
        stress = min(row["severity"] / 8, 1.0) * 0.8 + row["stressor"] * 0.2
        found.append(Example(text=row["text"], source="sad", load=[stress, None, None, None]))
    found += _joined([e for e in found if e.source == "sad"])
    for row in sampled(rows(train, "dialog_zh_cpsycoun"), limit // 8):
        first = row["turns"][0]["text"]
        found.append(Example(text=first, source="cpsycoun", weight=0.5, load=[0.75, None, None, None]))
    return found


def _joined(lines: list[Example]) -> list[Example]:
    """Paragraphs of five lines of like stress each: the single lines are short, posts are not."""
    lines = sorted(lines, key=lambda e: (round(e.load[0] or 0.0, 1), zlib.crc32(e.text.encode())))
    made = []
    for begin in range(0, len(lines) - 5, 5):
        group = lines[begin : begin + 5]
        stress = sum(e.load[0] or 0.0 for e in group) / len(group)
        text = " ".join(e.text for e in group)
        made.append(Example(text=text, source="sad joined", weight=2.0, load=[stress, None, None, None]))
    return made


def axes(train: Path, limit: int) -> list[Example]:
    """CaSiNo (cooperation), TyDiP politeness (weakly cooperation) and certainty of science findings."""
    found = []
    for row in rows(train, "load_en_casino"):
        acts = set(row["acts"])
        good, bad = acts & _COOPERATIVE, acts & _SELFISH
        if bool(good) != bool(bad):
            found.append(
                Example(
                    text=row["text"], source="casino", weight=2.0, context=turns_from_context(row["context"]),
                    speaker_id=row["speaker"], load=[None, None, None, 0.9 if good else 0.2],
                )
            )  # fmt: skip
    for row in sampled(rows(train, "load_en_politeness"), limit // 4):
        value = min(max((row["politeness"] + 2) / 4, 0.0), 1.0)
        found.append(Example(text=row["text"], source="politeness", weight=0.3, load=[None, None, None, value]))
    for row in rows(train, "load_en_certainty"):
        if row.get("certainty"):
            value = (row["certainty"] - 1) / 5
            found.append(Example(text=row["text"], source="certainty", load=[None, value, None, None]))
    return found


def acts(train: Path, limit: int) -> list[Example]:
    """Dialogue acts of service dialogues and meetings as intents, only where the mapping is plain."""
    found = []
    for name, read in (("acts_en_ami", _ami), ("acts_en_sgd", _sgd), ("acts_en_multiwoz", _woz),
                       ("acts_zh_crosswoz", _woz), ("acts_zh_multiwoz", _woz), ("acts_en_nlupp", _nlupp)):  # fmt: skip
        for row in sampled(rows(train, name), limit):
            intent = read(row)
            if intent is not None:
                found.append(
                    Example(
                        text=row["text"], source=name, weight=0.2, intent=intent, speaker_id=row["speaker"] or None,
                        role="agent" if row["speaker"] == "agent" else "customer",
                        context=turns_from_context(row["context"]), load=[None, None, None, None],
                    )
                )  # fmt: skip
    return found


def pressure(examples: list[Example], lexicon: CueLexicon) -> None:
    """Gives service lines without urgency a weak one from cue words: no licensed set says anything about urgency."""
    for number, example in enumerate(examples):
        if number % 3 or example.load[2] is not None:
            continue
        kinds = {cue.kind for cue in lexicon.find(example.text)}
        example.load[2] = 0.25 + 0.4 * ("urgent" in kinds) - 0.15 * ("unhurried" in kinds)


def sampled(found: Iterator[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """At most `limit` rows, spread by a hash of their id: the same ones every time."""
    return sorted(found, key=lambda row: zlib.crc32(row["id"].encode()))[:limit]


def _ami(row: dict[str, Any]) -> str | None:
    act = row["acts"][0]
    if act == "Inform" and zlib.crc32(row["id"].encode()) % 3:
        return None
    return {"Offer": "commit", "Suggest": "request", "Inform": "neutral", "Assess": None, "Be-Negative": "challenge",
            "Backchannel": "neutral", "Be-Positive": "neutral"}.get(act, "clarify" if act.startswith("Elicit") else None)  # fmt: skip


def _sgd(row: dict[str, Any]) -> str | None:
    names = {act[0] for act in row["acts"]}
    asks = bool(_ASKS.search(row["text"]))
    if row["speaker"] == "customer":
        if "INFORM_INTENT" in names or "REQUEST_ALTS" in names:
            return "request"
        if names == {"REQUEST"}:
            return "clarify" if asks else "request"
        return (
            "refuse"
            if names == {"NEGATE_INTENT"}
            else "neutral"
            if names <= {"INFORM", "THANK_YOU", "GOODBYE"}
            else None
        )
    return (
        "clarify"
        if names & {"REQUEST", "CONFIRM", "REQ_MORE"}
        else "neutral"
        if names <= {"NOTIFY_SUCCESS", "INFORM"}
        else None
    )


def _woz(row: dict[str, Any]) -> str | None:
    names = {act[0] for act in row["acts"]}
    asks = bool(_ASKS.search(row["text"]))
    if names & {"Request", "请求"}:
        return "clarify" if asks else "request"
    wants = re.search(
        r"帮我|给我|推荐|我想|我要|请|\b(?:need|want|looking for|book|find|please|would like)\b", row["text"], re.I
    )
    if row["speaker"] == "customer" and names & {"Inform", "通知"}:
        return "request" if wants and not asks else None
    return (
        "neutral"
        if names & {"Inform", "通知", "Recommend", "推荐", "thank", "谢谢", "bye", "再见"} and not asks
        else None
    )


def _nlupp(row: dict[str, Any]) -> str | None:
    names = set(row["acts"])
    if names & {
        "change",
        "cancel_close_leave_freeze",
        "make_open_apply_setup_get_activate",
        "transfer_payment_deposit",
    }:
        return "request"
    return "clarify" if names & {"request_info", "how_much", "when", "how", "why"} else None


INTENT_NUMBER: dict[str, int] = {name: number for number, name in enumerate(INTENTS)}
