"""Encoders of sentence-transformers and transformers by path. They need the extra `train`; a tiny model is made on the spot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models.encoder import Encoder
from models.errors import ResourceError

EXTRA = "an encoder by name or path needs the extra `train`: pip install 'cuestream[train]'"


def test_without_the_extra_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(ResourceError, match=r"extra `train`.*pip install"):
        Encoder.load("st:some/model")


@pytest.mark.parametrize("choice", ["st:", "st:/no/such/folder", "st:./nowhere"])
def test_a_wrong_choice_is_named(choice: str) -> None:
    with pytest.raises(ResourceError, match="st:"):
        Encoder.load(choice)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of 64 dimensions with a character tokenizer: a plain transformers folder."""
    pytest.importorskip("sentence_transformers", reason=EXTRA)
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz0123456789:.,",
        *"明天下午三点开会我想退货",
    ]
    made = Tokenizer(models.WordLevel({w: n for n, w in enumerate(dict.fromkeys(words))}, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split("", "isolated")]
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", model_max_length=64
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return folder


def test_a_transformers_folder_is_an_encoder(tiny: Path) -> None:
    encoder = Encoder.load(tiny)
    assert encoder.dimension == 64 and encoder.name.startswith(tiny.name)
    texts = ["明天下午三点开会 😀 abc", "", "我想退货", "a" * 500, "\ud800x"]
    alone = [encoder.encode([text])[0] for text in texts]
    for text, one, other in zip(texts, alone, encoder.encode(texts), strict=True):
        assert (one.passage == other.passage).all() and (one.states == other.states).all()
        assert abs(float(np.linalg.norm(one.passage)) - 1) < 1e-5
        assert one.states.shape == (len(one.offsets), 64)
        assert all(0 <= a < b <= len(text) for a, b in one.offsets)
    first = alone[0]
    assert [first.text[a:b] for a, b in first.offsets][:4] == list("明天下午")
    assert np.allclose(first.query, first.passage)
    assert first.span_passage(0, 4).shape == (64,)
    futures = encoder.encode_ahead(texts)
    assert all((f.result().passage == one.passage).all() for f, one in zip(futures, alone, strict=True))


def test_prompts_and_pooling_of_its_configuration_are_used(tiny: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    body = Transformer(str(tiny))
    model = SentenceTransformer(
        modules=[body, Pooling(64, pooling_mode="cls")],
        prompts={"query": "query: ", "passage": "passage: "},
        device="cpu",
    )
    model.save(str(tmp_path / "prompted"))
    encoder = Encoder.load(f"st:{tmp_path / 'prompted'}")
    text = "abc def"
    found = encoder.encode([text])[0]
    for mine, name in ((found.query, "query"), (found.passage, "passage")):
        theirs = model.encode(text, prompt_name=name)
        assert np.allclose(mine, theirs / np.linalg.norm(theirs), atol=1e-5)
    assert "".join(text[a:b] for a, b in found.offsets) == "abcdef", "the prompt's tokens are not the text's"
    assert np.allclose(found.span_passage(0, 3), encoder.encode(["abc"])[0].passage, atol=1e-5), (
        "first-token pooling: read by itself"
    )


def test_the_name_follows_weights_and_prompts(tiny: Path, tmp_path: Path) -> None:
    import shutil

    import torch
    from transformers import BertModel

    names = {Encoder.load(tiny).name}
    other = tmp_path / tiny.name
    shutil.copytree(tiny, other)
    names.add(Encoder.load(other).name)
    assert len(names) == 1, "a copy is the same encoder"
    model = BertModel.from_pretrained(other)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[7] += 1e-3
    model.save_pretrained(other)
    names.add(Encoder.load(other).name)
    assert len(names) == 2
    (other / "config.json").write_text(json.dumps({"model_type": "no such"}), encoding="utf-8")
    with pytest.raises(ResourceError, match="cannot be loaded"):
        Encoder.load(other)
