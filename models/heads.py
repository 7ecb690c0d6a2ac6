"""Whether trained heads belong to an encoder: what was fitted to one encoder's numbers means nothing to another's."""

from __future__ import annotations

from functools import lru_cache

from models.encoder import SHIPPED, read_name
from models.errors import ResourceError


@lru_cache(maxsize=1)
def shipped_name() -> str:
    """The shipped encoder's name, read from its manifest: heads that name none were trained on it."""
    return read_name(SHIPPED)


def heads_fit(made_for: str, encoder: str, file: str, command: str) -> None:
    """Raises ResourceError where the heads of `file` were trained for another encoder; it names the command that trains them."""
    if (made_for or shipped_name()) != encoder:
        raise ResourceError(
            f"{file} was trained for encoder {made_for or shipped_name()}, and this is {encoder}: train it again with "
            f"`{command}` and point `weights` at that folder, or set CUESTREAM_ENCODER back"
        )
