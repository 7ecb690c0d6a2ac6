"""The times that units speak of, flat and searchable at once, in hours since 1970."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import numpy.typing as npt

NEVER = np.inf


def hours(moment: datetime | None) -> float:
    """Hours since 1970; a missing moment never comes."""
    return NEVER if moment is None else moment.timestamp() / 3600.0


class Periods:
    """The times that units speak of, flat: slot, start and end (exclusive) in hours since 1970."""

    def __init__(self) -> None:
        self._rows = np.zeros(0, dtype=np.dtype([("slot", "i4"), ("start", "f8"), ("end", "f8")]))
        self._size = 0

    def add(self, slot: int, start: str, end: str | None, grain: str | None) -> None:
        """Adds a period; one that cannot be read is left out."""
        period = period_of(start, end, grain)
        if period is None:
            return
        if self._size == len(self._rows):
            grown = np.zeros(max(64, 2 * len(self._rows)), dtype=self._rows.dtype)
            grown[: self._size] = self._rows
            self._rows = grown
        self._rows[self._size] = (slot, *period)
        self._size += 1

    def rows(self) -> npt.NDArray[np.void]:
        """The periods with fields slot, start, end; those of removed slots are among them."""
        return self._rows[: self._size]


_GRAIN_HOURS = {
    "second": 1 / 60,
    "minute": 0.25,
    "hour": 1.0,
    "day": 24.0,
    "week": 168.0,
    "month": 730.5,
    "quarter": 2191.5,
    "year": 8766.0,
}


def period_of(start: str, end: str | None, grain: str | None) -> tuple[float, float] | None:
    """Start and exclusive end in hours since 1970 of a normalised time; None where it cannot be read."""
    try:
        first = datetime.fromisoformat(start).timestamp() / 3600.0
        last = (
            datetime.fromisoformat(end).timestamp() / 3600.0 if end else first + _GRAIN_HOURS.get(grain or "day", 24.0)
        )
    except (ValueError, OverflowError):
        return None
    return (first, last) if last >= first else None
