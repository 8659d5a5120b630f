"""The options of verbs that read what is stored or written down, declared once, as in `verbs/evaluate_options.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ragauge.core.errors import UsageError
from ragauge.verbs.option_specs import (
    METRICS,
    Baseline,
    Columns,
    Filter,
    LastJudge,
    Metrics,
    OptionSpec,
    Segments,
    Store,
    StoredRun,
)

LATEST = "latest"


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """How runs are compared. Each field is an argument of `compare`, whose documentation explains it."""

    metrics: Metrics = ()
    judge: Annotated[
        str | None, OptionSpec("Judge whose verdicts to use, as in `evaluate --judge`; by default the last of both.")
    ] = None
    store: Store = None
    filter: Filter = None
    level: Annotated[float, OptionSpec("Confidence level of the intervals; 1 − level is the allowed error.")] = 0.95
    segments: bool = True
    correction: Annotated[Any, OptionSpec("Correction for multiple tests: holm, bh (Benjamini-Hochberg) or none.")] = (
        "holm"
    )


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """What is held to which rules. Each field is an argument of `gate`, whose documentation explains it."""

    run: Annotated[Any, OptionSpec("An evaluated run: id, name or latest.", argument=True)] = field(
        default=LATEST, kw_only=False
    )
    baseline: Annotated[
        Any, OptionSpec("The run that max_drop compares with: a baseline name, or a run id or name.")
    ] = None
    rules: Annotated[
        str | Path | Mapping[str, Any], OptionSpec("The configuration file with the gate section.", "--config", Path)
    ] = "ragauge.yaml"
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class OutcomeOptions:
    """Which outcomes count as good, and how many of them a level has to reach."""

    target: Annotated[float, OptionSpec("For --thresholds: target share of answers with a good outcome.")] = 0.8
    outcome: Annotated[str, OptionSpec("For --thresholds: the outcome; the most frequent one by default.")] = ""
    good: Annotated[str, OptionSpec("The outcome's good values, if not obvious: '>=4' or up,love.")] = ""


@dataclass(frozen=True, kw_only=True)
class ReportOptions(OutcomeOptions):
    """Which stored run is reported, by whose verdicts, beside which other; or which level of a metric serves."""

    run: StoredRun = LATEST
    thresholds: Annotated[
        str, OptionSpec("Show instead which score of this metric predicts a good outcome.", metavar="METRIC")
    ] = ""
    judge: LastJudge = None
    baseline: Baseline = None
    store: Store = None

    def __post_init__(self) -> None:
        if self.thresholds and self.baseline:
            raise UsageError("--thresholds reads one run: remove --baseline.")
        if not self.thresholds and (self.outcome or self.good):
            raise UsageError("--outcome and --good need --thresholds METRIC.")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """What of a stored run is shown: all of it, one example, or one view."""

    run: StoredRun
    example: Annotated[str, OptionSpec("An example's query_id, to see its claims and passages.", argument=True)] = ""
    alignment: Annotated[bool, OptionSpec("Show which ranks the answers use and where evidence is lost.")] = False
    cost: Annotated[bool, OptionSpec("Show the cost of judging by model, judge question, metric and example.")] = False
    baseline: Baseline = None
    gaps: Annotated[
        bool, OptionSpec("Show what is lost to retrieval and to generation, and what the model knew on its own.")
    ] = False
    store: Store = None

    def __post_init__(self) -> None:
        if self.example and (self.alignment or self.cost or self.gaps):
            name = "--alignment" if self.alignment else "--cost" if self.cost else "--gaps"
            raise UsageError(f"{name} applies to a whole run: remove the query_id or the option.")
        if self.baseline and (self.example or self.cost or self.gaps):
            how = "remove the query_id, --cost or --gaps."
            raise UsageError(f"--baseline compares whole runs: {how}")

    @property
    def view(self) -> str:
        """What is shown: cost, gaps, alignment, example or run."""
        flags = {name: getattr(self, name) for name in ("cost", "gaps", "alignment", "example")}
        return next((name for name, is_set in flags.items() if is_set), "run")


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """Which numbers of a stored run, or of one example of it, are explained."""

    run: StoredRun
    example: Annotated[str, OptionSpec("An example's query_id; the whole run by default.", argument=True)] = ""
    metrics: Metrics = ()
    repeat: Annotated[int, OptionSpec("Index of the answer, if the example was asked several times.", least=0)] = 0
    judge: LastJudge = None
    baseline: Baseline = None
    store: Store = None

    def __post_init__(self) -> None:
        if self.example and self.baseline:
            raise UsageError("--baseline compares whole runs: remove the query_id.")


@dataclass(frozen=True, kw_only=True)
class RunsOptions:
    """Which stored runs are listed. Each field is an argument of `runs`, whose documentation explains it."""

    study: Annotated[str, OptionSpec("List only the trials of this study.")] = ""
    limit: Annotated[int | None, OptionSpec("Maximum number of runs; defaults to all.", least=1)] = None
    after: Annotated[str, OptionSpec("The last id of the previous page.")] = ""
    sort: Annotated[str, OptionSpec("Sort order: newest, oldest, name, or a metric (lowest first).")] = "newest"
    filter: Annotated[
        Mapping[str, str] | None,
        OptionSpec("Only matching runs: set=golden, tag=release, state=stopped, metric.faithfulness.lt=0.8, …"),
    ] = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """Which rows the log has. Each field is an argument of `log`, whose documentation explains it."""

    set: Annotated[str, OptionSpec("Only runs on this set (under any of its names), or traffic.")] = field(
        default="", kw_only=False
    )
    limit: Annotated[int | None, OptionSpec("Maximum number of rows; the newest come first.", kind=int, least=1)] = 20
    metrics: Annotated[
        str | Sequence[object], OptionSpec("Comma-separated metrics to add as columns.", "-m --metrics")
    ] = ()
    judge: Annotated[str | None, OptionSpec("Which judge's verdicts to use; defaults to the last judge.")] = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class ThresholdsOptions(OutcomeOptions):
    """Of which metric a threshold is wanted. Each field is an argument of `thresholds`, which explains it."""

    metric: str = field(kw_only=False)
    run: Any = field(default=None, kw_only=False)
    judge: str | None = None
    store: str | None = None


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """What is looked at beside the machine, the packages and the local judge; or the one file that is."""

    file: Annotated[
        Path | None, OptionSpec("Check this ragauge.yaml only and list its errors.", kind=Path | None, argument=True)
    ] = None
    config: Annotated[str, OptionSpec("The configuration file to check.")] = "ragauge.yaml"
    judge: Annotated[str, OptionSpec("A model judge to try with one short call per model, which costs money.")] = ""
    system: Annotated[str, OptionSpec("A system to look for; it is not queried.")] = ""
    settings: Annotated[str, OptionSpec("YAML file with the system's settings.", "--system-config")] = ""
    eval_set: Annotated[
        str, OptionSpec("An eval set to check: its labels, and its examples for each tag, segment and metric.", "--set")
    ] = ""
    columns: Columns = None
    segments: Segments = ()
    store: Store = None

    def __post_init__(self) -> None:
        if self.file and (self.config != "ragauge.yaml" or self.judge or self.system or self.settings):
            names = "--config, --judge, --system and --system-config"
            raise UsageError(f"{names} check the environment, not a file: remove them or the file.")
        if not self.file and (self.columns or self.segments):
            raise UsageError("--map and --segments need a file: ragauge doctor ragauge.yaml --set SET.")


@dataclass(frozen=True, kw_only=True)
class ValidateOptions:
    """What is validated. Each field is an argument of `validate`, whose documentation explains it."""

    config: str | Path | Mapping[str, Any] = field(default="ragauge.yaml", kw_only=False)
    set: Any = None
    columns: Mapping[str, str] | None = None
    segments: str | Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """How the dashboard is served. Each field is an argument of `ui`, whose documentation explains it."""

    store: Store = None
    host: Annotated[str, OptionSpec("Address to listen on; a non-local address requires a token.")] = "127.0.0.1"
    port: Annotated[int, OptionSpec("Port to listen on; 0 picks a free one.", least=0, most=65535)] = 7471
    token_file: Annotated[
        Path | None, OptionSpec("A file with the token that users log in with.", kind=Path | None)
    ] = None
    allowed_host: Annotated[
        Sequence[str], OptionSpec("Host name that clients use to reach the server; repeatable.", kind=list[str] | None)
    ] = ()
    trusted_proxy: Annotated[
        Sequence[str],
        OptionSpec("Address of a proxy whose X-Forwarded-Proto header is trusted; repeatable.", kind=list[str] | None),
    ] = ()
    base_path: Annotated[str, OptionSpec("Path prefix behind a proxy, such as /ragauge.")] = ""
    read_only: Annotated[bool, OptionSpec("Open the store read-only and reject changes.")] = False
    no_open: Annotated[bool, OptionSpec("Do not open a browser.")] = False


@dataclass(frozen=True, kw_only=True)
class UiOptions(ServeOptions):
    """How the dashboard is served, or written as files."""

    export: Annotated[
        Path | None,
        OptionSpec("Write the pages to this folder instead of serving them.", kind=Path | None, metavar="DIR"),
    ] = None
    run: Annotated[
        Sequence[str], OptionSpec("Run to export: id, name or latest; repeatable.", kind=list[str] | None)
    ] = ()
    limit: Annotated[int, OptionSpec("Maximum of exported runs (the newest) and of their examples.", least=1)] = 50


@dataclass(frozen=True, kw_only=True)
class RetrievalOptions:
    """A ranking, the labels that it is measured against, and by which metrics."""

    qrels: Annotated[Path, OptionSpec("Relevance labels: TREC qrels, BEIR TSV, JSON Lines or Parquet.", argument=True)]
    run: Annotated[Path, OptionSpec("The ranking: a TREC run, JSON Lines or Parquet.", argument=True)]
    metrics: Annotated[str, METRICS] = "recall@5,precision@5,mrr,map,ndcg@10"
    per_query: Annotated[bool, OptionSpec("Also print the values of each query.")] = False
    topics: Annotated[str, OptionSpec("Queries to average over: all labeled queries, or those trec_eval uses.")] = "all"
    score_bits: Annotated[int, OptionSpec("Floating-point precision for score ties: 64, or 32 like trec_eval 9.")] = 64
