"""The reference network: the lower layers of multilingual e5-small over words, with edit, copy and pointer heads.

Site heads say which words are replaced (B, I, O) and at which gaps something is missing. The copy head writes the
phrase of a site word by word: each step copies a position or adds a connector, seen from the site and the word before.
The pointer head weighs the words that a mention may mean, or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.references.edit_net import CLASSES, CONNECTORS, SEGMENTS, SHAPES
from models.train.coreference_data import Example, Pointing

KEY = 128
_NAMES = {
    "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense",
    "down": "output.dense", "norm2": "output.LayerNorm",
}  # fmt: skip
PIECES = 6


class Layer(nn.Module):
    """One transformer layer (post-norm, as BERT's). Plain products: PyTorch's fused attention is slow backwards on a CPU.

    Dropout takes the same features from all words of an example: drawing a number for each word costs a tenth of the time.
    """

    def __init__(self, hidden: int, inner: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
        self.norm1, self.norm2 = nn.LayerNorm(hidden, 1e-12), nn.LayerNorm(hidden, 1e-12)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """``x`` [B, L, H]; ``bias`` [B, 1, 1, L] is added to the attention scores."""
        batch, length, hidden = x.shape
        size = hidden // self.heads
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        scores = torch.matmul(q * size**-0.5, k.transpose(-1, -2)) + bias
        y = torch.matmul(torch.softmax(scores, -1).to(v.dtype), v).transpose(1, 2).reshape(batch, length, hidden)
        x = self.norm1(x + self._drop(self.out(y)))
        return self.norm2(x + self._drop(self.down(F.gelu(self.up(x)))))

    def _drop(self, x: Tensor) -> Tensor:
        return x * F.dropout(x.new_ones(x.shape[0], 1, x.shape[2]), self.dropout) if self.training else x


class EditNet(nn.Module):
    """Word states ``[B, L, H]`` and the heads over them. The piece table is frozen."""

    def __init__(
        self, table: Tensor, layers: int, hidden: int = 384, heads: int = 12, inner: int = 1536, places: int = 512,
        dropout: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = nn.ModuleList(Layer(hidden, inner, heads, dropout) for _ in range(layers))
        self.places = nn.Parameter(torch.zeros(places, hidden))
        self.norm = nn.LayerNorm(hidden, 1e-12)
        self.dropout = dropout
        self.origin: dict[str, Any] = {}
        self.table = nn.Embedding.from_pretrained(table, freeze=True)
        self.segments = nn.Embedding(SEGMENTS, hidden)
        self.matches = nn.Embedding(2, hidden)
        self.shapes = nn.Embedding(SHAPES, hidden)
        self.classes = nn.Embedding(CLASSES, hidden)
        for part in (self.segments, self.matches, self.shapes, self.classes):
            nn.init.normal_(part.weight, std=0.02)
        self.tag = nn.Linear(hidden, 3)
        self.gap = nn.Linear(2 * hidden, KEY)
        self.gap_out = nn.Linear(KEY, 1)
        self.key = nn.Linear(hidden, KEY)
        self.previous = nn.Linear(hidden, KEY)
        self.site = nn.Linear(3 * hidden + 1, 2 * KEY)
        self.query = nn.Linear(2 * KEY, KEY)
        self.connectors = nn.Embedding(len(CONNECTORS), KEY)
        self.connector_in = nn.Embedding(len(CONNECTORS) + 1, KEY)
        self.steps = nn.Embedding(8, KEY)
        self.next_bias = nn.Parameter(torch.tensor(1.0))
        self.point_key = nn.Linear(hidden, KEY)
        self.point_query = nn.Linear(3 * hidden + 1, KEY)
        self.point_none = nn.Linear(3 * hidden + 1, 1)

    def body(self) -> list[nn.Parameter]:
        """What comes from the encoder, as against the fresh heads and features."""
        return [self.places, *self.norm.parameters(), *self.layers.parameters()]

    def load_lower_layers(self, weights: Mapping[str, np.ndarray]) -> None:
        """Takes positions, layer norm and the first layers from BERT weights by their usual names."""
        given = {k: torch.from_numpy(np.array(v)) for k, v in weights.items()}
        kind = given["embeddings.token_type_embeddings.weight"][0]
        own = {"places": given["embeddings.position_embeddings.weight"] + kind}
        for part in ("weight", "bias"):
            own[f"norm.{part}"] = given[f"embeddings.LayerNorm.{part}"]
            for n in range(len(self.layers)):
                layer = f"encoder.layer.{n}."
                inner = [given[f"{layer}attention.self.{name}.{part}"] for name in ("query", "key", "value")]
                own[f"layers.{n}.qkv.{part}"] = torch.cat(inner)
                for short, long in _NAMES.items():
                    own[f"layers.{n}.{short}.{part}"] = given[f"{layer}{long}.{part}"]
        left = self.load_state_dict(own, strict=False)
        if left.unexpected_keys:
            raise ValueError(f"unknown weights: {left.unexpected_keys}")

    def embed(self, batch: dict[str, Tensor]) -> Tensor:
        """Mean of each word's pieces plus what is known of the word."""
        pieces, mask = self.table(batch["pieces"]), batch["piece_mask"]
        words = (pieces * mask.unsqueeze(-1)).sum(2) / mask.sum(2, keepdim=True).clamp(min=1)
        return (
            words + self.segments(batch["segments"]) + self.matches(batch["matches"]) + self.shapes(batch["shapes"])
            + self.classes(batch["classes"])
        )  # fmt: skip

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """Word states from word embeddings ``[B, L, H]`` and a mask ``[B, L]``."""
        x = self.norm(embedded + self.places[: embedded.shape[1]])
        if self.training:
            x = x * F.dropout(x.new_ones(*x.shape[:2], 1), self.dropout / 2)
        bias = torch.zeros(mask.shape, dtype=torch.float32).masked_fill(mask == 0, -1e4)[:, None, None]
        for layer in self.layers:
            x = layer(x, bias)
        return x

    def site_vector(self, states: Tensor, b: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """States at a site: first word, last word (of a gap: right and left neighbour), the one before; and is it a gap."""
        last = torch.maximum(end - 1, start - 1)
        gap = (start == end).to(states.dtype).unsqueeze(-1)
        return torch.cat([states[b, start + 1], states[b, last + 1], states[b, start], gap], -1)

    def loss(self, batch: dict[str, Tensor], states: Tensor) -> dict[str, Tensor]:
        """Losses of the four heads, each a mean over what it is asked."""
        out: dict[str, Tensor] = {}
        tags = self.tag(states)
        known = batch["tags"] >= 0
        out["tag"] = F.cross_entropy(tags[known], batch["tags"][known]) if known.any() else tags.sum() * 0
        gaps = self.gap_out(F.relu(self.gap(torch.cat([states[:, :-1], states[:, 1:]], -1)))).squeeze(-1)
        asked = batch["gaps"] >= 0
        out["gap"] = (
            F.binary_cross_entropy_with_logits(gaps[asked], batch["gaps"][asked].float())
            if asked.any()
            else gaps.sum() * 0
        )
        out["copy"] = self.copy_loss(batch, states) if len(batch["step_b"]) else states.sum() * 0
        out["point"] = self.point_loss(batch, states) if len(batch["point_b"]) else states.sum() * 0
        return out

    def copy_loss(self, batch: dict[str, Tensor], states: Tensor) -> Tensor:
        b = batch["step_b"]
        site = self.site(self.site_vector(states, b, batch["step_start"], batch["step_end"]))
        before = batch["step_before"]
        copied = self.previous(states[b, before.clamp(min=0)])
        added = self.connector_in((-1 - before).clamp(min=0, max=len(CONNECTORS)))
        prev = torch.where((before >= 0).unsqueeze(-1), copied, added) + self.steps(batch["step_index"])
        query = self.query(F.relu(site + torch.cat([prev, prev], -1)))
        keys = self.key(states)[b]
        scores = torch.einsum("nd,nld->nl", query, keys) / KEY**0.5
        position = torch.arange(scores.shape[1]).unsqueeze(0)
        scores = scores + self.next_bias * ((position == before.unsqueeze(-1) + 1) & (before >= 0).unsqueeze(-1))
        scores = scores.float().masked_fill(~batch["copyable"][b], -1e4)
        words = (query @ self.connectors.weight.T / KEY**0.5).float()
        logits = torch.cat([scores, words], 1)
        right = torch.cat([batch["step_right"], batch["step_word"]], 1)
        return (logits.logsumexp(1) - logits.masked_fill(~right, -1e4).logsumexp(1)).mean()

    def point_loss(self, batch: dict[str, Tensor], states: Tensor) -> Tensor:
        b = batch["point_b"]
        site = self.site_vector(states, b, batch["point_start"], batch["point_end"])
        scores = torch.einsum("nd,nld->nl", self.point_query(site), self.point_key(states)[b]) / KEY**0.5
        scores = scores.float().masked_fill(~batch["point_may"], -1e4)
        logits = torch.cat([scores, self.point_none(site).float()], 1)
        right = batch["point_right"]
        return (logits.logsumexp(1) - logits.masked_fill(~right, -1e4).logsumexp(1)).mean()


def padded(length: int) -> int:
    """Length of a batch's rows: few different shapes let the kernels be reused."""
    return -(-length // 8) * 8


def collate(examples: Sequence[Example], pieces: Sequence[Sequence[Sequence[int]]]) -> dict[str, Tensor]:
    """Pads a batch; ``pieces`` gives each position's piece ids."""
    size, length = len(examples), padded(max(len(e.layout.keys) for e in examples))
    grid = {
        name: np.zeros((size, length), dtype=np.int64) for name in ("segments", "matches", "shapes", "classes", "mask")
    }
    ids = np.zeros((size, length, PIECES), dtype=np.int64)
    piece_mask = np.zeros((size, length, PIECES), dtype=np.float32)
    copyable = np.zeros((size, length), dtype=bool)
    tags = np.full((size, length), -1, dtype=np.int64)
    gaps = np.full((size, length - 1), -1, dtype=np.int64)
    steps: list[tuple[int, ...]] = []
    rights: list[Sequence[int]] = []
    points: list[tuple[int, Pointing]] = []
    for i, example in enumerate(examples):
        layout = example.layout
        n = len(layout.keys)
        for name in ("segments", "matches", "shapes", "classes"):
            grid[name][i, :n] = getattr(layout, name)
        grid["mask"][i, :n] = 1
        copyable[i, :n] = layout.copyable
        for j, got in enumerate(pieces[i]):
            got = got[:PIECES]
            ids[i, j, : len(got)], piece_mask[i, j, : len(got)] = got, 1
        if example.edits is not None:
            m = len(layout.words)
            tags[i, 1 : m + 1], gaps[i, : m + 1] = 0, 0
            for edit in example.edits:
                if edit.start == edit.end:
                    gaps[i, edit.start] = 1
                else:
                    tags[i, edit.start + 1 : edit.end + 1] = 2
                    tags[i, edit.start + 1] = 1
                before = -1 - len(CONNECTORS)
                for t, (right, at) in enumerate(zip(edit.steps, edit.path, strict=True)):
                    steps.append((i, edit.start, edit.end, before, min(t, 7)))
                    rights.append(right)
                    before = at
        points.extend((i, p) for p in example.pointings)
    step_right = np.zeros((len(steps), length), dtype=bool)
    step_word = np.zeros((len(steps), len(CONNECTORS)), dtype=bool)
    for k, allowed in enumerate(rights):
        for r in allowed:
            if r >= 0:
                step_right[k, r] = True
            else:
                step_word[k, -1 - r] = True
    may = np.zeros((len(points), length), dtype=bool)
    point_right = np.zeros((len(points), length + 1), dtype=bool)
    for k, (i, point) in enumerate(points):
        may[k] = copyable[i]
        may[k, point.start + 1 : point.end + 1] = False
        if point.wrong:
            point_right[k, :length], point_right[k, length] = may[k], True
            point_right[k, point.wrong] = False
        else:
            point_right[k, [p for p in point.right if may[k, p]] or [length]] = True
    columns = np.array(steps, dtype=np.int64).reshape(-1, 5)
    where = np.array([(i, p.start, p.end) for i, p in points], dtype=np.int64).reshape(-1, 3)
    arrays = {
        **grid, "pieces": ids, "piece_mask": piece_mask, "copyable": copyable, "tags": tags, "gaps": gaps,
        "step_b": columns[:, 0], "step_start": columns[:, 1], "step_end": columns[:, 2], "step_before": columns[:, 3],
        "step_index": columns[:, 4], "step_right": step_right, "step_word": step_word,
        "point_b": where[:, 0], "point_start": where[:, 1], "point_end": where[:, 2], "point_may": may,
        "point_right": point_right,
    }  # fmt: skip
    return {name: torch.from_numpy(a) for name, a in arrays.items()}
