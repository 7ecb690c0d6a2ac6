"""The parsed intent (T2): {action, target, reason, entities} in a fixed schema, from rules over ``lexicons/actions.toml``.

Never an entity that nobody said: ids come from the turn's own entities or from its resolved references. Where no rule says what is
wanted, a small trained classifier over word and character n-grams does (``models/tasks/intent_net.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct, field

from models.lexicons import load_lexicon
from models.prefilter import Named
from models.records import Entity, Mention
from models.tasks.intent_net import shipped_net
from models.text import narrow
from models.units.claims import is_small_talk
from models.word_pattern import trie

HEAD, TAIL = 400, 300
"""Of a longer turn only so many first and last characters are read for what is wanted."""
MAX_GUESSED, MIN_SURE = 160, 0.85
"""The classifier is asked about turns of at most so many characters, and believed from this probability on (0.6 in a question)."""
NONE, INFORM, CHAT = "none", "inform", "chat"
"""Actions besides those of the lexicon: nothing said, a statement, small talk."""

_CJK = re.compile(r"[\u4e00-\u9fff]")
_ASKING = re.compile(
    r"(?i)[?？]|(?:吗|呢|么)[。！~ ]*$|^(?:请问|想问|帮我|麻烦|能不能|可以)|\bplease\b|^(?:can|could|would|will) you\b"
)


class ParsedIntent(Struct, frozen=True, kw_only=True):
    """What a turn wants. `target` is ``current_X`` where a word points to the X being talked about ("这个订单").

    `group` is the matter the target belongs to, `named` whether a word names it (else the action implies it), `accessory` whether it
    may be a part of another matter; `groups` all matters named; `wants` whether the turn asks for something to be done; `label` a short name for the intent chain; `marker` a word that continues
    (deepen), leaves (switch) or comes back to (back) a matter; `pointing` whether something said before is pointed to.
    """

    action: str = NONE
    target: str | None = None
    reason: str | None = None
    entities: list[Entity] = field(default_factory=list)
    group: str | None = None
    groups: tuple[str, ...] = ()
    named: bool = False
    accessory: bool = False
    wants: bool = False
    label: str = ""
    stage: str = "NONE"
    marker: str | None = None
    pointing: bool = False
    asks: bool = False
    start: int = -1


class _Action(Struct, frozen=True):
    name: str
    stage: str
    labels: dict[str, str]
    group: str | None


class _Target(Struct, frozen=True):
    name: str
    group: str
    labels: dict[str, str]


class _Lexicon(Struct, frozen=True):
    actions: dict[str, _Action]
    targets: dict[str, _Target]
    action_of: dict[str, str]
    target_of: dict[str, str]
    reason_of: dict[str, str]
    marker_of: dict[str, str]
    action_words: re.Pattern[str]
    target_words: re.Pattern[str]
    reason_words: re.Pattern[str]
    marker_words: re.Pattern[str]
    this_words: re.Pattern[str]
    want_words: re.Pattern[str]
    accessory: frozenset[str]
    named: Named
    """Of the words."""


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """The words as a trie; Latin ones as whole words."""
    latin = [w for w in words if w.isascii()]
    other = [w for w in words if not w.isascii()]
    parts = [rf"\b(?:{trie(latin)})\b"] if latin else []
    return re.compile("|".join(parts + ([trie(other)] if other else [])))


def _named(table: dict[str, str], word: str) -> str:
    """What a found word stands for; a blank of the list may be a hyphen in the text."""
    return table[word] if word in table else table[word.replace("-", " ").replace("_", " ")]


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    data = load_lexicon("actions.toml")
    actions = {
        name: _Action(name, t["stage"], {"zh": t["zh"], "en": t["en"]}, t.get("group"))
        for name, t in data["action"].items()
    }
    targets = {name: _Target(name, t["group"], {"zh": t["zh"], "en": t["en"]}) for name, t in data["target"].items()}
    action_of = {w: name for name, t in reversed(data["action"].items()) for w in t["words"]}
    action_of |= dict.fromkeys(data["ignore"], "")
    target_of = {w: name for name, t in reversed(data["target"].items()) for w in t["words"]}
    reason_of = {w: name for name, words in data["reason"].items() for w in words}
    marker_of = {w: name for name in ("deepen", "switch", "back") for w in data["marker"][name]}
    words = {
        "action": _pattern(list(action_of)), "target": _pattern(list(target_of)), "reason": _pattern(list(reason_of)),
        "marker": _pattern(list(marker_of)), "this": _pattern(data["marker"]["this"]), "want": _pattern(data["want"]),
    }  # fmt: skip
    return _Lexicon(
        actions, targets, action_of, target_of, reason_of, marker_of, words["action"], words["target"], words["reason"],
        words["marker"], words["this"], words["want"], frozenset(data["accessory"]), Named(words),
    )  # fmt: skip


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Words that tell nothing about what a turn is about."""
    return frozenset(load_lexicon("actions.toml")["common"].split())


@lru_cache(maxsize=1)
def _topic_labels() -> dict[str, str]:
    labels: dict[str, str] = {}
    for target in reversed(_lexicon().targets.values()):
        labels[target.group] = f"{target.labels['zh']} {target.labels['en']}"
    return labels


def topic_words(topic: str | None) -> str:
    """What a topic is called in both languages, or the topic itself where it is a word of the talk.

    >>> topic_words("invoice"), topic_words("robot")
    ('发票 invoice', 'robot')
    """
    return _topic_labels().get(topic, topic) if topic else ""


def parse_intent(
    text: str,
    *,
    lang: str | None = None,
    entities: Sequence[Entity] = (),
    mentions: Sequence[Mention] = (),
) -> ParsedIntent:
    """What a turn wants. `text` is the turn's own words; `entities` and `mentions` are those read in it (filter 1)."""
    lexicon = _lexicon()
    shown = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
    plain = narrow(shown).replace("’", "'").lower()
    script = "zh" if _CJK.search(plain) else "en"
    if not plain.strip():
        return ParsedIntent(entities=list(entities))
    if is_small_talk(plain):
        return ParsedIntent(action=CHAT, entities=list(entities))
    possible = lexicon.named.possible(plain)
    reason = lexicon.reason_words.search(plain) if "reason" in possible else None
    action = _action(plain, lexicon, reason) if "action" in possible else None
    if action is None or action[1].name == "ask":
        action = _guess(plain, action, lexicon)
    found: list[tuple[int, int, str]] = []
    if "target" in possible:
        words = lexicon.target_words.finditer(plain)
        found = [(m.start(), m.end(), _named(lexicon.target_of, m.group())) for m in words]
    want = lexicon.want_words.search(plain) if "want" in possible else None
    target = _target(found, action, lexicon, want.start() if want else 0)
    marker = lexicon.marker_words.search(plain) if "marker" in possible else None
    pointing = bool(mentions and any(m.resolved_entity for m in mentions))
    pointing = pointing or ("this" in possible and _points(plain, found, lexicon))
    asks = bool(_ASKING.search(plain))
    name = action[1].name if action else (INFORM if any(c.isalnum() for c in plain) else NONE)
    resolved = [e for e in _mention_entities(mentions) if e.id not in {known.id for known in entities}]
    groups = tuple(dict.fromkeys(lexicon.targets[name].group for _, _, name in found))
    strong = any(e.strength == "strong" for e in entities)
    return ParsedIntent(
        action=name,
        target=_target_name(target, plain, found, pointing and not strong, action),
        reason=_named(lexicon.reason_of, reason.group()) if reason else None,
        entities=[*entities, *resolved],
        group=target.group if target else action[1].group if action else None,
        groups=groups,
        named=target is not None,
        accessory=target is not None and target.group in lexicon.accessory,
        wants=want is not None or (action is not None and action[1].name not in ("ask", "confirm")),
        label=_label(action, target, script),
        stage=_stage(action, target),
        marker=_named(lexicon.marker_of, marker.group()) if marker else None,
        pointing=pointing,
        asks=asks or (action is not None and action[1].name == "ask"),
        start=action[0] if action else -1,
    )


def _action(plain: str, lexicon: _Lexicon, reason: re.Match[str] | None) -> tuple[int, _Action] | None:
    """The first action word; confirming and looking up yield to others, asking comes last.

    A word inside a longer one of a reason ("重复下单") is none.
    """
    best: tuple[tuple[int, int], _Action] | None = None
    for match in lexicon.action_words.finditer(plain):
        if (
            reason
            and reason.start() <= match.start()
            and match.end() <= reason.end()
            and match.group() != reason.group()
        ):
            continue
        name = _named(lexicon.action_of, match.group())
        if not name:
            continue
        yields = name == "report" or (name in ("confirm", "look_up") and best is not None)
        rank = (2 if name == "ask" else 1 if yields else 0, match.start())
        if best is None or rank < best[0]:
            best = (rank, lexicon.actions[name])
    return None if best is None else (best[0][1], best[1])


def _guess(plain: str, asked: tuple[int, _Action] | None, lexicon: _Lexicon) -> tuple[int, _Action] | None:
    """Where no rule says what is wanted, what the trained classifier is sure of; of long tales, nothing."""
    if len(plain) > MAX_GUESSED:
        return asked
    label, probability = shipped_net().best(plain)
    if label in lexicon.actions and label not in ("ask", "confirm") and probability >= (0.6 if asked else MIN_SURE):
        return (asked[0] if asked else 0, lexicon.actions[label])
    return asked


def _target(
    found: Sequence[tuple[int, int, str]], action: tuple[int, _Action] | None, lexicon: _Lexicon, wanted_from: int
) -> _Target | None:
    """What the action is about: the first target named after the word of wanting; a plain order last, as it owns the others."""
    names = [name for start, _, name in found if start >= wanted_from] or [name for _, _, name in found]
    if not names:
        return None
    wanted = action[1].name if action else ""
    if wanted in ("cancel", "return", "refund", "exchange", "change_address") and "order" in names:
        return lexicon.targets["order"]
    special = [name for name in names if name not in ("order", wanted)]
    return lexicon.targets[special[0] if special else names[0]]


def _points(plain: str, found: Sequence[tuple[int, int, str]], lexicon: _Lexicon) -> bool:
    """Whether a pointing word stands right before a target ("这个订单", "the order") or stands alone ("cancel it")."""
    for match in lexicon.this_words.finditer(plain):
        word = match.group()
        if word in ("it", "them", "these", "those", "它", "its"):
            return True
        if any(0 <= start - match.end() <= 2 for start, _, _ in found):
            return True
        if (
            word not in ("the", "that", "this", "same", "该", "此", "这一", "那一")
            and not plain[match.end() : match.end() + 1].isalnum()
        ):
            return True
    return False


def _target_name(
    target: _Target | None,
    plain: str,
    found: Sequence[tuple[int, int, str]],
    pointing: bool,
    action: tuple[int, _Action] | None,
) -> str | None:
    if target is None:
        return "current" if pointing and action is not None else None
    owner = any(name == "order" for _, _, name in found)
    name = "order" if owner and target.group == "order" else target.name
    return f"current_{name}" if pointing else target.name


def _mention_entities(mentions: Sequence[Mention]) -> list[Entity]:
    """Entities that the turn points to, as filter 1 resolved them: somebody said them before."""
    return [
        Entity(id=m.resolved_entity, type=entity_type(m.resolved_entity), text=m.text, start=m.start, end=m.end,
               strength="strong" if is_strong_id(m.resolved_entity) else "weak")
        for m in mentions
        if m.resolved_entity and not m.needs_human_review
    ]  # fmt: skip


_STRONG_ID = re.compile(r"(?=[A-Za-z0-9._/-]*\d)[A-Za-z]{1,6}[-_ ]?[A-Za-z0-9][A-Za-z0-9._/-]{2,30}$|\d{6,20}$")


def is_strong_id(text: str) -> bool:
    """Whether a text is an identifier by its looks: letters, a hyphen and digits, or six digits and more."""
    return bool(_STRONG_ID.match(text))


def entity_type(name: str) -> str:
    """A coarse type for a referent known only by its name."""
    upper = name.upper()
    if not is_strong_id(name):
        return "name"
    if upper.startswith(("OD", "ORD", "PO-", "SO-")):
        return "order"
    if upper.startswith(("RF", "REF", "RT")):
        return "refund"
    if upper.startswith(("TK", "SR", "TIC", "INC", "CASE", "GD")):
        return "ticket"
    return "id"


def _label(action: tuple[int, _Action] | None, target: _Target | None, script: str) -> str:
    """A short name for the chain: 取消订单, cancel order."""
    if action is None:
        return ""
    verb = action[1].labels[script]
    noun = target.labels[script] if target else ""
    if not noun or noun in verb or action[1].group is not None:
        return verb
    if script == "zh":
        return verb + noun
    return f"{verb} {noun}".strip()


def _stage(action: tuple[int, _Action] | None, target: _Target | None) -> str:
    if action is None:
        return INFORM.upper()
    group = target.group.split(":")[-1].upper() if target else ""
    return f"{group}_{action[1].stage}" if group and group != action[1].stage else action[1].stage
