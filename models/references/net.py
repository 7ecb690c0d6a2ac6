"""The reference network at run time: word states from ONNX Runtime, its small heads in NumPy. One utterance at a time."""

from __future__ import annotations

import hashlib
import zipfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import onnxruntime as ort
from msgspec import Struct

from models.errors import ResourceError
from models.references.edit_net import CONNECTORS, STOP, Layout
from models.references.gate import ReferenceGate
from models.references.pieces import Pieces

WEIGHTS = Path(__file__).parents[1] / "weights"
PIECES = 6
MAX_PHRASE = 24
_HEADS = (
    ["tag", "gap", "gap_out", "key", "previous", "site", "query", "point_key", "point_query", "point_none"],
    ["segments", "matches", "shapes", "classes", "connectors", "connector_in", "steps"],
)


class Phrase(Struct, frozen=True):
    """What belongs at a site: positions to copy (>= 0) and connectors (``-1 - index``), with the mean-step probability."""

    path: list[int]
    probability: float


class ReferenceNet:
    """Loaded weights; ``read`` gives a ``Reading`` of one laid-out utterance."""

    def __init__(
        self, session: ort.InferenceSession, arrays: dict[str, np.ndarray], pieces: Pieces, gate: ReferenceGate, name: str
    ) -> None:  # fmt: skip
        self._session, self.arrays, self._pieces, self.gate, self.name = session, arrays, pieces, gate, name
        self._vector = lru_cache(maxsize=16384)(self._mean_of_pieces)

    @classmethod
    def load(cls, folder: Path | None = None) -> ReferenceNet:
        """Loads ``coreference.onnx`` and ``coreference.npz``. Raises ResourceError naming the file that is bad."""
        folder = folder or WEIGHTS
        graph, heads = folder / "coreference.onnx", folder / "coreference.npz"
        try:
            with np.load(heads, allow_pickle=False) as stored:
                arrays = {k: stored[k] for k in stored.files}
            names = str(arrays.pop("pieces")).split("\n")
            pieces = Pieces(dict(zip(names, arrays.pop("piece_scores").tolist(), strict=True)), 3)
            scale, bias, threshold = arrays.pop("gate_terms").tolist()
            gate = ReferenceGate(arrays.pop("gate").astype(np.float32) * np.float32(scale), bias, threshold)
            for group in _HEADS[0]:
                arrays[group + ".weight"] = np.ascontiguousarray(arrays[group + ".weight"].T, dtype=np.float32)
            gap = arrays.pop("gap.weight")
            arrays["marks"] = np.concatenate([arrays.pop("tag.weight"), gap[: len(gap) // 2], gap[len(gap) // 2 :]], 1)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ResourceError(f"{heads}: {error}") from error
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            session = ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
            digest = hashlib.sha256(graph.read_bytes()).hexdigest()[:12]
        except Exception as error:  # the runtime raises its own kinds for a missing, cut or foreign file
            raise ResourceError(f"{graph}: {error}") from error
        return cls(session, arrays, pieces, gate, f"coreference-{digest}")

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        """One affine head."""
        return x @ self.arrays[name + ".weight"] + self.arrays[name + ".bias"]

    def read(self, layout: Layout) -> Reading:
        """Runs the encoder over a layout."""
        a = self.arrays
        words = np.concatenate([self._vector(surface) for surface in layout.surfaces]).reshape(len(layout.keys), -1)
        words += a["segments"][layout.segments] + a["matches"][layout.matches]
        words += a["shapes"][layout.shapes] + a["classes"][layout.classes]
        states = self._session.run(None, {"embedded": words[None]})[0][0]
        return Reading(self, layout, np.asarray(states, dtype=np.float32))

    def _mean_of_pieces(self, surface: str) -> np.ndarray:
        """A word's vector ``[H]``: most words come again and again, so they are remembered."""
        table, scale = self.arrays["table"], self.arrays["table_scale"]
        ids = list(self._pieces.cut(surface)[:PIECES])
        if not ids:
            return np.zeros(table.shape[1], dtype=np.float32)
        mean: np.ndarray = (table[ids] * scale[ids, None]).mean(0)
        return mean


class Reading:
    """Word states of one utterance with its context, and what the heads say about them."""

    def __init__(self, net: ReferenceNet, layout: Layout, states: np.ndarray) -> None:
        self.net, self.layout, self.states = net, layout, states
        self._copyable = np.array(layout.copyable)
        self._marks: np.ndarray | None = None
        self._keys: np.ndarray | None = None
        self._phrases: dict[tuple[int, int], Phrase] = {}
        self._point_keys: np.ndarray | None = None

    def replaced(self) -> np.ndarray:
        """Probabilities ``[words, 3]`` that a word stays, begins or continues a stretch to be replaced."""
        return softmax(self._marked()[1:-1, :3] + self.net.arrays["tag.bias"])

    def missing(self) -> np.ndarray:
        """Probability ``[words + 1]`` that something is missing before each word, and at the end."""
        left, right = np.split(self._marked()[:, 3:], 2, 1)
        hidden = np.maximum(left[:-1] + right[1:] + self.net.arrays["gap.bias"], 0)
        return sigmoid(self.net.linear("gap_out", hidden)[:, 0])

    def _marked(self) -> np.ndarray:
        """What the two heads over the utterance's words make of each word and its marks, in one product."""
        if self._marks is None:
            self._marks = self.states[: len(self.layout.words) + 2] @ self.net.arrays["marks"]
        return self._marks

    def _site(self, start: int, end: int) -> np.ndarray:
        last = max(end - 1, start - 1)
        s = self.states
        return np.concatenate([s[start + 1], s[last + 1], s[start], np.array([start == end], dtype=np.float32)])

    def phrase(self, start: int, end: int) -> Phrase:
        """The words that belong at a site, chosen one after another; a word position is used once."""
        if (start, end) not in self._phrases:
            self._phrases[start, end] = self._decode(start, end)
        return self._phrases[start, end]

    def _decode(self, start: int, end: int) -> Phrase:
        net, a = self.net, self.net.arrays
        if self._keys is None:
            self._keys = net.linear("key", self.states)
        site = net.linear("site", self._site(start, end))
        width = self._keys.shape[1]
        before, path, logs = -1 - len(CONNECTORS), [], []
        free = self._copyable.copy()
        free[start + 1 : end + 1] = False
        for step in range(MAX_PHRASE):
            prev = net.linear("previous", self.states[before]) if before >= 0 else a["connector_in"][-1 - before]
            prev = prev + a["steps"][min(step, 7)]
            query = net.linear("query", np.maximum(site + np.concatenate([prev, prev]), 0))
            scores = self._keys @ query / np.sqrt(width)
            if 0 <= before < len(scores) - 1:
                scores[before + 1] += float(a["next_bias"])
            scores = np.where(free, scores, -1e4)
            p = softmax(np.concatenate([scores, a["connectors"] @ query / np.sqrt(width)]))
            best = int(p.argmax())
            at = best if best < len(scores) else -1 - (best - len(scores))
            logs.append(self._mass(p, at, len(scores)))
            if at == -1 - STOP:
                break
            path.append(at)
            if at >= 0:
                free[at] = False
            before = at
        return Phrase(path, float(np.exp(np.mean(np.log(np.maximum(logs, 1e-9))))))

    def _mass(self, p: np.ndarray, at: int, positions: int) -> float:
        """Probability of the chosen word wherever it stands."""
        if at < 0:
            return float(p[positions - 1 - at])
        key = self.layout.keys[at]
        return float(sum(p[i] for i, k in enumerate(self.layout.keys) if k == key))

    def pointer(self, start: int, end: int) -> np.ndarray:
        """Weights ``[positions + 1]`` of the words that the mention ``start..end`` may mean; the last: none of them."""
        site = self._site(start, end)
        if self._point_keys is None:
            self._point_keys = self.net.linear("point_key", self.states)
        scores = self._point_keys @ self.net.linear("point_query", site)
        scores = np.where(self._copyable, scores / np.sqrt(self.net.arrays["point_key.bias"].shape[0]), -1e4)
        scores[start + 1 : end + 1] = -1e4
        return softmax(np.concatenate([scores, self.net.linear("point_none", site)]))


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax over the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Logistic function."""
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))
