"""The options of `ragauge monitor`, declared once, as in `verbs/evaluate_options.py`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from ragauge.verbs.option_specs import LastJudge, Metrics, Store, Typed


@dataclass(frozen=True, kw_only=True)
class MonitorServeOptions:
    """Where traces are taken in, and what is done with them."""

    config: Annotated[
        Path | None, Typed("The file with the section monitor; ragauge.yaml where there is one.", kind=Path | None)
    ] = None
    store: Store = None
    host: Annotated[str, Typed("Where to listen; beyond this machine a token is needed.")] = "127.0.0.1"
    port: Annotated[int, Typed("Of the address; 0 takes a free one.", least=0, most=65535)] = 4318
    token_file: Annotated[
        Path | None, Typed("A file with the token that exporters send and readers log in with.", kind=Path | None)
    ] = None
    allowed_host: Annotated[
        Sequence[str], Typed("A name that the server is reached by; repeatable.", kind=list[str] | None)
    ] = ()
    trusted_proxy: Annotated[
        Sequence[str],
        Typed("Address of a proxy whose X-Forwarded-Proto counts, as of TLS; repeatable.", kind=list[str] | None),
    ] = ()
    tail: Annotated[
        Sequence[Path], Typed("A file of JSON lines that an exporter appends to; repeatable.", kind=list[Path] | None)
    ] = ()
    date_from: Annotated[
        Literal["arrival", "span"],
        Typed("Whose day a trace counts for: of its arrival, or of its own spans.", kind=Literal["arrival", "span"]),
    ] = "arrival"


@dataclass(frozen=True, kw_only=True)
class MonitorPlanOptions:
    """What a monitor is planned for. Each field is an argument of `monitor_plan`, whose documentation explains it."""

    run: Annotated[Any, Typed("A stored run whose scores are typical: id, name or latest.", argument=True)] = field(
        default=None, kw_only=False
    )
    metric: Annotated[str, Typed("Which of its metrics.", "-m --metric")] = "faithfulness"
    mean: Annotated[float | None, Typed("Without a run: the mean of the scores, in (0, 1), higher better.")] = None
    deviation: Annotated[float | None, Typed("Without a run: their standard deviation.")] = None
    requests: Annotated[int, Typed("Requests a day.", least=1)] = 1000
    judge_cost: Annotated[
        float | None, Typed("US dollars for judging one request; what it cost in the run by default.")
    ] = None
    max_drop: Annotated[str, Typed("How much may be lost without an alert, of the mean.")] = "3%"
    false_alarms: Annotated[str, Typed("The chance of even one false alarm.")] = "5% per 30d"
    series: Annotated[int, Typed("Monitors times segments that share it.", least=1)] = 1
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorReplayOptions:
    """What is gone through again. Each field is an argument of `monitor_replay`, whose documentation explains it."""

    config: Annotated[Any, Typed("The file with the section monitor.", argument=True, metavar="FILE")] = field(
        default="ragauge.yaml", kw_only=False
    )
    since: Annotated[str, Typed("The first day, such as 2026-01-31; all that is kept by default.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorDriftOptions:
    """Which days are looked at. Each field is an argument of `monitor_drift`, whose documentation explains it."""

    day: Annotated[str, Typed("The last day, such as 2026-01-31; the last with traffic by default.")] = ""
    to: Annotated[str, Typed("A set, .jsonl, that gets the questions of the clusters that grew, as drafts.")] = ""
    tag: Annotated[str, Typed("What these are tagged with.")] = "drift"
    project: Annotated[str, Typed("Whose traffic; that of the project whose traffic came first by default.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorMarkOptions:
    """How production was on which days. Each field is an argument of `monitor_mark`, which explains it."""

    was: Annotated[
        str, Typed("good, bad, or forget to take it back; without it, lists.", argument=True, metavar="good|bad|forget")
    ] = field(default="", kw_only=False)
    since: Annotated[str, Typed("The first day, such as 2026-01-31.", "--from")] = ""
    until: Annotated[str, Typed("The last day; the first by default.")] = ""
    why: Annotated[str, Typed("In your words.")] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class MonitorShadowOptions:
    """Which candidate is held against production. Each field is an argument of `monitor_shadow`."""

    system: Annotated[Any, Typed("The candidate, as ragauge run takes it.", argument=True, metavar="SYSTEM")] = field(
        kw_only=False
    )
    like: Annotated[str, Typed("The run of traffic whose questions it is asked: id or name.")]
    sample: Annotated[int, Typed("So many of its questions, drawn at random.", least=2)] = 200
    margin: Annotated[str, Typed("How much of a metric's mean may be lost.")] = "3%"
    metrics: Metrics = ()
    judge: Annotated[Any, Typed("Who judges; production's own judge asks nothing of production anew.")] = "local"
    settings: Annotated[Any, Typed("YAML with the candidate's settings.", "--system-config")] = None
    golden: Annotated[Any, Typed("A labelled set: the candidate must not lose recall@10 on it.")] = None
    golden_base: Annotated[
        str, Typed("Production's run over it: id or name; by default the newest over the same set.", "--golden-base")
    ] = ""
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class DeleteOptions:
    """What is deleted: a run, or what is kept of somebody."""

    run: Annotated[str, Typed("A stored run: id or name.", argument=True)] = ""
    trace: Annotated[
        Sequence[str], Typed("All that is kept of a trace: its id; repeatable.", kind=list[str] | None, metavar="ID")
    ] = ()
    user: Annotated[str, Typed("All of a user: the value of a segment or attribute user.")] = ""
    tenant: Annotated[str, Typed("The same of a tenant.")] = ""
    segment: Annotated[
        Sequence[str], Typed("The same of any other segment; repeatable.", kind=list[str] | None, metavar="NAME=VALUE")
    ] = ()
    dry_run: Annotated[bool, Typed("Only say what would be deleted.")] = False
    store: Store = None
