"""The options of `ragauge monitor`, declared once, as in `verbs/evaluate_options.py`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from ragauge.verbs.option_specs import LastJudge, Metrics, OptionSpec, Store


@dataclass(frozen=True, kw_only=True)
class MonitorServeOptions:
    """Where traces are taken in, and what is done with them."""

    config: Annotated[
        Path | None,
        OptionSpec("File with the monitor section; the default is ragauge.yaml, if it exists.", kind=Path | None),
    ] = None
    store: Store = None
    host: Annotated[str, OptionSpec("Address to listen on; a non-local address requires a token.")] = "127.0.0.1"
    port: Annotated[int, OptionSpec("Port to listen on; 0 picks a free one.", least=0, most=65535)] = 4318
    token_file: Annotated[
        Path | None, OptionSpec("File with the tokens for exporters and readers.", kind=Path | None)
    ] = None
    allowed_host: Annotated[
        Sequence[str], OptionSpec("Host name that clients use to reach the server; repeatable.", kind=list[str] | None)
    ] = ()
    trusted_proxy: Annotated[
        Sequence[str],
        OptionSpec("Address of a proxy whose X-Forwarded-Proto header is trusted; repeatable.", kind=list[str] | None),
    ] = ()
    tail: Annotated[
        Sequence[Path],
        OptionSpec("File of JSON lines to follow as an exporter appends to it; repeatable.", kind=list[Path] | None),
    ] = ()
    date_from: Annotated[
        Literal["arrival", "span"],
        OptionSpec(
            "The day that a trace counts toward: its arrival day, or the day of its spans.",
            kind=Literal["arrival", "span"],
        ),
    ] = "arrival"


@dataclass(frozen=True, kw_only=True)
class MonitorPlanOptions:
    """What a monitor is planned for. Each field is an argument of `monitor_plan`, whose documentation explains it."""

    run: Annotated[Any, OptionSpec("Stored run with typical scores: ID, name or latest.", argument=True)] = field(
        default=None, kw_only=False
    )
    metric: Annotated[str, OptionSpec("Metric of the run.", "-m --metric")] = "faithfulness"
    mean: Annotated[float | None, OptionSpec("Without a run: mean score, in (0, 1); higher is better.")] = None
    deviation: Annotated[float | None, OptionSpec("Without a run: standard deviation of the scores.")] = None
    requests: Annotated[int, OptionSpec("Requests per day.", least=1)] = 1000
    judge_cost: Annotated[
        float | None, OptionSpec("Judge cost per request in US dollars; the default is the cost in the run.")
    ] = None
    max_drop: Annotated[str, OptionSpec("Largest drop of the mean that raises no alert.")] = "3%"
    false_alarms: Annotated[str, OptionSpec("Chance of any false alarm in a period.")] = "5% per 30d"
    series: Annotated[int, OptionSpec("Number of series that share this budget: monitors times segments.", least=1)] = 1
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorReplayOptions:
    """What is gone through again. Each field is an argument of `monitor_replay`, whose documentation explains it."""

    config: Annotated[Any, OptionSpec("File with the monitor section.", argument=True, metavar="FILE")] = field(
        default="ragauge.yaml", kw_only=False
    )
    since: Annotated[str, OptionSpec("First day, for example 2026-01-31; the default is all stored traffic.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorDriftOptions:
    """Which days are looked at. Each field is an argument of `monitor_drift`, whose documentation explains it."""

    day: Annotated[str, OptionSpec("Last day, for example 2026-01-31; the default is the last day with traffic.")] = ""
    to: Annotated[str, OptionSpec("Eval set (.jsonl) to add the questions of growing clusters to, as drafts.")] = ""
    tag: Annotated[str, OptionSpec("Tag for these questions.")] = "drift"
    project: Annotated[str, OptionSpec("Project to analyze; the default is the project whose traffic came first.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorMarkOptions:
    """How production was on which days. Each field is an argument of `monitor_mark`, which explains it."""

    was: Annotated[
        str,
        OptionSpec(
            "good, bad, or forget to remove a mark; omit it to list the marks.",
            argument=True,
            metavar="good|bad|forget",
        ),
    ] = field(default="", kw_only=False)
    since: Annotated[str, OptionSpec("First day, for example 2026-01-31.", "--from")] = ""
    until: Annotated[str, OptionSpec("Last day; the default is the first day.")] = ""
    why: Annotated[str, OptionSpec("Reason, in your own words.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorShadowOptions:
    """Which candidate is held against production. Each field is an argument of `monitor_shadow`."""

    system: Annotated[
        Any, OptionSpec("The challenger, in any form that ragauge run accepts.", argument=True, metavar="SYSTEM")
    ] = field(kw_only=False)
    like: Annotated[str, OptionSpec("Traffic run to take the questions from: ID or name.")]
    sample: Annotated[int, OptionSpec("Number of questions to sample at random.", least=2)] = 200
    margin: Annotated[str, OptionSpec("Largest drop of a metric's mean to accept.")] = "3%"
    metrics: Metrics = ()
    judge: Annotated[
        Any, OptionSpec("Judge to use; with production's own judge, production's verdicts are reused.")
    ] = "local"
    settings: Annotated[Any, OptionSpec("YAML file with the challenger's settings.", "--system-config")] = None
    golden: Annotated[Any, OptionSpec("Labeled eval set on which the challenger must not lose recall@10.")] = None
    golden_base: Annotated[
        str, OptionSpec("Production's run of that set: ID or name; the default is the newest one.", "--golden-base")
    ] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class DeleteOptions:
    """What is deleted: a run, or what is kept of somebody."""

    run: Annotated[str, OptionSpec("Stored run to delete: ID or name.", argument=True)] = ""
    trace: Annotated[
        Sequence[str],
        OptionSpec("ID of a trace whose data to delete; repeatable.", kind=list[str] | None, metavar="ID"),
    ] = ()
    user: Annotated[str, OptionSpec("User whose data to delete: a value of the segment or attribute user.")] = ""
    tenant: Annotated[str, OptionSpec("Tenant whose data to delete.")] = ""
    segment: Annotated[
        Sequence[str],
        OptionSpec("Any other segment whose data to delete; repeatable.", kind=list[str] | None, metavar="NAME=VALUE"),
    ] = ()
    dry_run: Annotated[bool, OptionSpec("Only show what would be deleted.")] = False
    store: Store = None
