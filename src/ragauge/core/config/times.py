"""Times of the configuration: how long, when by the clock, and in which zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, PlainSerializer

from ragauge.core.config.gate import build_text_schema
from ragauge.core.values import describe_value

DURATION = r"^\s*([1-9][0-9]{0,4})\s*([smhd])\s*$"
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
CRON = re.compile(r"^\s*\S+(\s+\S+){4}\s*$")


def parse_duration(value: Any) -> timedelta:
    """A time as it is written, such as 30m; ValueError says what is wrong with another."""
    if isinstance(value, timedelta):
        return value
    match = re.match(DURATION, value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"expected a time such as 30m, 12h or 28d, got {describe_value(value)}.")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def _parse_days(value: Any) -> timedelta:
    duration = parse_duration(value)
    if duration % timedelta(days=1):
        raise ValueError(f"expected whole days, such as 28d, got {describe_value(value)}.")
    return duration


def _parse_cron(value: Any) -> str:
    if not isinstance(value, str) or not CRON.match(value):
        raise ValueError(
            f'expected five fields, such as "0 2 * * *" (every night at two), got {describe_value(value)}.'
        )
    cron = " ".join(value.split())
    if problem := _describe_cron_problem(cron):
        raise ValueError(
            f"{describe_value(value)} {problem}. Fields are minute, hour, day of month, month, day of week."
        )
    return cron


def _describe_cron_problem(cron: str) -> str:
    """Why no time meets a cron; "" = one does, or what reads crons is not installed."""
    try:
        from croniter import CroniterBadDateError, croniter
    except ImportError:  # without the extra `monitor`, which does what is scheduled
        return ""
    try:
        croniter(cron, datetime.now(UTC)).get_prev(datetime)
    except CroniterBadDateError:
        return "never occurs: no year has such a day"
    except ValueError as error:
        return f"is no time: {str(error).partition('] ')[2] or error}"
    return ""


def _parse_zone(value: Any) -> str:
    try:
        return ZoneInfo(value).key
    except (TypeError, ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(f"expected a time zone such as Europe/Berlin, got {describe_value(value)}.") from None


def format_duration(value: timedelta) -> str:
    """A time as it is written: 28d, 30m.

    >>> format_duration(timedelta(hours=36))
    '36h'
    """
    for unit, name in reversed(UNITS.items()):
        unit_length = timedelta(**{name: 1})
        if not value % unit_length:
            return f"{value // unit_length}{unit}"
    return f"{value.total_seconds():g}s"


_AS_TEXT = PlainSerializer(format_duration, return_type=str)
Duration = Annotated[timedelta, BeforeValidator(parse_duration), build_text_schema(DURATION), _AS_TEXT]
Days = Annotated[timedelta, BeforeValidator(_parse_days), build_text_schema(r"^\s*([1-9][0-9]{0,4})\s*d\s*$"), _AS_TEXT]
Cron = Annotated[str, BeforeValidator(_parse_cron)]
Zone = Annotated[str, BeforeValidator(_parse_zone)]
