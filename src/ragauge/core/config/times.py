"""Times of the configuration: how long, when by the clock, and in which zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, PlainSerializer

from ragauge.core.config.gate import text_or
from ragauge.core.values import described

DURATION = r"^\s*([1-9][0-9]{0,4})\s*([smhd])\s*$"
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
CRON = re.compile(r"^\s*\S+(\s+\S+){4}\s*$")


def read_duration(value: Any) -> timedelta:
    """A time as it is written, such as 30m; ValueError says what is wrong with another."""
    if isinstance(value, timedelta):
        return value
    match = re.match(DURATION, value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"expected a time such as 30m, 12h or 28d, got {described(value)}.")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def _days(value: Any) -> timedelta:
    found = read_duration(value)
    if found % timedelta(days=1):
        raise ValueError(f"expected whole days, such as 28d, got {described(value)}.")
    return found


def _cron(value: Any) -> str:
    if not isinstance(value, str) or not CRON.match(value):
        raise ValueError(f'expected five fields, such as "0 2 * * *" (every night at two), got {described(value)}.')
    cron = " ".join(value.split())
    if why := _never(cron):
        raise ValueError(f"{described(value)} {why}. Fields are minute, hour, day of month, month, day of week.")
    return cron


def _never(cron: str) -> str:
    """Why no time meets a cron; "" = one does, or what reads crons is not installed."""
    try:
        from croniter import CroniterBadDateError, croniter
    except ImportError:  # without the extra `monitor`, which does what is scheduled
        return ""
    try:
        croniter(cron, datetime.now(UTC)).get_prev(datetime)
    except CroniterBadDateError:
        return "never comes: no year has such a day"
    except ValueError as error:
        return f"is no time: {str(error).partition('] ')[2] or error}"
    return ""


def _zone(value: Any) -> str:
    try:
        return ZoneInfo(value).key
    except (TypeError, ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(f"expected a time zone such as Europe/Berlin, got {described(value)}.") from None


def written(value: timedelta) -> str:
    """A time as it is written: 28d, 30m.

    >>> written(timedelta(hours=36))
    '36h'
    """
    for unit, name in reversed(UNITS.items()):
        one = timedelta(**{name: 1})
        if not value % one:
            return f"{value // one}{unit}"
    return f"{value.total_seconds():g}s"


_AS_TEXT = PlainSerializer(written, return_type=str)
Duration = Annotated[timedelta, BeforeValidator(read_duration), text_or(DURATION), _AS_TEXT]
Days = Annotated[timedelta, BeforeValidator(_days), text_or(r"^\s*([1-9][0-9]{0,4})\s*d\s*$"), _AS_TEXT]
Cron = Annotated[str, BeforeValidator(_cron)]
Zone = Annotated[str, BeforeValidator(_zone)]
