"""The rules that stand above the trained heads of filter 2: hedges, commitment strength, deferrals, roles, recurrence.

Each is a pure function of the cue words found in the text (affect.toml) and who speaks. Numbers are the sources': hedged
promise 0.3; commitment words 1.0, 0.7, 0.3; customer 1.0, agent -0.6 (inverted above 0.5), third party 0.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from models.affect_cues import Cue, CueLexicon, folded
from models.records import Load, Speaker

HEDGED_CONFIDENCE = 0.3
STRENGTHS = {"commit_strong": 1.0, "commit_plain": 0.7, "commit_weak": 0.3}
AGENT_WEIGHT = 0.6
THIRD_PARTY_WEIGHT = 0.3
_STOP = re.compile(r"[。！!？?；;\n]|\.\s")
_NEGATION = re.compile(r"(?:不|没|没有|别|未|无法|不能|cannot|can't|won't|don't|not|never)\s*(?:敢|能|会|可能|to)?\s*$")
_SAYS = re.compile(r"(?:说|承诺过|保证过|答应过|\bsaid|\bsays|\bpromised)\s*[:：，,]?\s*$")


def hedged(text: str, cues: Sequence[Cue]) -> bool:
    """Whether a sentence says "try" of a price, a deadline or a feature, and not of an effort already made (A3)."""
    hedges = [cue for cue in cues if cue.kind == "hedge"]
    if not hedges:
        return False
    done = [cue for cue in cues if cue.kind == "hedge_done"]
    objects = [cue for cue in cues if cue.kind == "hedge_object"]
    for hedge in hedges:
        if any(cue.start <= hedge.start < cue.end for cue in done):
            continue
        if any(not _STOP.search(text, min(o.end, hedge.end), max(o.start, hedge.start)) for o in objects):
            return True
    return False


def commitment_strength(text: str, cues: Sequence[Cue], *, commits: bool, hedge: bool) -> float:
    """How binding the words are (A4): 0 where nothing is promised, 0.3 where hedged, else the strongest word's weight.

    A promise without any such word ("好的，明天给您") counts as a plain one, 0.7. Negated words do not count.
    """
    if hedge:
        return STRENGTHS["commit_weak"]
    if not commits:
        return 0.0
    plain = folded(text)
    said = {
        cue.kind
        for cue in cues
        if cue.kind in STRENGTHS and not _NEGATION.search(plain, max(0, cue.start - 12), cue.start)
    }
    if "commit_strong" in said:
        return STRENGTHS["commit_strong"]
    if "commit_weak" in said and "commit_plain" not in said:
        return STRENGTHS["commit_weak"]
    return STRENGTHS["commit_plain"]


def pledges(text: str, cues: Sequence[Cue]) -> bool:
    """Whether the speaker binds himself in the strongest words: "we guarantee …", "我保证 …", not asked, not reported."""
    plain = folded(text)
    if "?" in plain.replace("？", "?") or plain.rstrip("。.!！ ").endswith(("吗", "呢", "么")):
        return False
    for cue in cues:
        if cue.kind != "commit_strong" or cue.word in ("放 心", "rest assured"):
            continue
        before = plain[max(0, cue.start - 12) : cue.start]
        if _NEGATION.search(before) or _SAYS.search(before):
            continue
        if re.search(r"(?:我|我们|咱|我方|本店|\bi|\bwe|\bour \w+)\s*(?:这边|可以|们|can|will|'ll|do)?\s*$", before):
            return True
    return False


def defers(text: str, cues: Sequence[Cue]) -> bool:
    """Whether the text only puts a decision off ("我再想想", "let me think about it")."""
    return len(text) <= 60 and any(cue.kind == "deferral" for cue in cues)


def decides(title: str | None, lexicon: CueLexicon) -> bool:
    """Whether a title is one of those that decide ("CTO", "采购总监", "Head of Sales")."""
    return bool(title) and any(cue.kind == "authority" for cue in lexicon.find(title or ""))


def recurring(cues: Sequence[Cue]) -> bool:
    """Whether the text says that it happened before (又, 再次, 第三次, again …) (A6)."""
    others = [cue for cue in cues if cue.kind == "not_recurrence"]
    return any(cue.kind == "recurrence" and not any(o.start <= cue.start < o.end for o in others) for cue in cues)


def weigh(load: Load, speaker: Speaker) -> Load:
    """The load as this speaker's words count (A2).

    Pressure (stress, urgency) counts in full from a customer, at 0.3 from a third party; an agent's weight is -0.6:
    stress above 0.5 is an apology's and is inverted to 1 - stress, the rest is damped to 0.6. What describes the
    statement (certainty, cooperation) shrinks towards 0.5 for a third party only. A speaker's `weight` other than 1
    bends pressure: 1 - (1 - x) ** weight.
    """
    stress, urgency, certainty, cooperation = load.stress, load.urgency, load.certainty, load.cooperation
    if speaker.role == "agent":
        stress = 1 - stress if stress > 0.5 else AGENT_WEIGHT * stress
        urgency = AGENT_WEIGHT * urgency
    elif speaker.role == "third_party":
        stress, urgency = THIRD_PARTY_WEIGHT * stress, THIRD_PARTY_WEIGHT * urgency
        certainty, cooperation = (0.5 + THIRD_PARTY_WEIGHT * (x - 0.5) for x in (certainty, cooperation))
    if speaker.weight != 1.0:
        stress, urgency = (1 - (1 - x) ** speaker.weight for x in (stress, urgency))
    return Load(
        stress=_score(stress), certainty=_score(certainty), urgency=_score(urgency), cooperation=_score(cooperation)
    )


def _score(value: float) -> float:
    return round(min(max(float(value), 0.0), 1.0), 4)
