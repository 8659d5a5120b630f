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
        str | None, OptionSpec("Whose verdicts, as given to `evaluate --judge`; the last judge of both by default.")
    ] = None
    store: Store = None
    filter: Filter = None
    level: Annotated[float, OptionSpec("Of the intervals; 1 − level is the error allowed.")] = 0.95
    segments: bool = True
    correction: Annotated[Any, OptionSpec("Of p-values for multiple tests: holm, bh (Benjamini-Hochberg) or none.")] = (
        "holm"
    )


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """What is held to which rules. Each field is an argument of `gate`, whose documentation explains it."""

    run: Annotated[Any, OptionSpec("An evaluated run: id, name or latest.", argument=True)] = field(
        default=LATEST, kw_only=False
    )
    baseline: Annotated[Any, OptionSpec("The run that max_drop speaks of: a baseline's name, a run's id or name.")] = (
        None
    )
    rules: Annotated[
        str | Path | Mapping[str, Any], OptionSpec("The file with the section gate.", "--config", Path)
    ] = "ragauge.yaml"
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class OutcomeOptions:
    """Which outcomes count as good, and how many of them a level has to reach."""

    target: Annotated[float, OptionSpec("For --thresholds: wanted share of answers that turn out well.")] = 0.8
    outcome: Annotated[str, OptionSpec("For --thresholds: such as solved; the one recorded most often.")] = ""
    good: Annotated[str, OptionSpec("Its good values, where they do not say: '>=4' or up,love.")] = ""


@dataclass(frozen=True, kw_only=True)
class ReportOptions(OutcomeOptions):
    """Which stored run is reported, by whose verdicts, beside which other; or which level of a metric serves."""

    run: StoredRun = LATEST
    thresholds: Annotated[
        str, OptionSpec("Instead: from which level of this metric on answers turn out well.", metavar="METRIC")
    ] = ""
    judge: LastJudge = None
    baseline: Baseline = None
    store: Store = None

    def __post_init__(self) -> None:
        if self.thresholds and self.baseline:
            raise UsageError("--thresholds reads one run: leave out --baseline.")
        if not self.thresholds and (self.outcome or self.good):
            raise UsageError("--outcome and --good go with --thresholds METRIC.")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """What of a stored run is shown: all of it, one example, or one view."""

    run: StoredRun
    example: Annotated[str, OptionSpec("One example's query_id, to see its claims and passages.", argument=True)] = ""
    alignment: Annotated[bool, OptionSpec("Which ranks its answers use, and where evidence is lost on the way.")] = (
        False
    )
    cost: Annotated[bool, OptionSpec("What judging it has cost, by model, question, metric and example.")] = False
    baseline: Baseline = None
    gaps: Annotated[bool, OptionSpec("What is lost to retrieval, what to generation, what the model knew alone.")] = (
        False
    )
    store: Store = None

    def __post_init__(self) -> None:
        if self.example and (self.alignment or self.cost or self.gaps):
            name = "--alignment" if self.alignment else "--cost" if self.cost else "--gaps"
            raise UsageError(f"{name} is about a whole run: leave out the query_id, or the option.")
        if self.baseline and (self.example or self.cost or self.gaps):
            how = "leave out the query_id, --cost or --gaps."
            raise UsageError(f"--baseline holds a whole run against another one: {how}")

    @property
    def view(self) -> str:
        """What is shown: cost, gaps, alignment, example or run."""
        flags = {name: getattr(self, name) for name in ("cost", "gaps", "alignment", "example")}
        return next((name for name, is_set in flags.items() if is_set), "run")


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """Which numbers of a stored run, or of one example of it, are explained."""

    run: StoredRun
    example: Annotated[str, OptionSpec("One example's query_id; the whole run when left out.", argument=True)] = ""
    metrics: Metrics = ()
    repeat: Annotated[int, OptionSpec("Which of the system's answers to the example.", least=0)] = 0
    judge: LastJudge = None
    baseline: Baseline = None
    store: Store = None

    def __post_init__(self) -> None:
        if self.example and self.baseline:
            raise UsageError("--baseline holds a run against another one; it goes without an example.")


@dataclass(frozen=True, kw_only=True)
class RunsOptions:
    """Which stored runs are listed. Each field is an argument of `runs`, whose documentation explains it."""

    study: Annotated[str, OptionSpec("Only the trials of this study.")] = ""
    limit: Annotated[int | None, OptionSpec("At most so many; all by default.", least=1)] = None
    after: Annotated[str, OptionSpec("The id that the page before ended with.")] = ""
    sort: Annotated[str, OptionSpec("newest, oldest, name, or a metric: the lowest first.")] = "newest"
    filter: Annotated[
        Mapping[str, str] | None,
        OptionSpec("Only these: set=golden, tag=release, state=stopped, metric.faithfulness.lt=0.8, …"),
    ] = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """Which rows the log has. Each field is an argument of `log`, whose documentation explains it."""

    set: Annotated[str, OptionSpec("Only runs over this set, by any name it had; traffic.")] = field(
        default="", kw_only=False
    )
    limit: Annotated[int | None, OptionSpec("Rows at most, the newest.", kind=int, least=1)] = 20
    metrics: Annotated[
        str | Sequence[object], OptionSpec("More columns: metrics, comma-separated.", "-m --metrics")
    ] = ()
    judge: Annotated[str | None, OptionSpec("Whose verdicts; the last judge's by default.")] = None
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
        Path | None, OptionSpec("Check this ragauge.yaml alone: its mistakes by line.", kind=Path | None, argument=True)
    ] = None
    config: Annotated[str, OptionSpec("The configuration file that is looked at beside the machine.")] = "ragauge.yaml"
    judge: Annotated[str, OptionSpec("A model judge to try: one short question a model is paid for.")] = ""
    system: Annotated[str, OptionSpec("A system to look for; nothing is asked of it.")] = ""
    settings: Annotated[str, OptionSpec("YAML with the system's settings.", "--system-config")] = ""
    eval_set: Annotated[
        str, OptionSpec("Questions to read: their labels; examples for every tag, segment and metric?", "--set")
    ] = ""
    columns: Columns = None
    segments: Segments = ()
    store: Store = None

    def __post_init__(self) -> None:
        if self.file and (self.config != "ragauge.yaml" or self.judge or self.system or self.settings):
            names = "--config, --judge, --system and --system-config"
            raise UsageError(f"{names} are about the whole machine: leave them out, or leave out the file.")
        if not self.file and (self.columns or self.segments):
            raise UsageError("--map and --segments go with a file: ragauge doctor ragauge.yaml --set SET.")


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
    host: Annotated[str, OptionSpec("Where to listen; beyond this machine a token is needed.")] = "127.0.0.1"
    port: Annotated[int, OptionSpec("Of the address; 0 takes a free one.", least=0, most=65535)] = 7471
    token_file: Annotated[
        Path | None, OptionSpec("A file with the token that readers log in with.", kind=Path | None)
    ] = None
    allowed_host: Annotated[
        Sequence[str], OptionSpec("A name that the server is reached by; repeatable.", kind=list[str] | None)
    ] = ()
    trusted_proxy: Annotated[
        Sequence[str],
        OptionSpec("Address of a proxy whose X-Forwarded-Proto counts, as of TLS; repeatable.", kind=list[str] | None),
    ] = ()
    base_path: Annotated[str, OptionSpec("What every address begins with, behind a proxy: /ragauge.")] = ""
    read_only: Annotated[bool, OptionSpec("Open the store for reading, and take no change.")] = False
    no_open: Annotated[bool, OptionSpec("Open no browser.")] = False


@dataclass(frozen=True, kw_only=True)
class UiOptions(ServeOptions):
    """How the dashboard is served, or written as files."""

    export: Annotated[
        Path | None,
        OptionSpec("Write the pages into this folder instead of serving them.", kind=Path | None, metavar="DIR"),
    ] = None
    run: Annotated[
        Sequence[str], OptionSpec("To export this run: id, name or latest; repeatable.", kind=list[str] | None)
    ] = ()
    limit: Annotated[int, OptionSpec("Exported runs at most, the newest, and examples of each.", least=1)] = 50


@dataclass(frozen=True, kw_only=True)
class RetrievalOptions:
    """A ranking, the labels that it is measured against, and by which metrics."""

    qrels: Annotated[Path, OptionSpec("Relevance labels: TREC qrels, BEIR TSV, JSON lines or Parquet.", argument=True)]
    run: Annotated[Path, OptionSpec("The ranking: a TREC run, JSON lines or Parquet.", argument=True)]
    metrics: Annotated[str, METRICS] = "recall@5,precision@5,mrr,map,ndcg@10"
    per_query: Annotated[bool, OptionSpec("Every query's values too.")] = False
    topics: Annotated[str, OptionSpec("Queries to average over: all the labelled ones, or trec_eval's choice.")] = "all"
    score_bits: Annotated[int, OptionSpec("Precision in which scores tie: 64, or 32 as trec_eval 9 has it.")] = 64
