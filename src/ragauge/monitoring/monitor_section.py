"""The section `monitor` in words, and what of it cannot be right here: missing files, variables, names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.errors import DataError, RagaugeError

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.monitor import MonitorSection, ScheduleSection
    from ragauge.monitoring.series.monitor_specs import Watches


KEEP_ALL = "without it every one is judged; sample: {rate: 100%} keeps that"


def judged(monitor: MonitorSection | None) -> str:
    """What a judge is asked about: which share of the requests, by which metrics, and who."""
    if monitor is None:  # as `monitoring.policy` has it without a section
        return "100% of the requests, production, by local"
    by = "nobody" if monitor.judge in ("none", "") else monitor.judge
    default = "" if monitor.sample.given("rate") else f", the default where there is a section monitor ({KEEP_ALL})"
    return f"{100 * monitor.sample.rate:g}% of the requests{default}, {', '.join(monitor.metrics)}, by {by}"


def filtered_out(monitor: MonitorSection | None) -> str:
    """Which traces become no response, and how to change that."""
    rest = "indexing, embedding, evaluations and our own calls are filtered out"
    if monitor is not None and monitor.without_retrieval:
        return f"every request that a model answered, also where nothing was searched; {rest}"
    return (
        f"requests in which something was searched; those without retrieval, {rest}. "
        "without_retrieval: true in the section monitor of ragauge.yaml reads answers without retrieval"
    )


def said(monitor: MonitorSection, watched: Watches) -> Iterator[str]:
    """What the section asks for, a line each."""
    from ragauge.core.config.times import written

    yield f"sample: {judged(monitor)}"
    for name, field in monitor.segments.items():
        yield f"segment: {name} ({field})"
    for watch in watched.metrics:
        by = f", also by {', '.join(watch.segments)}" if watch.segments else ""
        yield f"monitor: {watch.asks}{by}"
    for gauge in watched.signals:
        yield f"monitor: {gauge.asks}{f', for {written(gauge.wait)}' if gauge.wait else ''}"
    if monitor.monitors or monitor.drift:
        yield f"false_alarms: {monitor.false_alarms}, over all that is tested"
    if monitor.drift:
        yield f"drift: {' and '.join(monitor.drift)}, once a day"
    for receiver in monitor.notify:
        form = f" ({receiver.format})" if receiver.webhook else ""
        yield f"notify: {receiver.email or ('webhook' if receiver.webhook else 'otlp')}{form}"
    for one in monitor.schedules:
        at = " and ".join([f"{one.cron} ({one.zone})"] * bool(one.cron) + [f"a change of {key}" for key in one.on])
        whose = f", of {one.project}" if one.project else ""
        what = f"index of {one.ann.study}" if one.ann else f"{one.run} over {one.set}"
        yield f"schedule: {one.name}: {what}, at {at}{whose}"


def mistakes(file: ConfigFile, monitor: MonitorSection) -> Iterator[DataError]:
    """What cannot be right where this is started."""
    from ragauge.engine.judges import build_judge

    try:
        if monitor.judge not in ("local", "none", "") and not monitor.judge.startswith("people:"):
            build_judge(monitor.judge)
    except RagaugeError as error:
        yield file.problem("monitor.judge", str(error), monitor.line("judge"))
    named = [
        (f"monitor.notify[{one.place}].{key}", getattr(one, key), one.line(key))
        for one in monitor.notify
        for key in ("webhook", "email", "otlp")
    ]
    named += [
        (f"monitor.notify[{one.place}].headers.{name}", value, one.line("headers"))
        for one in monitor.notify
        for name, value in one.headers.items()
    ]
    for key, value, line in [*named, ("monitor.redact.key", monitor.redact.key, monitor.redact.line("key"))]:
        if value and value.startswith("$") and not os.environ.get(value[1:]):
            yield file.problem(key, f"the environment variable {value[1:]} is not set here.", line)
    for one in monitor.schedules:
        yield from _of_schedule(file, one)


def _of_schedule(file: ConfigFile, one: ScheduleSection) -> Iterator[DataError]:
    at = f"monitor.schedules[{one.place}]"
    if one.run and ":" not in one.run and not Path(one.run).exists():
        expected = "expected MODULE:NAME, a URL or a file of responses"
        yield file.problem(f"{at}.run", f"{expected}, got {one.run!r}. Write {one.run}:NAME.", one.line("run"))
    for key in ("set", "settings", "corpus", "rules"):
        path = getattr(one, key)
        stored = key == "set" and path and not Path(path).suffix  # a stored set's name
        if path and not stored and not Path(path).exists():
            yield file.problem(f"{at}.{key}", f"there is no {path} here.", one.line(key))


def remarks(file: ConfigFile, monitor: MonitorSection, watched: Watches) -> Iterator[str]:
    """What is right but will not do what is meant."""
    for metric, why in _never(watched):
        yield f"monitor: {metric} needs labels, which no request of production has ({why}): it will get no score."
    names = [one.baseline for one in monitor.schedules if one.baseline]
    missing = _unknown_runs(list(dict.fromkeys(names)))
    for one in monitor.schedules:
        if one.baseline in missing:
            there = f"there is no run or baseline {one.baseline} yet"
            yield f"schedule {one.name}: {there}; its runs are errors until there is."
        judged = one.ann is None and not one.heartbeat
        if judged and one.rules is None and file.config.gate is None:
            yield f"schedule {one.name}: {file.name} has no section gate, so its runs pass and fail nothing."


def _never(watched: Watches) -> Iterator[tuple[str, str]]:
    """Metrics that apply to no request without labels, and why."""
    from ragauge.core.example import Example
    from ragauge.core.response import Response
    from ragauge.metrics.catalogue import select
    from ragauge.metrics.facts import Facts
    from ragauge.metrics.measure import measure_all

    metrics = select(list(dict.fromkeys(watch.metric for watch in watched.metrics)))
    asked = Facts(Example("request", "?"), Response("request", error="not asked"))  # labels come before failures
    for metric, measured in zip(metrics, measure_all(metrics, asked), strict=True):
        if measured.status == "not_applicable":
            yield str(metric), measured.reason


def _unknown_runs(names: list[str]) -> list[str]:
    """Which of some names no run or baseline of the store has; no store is made for it."""
    from ragauge.comparison.baselines.baseline import baseline_run
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import store_url

    url = store_url(None)
    if not names or (url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists()):
        return names
    missing = list[str]()
    with open_store(url) as store:
        for name in names:
            try:
                baseline_run(name, store)
            except RagaugeError:
                missing.append(name)
    return missing
