"""Why a cue came to mind, in one sentence of the turn's language that names its strongest grounds (R4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

_ZH_ROADS = {
    "meaning": "意思相近", "names": "提到了说这话的人", "entities": "说的是同一对象", "activation": "由同一对象牵连到",
    "dates": "时间对得上", "cycles": "正是它每到的日子", "promises": "问的是承诺", "complaints": "同类问题再次出现",
    "kinds": "正是所问的那类记忆", "answers": "含有所问的答案类型", "discourse": "与相关的话同属一段对话", "words": "用词相同",
}  # fmt: skip
_EN_ROADS = {
    "meaning": "close in meaning", "names": "said by whom the turn names", "entities": "about the same thing",
    "activation": "linked through a shared thing", "dates": "its time fits", "cycles": "its day has come round",
    "promises": "the turn asks after a promise", "complaints": "the same kind of trouble came back",
    "kinds": "the kind of memory it calls for", "answers": "holds the kind of answer it wants", "discourse": "next to what bears on the turn", "words": "same words",
}  # fmt: skip
_ZH_TERMS = {
    "emotion_match": "情绪相近", "time_proximity": "刚发生不久", "severity": "事情严重", "resolution_gap": "尚未解决",
    "commitment": "是明确的承诺",
}  # fmt: skip
_EN_TERMS = {
    "emotion_match": "matching emotion", "time_proximity": "recent", "severity": "severe", "resolution_gap": "still unresolved",
    "commitment": "a firm commitment",
}  # fmt: skip
_SHOWN = 0.5
_PARTICLES = frozenset("的了吗呢吧啊呀我你您他她它是在和也都就还很这那")


def telling(shared: Sequence[str], idf: Callable[[str], float]) -> list[str]:
    """The three rarest words in common, as one reads them: bigrams that follow each other become one word.

    >>> telling(["客服", "服态", "态度"], lambda term: 1.0)
    ['客服态度']
    """
    words: list[tuple[str, float]] = []
    for term in shared:
        if any(character in _PARTICLES for character in term):
            continue
        rare = idf(term)
        if words and not term.isascii() and words[-1][0][-1] == term[0]:
            words[-1] = (words[-1][0] + term[1:], max(rare, words[-1][1]))
        else:
            words.append((term, rare))
    words.sort(key=lambda item: (-item[1], item[0]))
    return [word for word, _ in words[:3]]


def explain(
    lang: str | None,
    terms: Mapping[str, float],
    weights: Mapping[str, float],
    roads: Mapping[str, float],
    words: Sequence[str],
    status: str,
) -> str:
    """One sentence: up to two roads and three terms, strongest first, with their figures.

    `roads` is weighted evidence by road, `terms` and `weights` those of the cue score, `words` the telling terms in common.
    """
    chinese = lang == "zh"
    road_names, term_names = (_ZH_ROADS, _ZH_TERMS) if chinese else (_EN_ROADS, _EN_TERMS)
    parts: list[str] = []
    for name in sorted((r for r in roads if roads[r] >= _SHOWN), key=lambda r: (-roads[r], r))[:2]:
        said = road_names[name]
        if name == "words" and words:
            said += f"（{'、'.join(words)}）" if chinese else f" ({', '.join(words)})"
        parts.append(said)
    strong = {n: terms[n] * weights[n] for n in term_names if terms[n] >= _SHOWN and weights[n] > 0}
    for name in sorted(strong, key=lambda n: (-strong[n], n))[:3]:
        figure = f"{terms[name]:.2f}"
        parts.append(f"{term_names[name]}（{figure}）" if chinese else f"{term_names[name]} ({figure})")
    share = f"{terms['relevance']:.2f}"
    if not parts:
        parts = ["与这句话相关" if chinese else "bears on the turn"]
    tail = "，已解决" if chinese and status == "resolved" else ", already resolved" if status == "resolved" else ""
    return (
        f"想起它，因为{'，'.join(parts)}{tail}；相关度 {share}。"
        if chinese
        else f"Recalled: {', '.join(parts)}{tail}; relevance {share}."
    )
