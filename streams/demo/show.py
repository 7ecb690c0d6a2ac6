"""The demo on a terminal: each turn, what was read in it, and what comes to mind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import msgspec

from streams.demo.feed import Turn

CUES_SHOWN = 3
CLEAR = 0.4
"""Only cues this strong stand in the closing list."""
BAR = 10


class Screen:
    """Prints turns as they are answered; with `as_json` only the bundles, a line each."""

    def __init__(self, out: IO[str], as_json: bool = False) -> None:
        self._out, self._json = out, as_json
        self._best: list[tuple[str, str, str, float]] = []

    def note(self, text: str) -> None:
        """A line about progress."""
        if not self._json:
            self._print(f"· {text}")

    def turn(self, place: int, count: int, line: dict[str, Any], turn: Turn) -> None:
        """One record and what came of it."""
        bundle = turn.first("cues.bundles")
        if self._json:
            if bundle is not None:
                self._print(msgspec.json.encode(bundle).decode())
            return
        affect = turn.first("utterances.affect")
        head = f"[{place:>2}/{count}]"
        dead = turn.first("dead.letters")
        if dead is not None:
            self._print(f"{head} ✗ dead letter at {dead['stage']}: {dead['reason']} ({dead['error']})")
        elif affect is None:
            self._print(f"{head} … partial: {line['record']['text']}")
        else:
            self._said(head, affect, turn)
        if bundle is not None and affect is not None:
            self._cues(affect, bundle)

    def _said(self, head: str, affect: dict[str, Any], turn: Turn) -> None:
        who = affect["speaker"].get("name") or affect["speaker"]["role"]
        self._print(f"\n{head} {affect['ts'][:16].replace('T', ' ')}  {who}: {affect['text']}")
        if affect["resolved_text"] != affect["text"]:
            self._print(f"        meant: {affect['resolved_text']}")
        times = [f"{t['original_form']} = {t['normalized_time']}" for t in affect["times"] if t["normalized_time"]]
        if times:
            self._print("        when:  " + "; ".join(times))
        load = affect["load"]
        self._print(
            f"        {affect['intent']['label']}, {affect['emotion']['label']}"
            f" · stress {load['stress']:.2f} certainty {load['certainty']:.2f} urgency {load['urgency']:.2f}"
            + (f" · masked: {', '.join(affect['personal_data'])}" if affect["personal_data"] else "")
        )
        for unit in turn.records.get("memory.units", []):
            flag = "!" if unit["priority_flag"] else " "
            mark = "+" if unit["status"] == "current" else "−"
            self._print(
                f"        {mark}{flag}{unit['type']}: {unit['summary']}"
                + ("" if mark == "+" else f"  ({unit['status']})")
            )

    def _cues(self, affect: dict[str, Any], bundle: dict[str, Any]) -> None:
        task = bundle["task"]
        if task["task_id"]:
            known = ", ".join(f"{name}={value}" for name, value in task["critical_entities"].items())
            self._print(
                f"        task:  {task['continues']} {task['current_stage']}" + (f" [{known}]" if known else "")
            )
        for cue in bundle["cues"][:CUES_SHOWN]:
            self._print(f"        ➜ {_bar(cue['score'])} {cue['score']:.2f}  {cue['text']}")
            self._print(f"                      why: {cue['why']}")
        top = bundle["cues"][0] if bundle["cues"] else None
        if top is not None and top["score"] >= CLEAR:
            self._best.append((affect["text"], top["text"], top["why"], top["score"]))

    def summary(self, totals: Mapping[str, int], seconds: float) -> None:
        """The closing lines: the turns whose cue is strongest, and what was written."""
        if self._json:
            return
        self._print("\nWhat came to mind:")
        for said, cue, why, score in self._best:
            self._print(f"  “{said}”\n     ➜ {score:.2f}  {cue}\n       {why}")
        names = ("utterances.clean", "memory.units", "tasks.events", "cues.bundles", "review.queue", "dead.letters")
        counts = ", ".join(f"{totals.get(name, 0)} on {name}" for name in names)
        self._print(f"\n{counts}\n{seconds:.0f} s in all; nothing is left running.")

    def _print(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()


def _bar(score: float) -> str:
    filled = max(0, min(BAR, round(score * BAR)))
    return "█" * filled + "░" * (BAR - filled)
