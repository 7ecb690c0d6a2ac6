"""Any sentence-transformers or transformers encoder in the place of the shipped one: ``st:NAME_OR_PATH`` (extra `train`).

A path needs no network. Token states come with their character spans, the index (`passage`) and search (`query`) vectors from the
model's own pooling and later modules, each under the model's own prompt where its configuration has one. Every text runs
alone, so its numbers cannot depend on what else is in the batch.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from models.encoder import Encoded, Encoder, Heads, readable, unit
from models.errors import ResourceError

PREFIX = "st:"
WINDOWS = 16
"""A text longer than the model takes is read in windows, at most so many."""
QUERY_PROMPTS, PASSAGE_PROMPTS = ("query",), ("passage", "document")


class OutsideEncoded(Encoded):
    """As `Encoded`, of a model whose vectors are not plain means of token states: a span is then read by itself."""

    _reader: OutsideEncoder

    def span_passage(self, start: int, end: int) -> np.ndarray:
        """Unit vector [D] of a span in the index space."""
        said = self.text[start:end]
        return self.passage if not said.strip() else self._reader.vector(said, self._reader.passage_prompt)


class OutsideEncoder(Encoder):
    """A loaded model with the shipped encoder's interface. `name` follows its weights, its tokenizer and its prompts."""

    def __init__(self, model: Any, label: str) -> None:
        self._model: Any = model
        self._cut: Any = model.tokenizer
        if not getattr(self._cut, "is_fast", False):
            raise ResourceError(
                f"{label}: its tokenizer knows no character offsets (no fast tokenizer): take another model"
            )
        prompts = {name: text for name, text in (model.prompts or {}).items() if text}
        self.query_prompt = next((prompts[name] for name in QUERY_PROMPTS if name in prompts), "")
        self.passage_prompt = next((prompts[name] for name in PASSAGE_PROMPTS if name in prompts), "")
        self._longest = int(model.max_seq_length or 512)
        self._lock = threading.Lock()
        self._workers: ThreadPoolExecutor | None = None
        probe = self._pass("a", "")
        self.dimension = len(probe[2])
        self.state_size = probe[1].shape[1]
        self._means = self.dimension == self.state_size and np.allclose(
            unit(probe[3]), unit(probe[2]), atol=1e-4
        )  # the vector is the mean state of all tokens, so that a span's mean lies in the same space
        self.name = f"{Path(label).name}-{_fingerprint(model, self.query_prompt, self.passage_prompt)}"
        same = np.eye(self.dimension, dtype=np.float32) if self._means else np.zeros((0, 0), np.float32)
        nothing = np.zeros(len(same), np.float32)
        self._same = Heads(same, nothing, same, nothing)

    @classmethod
    def open(cls, choice: str) -> OutsideEncoder:
        """The model of ``st:NAME_OR_PATH`` or of a folder. Raises ResourceError where it, or the extra, is missing."""
        label = choice.removeprefix(PREFIX)
        if not label:
            raise ResourceError(f"{choice}: expected st:NAME_OR_PATH")
        if label.startswith((".", "/", "~")) and not Path(label).expanduser().is_dir():
            raise ResourceError(f"encoder {choice}: no such folder")
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ResourceError(
                f"encoder {choice} needs the extra `train` ({error}): pip install 'cuestream[train]', or unset CUESTREAM_ENCODER"
            ) from error
        torch.set_num_threads(1)
        local = Path(label).expanduser()
        if local.is_dir():  # nothing is fetched, and there is nothing to wait for
            from transformers.utils import logging as notes

            notes.disable_progress_bar()
        try:
            model = SentenceTransformer(
                str(local) if local.is_dir() else label, device="cpu", local_files_only=local.is_dir()
            )
        except Exception as error:  # the libraries raise kinds of their own
            raise ResourceError(f"encoder {choice}: cannot be loaded ({type(error).__name__}: {error})") from error
        return cls(model.eval(), label.rstrip("/"))

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Each text's vectors, in order."""
        return [self.encode_one(text) for text in texts]

    def encode_ahead(self, texts: Sequence[str]) -> list[Future[Encoded]]:
        """The same, begun at once on a thread of its own."""
        if self._workers is None:
            self._workers = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        return [self._workers.submit(self.encode_one, text) for text in texts]

    def encode_one(self, text: str) -> Encoded:
        """One text's vectors."""
        said = readable(text)
        offsets, states, passage, pooled = self._pass(said, self.passage_prompt)
        query = passage if self.query_prompt == self.passage_prompt else self.vector(said, self.query_prompt)
        kind = Encoded if self._means else OutsideEncoded
        encoded = kind(
            text=text, offsets=offsets, states=states, pooled=pooled, passage=unit(passage), query=unit(query), heads=self._same
        )  # fmt: skip
        if isinstance(encoded, OutsideEncoded):
            object.__setattr__(encoded, "_reader", self)
        return encoded

    def vector(self, text: str, prompt: str) -> np.ndarray:
        """Unit vector [D] of a text under a prompt."""
        return unit(self._pass(text, prompt)[2])

    def _pass(self, text: str, prompt: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Offsets [n, 2], token states [n, H], the model's vector [D] and the mean state [H], over windows where the text is long."""
        found = [self._window(text, start, end, prompt) for start, end in self._windows(text, prompt)]
        if len(found) == 1:
            return found[0]
        weights = np.array([max(len(part[0]), 1) for part in found], np.float32)
        weights /= weights.sum()
        vector, pooled = (sum(w * part[k] for w, part in zip(weights, found, strict=True)) for k in (2, 3))
        return np.concatenate([p[0] for p in found]), np.concatenate([p[1] for p in found]), vector, pooled

    def _windows(self, text: str, prompt: str) -> list[tuple[int, int]]:
        """Stretches of the text that the model takes at once."""
        with self._lock:
            places = self._cut(
                text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
            )["offset_mapping"]
            spent = len(self._cut(prompt)["input_ids"])
        room = max(8, self._longest - spent - 4)
        if len(places) <= room:
            return [(0, len(text))]
        starts = [places[at][0] for at in range(0, len(places), room)][:WINDOWS]
        last = places[min(len(places), room * WINDOWS) - 1][1]
        return list(zip(starts, [*starts[1:], last], strict=True))

    def _window(
        self, text: str, start: int, end: int, prompt: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        import torch

        with self._lock, torch.inference_mode():
            made = self._cut(
                prompt + text[start:end], return_offsets_mapping=True, truncation=True, max_length=self._longest,
                return_tensors="pt", verbose=False,
            )  # fmt: skip
            places = made.pop("offset_mapping")[0].numpy().astype(np.int32)
            out = self._model(dict(made))
            states = out["token_embeddings"][0].float().numpy()
            vector = out["sentence_embedding"][0].float().numpy()
        own = (places[:, 1] > places[:, 0]) & (places[:, 0] >= len(prompt))
        offsets = places[own] + np.int32(start - len(prompt))
        return offsets, np.ascontiguousarray(states[own]), vector, states.mean(0)


def _fingerprint(model: Any, *prompts: str) -> str:
    """Eight hexadecimal digits that follow the weights, the tokenizer, the modules after it and the prompts."""
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().view(-1).numpy().tobytes())
    digest.update(model.tokenizer.backend_tokenizer.to_str().encode())
    digest.update(repr([type(module).__name__ for module in model]).encode())
    pooling: list[Any] = [getattr(module, "get_config_dict", dict)() for module in list(model)[1:]]
    digest.update(repr(pooling).encode())
    digest.update("\0".join(prompts).encode())
    return digest.hexdigest()[:8]
