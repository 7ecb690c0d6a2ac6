"""Text to vectors: one pass gives token states, the index (`passage`) vector and the search (`query`) vector.

A folder holds one encoder: ``encoder.onnx`` (token states), ``heads.npz`` (two linear heads), ``tokenizer.json`` and
``encoder.json`` (version, sizes, SHA-256 of the others). Each text runs alone, without padding, so its numbers cannot
depend on what else is in the batch. No torch.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

from models.errors import ResourceError

THREADS = 2
"""Texts of a batch that run at once; each on one thread of its own."""
SHIPPED = Path(__file__).parent / "weights" / "encoder"
WINDOW = 254
"""Tokens of one pass (two more are the sentence marks); a longer text is read in windows of this many."""
MAX_TOKENS = 16 * WINDOW
"""Tokens past this have no state of their own: some 6,000 characters, more than any utterance needs."""
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
    `pooled` [H], and the unit vectors `passage` [H] (what an index stores) and `query` [H] (what searches it)."""

    text: str
    offsets: np.ndarray
    states: np.ndarray
    pooled: np.ndarray
    passage: np.ndarray
    query: np.ndarray
    heads: Heads

    def span_mean(self, start: int, end: int) -> np.ndarray:
        """Mean state [H] of the tokens that touch ``text[start:end]``; of the whole text where none does."""
        inside = (self.offsets[:, 0] < end) & (self.offsets[:, 1] > start)
        return self.states[inside].mean(0) if inside.any() else self.pooled

    def span_vector(self, start: int, end: int) -> np.ndarray:
        """Unit vector [H] of a span in the space of token states: compare it with other spans only."""
        return unit(self.span_mean(start, end))

    def span_passage(self, start: int, end: int) -> np.ndarray:
        """Unit vector [H] of a span in the index space: comparable with `query` and `passage` of any text."""
        return unit(self.span_mean(start, end) @ self.heads.passage + self.heads.passage_bias)


class Encoder:
    """A loaded encoder. `name` identifies version and weights: an index built under another name must be rebuilt."""

    def __init__(self, session: ort.InferenceSession, tokenizer: Tokenizer, manifest: Manifest, heads: Heads) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._manifest = manifest
        self._heads = heads
        self.dimension = manifest.dimension
        digests = "".join(manifest.files[name] for name in sorted(manifest.files))
        self.name = f"{manifest.version}-{hashlib.sha256(digests.encode()).hexdigest()[:8]}"
        self._pool: ThreadPoolExecutor | None = None

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
        return cls(session, tokenizer, manifest, heads)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Each text's vectors, in order; every string has them, the empty one too.

        Several texts are run, each alone, on `THREADS` threads; a single one stays on the caller's.
        """
        if len(texts) < 2:
            return [self._encode(text) for text in texts]
        return [future.result() for future in self.encode_ahead(texts)]

    def encode_ahead(self, texts: Sequence[str]) -> list[Future[Encoded]]:
        """The same vectors, begun at once on the encoder's threads: the caller does other work until it needs them."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="encoder")
        return [self._pool.submit(self._encode, text) for text in texts]

    def _encode(self, text: str) -> Encoded:
        encoding = self._tokenizer.encode(_SURROGATES.sub("\ufffd", text[:MAX_CHARACTERS]), add_special_tokens=False)
        ids = np.asarray(encoding.ids[:MAX_TOKENS], np.int64)
        offsets = np.asarray(encoding.offsets[:MAX_TOKENS], np.int32).reshape(-1, 2)
        states, total, count = [], np.zeros(self.dimension, np.float32), 0
        for begin in range(0, max(len(ids), 1), WINDOW):
            window = np.concatenate(([self._manifest.start_id], ids[begin : begin + WINDOW], [self._manifest.end_id]))
            found = self._session.run(None, {"ids": window[None].astype(np.int64)})[0]
            states.append(found[1:-1])
            total = total + found.sum(0)
            count += len(found)
        pooled = total / np.float32(count)
        heads = self._heads
        return Encoded(
            text=text,
            offsets=offsets,
            states=states[0] if len(states) == 1 else np.concatenate(states),
            pooled=pooled,
            passage=unit(pooled @ heads.passage + heads.passage_bias),
            query=unit(pooled @ heads.query + heads.query_bias),
            heads=heads,
        )


def unit(vector: np.ndarray) -> np.ndarray:
    """The vector at length 1, float32; a zero vector stays zero."""
    length = float(np.sqrt(np.dot(vector, vector)))
    return (vector / length).astype(np.float32) if length > 0 else vector.astype(np.float32)


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
