"""Text to vectors: one pass gives token states, the index (`passage`) vector and the search (`query`) vector.

A folder holds one encoder: ``encoder.onnx`` (token states), ``heads.npz`` (two linear heads), ``tokenizer.json`` and
``encoder.json`` (version, sizes, SHA-256 of the others). Texts of the same number of tokens run together, without padding:
the graph computes every number of a text from that text alone, so what else is in the batch never shows. No torch.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

import msgspec
import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

from models.errors import ResourceError

SHIPPED = Path(__file__).parent / "weights" / "encoder"
WINDOW = 254
"""Tokens of one pass (two more are the sentence marks); a longer text is read in windows of this many."""
MAX_TOKENS = 16 * WINDOW
"""Tokens past this have no state of their own: some 6,000 characters, more than any utterance needs."""
RUN_TOKENS = 192
"""Tokens that run together, about: more do not get cheaper (they leave the cache), fewer pay for reading the weights again."""
MAX_CHARACTERS = 20_000
"""Characters past this are not read."""
_SURROGATES = re.compile("[\ud800-\udfff]")


class Manifest(msgspec.Struct, kw_only=True):
    """encoder.json: what the folder holds. `files` maps each file to its SHA-256."""

    version: str
    dimension: int
    start_id: int
    end_id: int
    files: dict[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Heads:
    """The two linear maps from a mean token state [H] to the index and the search space [H]."""

    passage: np.ndarray
    passage_bias: np.ndarray
    query: np.ndarray
    query_bias: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """One text's vectors: `states` float32 [n, H] with their character spans `offsets` int32 [n, 2], the mean state
    `pooled` [H], and the unit vectors `passage` [H] (what an index stores) and `query` [H] (what searches it).
    `mix` [n, H] is a weighted sum of the layers' states, where the encoder gives one."""

    text: str
    offsets: np.ndarray
    states: np.ndarray
    pooled: np.ndarray
    passage: np.ndarray
    query: np.ndarray
    heads: Heads
    mix: np.ndarray | None = None

    @property
    def mixed(self) -> np.ndarray:
        """Token states [n, H] of all layers as the encoder mixes them; of the last one where it does not."""
        return self.states if self.mix is None else self.mix

    def mixed_mean(self, start: int, end: int) -> np.ndarray:
        """Mean mixed state [H] of the tokens that touch ``text[start:end]``; of all where none does, zeros without tokens."""
        mixed = self.mixed
        inside = _touching(self.offsets, start, end)
        if inside is not None:
            mixed = mixed[inside]
        return _mean(mixed) if len(mixed) else np.zeros(mixed.shape[1], np.float32)

    def span_mean(self, start: int, end: int) -> np.ndarray:
        """Mean state [H] of the tokens that touch ``text[start:end]``; of the whole text where none does."""
        inside = _touching(self.offsets, start, end)
        return self.pooled if inside is None else _mean(self.states[inside])

    def span_vector(self, start: int, end: int) -> np.ndarray:
        """Unit vector [H] of a span in the space of token states: compare it with other spans only."""
        return unit(self.span_mean(start, end))

    def span_passage(self, start: int, end: int) -> np.ndarray:
        """Unit vector [H] of a span in the index space: comparable with `query` and `passage` of any text."""
        return unit(self.span_mean(start, end) @ self.heads.passage + self.heads.passage_bias)


def _touching(offsets: np.ndarray, start: int, end: int) -> slice | np.ndarray | None:
    """The tokens that touch ``text[start:end]``: a slice where they lie side by side, as they do; None where there are none."""
    places = ((offsets[:, 0] < end) & (offsets[:, 1] > start)).nonzero()[0]
    if not len(places):
        return None
    first, after = int(places[0]), int(places[-1]) + 1
    return slice(first, after) if after - first == len(places) else places


def _mean(states: np.ndarray) -> np.ndarray:
    """Mean of states [n, H], as ``states.mean(0)`` gives it."""
    found: np.ndarray = np.add.reduce(states, 0) / np.float32(len(states))
    return found


class Pending(Protocol):
    """A text's vectors, on their way."""

    def result(self) -> Encoded:
        """The vectors, waiting for them if need be."""


class Encoder:
    """A loaded encoder. `name` identifies version and weights: an index built under another name must be rebuilt."""

    def __init__(self, session: ort.InferenceSession, tokenizer: Tokenizer, manifest: Manifest, heads: Heads) -> None:
        self._session = session
        self._outputs = [output.name for output in session.get_outputs() if output.name in ("states", "mixed")]
        self._tokenizer = tokenizer
        self._manifest = manifest
        self._heads = heads
        self.dimension = manifest.dimension
        self.name = name_of(manifest)
        self._threads = threading.local()

    @classmethod
    def load(cls, path: str | Path | None = None) -> Encoder:
        """The encoder of folder `path`; by default ``CUESTREAM_ENCODER`` or the shipped one. ``st:NAME_OR_PATH``, or a folder
        with a ``config.json``, is one of sentence-transformers or transformers (`models.outside_encoder`).

        Raises ResourceError where a file is missing, was changed or cannot be read.
        """
        choice = str(path or os.environ.get("CUESTREAM_ENCODER") or SHIPPED)
        if choice.startswith("st:") or (Path(choice) / "config.json").is_file():
            from models.outside_encoder import OutsideEncoder  # needs torch, of the extra `train`

            return OutsideEncoder.open(choice)
        folder = Path(choice)
        manifest = _manifest(folder)
        blobs = {name: _checked(folder / name, digest) for name, digest in manifest.files.items()}
        try:
            options = ort.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            session = ort.InferenceSession(blobs["encoder.onnx"], options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_buffer(blobs["tokenizer.json"])
            with np.load(folder / "heads.npz") as stored:
                heads = Heads(
                    *(stored[name].astype(np.float32) for name in ("passage", "passage_bias", "query", "query_bias"))
                )
        except Exception as error:  # each library raises kinds of its own
            raise ResourceError(f"{folder}: not a usable encoder ({error}); restore the folder") from error
        if heads.passage.shape != (manifest.dimension,) * 2 or heads.query.shape != (manifest.dimension,) * 2:
            raise ResourceError(
                f"{folder / 'heads.npz'}: shape {heads.passage.shape}, expected dimension {manifest.dimension}"
            )
        try:
            encoder = cls(session, tokenizer, manifest, heads)
            last = tokenizer.get_vocab_size() - 1
            states = encoder._run(np.array([[manifest.start_id, last, manifest.end_id]], np.int64))
            sound = all(part.shape == (1, 3, manifest.dimension) and np.isfinite(part).all() for part in states)
        except Exception as error:
            raise ResourceError(f"{folder / 'encoder.onnx'}: does not run ({error}); restore the folder") from error
        if not sound:
            raise ResourceError(
                f"{folder / 'encoder.onnx'}: not finite numbers of dimension {manifest.dimension}; restore the folder"
            )
        if not all(
            np.isfinite(part).all() for part in (heads.passage, heads.query, heads.passage_bias, heads.query_bias)
        ):
            raise ResourceError(f"{folder / 'heads.npz'}: holds numbers that are not finite; restore the folder")
        return encoder

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Each text's vectors, in order, on the caller's thread; every string has them, the empty one too."""
        return [pending.result() for pending in self._planned(texts)]

    def encode_ahead(self, texts: Sequence[str]) -> Sequence[Pending]:
        """The same vectors, begun at once on a second thread of the caller's, which does other work until it needs them.

        A run that has not begun by then is taken over by who waits for it.
        """
        pending = self._planned(texts)
        runs = list(dict.fromkeys(run for text in pending for run, _ in text.places))
        if runs:
            self._second().put(runs)
        return pending

    def _second(self) -> SimpleQueue[list[_Run]]:
        """The way to the calling thread's own second thread."""
        queue: SimpleQueue[list[_Run]] | None = getattr(self._threads, "queue", None)
        if queue is None:
            queue = self._threads.queue = SimpleQueue()
            threading.Thread(target=_serve, args=(queue,), name="encoder", daemon=True).start()
            weakref.finalize(self, queue.put, [])
        return queue

    def _planned(self, texts: Sequence[str]) -> list[_Text]:
        """The texts cut into windows, the windows of one length shared out to runs; the first text's run comes first."""
        open_runs: dict[int, _Run] = {}
        planned = []
        for text in texts:
            encoding = self._tokenizer.encode(readable(text), add_special_tokens=False)
            ids = encoding.ids[:MAX_TOKENS]
            places = []
            for begin in range(0, max(len(ids), 1), WINDOW):
                window = [self._manifest.start_id, *ids[begin : begin + WINDOW], self._manifest.end_id]
                run = open_runs.get(len(window))
                if run is None or not run.takes(window):
                    run = open_runs[len(window)] = _Run(self._run)
                places.append((run, run.add(window)))
            offsets = np.asarray(encoding.offsets[:MAX_TOKENS], np.int32).reshape(-1, 2)
            planned.append(_Text(self, text, offsets, places))
        return planned

    def _run(self, ids: np.ndarray) -> list[np.ndarray]:
        """States [B, n, H], and the mixed ones where the graph gives them, of token ids [B, n]."""
        found: list[np.ndarray] = self._session.run(self._outputs, {"ids": ids})
        return found

    def _finished(self, text: str, offsets: np.ndarray, windows: list[list[np.ndarray]]) -> Encoded:
        """A text's vectors from the states of its windows, each [n, H] with the sentence marks."""
        total, count = np.zeros(self.dimension, np.float32), 0
        for states, *_ in windows:
            total = total + states.sum(0)
            count += len(states)
        pooled = total / np.float32(count)
        heads = self._heads
        states, *mix = [
            parts[0][1:-1] if len(parts) == 1 else np.concatenate([part[1:-1] for part in parts])
            for parts in zip(*windows, strict=True)
        ]
        return Encoded(
            text=text,
            offsets=offsets,
            states=states,
            pooled=pooled,
            passage=unit(pooled @ heads.passage + heads.passage_bias),
            query=unit(pooled @ heads.query + heads.query_bias),
            heads=heads,
            mix=mix[0] if mix else None,
        )


class _Run:
    """Windows of one length that run together, once, on whichever thread comes first."""

    def __init__(self, run: Callable[[np.ndarray], list[np.ndarray]]) -> None:
        self._model = run
        self._windows: list[list[int]] = []
        self._lock = threading.Lock()
        self._states: list[np.ndarray] | None = None

    def takes(self, window: list[int]) -> bool:
        """Whether another window fits."""
        return (len(self._windows) + 1) * len(window) <= RUN_TOKENS

    def add(self, window: list[int]) -> int:
        """Puts a window in; its place."""
        self._windows.append(window)
        return len(self._windows) - 1

    def states(self) -> list[np.ndarray]:
        """The run's outputs, each [B, n, H]; runs, or waits for who does."""
        with self._lock:
            if self._states is None:
                self._states = self._model(np.array(self._windows, np.int64))
            return self._states

    def begin(self) -> None:
        """Runs, if nobody has begun to. What it raises, it raises again where the states are asked for."""
        if self._states is None and self._lock.acquire(blocking=False):
            try:
                if self._states is None:
                    self._states = self._model(np.array(self._windows, np.int64))
            except Exception:
                return
            finally:
                self._lock.release()


class _Text:
    """A planned text: where its windows run."""

    def __init__(self, encoder: Encoder, text: str, offsets: np.ndarray, places: list[tuple[_Run, int]]) -> None:
        self._encoder, self._text, self._offsets, self.places = encoder, text, offsets, places
        self._encoded: Encoded | None = None

    def result(self) -> Encoded:
        """The vectors."""
        if self._encoded is None:
            windows = [[part[place] for part in run.states()] for run, place in self.places]
            self._encoded = self._encoder._finished(self._text, self._offsets, windows)
        return self._encoded


def _serve(queue: SimpleQueue[list[_Run]]) -> None:
    """A second thread: begins the runs it is given, in their order, until it is given none."""
    while runs := queue.get():
        for run in runs:
            run.begin()


def readable(text: str) -> str:
    """What is read of a text: its beginning, with halves of surrogate pairs replaced; every character keeps its offset."""
    beginning = text[:MAX_CHARACTERS]
    return beginning if beginning.isascii() else _SURROGATES.sub("\ufffd", beginning)


def unit(vector: np.ndarray) -> np.ndarray:
    """The vector at length 1, float32; a zero vector stays zero."""
    length = float(np.sqrt(np.dot(vector, vector)))
    return (vector / length).astype(np.float32) if length > 0 else vector.astype(np.float32)


def name_of(manifest: Manifest) -> str:
    """Version and what follows from the files' contents."""
    digests = "".join(manifest.files[name] for name in sorted(manifest.files))
    return f"{manifest.version}-{hashlib.sha256(digests.encode()).hexdigest()[:8]}"


def read_name(folder: Path) -> str:
    """The name of the encoder in a folder, without loading it. Raises ResourceError where there is none."""
    return name_of(_manifest(folder))


def _manifest(folder: Path) -> Manifest:
    path = folder / "encoder.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        raise ResourceError(f"{path}: no encoder there; set CUESTREAM_ENCODER to a folder that holds one") from error
    except (OSError, msgspec.DecodeError) as error:
        raise ResourceError(f"{path}: unreadable ({error}); restore the folder") from error


def _checked(path: Path, digest: str) -> bytes:
    """The file's bytes, if they are the ones that were trained: a cut or altered model must not answer."""
    try:
        blob = path.read_bytes()
    except OSError as error:
        raise ResourceError(f"{path}: cannot be read ({error})") from error
    if hashlib.sha256(blob).hexdigest() != digest:
        raise ResourceError(f"{path}: not the file that encoder.json names (cut short or changed); restore it")
    return blob
