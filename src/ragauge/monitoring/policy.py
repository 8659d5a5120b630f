"""What is done with traces: waiting, sampling, judging; and the section `monitor` in words, with its errors."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.config.config_loader import DEFAULT_FILE, read_config
from ragauge.core.config.monitor import MonitorSection, RedactSection, WaitSection
from ragauge.core.errors import DataError, RagaugeError, UsageError
from ragauge.core.outcomes import is_complaint
from ragauge.core.response import Response
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.readers.traces.normalize import UNION
from ragauge.store.inbox import DAY_S, ReadDelay
from ragauge.store.run_collection import ExampleResponse
from ragauge.store.store_access import Store

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.monitor import ScheduleSection
    from ragauge.monitoring.series.monitor_specs import MonitorSpecs


@dataclass(frozen=True)
class Policy:
    """What is done with traces."""

    rate: float = 1.0  #: share of the traces that the judge is asked about, in (0, 1].
    #: segment -> how many a day of each of its values are judged, whatever the rate.
    at_least: Mapping[str, int] = field(default_factory=dict)
    always: frozenset[str] = frozenset()  #: what is judged every time: error, empty_retrieval, thumbs_down.
    #: US dollars a day that the judge may spend; the rate is lowered to keep it. None = no bound.
    max_cost: float | None = None
    salt: str = "ragauge"  #: of the draw; who has the same draws the same.
    #: name -> field of the trace that responses are grouped by, such as metadata.tenant.
    segments: Mapping[str, str] = field(default_factory=dict)
    passages: str = UNION  #: which steps of a trace found its passages: union, last or span:NAME.
    without_retrieval: bool = False  #: requests in which nothing was searched are read too.
    judge: str = "local"  #: who is asked.
    metrics: tuple[str, ...] = ("production",)  #: what is computed.
    redaction: Redaction = field(default_factory=Redaction)  #: what is taken out before anything is kept.
    patience: ReadDelay = field(default_factory=ReadDelay)  #: how long a trace waits for more.
    signals: frozenset[str] = frozenset()  #: names of the gauges that are kept.
    #: traces count for the day on which they began by their own clocks, not for that of their arrival.
    dated: bool = False
    keep_raw: float = 7 * DAY_S  #: seconds that raw batches are kept.
    keep_traces: float = 90 * DAY_S  #: seconds that what is known of a trace is kept.
    #: seconds that runs of traffic are kept from the end of their day; None = they stay.
    keep_runs: float | None = None

    def draw(self, trace_id: str) -> float:
        """A number in [0, 1) that is the trace's own: every worker draws the same, and so does a trace sent again."""
        digest = hashlib.sha256(f"{self.salt} {trace_id}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:7], "big") / (1 << 56)


def read_policy(config: Path | None) -> Policy:
    """The policy of a configuration file's section monitor; without a file or section, everything is kept.

    Args:
        config: the file; None = ragauge.yaml where there is one.

    Raises:
        DataError: the file is not there, or there are mistakes in it.
        UsageError: the environment variable of a key is not set.
    """
    if config is None and not Path(DEFAULT_FILE).is_file():
        return Policy()
    section = read_config(config or DEFAULT_FILE).checked().monitor
    return Policy() if section is None else _build_policy(section)


def _build_policy(section: MonitorSection) -> Policy:
    sample = section.sample
    return Policy(
        rate=sample.rate,
        at_least=dict(sample.at_least),
        always=frozenset(sample.always),
        max_cost=sample.max_cost,
        segments=dict(section.segments),
        passages=section.passages,
        without_retrieval=section.without_retrieval,
        judge=section.judge,
        metrics=section.metrics,
        signals=frozenset(
            {
                *section.signals,
                *(monitor_section.signal for monitor_section in section.monitors if monitor_section.signal is not None),
            }
        ),
        redaction=_build_redaction(section.redact),
        patience=_build_patience(section.wait),
        keep_raw=section.keep.raw.total_seconds(),
        keep_traces=section.keep.traces.total_seconds(),
        keep_runs=None if section.keep.runs is None else section.keep.runs.total_seconds(),
    )


def _build_patience(section: WaitSection) -> ReadDelay:
    return ReadDelay(section.ended.total_seconds(), section.quiet.total_seconds())


def _build_redaction(section: RedactSection) -> Redaction:
    key = section.key or secrets.token_hex()
    if key.startswith("$"):
        key = os.environ.get(key[1:], "")
        if not key:
            raise UsageError(f"monitor.redact.key: the environment variable {str(section.key)[1:]} is not set.")
    return Redaction(section.attributes, section.patterns, key)


EXPECTED_FACTOR = 1.5  # times as many as asked for are expected, so that fewer than asked for are rare
RATE_TTL_S = 5.0  # seconds that the lowered rate holds
MIN_RATE = 1e-4  # rate below which max_cost does not lower it: what is over is said in the ledger


class Sampler:
    """Chances of traces, by what came before them.

    Args:
        store: with the runs of today and yesterday.
        policy: what is asked for.
    """

    def __init__(self, store: Store, policy: Policy) -> None:
        self._store, self._policy = store, policy
        self._seen: dict[tuple[str, str], dict[str, int]] = {}  # (run, segment) -> value -> drawn
        self._before: dict[tuple[str, str], dict[str, int]] = {}  # the same -> how many there were
        self._rate, self._until = policy.rate, 0.0

    def base(self, day: str, now: float) -> float:
        """The rate, lowered where max_cost of the day would not last for it."""
        if self._policy.max_cost is not None and time.monotonic() >= self._until:
            self._rate, self._until = self._lower_rate(day, now), time.monotonic() + RATE_TTL_S
        return self._rate

    def compute_chance(self, records: Sequence[ExampleResponse], run_id: str, before_id: str, base: float) -> float:
        """How likely the judge is asked about a trace, by the requests in it.

        Args:
            records: example and response of each.
            run_id: of the run that they would stand in.
            before_id: of the same project's run of the day before.
            base: the rate.
        """
        if any(self._is_always_judged(response) for _, response in records):
            return 1.0
        chance = base
        for name, min_n in self._policy.at_least.items():
            for value in {example.segments[name] for example, _ in records if name in example.segments}:
                chance = max(chance, self._compute_segment_chance(run_id, before_id, name, value, min_n))
        return min(1.0, chance)

    def count_drawn(self, records: Sequence[ExampleResponse], run_id: str) -> None:
        """Counts a trace that was drawn."""
        for name in self._policy.at_least:
            counts = self._get_counts(run_id, name)
            for value in {example.segments[name] for example, _ in records if name in example.segments}:
                counts[value] = counts.get(value, 0) + 1

    def _is_always_judged(self, response: Response) -> bool:
        always = self._policy.always
        empty = response.passages == ()
        return bool(
            ("error" in always and response.error is not None)
            or ("empty_retrieval" in always and empty)
            or ("thumbs_down" in always and is_complaint(response.outcome))
        )

    def _compute_segment_chance(self, run_id: str, before_id: str, name: str, value: str, min_n: int) -> float:
        """By yesterday's traffic of this value; where there was none, every one until there are enough."""
        key = (before_id, name)
        if key not in self._before:
            self._before[key] = self._store.collecting.count_by_value(before_id, name)
        expected = self._before[key].get(value, 0)
        if expected:
            return min(1.0, EXPECTED_FACTOR * min_n / expected)
        return 1.0 if self._get_counts(run_id, name).get(value, 0) < min_n else 0.0

    def _get_counts(self, run_id: str, name: str) -> dict[str, int]:
        key = (run_id, name)
        if key not in self._seen:
            self._seen[key] = self._store.collecting.count_by_value(run_id, name, only_sampled=True)
        return self._seen[key]

    def _lower_rate(self, day: str, now: float) -> float:
        """The rate at which what is left of the day's money pays for what has yet to come, by what it cost so far."""
        max_cost, rate = self._policy.max_cost or 0.0, self._policy.rate
        spent, n_judged = get_spending(self._store, day)
        cost, n = (spent, n_judged) if n_judged else get_spending(self._store, get_previous_day(day))
        arrived, elapsed = sum(count.n for count in self._store.ledger.counts(day)), now % DAY_S
        if not n or not cost or not arrived or elapsed <= 0:
            return rate
        expected = arrived * (DAY_S - elapsed) / elapsed
        # what was drawn and waits is paid first
        affordable = max(0.0, (max_cost - spent) / (cost / n) - self._store.ledger.count_waiting_for_judge())
        return max(MIN_RATE, min(rate, affordable / expected)) if expected > 0 else rate


def get_spending(store: Store, day: str) -> tuple[float, int]:
    """US dollars that judging traffic cost on a day (UTC), and how many responses that was for."""
    return store.calls.sum_traffic_spending(day)


def get_previous_day(day: str) -> str:
    """The date of the day before."""
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


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
    for name, source in monitor.segments.items():
        yield f"segment: {name} ({source})"
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
