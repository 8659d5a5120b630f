"""Messages that wait for a receiver: each attempt to send one is one server's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, Table, select, update

from ragauge.store.database import Database


class Message(Protocol):
    """What is sent until it arrives."""

    @property
    def target(self) -> str:
        """Digest of the receiver: an address may hold a secret."""

    @property
    def due(self) -> float | None:
        """When the next attempt is due, seconds since 1970; None = there is none."""

    @property
    def attempts(self) -> int:
        """How many were made."""


MessageT = TypeVar("MessageT", bound=Message)


class Outbox(ABC, Generic[MessageT]):
    """The messages of a table, whose first column is their id."""

    _messages: ClassVar[Table]

    def __init__(self, database: Database) -> None:
        self._database = database

    @abstractmethod
    def _build_message(self, row: Any) -> MessageT:
        """The message of a row."""

    def list_due(self, timestamp: float, limit: int = 100, ahead: float = inf) -> list[MessageT]:
        """Messages whose next attempt is due, the longest waiting first.

        Args:
            timestamp: seconds since 1970.
            limit: at most so many.
            ahead: the longest wait for an attempt, seconds. One that is due later was put off before the clock was put
                back, and is due now.
        """
        due = self._messages.c.due
        is_due = due <= timestamp
        if ahead < inf:
            is_due = is_due | (due > timestamp + ahead)
        with self._database.read() as connection:
            rows = connection.execute(select(self._messages).where(is_due).order_by(due).limit(limit)).all()
        return [self._build_message(row) for row in rows]

    def take_delivery(self, message: MessageT, until: float) -> bool:
        """Takes the attempt that is due, until a moment; False where another process has it."""
        statement = update(self._messages).where(self._is(message), self._messages.c.due == message.due)
        with self._database.write() as connection:
            return connection.execute(statement.values(due=until)).rowcount == 1

    def record_attempt(self, message: MessageT, error: str, due: float | None) -> None:
        """Stores the outcome of an attempt: its error ("" = it arrived), and when the next is due (None = none is)."""
        values = {"attempts": message.attempts + 1, "error": error, "due": due}
        with self._database.write() as connection:
            connection.execute(update(self._messages).where(self._is(message)).values(values))

    def _is(self, message: MessageT) -> ColumnElement[bool]:
        column = self._messages.primary_key.columns[0]
        is_same: ColumnElement[bool] = column == getattr(message, column.name)
        return is_same
