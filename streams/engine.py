"""Hop 2, the engine: the three filters in their order, write policy, task step, units, recall, over a batch of messages.

It is a pure function of the messages and the rows it can read: it never writes a row and never publishes. The caller publishes
``Batch.outputs`` first and applies ``Batch.puts`` afterwards. The encoder runs ahead over the whole batch; everything else runs event by
event, so where a batch is cut never changes a result. An event that fails leaves no trace but its dead letter.
"""

from __future__ import annotations

import hashlib
import logging
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from models.encoder import Pending
from models.errors import RecordError, ResourceError, StateError, UnavailableError
from models.records import Command, Rule, Source, Utterance, encode
from streams.messages import Batch, Message, Output
from streams.models import Models
from streams.settings import Settings
from streams.stages.commands import apply_command, take_back
from streams.stages.ingest import dead_letter
from streams.stages.publishing import Publisher
from streams.stages.turn import TurnStages
from streams.stages.validation import decode_input
from tables import units, vector_space
from tables.hot_index import HotIndex
from tables.person import AppliedEvent, PersonState, load_person, person_key, save_person
from tables.person_index import IndexCache
from tables.rulebook import RuleBook
from tables.store import EVENT, HOT, PersonRows, Readable, Transaction

log = logging.getLogger(__name__)

_clean = msgspec.json.Decoder(Utterance)
WARM_UP_TIME = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)
WARM_UP_TURNS = (
    "你好，帮我查一下订单 OD-10001，王经理说明天下午三点前送到，预算不超过五万。",
    "Please tell Anna Smith that we will deliver it by Friday, I like black coffee.",
    "不是周三，是周四，它又出问题了！",
    "When will it arrive?",
)
CONTEXT_ENCODED = 8
"""Turns of a sent-along context that recall searches with, the latest ones."""


@dataclass(slots=True)
class _Item:
    """A message and what was read in it: a record, or why it could not be."""

    message: Message
    record: Utterance | Command | Rule | None = None
    error: RecordError | None = None
    encoded: Pending | None = None
    context: tuple[Pending, ...] = ()


class Engine:
    """The stages with their models and the derived, rebuildable caches (a person's index, the rules in force)."""

    def __init__(self, models: Models, settings: Settings, rules: RuleBook | None = None) -> None:
        self._models = models
        self._settings = settings
        self.rules = RuleBook() if rules is None else rules
        self._indexes = IndexCache(settings.recall.index_cache_mb * 2**20 // settings.worker.lanes)
        self._turns = TurnStages(models, settings, self.rules)

    @classmethod
    def load(cls, settings: Settings) -> Engine:
        """The engine with the shipped (or configured) models, warmed up. Raises `ResourceError`."""
        engine = cls(Models.load(settings), settings)
        engine.warm_up()
        return engine

    def warm_up(self) -> None:
        """Runs a turn of each language through a throw-away state.

        Word lists and weights that are loaded on first use are loaded now: a missing or short one must end the start with its name,
        not dead-letter every event.
        """
        source = Source(topic="utterances.raw", partition=0, offset=0)
        for place, text in enumerate(WARM_UP_TURNS):
            utterance = Utterance(
                event_id=f"warm-up-{place}", session_id="warm-up", user_id="warm-up", text=text, ts=WARM_UP_TIME, source=source,
                original_text=text, lang="zh" if place % 2 == 0 else "en",
            )  # fmt: skip
            message = Message(topic="utterances.clean", partition=0, offset=place, value=encode(utterance))
            item = _decode(message)
            self._encode([item])
            self._apply(item, Transaction({}))
        self._indexes.clear()

    def check_index(self, hot_rows: Iterable[bytes]) -> None:
        """Raises ResourceError where one of these persons' vectors was made by another encoder."""
        for row in hot_rows:
            vector_space.refuse_other(
                msgspec.json.decode(row, type=vector_space.Space).encoder, self._models.encoder.name
            )

    def sibling(self) -> Engine:
        """Another engine with the same models and rules, for other persons."""
        return Engine(self._models, self._settings, self.rules)

    def refresh_lists(self) -> None:
        """Picks up word lists and weights that changed. Between batches only."""
        self._models.refresh()

    def forget_caches(self) -> None:
        """Drops what was derived from rows, as after a rebalance."""
        self._indexes.clear()

    def process(self, messages: Sequence[Message], rows: Readable) -> Batch:
        """The outputs and row changes of a batch, in its order. Never raises for what a record holds."""
        items = [_decode(message) for message in messages]
        self._encode(items)
        batch = Batch()
        transaction = Transaction(rows)
        causes: dict[bytes, int] = {}
        for index, item in enumerate(items):
            attempt = Transaction(transaction)
            try:
                outputs = self._apply(item, attempt)
            except RecordError as error:
                self._drop_index(item)
                outputs, attempt = [_dead(item, error, self._settings)], Transaction(transaction)
            except StateError as error:
                self._indexes.clear()
                refused = RecordError("state_conflict", str(error))
                outputs, attempt = [_dead(item, refused, self._settings)], Transaction(transaction)
            except (UnavailableError, ResourceError):
                self._indexes.clear()
                raise
            except Exception as error:
                where = "".join(traceback.format_tb(error.__traceback__))  # not the message: it may quote the text
                log.error("an event failed in the engine and is dead-lettered: %s\n%s", type(error).__name__, where)
                self._indexes.clear()
                refused = RecordError("internal_error", type(error).__name__)
                outputs, attempt = [_dead(item, refused, self._settings)], Transaction(transaction)
            batch.caused_outputs.extend((index, output) for output in outputs)
            for key, value in attempt.writes():
                if value is None:
                    transaction.delete(key)
                else:
                    transaction.put(key, value)
                causes[key] = index
        batch.puts = [(causes[key], key, value) for key, value in transaction.writes()]
        return batch

    def _drop_index(self, item: _Item) -> None:
        """Forgets the person's hot index: an event that was refused half-way may have changed it, and not the rows."""
        record = item.record
        if isinstance(record, Utterance | Command):
            self._indexes.drop(person_key(record.tenant, record.user_id, record.session_id or ""))

    def _encode(self, items: Sequence[_Item]) -> None:
        """Begins the encoder's pass over the texts of the batch, and over the contexts that were sent along.

        It runs beside filter 1, and ahead of the events: by the time filter 2 asks for a vector it is often there.
        """
        texts: list[str] = []
        places: list[tuple[_Item, int]] = []
        for item in items:
            if isinstance(item.record, Utterance):
                sent = context_texts(item.record)
                places.append((item, len(sent)))
                texts += [item.record.text, *sent]
        if not texts:
            return
        encoded = iter(self._models.encoder.encode_ahead(texts))
        for item, count in places:
            item.encoded = next(encoded)
            item.context = tuple(next(encoded) for _ in range(count))

    def _apply(self, item: _Item, transaction: Transaction) -> list[Output]:
        if item.error is not None:
            raise item.error
        if isinstance(item.record, Rule):
            self.rules.put(item.record)
            return []
        if isinstance(item.record, Command):
            return self._command(item.record, transaction)
        assert isinstance(item.record, Utterance) and item.encoded is not None
        return self._utterance(item.record, item.encoded, item.context, transaction)

    def _command(self, command: Command, transaction: Transaction) -> list[Output]:
        person = person_key(command.tenant, command.user_id, command.session_id or "")
        rows = PersonRows(transaction, person)
        event_id = f"command/{command.command_id}"
        digest = hashlib.blake2b(encode(command), digest_size=12).digest()
        applied = rows.load(EVENT, event_id, type=AppliedEvent)
        if applied is not None:
            if applied.digest != digest:
                raise RecordError("command_id_reused", "this command_id was used for another command")
            put_again(transaction, rows, applied, event_id)
            return []
        state, index = self._person(person, command.tenant, command.user_id, rows)
        publisher = Publisher(person)
        publisher.add_all(apply_command(command, state, rows, index, self._models.encoder))
        self._commit(person, state, rows, event_id, digest)
        return publisher.outputs

    def _person(self, person: str, tenant: str, user_id: str | None, rows: PersonRows) -> tuple[PersonState, HotIndex]:
        state = load_person(rows, tenant, user_id)
        vector_space.claim(state, self._models.encoder.name)
        return state, HotIndex(self._indexes, rows, state, self._models.encoder.dimension)

    def _commit(
        self,
        person: str,
        state: PersonState,
        rows: PersonRows,
        event_id: str,
        digest: bytes,
        revision: int | None = None,
    ) -> None:
        """Notes the event as applied and puts the hot row, last."""
        state.revision += 1
        state.sessions.save(rows)
        units.mark_applied(rows, event_id, digest, revision)
        save_person(rows, state)
        self._indexes.applied(person, state.revision)

    def _utterance(
        self,
        utterance: Utterance,
        encoded: Pending,
        context: tuple[Pending, ...],
        transaction: Transaction,
    ) -> list[Output]:
        person = person_key(utterance.tenant, utterance.user_id, utterance.session_id)
        rows = PersonRows(transaction, person)
        event_id = utterance.event_id or ""
        digest = content_digest(utterance)
        revision = utterance.asr_revision
        applied = units.applied(rows, event_id, digest, revision) if utterance.remember else None
        if applied is not None and (applied.digest == digest or (revision or 0) < applied.revision):
            put_again(transaction, rows, applied, event_id)  # a repeat, or a revision that came after a later one
            return []
        state, index = self._person(person, utterance.tenant, utterance.user_id, rows)
        outputs: list[Output] = []
        if applied is not None:
            outputs = take_back(utterance, applied, state, rows, index, person)
        outputs += self._turns.run(utterance, encoded, context, state, rows, index, person)
        if utterance.remember:
            self._commit(person, state, rows, event_id, digest, revision)
        return outputs


def content_digest(utterance: Utterance) -> bytes:
    """What makes two records with one event id the same: who said what (not when a client sent it)."""
    said = utterance.original_text if utterance.original_text is not None else utterance.text
    return hashlib.blake2b(f"{utterance.speaker.role}\0{said}".encode("utf-8", "replace"), digest_size=12).digest()


def put_again(transaction: Transaction, rows: PersonRows, applied: AppliedEvent, event_id: str) -> None:
    """Puts the rows of an applied event again, as they are now, the hot row last.

    After a kill the local store may hold rows whose changelog records never left; "already applied, skip" would make that loss
    permanent.
    """
    for key in applied.keys:
        value = transaction.get(key)
        if value is None:
            transaction.delete(key)
        else:
            transaction.put(key, value)
    for kind, parts in ((EVENT, (event_id,)), (HOT, ())):
        value = rows.get(kind, *parts)
        if value is not None:
            rows.put(kind, *parts, value=value)


def context_texts(utterance: Utterance) -> list[str]:
    """The texts of a sent-along context that recall searches with, oldest first."""
    sent = utterance.meta.get("context")
    if not isinstance(sent, list):
        return []
    texts = [turn["text"] for turn in sent if isinstance(turn, dict) and isinstance(turn.get("text"), str)]
    return [text for text in texts if text.strip()][-CONTEXT_ENCODED:]


def _decode(message: Message) -> _Item:
    item = _Item(message)
    try:
        if message.topic == "memory.commands":
            record = decode_input(message.value, "command/1")
            assert isinstance(record, Command)
            item.record = record
        elif message.topic == "knowledge.rules":
            rule = decode_input(message.value, "rule/1")
            assert isinstance(rule, Rule)
            item.record = rule
        else:
            item.record = _clean.decode(message.value)
    except RecordError as error:
        item.error = error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        item.error = RecordError("not_an_utterance", "utterances.clean takes what ingest writes")
    return item


def _dead(item: _Item, error: RecordError, settings: Settings) -> Output:
    """The dead letter of an item; of an utterance it names the raw record, which a retry can feed again."""
    message = item.message
    if isinstance(item.record, Utterance) and item.record.source is not None:
        source: Source = item.record.source
        message = Message(
            topic=source.topic, partition=source.partition, offset=source.offset, key=message.key, value=message.value
        )
    return dead_letter(message, "memory", error, settings.privacy.dead_letter_bytes)
