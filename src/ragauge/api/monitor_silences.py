"""Silences: no one is notified of some alerts for a while, and why."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.api.inputs.sources import store_url
from ragauge.api.monitor_replay import section_of
from ragauge.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from ragauge.analysis.monitoring.series import Segment
    from ragauge.analysis.monitoring.silences import Silence, SilenceStatus
    from ragauge.data.config.monitor import MonitorSection
    from ragauge.store.open import Store

EVERY = "all"  # as a monitor of a silence: those of all


@dataclass(frozen=True, slots=True)
class SaidSilence:
    """A silence that was said.

    Attributes:
        silence: as it is kept.
        ended: how many that held were ended, where that was asked for.
    """

    silence: Silence | None
    ended: int = 0


def silence(
    monitor: str,
    *,
    lasts: str = "2h",
    why: str = "",
    segment: str = "",
    config: Path | None = None,
    store: str | None = None,
) -> SaidSilence:
    """Tells nobody of a monitor's alerts from now on for a while. They are raised, kept and shown all the same.

    An alert that is still open when the silence ends is told then; one that ended meanwhile is not.

    Args:
        monitor: as alerts name it, such as faithfulness or "drift of queries"; "all".
        lasts: how long, such as 30m, 2h or 7d.
        why: for those who look.
        segment: of which segment, such as tenant=acme; "" = any.
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        UnknownName: no such monitor.
        UsageError: no reason, or a time or segment that is none.
    """
    from ragauge.analysis.monitoring.silences import Silence
    from ragauge.store.open import open_store

    if not why.strip():
        raise UsageError("a silence needs a reason, for those who look: --why 'index is rebuilt'.")
    length, of = _length(lasts), _segment(segment)
    with open_store(store_url(store)) as opened:
        name = _known(opened, monitor, config)
        now = datetime.now(UTC).replace(microsecond=0)
        made = Silence(name, of, why.strip(), now, now + length, silence_id=secrets.token_hex(5))
        opened.monitors.silence(made)
    return SaidSilence(made)


def end_silences(monitor: str, *, config: Path | None = None, store: str | None = None) -> SaidSilence:
    """Ends the silences of a monitor that were said; those of the configuration end by it.

    Args:
        monitor: as it was silenced.
        config: the file with the section monitor; None = ragauge.yaml, where there is one.
        store: URL of the store.

    Raises:
        UnknownName: no such monitor.
    """
    from ragauge.store.open import open_store

    now = datetime.now(UTC).replace(microsecond=0)
    with open_store(store_url(store)) as opened:
        name = _known(opened, monitor, config)
        held = [one for one in opened.monitors.silences() if one.monitor == name and one.until(now) is not None]
        for one in held:
            opened.monitors.silence(replace(one, ends=now))
    return SaidSilence(None, len(held))


def standing(store: Store, monitor: MonitorSection | None, now: datetime) -> tuple[SilenceStatus, ...]:
    """The silences of a configuration, and those that were said and hold, each with when it ends."""
    from ragauge.analysis.monitoring.silences import SilenceStatus, configured

    said = [(one, one.until(now)) for one in store.monitors.silences()]
    ours = [(one, one.until(now)) for one in configured(monitor)] if monitor is not None else []
    return tuple(SilenceStatus(*one) for one in (*ours, *(one for one in said if one[1] is not None)))


def _length(text: str) -> timedelta:
    from ragauge.data.config.times import read_duration

    try:
        return read_duration(text)
    except ValueError as error:
        raise UsageError(f"for: {error}") from None


def _segment(text: str) -> Segment:
    name, equals, value = text.partition("=")
    if text and not (name and equals and value):
        raise UsageError(f"segment: expected a name and a value, such as tenant=acme, got {text!r}.")
    return name, value


def _known(store: Store, monitor: str, config: Path | None) -> str:
    """A monitor's name as silences hold it: "" for all."""
    names = {*_names(section_of(config)), *(one.alert.monitor for one in store.monitors.alerts())}
    if monitor == EVERY:
        return ""
    if monitor not in names:
        raise UnknownName("monitor", monitor, (EVERY, *sorted(names)))
    return monitor


def _names(monitor: MonitorSection | None) -> Iterator[str]:
    """What the alerts of a configuration may be called."""
    from ragauge.analysis.monitoring.drift import drift_name
    from ragauge.analysis.monitoring.watches import watch_name
    from ragauge.analysis.monitoring.watching import JUDGE_CHANGED, schedule_name
    from ragauge.metrics.catalogue import parse

    if monitor is None:
        return
    for one in monitor.monitors:
        named = one.metric is not None
        yield watch_name(str(parse(one.metric or "")), one.share_above, one.project) if named else str(one.signal)
    yield from (drift_name(texts) for texts in monitor.drift)
    yield from (schedule_name(one.name) for one in monitor.schedules)
    if monitor.watches_judge:
        yield JUDGE_CHANGED
