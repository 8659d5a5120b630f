"""The time as the store writes it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """ISO 8601, UTC, to the millisecond: later times sort later."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
