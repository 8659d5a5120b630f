"""The section `monitor` of ragauge.yaml: what is watched in production, and who is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, StrictBool, WithJsonSchema, model_validator

from ragauge.core.config.gate import NULL, UNSIGNED, Count, Drop, DropField, LevelField, Name, build_text_schema
from ragauge.core.config.passages import Passages
from ragauge.core.config.section import JudgeText, Section
from ragauge.core.config.times import Cron, Days, Duration, Zone
from ragauge.core.values import describe_value

FALSE_ALARM_BUDGET = rf"^\s*({UNSIGNED})\s*%\s*per\s*([1-9][0-9]{{0,2}})\s*d\s*$"
PERCENT = rf"^\s*({UNSIGNED})\s*%\s*$"
Trigger = Literal["corpus", "settings", "model"]
AlwaysSampled = Literal["error", "empty_retrieval", "thumbs_down"]
LEVELS = ("min", "max", "max_drop")


@dataclass(frozen=True, slots=True)
class FalseAlarmBudget:
    """The chance of even one false alarm, over all monitors and segments, within a period.

    Attributes:
        chance: in (0, 1).
        days: of the period, at least 1.
    """

    chance: float = 0.05
    days: int = 30

    def __str__(self) -> str:
        return f"{100 * self.chance:g}% per {self.days}d"


def parse_false_alarm_budget(value: Any) -> FalseAlarmBudget:
    """A promise as it is written, such as 5% per 30d; ValueError says what is wrong with another."""
    if isinstance(value, FalseAlarmBudget):
        return value
    match = re.match(FALSE_ALARM_BUDGET, value) if isinstance(value, str) else None
    if match is None or not 0 < float(match[1]) < 100:
        expected = "a chance above 0 % and below 100 %, within 1d to 999d, such as 5% per 30d"
        raise ValueError(f"expected {expected}, got {describe_value(value)}.")
    return FalseAlarmBudget(float(match[1]) / 100, int(match[2]))


def _parse_rate(value: Any) -> float:
    match = re.match(PERCENT, value) if isinstance(value, str) else None
    number = float(match[1]) / 100 if match else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number <= 1:
        raise ValueError(f"expected a share above 0 % and at most 100 %, such as 5%, got {describe_value(value)}.")
    return float(number)


def _parse_amount(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise ValueError(f"expected a number above 0, got {describe_value(value)}.")
    return float(value)


FalseAlarmBudgetField = Annotated[
    FalseAlarmBudget,
    BeforeValidator(parse_false_alarm_budget),
    build_text_schema(FALSE_ALARM_BUDGET),
    PlainSerializer(str, return_type=str),
]
Rate = Annotated[
    float,
    BeforeValidator(_parse_rate),
    build_text_schema(PERCENT, {"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
]
Amount = Annotated[
    float | None,
    BeforeValidator(_parse_amount),
    WithJsonSchema({"anyOf": [NULL, {"type": "number", "exclusiveMinimum": 0}]}),
]
Canary = Annotated[int, Field(strict=True, ge=0, le=1000)]


class SampleSection(Section):
    """Which requests a judge is asked about."""

    rate: Rate = Field(
        default=0.05, description="Share of the requests that is judged; this one too where there is no sample."
    )
    at_least: dict[Name, Count] = Field(
        default_factory=dict,
        description="Segment -> how many a day of each of its values, whatever the rate: by the "
        "day before, 1.5 times as many are drawn, so that fewer are rare; of a new value each, until they are there.",
    )
    always: tuple[AlwaysSampled, ...] = Field(default=(), description="What is judged every time.")
    max_cost: Amount = Field(default=None, description="Dollars a day; the rate is lowered to keep it.")


class WatchSection(Section):
    """One monitor: a metric or a signal, and what it must keep."""

    metric: Name | None = Field(default=None, description="Printed name of a metric, such as faithfulness.")
    signal: Name | None = Field(default=None, description="A gauge that comes in with the traces.")
    max_drop: DropField = Field(
        default=None, description="How much worse than the baseline the mean may be: 3% of it, or 3 points (0.03)."
    )
    baseline: Days = Field(default=timedelta(days=28), description="The days before a period that it is held against.")
    min: LevelField = Field(default=None, description="The least mean allowed, where higher is better.")
    max: LevelField = Field(default=None, description="The greatest mean allowed, where lower is better.")
    share_above: Amount = Field(
        default=None, description="Watch the share of requests above this, such as 4000 ms of latency, not the mean."
    )
    skew_max: Amount = Field(
        default=None, description="Of a signal: its greatest value over the mean of its sources, such as shards."
    )
    wait: Duration | None = Field(
        default=None, alias="for", description="How long a signal, or decide: point, must be off before it alerts."
    )
    segments: tuple[Name, ...] = Field(default=(), description="Segments in whose values it is watched too.")
    project: Name = Field(default="", description="Of a metric: whose traffic; else of the section's project.")
    decide: Literal["test", "point"] = Field(
        default="test", description="By the test that keeps false_alarms, or by the mean of the last 50 alone."
    )

    @model_validator(mode="after")
    def _check_keys(self) -> WatchSection:
        if (self.metric is None) == (self.signal is None):
            raise ValueError(
                "names neither a metric nor a signal."
                if self.metric is None
                else "names both a metric and a signal. Write two monitors."
            )
        if wrong := [*self._find_limit_problems(), *self._find_key_conflicts()]:
            raise ValueError(" ".join(wrong))
        return self

    def _find_limit_problems(self) -> Iterator[str]:
        limits = [key for key in (*LEVELS, "skew_max") if getattr(self, key) is not None]
        allowed = LEVELS if self.signal is None else ("min", "max", "skew_max")
        what = self.metric or self.signal
        if not limits:
            yield f"sets {what} no limit. Write {', '.join(allowed[:-1])} or {allowed[-1]}."
        elif len(limits) > 1 or limits[0] not in allowed:
            expected = "one limit" if len(limits) > 1 else f"{', '.join(allowed[:-1])} or {allowed[-1]}"
            yield f"expected {expected} for {what}, got {' and '.join(limits)}."
        if self.skew_max is not None and self.skew_max < 1:
            yield f"skew_max is the greatest over the mean, which is at least 1, got {self.skew_max:g}."

    def _find_key_conflicts(self) -> Iterator[str]:
        """Keys that say nothing here."""
        if self.signal is not None:
            for key in ("segments", "share_above", "decide", "baseline", "project"):
                if self.has_key(key):
                    yield f"{key} speaks of a metric; {self.signal} is a signal."
        elif self.wait is not None and self.decide == "test":
            yield "for goes with decide: point and with signals. The test needs no waiting: leave it out."
        if self.has_key("baseline") and self.max_drop is None and self.signal is None:
            yield "baseline goes with max_drop."
        if isinstance(self.max_drop, Drop) and not 0 < self.max_drop.amount < 1:
            yield f"max_drop must be above 0 and below 100 %, got {self.max_drop.text}. Usual is 3%."


class NotifySection(Section):
    """Who is told of an alert. A value that begins with $ is the name of an environment variable that holds it."""

    webhook: Name | None = Field(default=None, description="URL that a JSON is posted to.")
    format: Literal["generic", "slack"] = Field(default="generic", description="The form of that JSON.")
    email: Name | None = Field(default=None, description="Address that a mail is sent to.")
    server: Name = Field(default="localhost:25", description="SMTP server of the mails, host:port.")
    sender: Name = Field(default="ragauge@localhost", description="Address that mails come from.")
    otlp: Name | None = Field(default=None, description="OTLP/HTTP endpoint that alerts and results are sent to.")
    headers: dict[Name, Name] = Field(default_factory=dict, description="Of requests, such as authorization: $TOKEN.")
    text: StrictBool = Field(default=False, description="Whether users' questions and answers may be in it.")

    @model_validator(mode="after")
    def _check_channel(self) -> NotifySection:
        channels = [key for key in ("webhook", "email", "otlp") if getattr(self, key) is not None]
        if len(channels) != 1:
            raise ValueError(f"expected one of webhook, email or otlp, got {' and '.join(channels) or 'none'}.")
        for key in ("webhook", "otlp"):
            url = getattr(self, key) or "$"
            if not url.startswith("$") and not re.match(r"https?://[^\s/]", url):
                raise ValueError(f"{key}: expected https://HOST/…, or $NAME of an environment variable that holds it.")
        if not re.match(r"\$|[^\s@]+@[^\s@]+$", self.email or "$"):
            raise ValueError(f"email: expected an address such as ops@example.org, got {describe_value(self.email)}.")
        return self


class AnnSection(Section):
    """An index built again over the vectors as they are now, and held to a recall: ragauge component ann check."""

    study: Name = Field(description="A stored study of indexes.")
    queries: Name = Field(description="File of the vectors to ask.")
    vectors: Name | None = Field(default=None, description="The vectors as they are now; by default the study's file.")
    trial: Name | None = Field(default=None, description="Whose index; by default the recommended one.")
    min: Annotated[float, Field(ge=0, le=1)] | None = Field(default=None, description="The least mean recall.")
    max_drop: Name | None = Field(
        default=None, description="How far recall may fall below that of the schedule's baseline: 1 points, or 1%."
    )


class ScheduleSection(Section):
    """What is done at certain times: a run that is held to the gate's rules, a heartbeat, or a check of an index."""

    name: Name = Field(description="What it is called.")
    cron: Cron | None = Field(default=None, description="When: minute, hour, day of month, month, day of week.")
    on: tuple[Trigger, ...] = Field(default=(), description="Also when one of these changes.")
    project: Name = Field(default="", description="Whose models and reports count; else models of any that is watched.")
    zone: Zone = Field(default="UTC", description="Time zone, such as Europe/Berlin.")
    run: Name | None = Field(default=None, description="The system, as ragauge run takes it.")
    set: Name | None = Field(default=None, description="The eval set: a file, or a stored set's name.")
    settings: Name | None = Field(default=None, description="File with the system's settings, as --system-config.")
    corpus: Name | None = Field(default=None, description="File or folder of the documents; of on: [corpus].")
    metrics: tuple[Name, ...] = Field(
        default=(), description="Metrics and presets; by default those that the gate's rules name."
    )
    rules: Name | None = Field(default=None, description="File with the section gate; this one by default.")
    baseline: Name | None = Field(default=None, description="The run that a gate compares with.")
    reported: Days | None = Field(
        default=None, description="Ask too what users of so many days gave a thumbs-down, and ui.regression_set."
    )
    heartbeat: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = Field(
        default=None, description="Ask so many questions, judge nothing, and fail where one has no answer."
    )
    ann: AnnSection | None = Field(default=None, description="In place of run and set: an index to check.")

    @model_validator(mode="after")
    def _check_schedule(self) -> ScheduleSection:
        if wrong := [*self._find_trigger_problems(), *self._find_task_problems()]:
            raise ValueError(f"{self.name} {' It '.join(wrong)}")
        return self

    def _find_trigger_problems(self) -> Iterator[str]:
        if self.cron is None and not self.on:
            yield "has neither cron nor on: it would never run."
        for key in self.on:
            if key != "model" and getattr(self, key) is None:
                yield f"watches a file by on: [{key}]. Name it: {key}: PATH."
        if self.project and "model" not in self.on and self.reported is None:
            yield "names a project, at whose traffic on: [model] and reported alone look. Leave project out."

    def _find_task_problems(self) -> Iterator[str]:
        if self.ann is None:
            if lacking := [key for key in ("run", "set") if getattr(self, key) is None]:
                yield f"has no {' and no '.join(lacking)}. Name both, or an index under ann."
        elif too := [key for key in ("run", "set", "rules", "metrics", "reported", "heartbeat") if getattr(self, key)]:
            yield f"has {' and '.join(too)} beside ann, which exclude each other. Write two schedules."
        elif (self.ann.min is None) == (self.ann.max_drop is None) or bool(self.ann.max_drop) != bool(self.baseline):
            yield "has an ann without a limit. Write min in it, or max_drop and a baseline beside it."
        if self.heartbeat and (too := [key for key in ("rules", "metrics", "reported") if getattr(self, key)]):
            yield f"is a heartbeat, which judges nothing; leave out {' and '.join(too)}."


class KeepSection(Section):
    """How long traffic is kept."""

    raw: Duration = Field(default=timedelta(days=7), description="Spans as they came in, and values of gauges.")
    traces: Duration = Field(
        default=timedelta(days=90), description="What became of each trace, as monitor trace says."
    )
    runs: Duration | None = Field(
        default=None, description="Runs of traffic, with scores, evidence and replies; by default they stay."
    )


class RedactSection(Section):
    """What of traces is taken out before anything is kept."""

    attributes: tuple[Name, ...] = Field(
        default=(), description="Names of attributes whose values are taken out; * stands for anything: user.*"
    )
    patterns: tuple[Name, ...] = Field(
        default=(), description="Regular expressions; what they match in any text becomes a hash."
    )
    key: Name | None = Field(
        default=None,
        description="Key of the hashes; $NAME is an environment variable. Without it a new one at each start.",
    )

    @model_validator(mode="after")
    def _check_patterns(self) -> RedactSection:
        for pattern in self.patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}.") from None
        return self


class WaitSection(Section):
    """How long a trace waits for more of its spans, after the last that came."""

    ended: Duration = Field(default=timedelta(seconds=5), description="Where its outermost span has ended.")
    quiet: Duration = Field(default=timedelta(seconds=30), description="Where it has not.")


class MonitorSection(Section):
    """What is watched in production, and who is told."""

    project: Name = Field(
        default="", description="Whose traffic is watched; else of the project that came first, and drift of all."
    )
    judge: JudgeText = Field(
        default="local",
        description="Who answers questions about the sample: its text, or {model, key_env, headers, …}.",
    )
    metrics: tuple[Name, ...] = Field(default=("production",), description="Metrics and presets of all requests.")
    segments: dict[Name, Name] = Field(
        default_factory=dict, description="Name of a segment -> the trace's field, such as metadata.tenant."
    )
    passages: Passages = Field(default="union", description="Of which searches of a trace: union, last or span:NAME.")
    without_retrieval: bool = Field(
        default=False, description="Read requests too in which nothing was searched, as answers without passages."
    )
    redact: RedactSection = Field(default_factory=RedactSection, description="What is taken out of traces.")
    wait: WaitSection = Field(default_factory=WaitSection, description="When a trace is read.")
    sample: SampleSection = Field(default_factory=SampleSection, description="Which requests are judged.")
    false_alarms: FalseAlarmBudgetField = Field(
        default=FalseAlarmBudget(),
        description="The chance of even one false alarm, over monitors, drift and the canary.",
    )
    monitors: tuple[WatchSection, ...] = Field(default=(), description="What must be kept.")
    signals: tuple[Name, ...] = Field(default=(), description="Gauges that are kept of what comes in.")
    drift: tuple[Literal["queries", "documents"], ...] = Field(
        default=(),
        description="Whose embeddings are compared, daily: 500 texts of the day at most, with 1,500 of 28 days.",
    )
    canary: Canary = Field(
        default=50, description="Responses that a model judges anew every day, to see whether it changed; 0 = none."
    )
    cool_down: Duration = Field(
        default=timedelta(days=1),
        description="How long the last 50 scores, or a gauge, must be back in the limit before an alert ends.",
    )
    no_data: Duration = Field(
        default=timedelta(hours=6), description="How long nothing may come of what came before, until it is told."
    )
    notify: tuple[NotifySection, ...] = Field(default=(), description="Who is told.")
    url: Name = Field(default="", description="Where readers reach the dashboard; what is sent links to its alerts.")
    schedules: tuple[ScheduleSection, ...] = Field(default=(), description="What is done at certain times.")
    keep: KeepSection = Field(default_factory=KeepSection, description="How long traffic is kept.")

    @property
    def model_segment(self) -> str:
        """The segment whose values are the models that answer; "" = none."""
        return next((name for name, field in self.segments.items() if field == "model"), "")

    @model_validator(mode="after")
    def _check_url(self) -> MonitorSection:
        if self.url and not re.match(r"https?://[^\s/]\S*$", self.url):
            raise ValueError(f"url: expected https://HOST/…, such as https://rag.example.org, got {self.url!r}.")
        return self

    @model_validator(mode="after")
    def _check_model_segment(self) -> MonitorSection:
        for schedule in self.schedules:
            if "model" in schedule.on and not self.model_segment:
                raise ValueError(f"{schedule.name}: on: [model] needs to see the models: segments: {{model: model}}.")
        return self

    @property
    def has_judge_canary(self) -> bool:
        """Whether a model judges, and responses are judged anew every day to see whether it changed."""
        return bool(self.canary) and self.judge not in ("local", "none", "")
