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
    from ragauge.monitoring.series.monitor_specs import MonitorSpecs


KEEP_ALL_HINT = "without one, every request is judged; to keep that, set sample: {rate: 100%}"


def describe_judging(monitor: MonitorSection | None) -> str:
    """What a judge is asked about: which share of the requests, by which metrics, and who."""
    if monitor is None:  # as `monitoring.policy` has it without a section
        return "100% of requests; metrics: production; judge: local"
    judge = monitor.judge or "none"
    default = "" if monitor.sample.has_key("rate") else f", the default with a monitor section ({KEEP_ALL_HINT})"
    return f"{100 * monitor.sample.rate:g}% of requests{default}; metrics: {', '.join(monitor.metrics)}; judge: {judge}"


def describe_filtered(monitor: MonitorSection | None) -> str:
    """Which traces become no response, and how to change that."""
    filtered = "indexing, embedding, evaluation and ragauge's own calls are filtered out"
    if monitor is not None and monitor.without_retrieval:
        return f"every request that a model answered, with or without retrieval; {filtered}"
    return (
        f"requests with retrieval; requests without retrieval, {filtered}. "
        "To include answers without retrieval, set without_retrieval: true in the monitor section of ragauge.yaml"
    )


def describe_section(monitor: MonitorSection, watched: MonitorSpecs) -> Iterator[str]:
    """What the section asks for, a line each."""
    from ragauge.core.config.times import format_duration

    yield f"sample: {describe_judging(monitor)}"
    for name, field in monitor.segments.items():
        yield f"segment: {name} ({field})"
    for monitor_spec in watched.metrics:
        by = f", also by {', '.join(monitor_spec.segments)}" if monitor_spec.segments else ""
        yield f"monitor: {monitor_spec.asks}{by}"
    for gauge in watched.signals:
        yield f"monitor: {gauge.asks}{f', for {format_duration(gauge.wait)}' if gauge.wait else ''}"
    if monitor.monitors or monitor.drift:
        yield f"false_alarms: {monitor.false_alarms}, across all tests"
    if monitor.drift:
        yield f"drift: {' and '.join(monitor.drift)}, once a day"
    for receiver in monitor.notify:
        form = f" ({receiver.format})" if receiver.webhook else ""
        yield f"notify: {receiver.email or ('webhook' if receiver.webhook else 'otlp')}{form}"
    for schedule in monitor.schedules:
        trigger = " and ".join(
            [f"at {schedule.cron} ({schedule.zone})"] * bool(schedule.cron)
            + [f"on a change of {key}" for key in schedule.on]
        )
        whose = f", for {schedule.project}" if schedule.project else ""
        what = f"index of {schedule.ann.study}" if schedule.ann else f"{schedule.run} over {schedule.set}"
        yield f"schedule: {schedule.name}: {what}, {trigger}{whose}"


def find_mistakes(file: ConfigFile, monitor: MonitorSection) -> Iterator[DataError]:
    """What cannot be right where this is started."""
    from ragauge.engine.judges import build_judge

    try:
        if monitor.judge not in ("local", "none", "") and not monitor.judge.startswith("people:"):
            build_judge(monitor.judge)
    except RagaugeError as error:
        yield file.build_problem("monitor.judge", str(error), monitor.line("judge"))
    values = [
        (f"monitor.notify[{entry.place}].{key}", getattr(entry, key), entry.line(key))
        for entry in monitor.notify
        for key in ("webhook", "email", "otlp")
    ]
    values += [
        (f"monitor.notify[{entry.place}].headers.{name}", value, entry.line("headers"))
        for entry in monitor.notify
        for name, value in entry.headers.items()
    ]
    for key, value, line in [*values, ("monitor.redact.key", monitor.redact.key, monitor.redact.line("key"))]:
        if value and value.startswith("$") and not os.environ.get(value[1:]):
            yield file.build_problem(key, f"the environment variable {value[1:]} is not set.", line)
    for entry in monitor.schedules:
        yield from _find_schedule_mistakes(file, entry)


def _find_schedule_mistakes(file: ConfigFile, schedule: ScheduleSection) -> Iterator[DataError]:
    location = f"monitor.schedules[{schedule.place}]"
    if schedule.run and ":" not in schedule.run and not Path(schedule.run).exists():
        expected = "expected MODULE:NAME, a URL or a file of responses"
        yield file.build_problem(
            f"{location}.run", f"{expected}, got {schedule.run!r}. Write {schedule.run}:NAME.", schedule.line("run")
        )
    for key in ("set", "settings", "corpus", "rules"):
        path = getattr(schedule, key)
        stored = key == "set" and path and not Path(path).suffix  # a stored set's name
        if path and not stored and not Path(path).exists():
            yield file.build_problem(f"{location}.{key}", f"{path} does not exist.", schedule.line(key))


def list_remarks(file: ConfigFile, monitor: MonitorSection, watched: MonitorSpecs) -> Iterator[str]:
    """What is right but will not do what is meant."""
    for metric, reason in _find_unscorable(watched):
        yield f"monitor: {metric} needs labels, which production requests lack ({reason}), so it will get no scores."
    names = [schedule.baseline for schedule in monitor.schedules if schedule.baseline]
    missing = _find_unknown_runs(list(dict.fromkeys(names)))
    for schedule in monitor.schedules:
        if schedule.baseline in missing:
            problem = f"no run or baseline is named {schedule.baseline} yet"
            yield f"schedule {schedule.name}: {problem}; its runs end with an error until there is one."
        needs_gate = schedule.ann is None and not schedule.heartbeat
        if needs_gate and schedule.rules is None and file.config.gate is None:
            yield f"schedule {schedule.name}: {file.name} has no gate section, so its runs neither pass nor fail."


def _find_unscorable(watched: MonitorSpecs) -> Iterator[tuple[str, str]]:
    """Metrics that apply to no request without labels, and why."""
    from ragauge.core.example import Example
    from ragauge.core.response import Response
    from ragauge.metrics.catalogue import select_metrics
    from ragauge.metrics.facts import Facts
    from ragauge.metrics.measure import measure_all

    metrics = select_metrics(list(dict.fromkeys(monitor_spec.metric for monitor_spec in watched.metrics)))
    unanswered = Facts(Example("request", "?"), Response("request", error="not asked"))  # labels come before failures
    for metric, measured in zip(metrics, measure_all(metrics, unanswered), strict=True):
        if measured.status == "not_applicable":
            yield str(metric), measured.reason


def _find_unknown_runs(names: list[str]) -> list[str]:
    """Which of some names no run or baseline of the store has; no store is made for it."""
    from ragauge.comparison.baselines.baseline import find_baseline_run
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import resolve_store_url

    url = resolve_store_url(None)
    if not names or (url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists()):
        return names
    missing = list[str]()
    with open_store(url) as store:
        for name in names:
            try:
                find_baseline_run(name, store)
            except RagaugeError:
                missing.append(name)
    return missing
