"""Training examples made from dialogues."""

import random

from models.references.edit_net import STOP, lay_out
from models.train.coreference_data import align, copied_run, hide_repeats, pointing, rewriting
from models.train.coreference_made import made_examples


def words_of(layout, path):
    return [layout.surfaces[p] for p in path if p >= 0]


def test_an_inserted_object_is_copied_from_the_context() -> None:
    context = [{"speaker": "A", "text": "你读过长恨歌吗"}]
    layout = lay_out("还没读过", "B", context, 50)
    edits = align(layout.words, "还没读过长恨歌", layout)
    assert edits is not None and len(edits) == 1
    assert edits[0].start == edits[0].end == len(layout.words)
    assert "".join(words_of(layout, edits[0].path)) == "长恨歌" and edits[0].path[-1] == -1 - STOP


def test_a_replaced_pronoun_may_add_a_connector() -> None:
    record = {"text": "Is it open?", "speaker": "A", "context": [{"speaker": "B", "text": "Blue Door serves lunch."}]}
    example = rewriting(record, ["Is the Blue Door open?"], "test", 50)
    assert example is not None and example.edits is not None
    edit = example.edits[0]
    assert (edit.start, edit.end) == (1, 2) and words_of(example.layout, edit.path) == ["Blue", "Door"]
    assert copied_run(edit.path) is not None


def test_words_from_nowhere_are_not_learned() -> None:
    layout = lay_out("Is it open?", "A", [{"speaker": "B", "text": "Blue Door serves lunch."}], 50)
    assert align(layout.words, "Is the submarine open?", layout) is None


def test_the_window_keeps_the_last_words() -> None:
    layout = lay_out("and?", "A", [{"speaker": "B", "text": "one two three four five"}], 3)
    assert [s for s, g in zip(layout.surfaces, layout.segments, strict=True) if g > 1] == ["three", "four", "five"]


def test_a_pointing_lists_other_mentions_of_the_name() -> None:
    text = "Ann met Bo. Ann said she was tired."
    record = {"text": text, "mentions": [{"start": 21, "end": 24, "antecedent": {"turn": -1, "start": 12, "end": 15}}]}
    example = pointing(record, "test", 50)
    assert example is not None
    assert [example.layout.surfaces[p] for p in example.pointings[0].right] == ["Ann", "Ann"]


def test_hiding_keeps_the_rewrite() -> None:
    turns = [{"speaker": "A", "text": "我买了咖啡机"}, {"speaker": "B", "text": "咖啡机很好用"}]
    made = list(hide_repeats(turns, random.Random(1), {"咖啡机": "thing"}))
    assert made and all(rewrite == "咖啡机很好用" and record["text"] != rewrite for record, rewrite in made)


def test_made_dialogues_are_the_same_for_the_same_seed() -> None:
    first = [e.layout.keys for e in made_examples(random.Random(5), 60, {})]
    assert first == [e.layout.keys for e in made_examples(random.Random(5), 60, {})]
