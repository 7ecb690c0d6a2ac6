"""Domain terms: the automaton against plain search, and bad lists."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import ResourceError
from models.units.domain_terms import SHIPPED, TermList, read_terms


def test_shipped_list_is_large_and_fast() -> None:
    terms = read_terms(SHIPPED)
    assert len(terms) >= 1000
    text = "这个服务走 HTTPS，Redis 缓存雪崩之后接口全挂了。" * 2
    terms.find(text)
    begun = time.process_time()
    for _ in range(100):
        terms.find(text)
    assert (time.process_time() - begun) / 100 < 0.002


def test_blanks_and_repeats_are_tolerated() -> None:
    terms = TermList(["API", "", "  ", "api", "ＡＰＩ", "压缩机", "压缩机", "x" * 500])
    assert terms.terms == ("api", "压缩机")
    assert len(TermList([])) == 0
    assert TermList([]).find("API") == []


def test_latin_terms_are_whole_words() -> None:
    terms = TermList(["API", "SQL"])
    assert [h.term for h in terms.find("capital, mysql, the API, 用SQL查")] == ["api", "sql"]


def test_overlapping_terms_are_all_found() -> None:
    assert [h.term for h in TermList(["缓存", "缓存雪崩", "雪崩"]).find("缓存雪崩了")] == ["缓存", "缓存雪崩", "雪崩"]


def test_a_character_that_grows_when_lowered_keeps_offsets() -> None:
    text = "İİ 压缩机"
    hit = TermList(["压缩机"]).find(text)[0]
    assert text[hit.start : hit.end] == "压缩机"


@given(
    st.lists(st.text(alphabet="甲乙丙", min_size=1, max_size=3), max_size=6), st.text(alphabet="甲乙丙丁", max_size=30)
)
def test_finds_what_plain_search_finds(words: list[str], text: str) -> None:
    found = {(h.start, h.end) for h in TermList(words).find(text)}
    wanted = {(m.start(), m.start() + len(w)) for w in words for m in re.finditer(f"(?={re.escape(w)})", text)}
    assert found == wanted


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "terms.txt"
    path.write_text("# comment\n\n变频器\n变频器\n", encoding="utf-8")
    assert read_terms(path).terms == ("变频器",)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ResourceError, match=r"terms\.txt"):
        read_terms(path)
    with pytest.raises(ResourceError):
        read_terms(tmp_path / "none.txt")
