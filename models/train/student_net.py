"""The student as a torch module: a few BERT layers, a learned mix of their outputs, and the heads of its tasks.

Written out instead of taken from `transformers`, whose attention has a backward pass several times slower on a CPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HIDDEN, WIDE, HEADS = 384, 1536, 12
LAYERS = (0, 2, 4, 7, 9, 11)
"""The teacher's layers that the student starts from."""
OUTPUTS = 27
"""Logits of filter 2's net (models.affect_net.OUTPUTS)."""
SEGMENT_STYLES = ("unit_zh", "tree_zh", "unit_en", "tree_en", "act_en", "apart")
"""Ways of cutting clauses, by source: each is a logit of its own over the same hidden layer."""
Weights = dict[str, np.ndarray]


class Batch:
    """Texts of many lengths as one row of tokens: sorted by length and padded only within groups of like length.

    `ids`, `positions` int [T], `mask` float [T] (0 at padding), `inner` the same with 0 at the two sentence marks, which are not
    among an Encoded's states; `groups` holds (texts, length, attention bias);
    `spans` the tokens of each text [N, 2], in the order of `order` (rows sorted by length).
    """

    def __init__(self, rows: Sequence[list[int]]) -> None:
        self.order = sorted(range(len(rows)), key=lambda row: (len(rows[row]), row))
        cut: list[list[int]] = []
        for row in self.order:
            if cut and len(rows[row]) <= 1.14 * len(rows[cut[-1][0]]) + 1:
                cut[-1].append(row)
            else:
                cut.append([row])
        self.groups: list[tuple[int, int, Tensor]] = []
        ids: list[int] = []
        mask: list[float] = []
        positions: list[int] = []
        self.spans: list[tuple[int, int]] = []
        for group in cut:
            longest, start = max(len(rows[row]) for row in group), len(ids)
            for row in group:
                spare = longest - len(rows[row])
                self.spans.append((len(ids), len(ids) + len(rows[row])))
                ids += rows[row] + [1] * spare
                mask += [1.0] * len(rows[row]) + [0.0] * spare
                positions += range(longest)
            bias = (torch.tensor(mask[start:]).view(len(group), 1, 1, longest) - 1) * 1e4
            self.groups.append((len(group), longest, bias))
        self.ids, self.positions, self.mask = torch.tensor(ids), torch.tensor(positions), torch.tensor(mask)
        self.inner = self.mask.clone()
        for begin, end in self.spans:
            if end - begin > 2:
                self.inner[begin] = self.inner[end - 1] = 0

    def split(self, states: Tensor) -> tuple[Tensor, ...]:
        """The rows [T, …] by group; one `split`, since every slice would cost a full-size gradient."""
        return states.split([count * length for count, length, _bias in self.groups])

    def pooled(self, states: Tensor, *, inner: bool = False) -> Tensor:
        """Mean states [N, H] of the texts, in `order`; `inner` leaves the sentence marks out."""
        mask = self.inner if inner else self.mask
        parts = [
            part.view(count, length, -1).sum(1) / weight.view(count, length).sum(1, keepdim=True)
            for part, weight, (count, length, _bias) in zip(
                self.split(states * mask[:, None]), self.split(mask), self.groups, strict=True
            )
        ]
        return torch.cat(parts)

    def highest(self, states: Tensor) -> Tensor:
        """Maximum [N, H] over the texts' inner tokens, in `order`."""
        filled = states.masked_fill(self.inner[:, None] == 0, -1e4)
        parts = [
            part.view(count, length, -1).amax(1)
            for part, (count, length, _bias) in zip(self.split(filled), self.groups, strict=True)
        ]
        return torch.cat(parts)


class Layer(nn.Module):
    """One transformer layer with its norms after the sums, as BERT has them."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.out_norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.up, self.down = nn.Linear(HIDDEN, WIDE), nn.Linear(WIDE, HIDDEN)
        self.down_norm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """States [T, H] of all of the batch's tokens; only the attention runs group by group."""
        parts = []
        for joined, (count, length, bias) in zip(batch.split(self.qkv(x)), batch.groups, strict=True):
            q, k, v = joined.view(count, length, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
            if not torch.is_grad_enabled():  # its backward pass is slow on a CPU, its forward pass is not
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
                parts.append(y.transpose(1, 2).reshape(count * length, HIDDEN))
                continue
            weight = torch.softmax(torch.matmul(q * (1 / math.sqrt(HIDDEN // HEADS)), k.transpose(-1, -2)) + bias, -1)
            parts.append(torch.matmul(weight.to(v.dtype), v).transpose(1, 2).reshape(count * length, HIDDEN))
        x = self.out_norm(x + self.out(torch.cat(parts)))
        return self.down_norm(x + self.down(F.gelu(self.up(x))))

    def load(self, weights: Weights, number: int) -> None:
        """Takes layer `number` of BERT weights by their usual names."""
        prefix = f"encoder.layer.{number}"
        inner = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        for kind in ("weight", "bias"):
            _set(self.qkv, kind, np.concatenate([weights[f"{name}.{kind}"] for name in inner]))
            for part, name in self._names(prefix).items():
                _set(getattr(self, part), kind, weights[f"{name}.{kind}"])

    def store(self, weights: Weights, number: int) -> None:
        """Puts the layer's arrays under the usual names."""
        prefix = f"encoder.layer.{number}"
        for kind in ("weight", "bias"):
            whole = getattr(self.qkv, kind).detach().numpy()
            for part, array in zip(("query", "key", "value"), np.split(whole, 3), strict=True):
                weights[f"{prefix}.attention.self.{part}.{kind}"] = array
            for part, name in self._names(prefix).items():
                weights[f"{name}.{kind}"] = getattr(getattr(self, part), kind).detach().numpy()

    @staticmethod
    def _names(prefix: str) -> dict[str, str]:
        return {
            "out": f"{prefix}.attention.output.dense", "out_norm": f"{prefix}.attention.output.LayerNorm",
            "up": f"{prefix}.intermediate.dense", "down": f"{prefix}.output.dense",
            "down_norm": f"{prefix}.output.LayerNorm",
        }  # fmt: skip


class Body(nn.Module):
    """Embeddings and layers; gives the output of every layer."""

    def __init__(self, weights: Weights, layers: Sequence[int]) -> None:
        super().__init__()
        words, places = weights["embeddings.word_embeddings.weight"], weights["embeddings.position_embeddings.weight"]
        self.words = nn.Embedding.from_pretrained(torch.tensor(words), freeze=True)
        self.register_buffer("places", torch.tensor(places + weights["embeddings.token_type_embeddings.weight"][0]))
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        for kind in ("weight", "bias"):
            _set(self.norm, kind, weights[f"embeddings.LayerNorm.{kind}"])
        self.layers = nn.ModuleList([Layer() for _ in layers])
        for layer, number in zip(self.layers, layers, strict=True):
            layer.load(weights, number)

    def first(self, batch: Batch) -> Tensor:
        """Output of embeddings and first layer, without gradient: student and teacher share it."""
        with torch.no_grad():
            return self.layers[0](self.norm(self.words(batch.ids) + self.places[batch.positions]), batch)

    def rest(self, x: Tensor, batch: Batch) -> list[Tensor]:
        """Outputs of all layers [T, H], the first one's given."""
        found = [x]
        for layer in self.layers[1:]:
            found.append(layer(found[-1], batch))
        return found

    def frozen_half(self) -> Body:
        """The body for reading only: layers in bf16, nothing trained."""
        self.requires_grad_(False)
        self.layers.to(torch.bfloat16)
        return self

    def read(self, batch: Batch) -> list[Tensor]:
        """Outputs of all layers [T, H] of a `frozen_half` body."""
        with torch.no_grad():
            x = self.norm(self.words(batch.ids) + self.places[batch.positions]).to(torch.bfloat16)
            found = []
            for layer in self.layers:
                x = layer(x, batch)
                found.append(x)
            return found


class AffectHead(nn.Module):
    """The trained twin of models.affect_net: reads mean and maximum of the mixed states, the surface's dense features and the
    mean mixed states of the last turn of the other side and of the speaker's own (zeros where there is none)."""

    def __init__(self, dense: int, hidden: int = HIDDEN, width: int = 256) -> None:
        super().__init__()
        self.register_buffer("shift", torch.zeros(hidden))
        self.register_buffer("scale", torch.ones(hidden))
        self.turns = nn.Linear(2 * hidden, 96)
        self.hidden = nn.Linear(2 * hidden + dense + 96, width)
        self.out, self.service, self.gate = nn.Linear(width, OUTPUTS), nn.Linear(width, 6), nn.Linear(width, 1)
        self.drop_in, self.drop = nn.Dropout(0.1), nn.Dropout(0.3)

    def forward(self, mean: Tensor, highest: Tensor, dense: Tensor, other: Tensor, own: Tensor) -> Tensor:
        """Logits [B, 27 + 6 + 1]: the blocks, the service head, the gate; states standardised by `standard`."""
        turns = F.relu(self.turns(self.drop_in(torch.cat((other, own), 1))))
        parts = (self.drop_in(mean), self.drop_in(highest), dense, turns)
        hidden = self.drop(F.relu(self.hidden(torch.cat(parts, 1))))
        return torch.cat((self.out(hidden), self.service(hidden), self.gate(hidden)), 1)

    def standard(self, states: Tensor) -> Tensor:
        """States scaled by the fixed mean and deviation of mixed states."""
        return (states - self.shift) * self.scale


class Student(nn.Module):
    """The body with its mix, the two retrieval heads, the affect head and the clause net, which reads a token and the one before."""

    def __init__(self, weights: Weights, layers: Sequence[int], dense: int) -> None:
        super().__init__()
        self.body = Body(weights, layers)
        self.mix = nn.Parameter(torch.zeros(len(layers)))
        self.heads = nn.ModuleDict({"passage": nn.Linear(HIDDEN, HIDDEN), "query": nn.Linear(HIDDEN, HIDDEN)})
        self.affect = AffectHead(dense)
        self.segment_hidden, self.segment_out = nn.Linear(2 * HIDDEN, 96), nn.Linear(96, len(SEGMENT_STYLES))
        self.drop = nn.Dropout(0.3)
        for frozen in (self.body.words, self.body.norm, self.body.layers[0]):
            for parameter in frozen.parameters():
                parameter.requires_grad_(False)

    def mixed(self, outputs: Sequence[Tensor]) -> Tensor:
        """Weighted sum of the layers' outputs, [T, H]."""
        weight = torch.softmax(self.mix, 0)
        return torch.stack([w * output.float() for w, output in zip(weight, outputs, strict=True)]).sum(0)

    def segments(self, mixed: Tensor, before: Tensor) -> Tensor:
        """Boundary logits [N, styles] of tokens from their standardised mixed states [N, H] and those of the tokens before."""
        return self.segment_out(self.drop(F.relu(self.segment_hidden(torch.cat((mixed, before), -1)))))

    def weights(self) -> Weights:
        """Arrays by BERT's usual names, and `mix` (float32 [L], sum 1), for models.train.encoder_graph."""
        found: Weights = {
            "embeddings.word_embeddings.weight": self.body.words.weight.detach().numpy(),
            "embeddings.position_embeddings.weight": self.body.places.numpy(),
            "embeddings.token_type_embeddings.weight": np.zeros((1, HIDDEN), np.float32),
            "embeddings.LayerNorm.weight": self.body.norm.weight.detach().numpy(),
            "embeddings.LayerNorm.bias": self.body.norm.bias.detach().numpy(),
            "mix": torch.softmax(self.mix, 0).detach().numpy(),
        }
        for number, layer in enumerate(self.body.layers):
            layer.store(found, number)
        return found


def _set(module: nn.Module, kind: str, array: np.ndarray) -> None:
    getattr(module, kind).data = torch.tensor(np.asarray(array, np.float32))
