"""The section `monitor` of ragauge.yaml, and whose passages count in a trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, StrictBool, WithJsonSchema, model_validator

from ragauge.core.config.gate import NULL, UNSIGNED, Count, Drop, DropField, LevelField, Name, build_text_schema
from ragauge.core.config.section import JudgeText, Section
from ragauge.core.config.times import Cron, Days, Duration, Zone
from ragauge.core.values import describe_value

PASSAGES = r"^(union|last|span:.*\S.*)$"


def _check_passages(value: Any) -> str:
    if not isinstance(value, str) or not re.match(PASSAGES, value):
        raise ValueError(f"expected union, last or span:NAME, such as span:search, got {describe_value(value)}.")
    return value


Passages = Annotated[str, BeforeValidator(_check_passages), WithJsonSchema({"type": "string", "pattern": PASSAGES})]


FALSE_ALARM_BUDGET = rf"^\s*({UNSIGNED})\s*%\s*per\s*([1-9][0-9]{{0,2}})\s*d\s*$"
PERCENT = rf"^\s*({UNSIGNED})\s*%\s*$"
Trigger = Literal["corpus", "settings", "model"]
AlwaysSampled = Literal["error", "empty_retrieval", "thumbs_down"]
LEVELS = ("min", "max", "max_drop")


@dataclass(frozen=True, slots=True)
class FalseAlarmBudget:
    """The chance of even one false alarm, over all monitors and segments, within a period."""

    chance: float = 0.05  #: in (0, 1).
    days: int = 30  #: of the period, at least 1.

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
        default=0.05, description="Share of requests to judge. Also the default when no sample is configured."
    )
    at_least: dict[Name, Count] = Field(
        default_factory=dict,
        description="Segment -> minimum judged per day for each value, at any rate. 1.5 times the rate that the "
        "previous day needed, so that a shortfall is rare; a new value is judged in full until it has them.",
    )
    always: tuple[AlwaysSampled, ...] = Field(default=(), description="Requests that are always judged.")
    max_cost: Amount = Field(default=None, description="Maximum dollars a day; the rate is lowered to stay below it.")


class WatchSection(Section):
    """One monitor: a metric or a signal, and what it must keep."""

    metric: Name | None = Field(default=None, description="Name of a metric as printed, such as faithfulness.")
    signal: Name | None = Field(default=None, description="A gauge that arrives with the traces.")
    max_drop: DropField = Field(
        default=None, description="How far the mean may fall below the baseline: 3% of it, or 3 points (0.03)."
    )
    baseline: Days = Field(
        default=timedelta(days=28), description="The days before each period that it is compared with."
    )
    min: LevelField = Field(default=None, description="Lowest mean allowed, for metrics where higher is better.")
    max: LevelField = Field(default=None, description="Highest mean allowed, for metrics where lower is better.")
    share_above: Amount = Field(
        default=None, description="Monitor the share of requests above this, such as 4000 ms of latency, not the mean."
    )
    skew_max: Amount = Field(
        default=None, description="For a signal: maximum ratio of its largest source, such as a shard, to the mean."
    )
    wait: Duration | None = Field(
        default=None,
        alias="for",
        description="How long a signal, or decide: point, must break its limit before it alerts.",
    )
    segments: tuple[Name, ...] = Field(default=(), description="Segments to monitor as well, each value separately.")
    project: Name = Field(default="", description="Project whose traffic counts, for a metric.")
    decide: Literal["test", "point"] = Field(
        default="test", description="Decide by the test within false_alarms, or by the mean of the last 50."
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
            yield f"sets no limit for {what}. Write {', '.join(allowed[:-1])} or {allowed[-1]}."
        elif len(limits) > 1 or limits[0] not in allowed:
            expected = "one limit" if len(limits) > 1 else f"{', '.join(allowed[:-1])} or {allowed[-1]}"
            yield f"expected {expected} for {what}, got {' and '.join(limits)}."
        if self.skew_max is not None and self.skew_max < 1:
            yield f"skew_max is the ratio of the largest value to the mean: at least 1, got {self.skew_max:g}."

    def _find_key_conflicts(self) -> Iterator[str]:
        """Keys that say nothing here."""
        if self.signal is not None:
            for key in ("segments", "share_above", "decide", "baseline", "project"):
                if self.has_key(key):
                    yield f"{key} applies to metrics, but {self.signal} is a signal."
        elif self.wait is not None and self.decide == "test":
            yield "for applies only to decide: point and to signals. The test needs no waiting time: remove it."
        if self.has_key("baseline") and self.max_drop is None and self.signal is None:
            yield "baseline needs max_drop."
        if isinstance(self.max_drop, Drop) and not 0 < self.max_drop.amount < 1:
            yield f"max_drop must be above 0 and below 100 %, got {self.max_drop.text}. A usual value is 3%."


class NotifySection(Section):
    """Who is told of an alert. A value that begins with $ is the name of an environment variable that holds it."""

    webhook: Name | None = Field(default=None, description="URL that receives the alert as a JSON POST.")
    format: Literal["generic", "slack"] = Field(default="generic", description="Format of that JSON.")
    email: Name | None = Field(default=None, description="Address that receives an email.")
    server: Name = Field(default="localhost:25", description="SMTP server for email, host:port.")
    sender: Name = Field(default="ragauge@localhost", description="Sender address of the email.")
    otlp: Name | None = Field(default=None, description="OTLP/HTTP endpoint that receives alerts and results.")
    headers: dict[Name, Name] = Field(default_factory=dict, description="Headers, such as authorization: $TOKEN.")
    text: StrictBool = Field(default=False, description="Whether it may contain users' questions and answers.")

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

    study: Name = Field(description="A stored index study.")
    queries: Name = Field(description="File with the query vectors.")
    vectors: Name | None = Field(default=None, description="Current vectors; by default the study's file.")
    trial: Name | None = Field(default=None, description="Trial to check; by default the recommended one.")
    min: Annotated[float, Field(ge=0, le=1)] | None = Field(default=None, description="Lowest mean recall allowed.")
    max_drop: Name | None = Field(
        default=None, description="How far recall may fall below the schedule's baseline: 1 points, or 1%."
    )


class ScheduleSection(Section):
    """What is done at certain times: a run that is held to the gate's rules, a heartbeat, or a check of an index."""

    name: Name = Field(description="Name of the schedule.")
    cron: Cron | None = Field(default=None, description="When to run: minute, hour, day of month, month, day of week.")
    on: tuple[Trigger, ...] = Field(default=(), description="Also run when one of these changes.")
    project: Name = Field(default="", description="Project whose models and reports count; default: all.")
    zone: Zone = Field(default="UTC", description="Time zone, such as Europe/Berlin.")
    run: Name | None = Field(default=None, description="The system, as for ragauge run.")
    set: Name | None = Field(default=None, description="The eval set: a file, or a stored set's name.")
    settings: Name | None = Field(default=None, description="File with the system's settings, as for --system-config.")
    corpus: Name | None = Field(default=None, description="File or folder with the documents, for on: [corpus].")
    metrics: tuple[Name, ...] = Field(
        default=(), description="Metrics and presets; by default those named in the gate's rules."
    )
    rules: Name | None = Field(default=None, description="File with the section gate; by default this file.")
    baseline: Name | None = Field(default=None, description="The run that the gate compares with.")
    reported: Days | None = Field(
        default=None, description="Also ask what users gave a thumbs-down in so many days, and ui.regression_set."
    )
    heartbeat: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = Field(
        default=None, description="Ask this many questions without judging them, and fail if one gets no answer."
    )
    ann: AnnSection | None = Field(default=None, description="An index to check, instead of run and set.")

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
                yield f"has on: [{key}] but no file to check. Name it with {key}: PATH."
        if self.project and "model" not in self.on and self.reported is None:
            yield "names a project, which only on: [model] and reported use. Remove project."

    def _find_task_problems(self) -> Iterator[str]:
        if self.ann is None:
            if lacking := [key for key in ("run", "set") if getattr(self, key) is None]:
                yield f"has no {' and no '.join(lacking)}. Name both, or an index under ann."
        elif too := [key for key in ("run", "set", "rules", "metrics", "reported", "heartbeat") if getattr(self, key)]:
            yield f"has both ann and {' and '.join(too)}, which cannot be combined. Write two schedules."
        elif (self.ann.min is None) == (self.ann.max_drop is None) or bool(self.ann.max_drop) != bool(self.baseline):
            yield "has an ann section without a limit. Add min to it, or max_drop with a baseline in the schedule."
        if self.heartbeat and (too := [key for key in ("rules", "metrics", "reported") if getattr(self, key)]):
            yield f"is a heartbeat, which judges nothing. Remove {' and '.join(too)}."


class KeepSection(Section):
    """How long to keep traffic."""

    raw: Duration = Field(default=timedelta(days=7), description="How long to keep spans and gauge values.")
    traces: Duration = Field(
        default=timedelta(days=90), description="How long to keep each trace's status (monitor trace)."
    )
    runs: Duration | None = Field(
        default=None, description="How long to keep runs of traffic with all their data; default: forever."
    )


class RedactSection(Section):
    """What of traces is taken out before anything is kept."""

    attributes: tuple[Name, ...] = Field(
        default=(), description="Names of attributes whose values are removed; * matches anything: user.*"
    )
    patterns: tuple[Name, ...] = Field(
        default=(), description="Regular expressions; text that they match is replaced by a hash."
    )
    key: Name | None = Field(
        default=None,
        description="Key of the hashes; $NAME is an environment variable. Without a key, each start makes a new one.",
    )

    @model_validator(mode="after")
    def _check_patterns(self) -> RedactSection:
        for pattern in self.patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a valid regular expression: {error}.") from None
        return self


class WaitSection(Section):
    """How long a trace waits for more of its spans, after the last that came."""

    ended: Duration = Field(default=timedelta(seconds=5), description="Wait after its outermost span has ended.")
    quiet: Duration = Field(default=timedelta(seconds=30), description="Wait if it has not ended.")


class MonitorSection(Section):
    """What is watched in production, and who is told."""

    project: Name = Field(default="", description="Project whose traffic is monitored; default: the first received.")
    judge: JudgeText = Field(
        default="local", description="Judge of the sample: its spec, or {model, key_env, headers, …}."
    )
    metrics: tuple[Name, ...] = Field(default=("production",), description="Metrics and presets for all requests.")
    segments: dict[Name, Name] = Field(
        default_factory=dict, description="Name of a segment -> the trace's field, such as metadata.tenant."
    )
    passages: Passages = Field(default="union", description="Searches of a trace that count: union, last or span:NAME.")
    without_retrieval: bool = Field(
        default=False, description="Also read requests without a search, as answers without passages."
    )
    redact: RedactSection = Field(default_factory=RedactSection, description="What to remove from traces.")
    wait: WaitSection = Field(default_factory=WaitSection, description="When to read a trace.")
    sample: SampleSection = Field(default_factory=SampleSection, description="Which requests to judge.")
    false_alarms: FalseAlarmBudgetField = Field(
        default=FalseAlarmBudget(),
        description="Chance of at least one false alarm, over all monitors, drift and the canary.",
    )
    monitors: tuple[WatchSection, ...] = Field(default=(), description="The monitors and their limits.")
    signals: tuple[Name, ...] = Field(default=(), description="Incoming gauges to store.")
    drift: tuple[Literal["queries", "documents"], ...] = Field(
        default=(),
        description="Texts whose embeddings are compared daily: up to 500 of the day with 1,500 of the last 28 days.",
    )
    canary: Canary = Field(
        default=50, description="Responses that the model judges again daily, to detect model changes; 0 for none."
    )
    cool_down: Duration = Field(
        default=timedelta(days=1),
        description="How long the last 50 scores, or a gauge, must be within the limit before an alert is resolved.",
    )
    no_data: Duration = Field(
        default=timedelta(hours=6), description="How long data that used to arrive may be missing before an alert."
    )
    notify: tuple[NotifySection, ...] = Field(default=(), description="Who is notified.")
    url: Name = Field(default="", description="URL of the dashboard; notifications link to its alerts.")
    schedules: tuple[ScheduleSection, ...] = Field(default=(), description="Scheduled runs.")
    keep: KeepSection = Field(default_factory=KeepSection, description="How long to keep traffic.")

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
                raise ValueError(
                    f"{schedule.name}: on: [model] needs the models as a segment: segments: {{model: model}}."
                )
        return self

    @property
    def has_judge_canary(self) -> bool:
        """Whether a model judges, and responses are judged anew every day to see whether it changed."""
        return bool(self.canary) and self.judge not in ("local", "none", "")
