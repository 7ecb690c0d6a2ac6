"""The error family.

CuestreamError
├── RecordError      a record cannot be taken: it becomes a dead letter with `reason`
├── ResourceError    a shipped or configured file (weights, word list, settings) is missing, short or wrong
├── UnavailableError something outside does not answer just now: the batch is tried again, nothing is dead-lettered
└── StateError       stored state contradicts itself or the running version; says which command repairs it
"""

from __future__ import annotations


class CuestreamError(Exception):
    """Root of every error that cuestream raises on purpose."""


class RecordError(CuestreamError):
    """A record that a stage cannot take.

    `reason` is a stable snake_case code (``not_json``, ``missing_session_id`` …); `detail` says what was wrong without
    repeating the record's content, since it may be personal.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}" if detail else reason)


class ResourceError(CuestreamError):
    """A file that the job needs is missing, cut short or malformed. The message names the file and what to do."""


class StateError(CuestreamError):
    """Stored state does not fit: wrong encoder, wrong partition count, an id met with other content."""


class UnavailableError(CuestreamError):
    """A store or service does not answer just now. Tried again with back-off; never a reason for a dead letter."""
