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
        Path | None, OptionSpec("The file with the section monitor; ragauge.yaml where there is one.", kind=Path | None)
    ] = None
    store: Store = None
    host: Annotated[str, OptionSpec("Where to listen; beyond this machine a token is needed.")] = "127.0.0.1"
    port: Annotated[int, OptionSpec("Of the address; 0 takes a free one.", least=0, most=65535)] = 4318
    token_file: Annotated[
        Path | None, OptionSpec("A file with the token that exporters send and readers log in with.", kind=Path | None)
    ] = None
    allowed_host: Annotated[
        Sequence[str], OptionSpec("A name that the server is reached by; repeatable.", kind=list[str] | None)
    ] = ()
    trusted_proxy: Annotated[
        Sequence[str],
        OptionSpec("Address of a proxy whose X-Forwarded-Proto counts, as of TLS; repeatable.", kind=list[str] | None),
    ] = ()
    tail: Annotated[
        Sequence[Path],
        OptionSpec("A file of JSON lines that an exporter appends to; repeatable.", kind=list[Path] | None),
    ] = ()
    date_from: Annotated[
        Literal["arrival", "span"],
        OptionSpec(
            "Whose day a trace counts for: of its arrival, or of its own spans.", kind=Literal["arrival", "span"]
        ),
    ] = "arrival"


@dataclass(frozen=True, kw_only=True)
class MonitorPlanOptions:
    """What a monitor is planned for. Each field is an argument of `monitor_plan`, whose documentation explains it."""

    run: Annotated[Any, OptionSpec("A stored run whose scores are typical: id, name or latest.", argument=True)] = (
        field(default=None, kw_only=False)
    )
    metric: Annotated[str, OptionSpec("Which of its metrics.", "-m --metric")] = "faithfulness"
    mean: Annotated[float | None, OptionSpec("Without a run: the mean of the scores, in (0, 1), higher better.")] = None
    deviation: Annotated[float | None, OptionSpec("Without a run: their standard deviation.")] = None
    requests: Annotated[int, OptionSpec("Requests a day.", least=1)] = 1000
    judge_cost: Annotated[
        float | None, OptionSpec("US dollars for judging one request; what it cost in the run by default.")
    ] = None
    max_drop: Annotated[str, OptionSpec("How much may be lost without an alert, of the mean.")] = "3%"
    false_alarms: Annotated[str, OptionSpec("The chance of even one false alarm.")] = "5% per 30d"
    series: Annotated[int, OptionSpec("Monitors times segments that share it.", least=1)] = 1
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorReplayOptions:
    """What is gone through again. Each field is an argument of `monitor_replay`, whose documentation explains it."""

    config: Annotated[Any, OptionSpec("The file with the section monitor.", argument=True, metavar="FILE")] = field(
        default="ragauge.yaml", kw_only=False
    )
    since: Annotated[str, OptionSpec("The first day, such as 2026-01-31; all that is kept by default.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorDriftOptions:
    """Which days are looked at. Each field is an argument of `monitor_drift`, whose documentation explains it."""

    day: Annotated[str, OptionSpec("The last day, such as 2026-01-31; the last with traffic by default.")] = ""
    to: Annotated[str, OptionSpec("A set, .jsonl, that gets the questions of the clusters that grew, as drafts.")] = ""
    tag: Annotated[str, OptionSpec("What these are tagged with.")] = "drift"
    project: Annotated[str, OptionSpec("Whose traffic; that of the project whose traffic came first by default.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorMarkOptions:
    """How production was on which days. Each field is an argument of `monitor_mark`, which explains it."""

    was: Annotated[
        str,
        OptionSpec(
            "good, bad, or forget to take it back; without it, lists.", argument=True, metavar="good|bad|forget"
        ),
    ] = field(default="", kw_only=False)
    since: Annotated[str, OptionSpec("The first day, such as 2026-01-31.", "--from")] = ""
    until: Annotated[str, OptionSpec("The last day; the first by default.")] = ""
    why: Annotated[str, OptionSpec("In your words.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorShadowOptions:
    """Which candidate is held against production. Each field is an argument of `monitor_shadow`."""

    system: Annotated[Any, OptionSpec("The candidate, as ragauge run takes it.", argument=True, metavar="SYSTEM")] = (
        field(kw_only=False)
    )
    like: Annotated[str, OptionSpec("The run of traffic whose questions it is asked: id or name.")]
    sample: Annotated[int, OptionSpec("So many of its questions, drawn at random.", least=2)] = 200
    margin: Annotated[str, OptionSpec("How much of a metric's mean may be lost.")] = "3%"
    metrics: Metrics = ()
    judge: Annotated[Any, OptionSpec("Who judges; production's own judge asks nothing of production anew.")] = "local"
    settings: Annotated[Any, OptionSpec("YAML with the candidate's settings.", "--system-config")] = None
    golden: Annotated[Any, OptionSpec("A labelled set: the candidate must not lose recall@10 on it.")] = None
    golden_base: Annotated[
        str,
        OptionSpec("Production's run over it: id or name; by default the newest over the same set.", "--golden-base"),
    ] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class DeleteOptions:
    """What is deleted: a run, or what is kept of somebody."""

    run: Annotated[str, OptionSpec("A stored run: id or name.", argument=True)] = ""
    trace: Annotated[
        Sequence[str],
        OptionSpec("All that is kept of a trace: its id; repeatable.", kind=list[str] | None, metavar="ID"),
    ] = ()
    user: Annotated[str, OptionSpec("All of a user: the value of a segment or attribute user.")] = ""
    tenant: Annotated[str, OptionSpec("The same of a tenant.")] = ""
    segment: Annotated[
        Sequence[str],
        OptionSpec("The same of any other segment; repeatable.", kind=list[str] | None, metavar="NAME=VALUE"),
    ] = ()
    dry_run: Annotated[bool, OptionSpec("Only say what would be deleted.")] = False
    store: Store = None
