"""Tokens as units and summaries are measured: close to what a multilingual tokenizer makes of them, but without one.

A Chinese character is one token, a run of Latin letters or digits one per started six characters, every other visible
sign one. The e5 tokenizer counts fewer on Chinese (about 0.7) and about as many on English.
"""

from __future__ import annotations

import re
from functools import lru_cache

_UNIT = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{1,6}|[^\\w\\s]|_"
)


@lru_cache(maxsize=512)
def count_tokens(text: str) -> int:
    """The number of tokens of a text.

    >>> count_tokens("测试账号已开通"), count_tokens("The refund arrived.")
    (7, 5)
    """
    return len(_UNIT.findall(text))
