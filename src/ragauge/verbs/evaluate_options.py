"""The options of verbs that run and judge, declared once: fields are Python keywords and the command's options.

Annotations are looked at, so they stand unquoted; what is imported for them alone is quoted.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ragauge.core.errors import UnknownName, UsageError
from ragauge.studies.options import MakeStudyOptions
from ragauge.verbs import option_specs as shared
from ragauge.verbs.calls import ModelCallOptions
from ragauge.verbs.option_specs import OptionSpec

if TYPE_CHECKING:
    from ragauge.core.response import Variant
    from ragauge.engine.execute import Progress
    from ragauge.verbs.sources import InputSource

PASSAGES_PANEL, JUDGING_PANEL = "Which passages the answers rest on", "Judging, with --evaluate"


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(ModelCallOptions):
    """What to find out, of what. Each field is an argument of `evaluate`, whose documentation explains it."""

    source: Annotated[
        Any,
        OptionSpec(
            "A stored run (id, name or latest), a file with questions and responses, or two files: "
            "the eval set, then the responses, joined on query_id.",
            kind=list[str],
            argument=True,
            metavar="RUN|FILE...",
        ),
    ] = field(kw_only=False)
    set: Any = None
    metrics: shared.Metrics = ()
    judge: Annotated[
        Any,
        OptionSpec("Who answers what labels do not: local, none, openai:MODEL, hybrid:openai:MODEL, calibrated:FILE."),
    ] = "local"
    judge_name: str = ""
    judge_repeats: Annotated[
        int, OptionSpec("Ask the judge so many times and print how far the means vary.", least=1)
    ] = 1
    prompts: Any = None
    controls: shared.Controls = None
    criteria: Any = None
    store: shared.Store = None
    name: Annotated[str, OptionSpec("What to call the run; the file's name by default.")] = ""
    columns: shared.Columns = None
    segments: shared.Segments = ()
    context_marker: Annotated[
        str, OptionSpec("Of logged prompts: their form with {context} and {query}, or the text before the context.")
    ] = ""
    scores: shared.Scores = ()
    without_retrieval: Annotated[
        bool, OptionSpec("Of traces: read answers before which nothing was searched, too.")
    ] = False
    config: Mapping[str, Any] | None = None
    limit: Annotated[int | None, OptionSpec("Evaluate this many examples, drawn at random.", least=1)] = None
    filter: shared.Filter = None
    workers: Annotated[int | None, OptionSpec("Processes; all cores by default.", least=1)] = None
    index: shared.Index = None
    baseline: shared.Baseline = None
    variant: Annotated[str, OptionSpec("Passages that the answers rest on: own, oracle, closed_book or replayed.")] = (
        "own"
    )
    traffic: Annotated[bool, OptionSpec("The responses are production traffic, not an eval set's.")] = False
    retry_failed: Annotated[bool, OptionSpec("Do again what failed before.")] = False
    progress: Callable[["Progress"], None] | None = None
    warn: Callable[[str], None] | None = None

    def build_input_source(self) -> "InputSource":
        """Where the questions and responses are; an InputSource is taken as it is."""
        from ragauge.verbs.sources import InputSource, parse_names, register_score_columns

        if isinstance(self.source, InputSource):
            return self.source if self.source.warn else replace(self.source, warn=self.warn)
        paths = isinstance(self.source, tuple) and all(isinstance(source, str) for source in self.source)
        source = self.source if paths else (self.source,)
        return InputSource(
            source if self.set is None else (self.set, *source),
            self.columns or {},
            parse_names(self.segments),
            self.name,
            config=self.config or {},
            warn=self.warn,
            variant=self.variant,
            traffic=self.traffic,
            context_marker=self.context_marker,
            scores=register_score_columns(self.scores),
            without_retrieval=self.without_retrieval,
        )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What is to be run. Each field is an argument of `run`, whose documentation explains it."""

    system: Annotated[
        Any,
        OptionSpec(
            "module:name of a Python function or class, a URL, or a file of recorded responses.",
            argument=True,
            metavar="SYSTEM",
        ),
    ] = field(kw_only=False)
    set: Annotated[
        Any, OptionSpec("The questions: a file or folder, or a stored set's name.", argument=True, metavar="SET")
    ] = field(kw_only=False)
    name: Annotated[str, OptionSpec("What to call the run; the system's name by default.")] = ""
    columns: shared.Columns = None
    segments: shared.Segments = ()
    settings: Annotated[
        Any, OptionSpec("YAML with the system's settings, in a section `system`; see the docs.", "--system-config")
    ] = None
    repeat: Annotated[int, OptionSpec("Ask every question so many times.", least=1)] = 1
    concurrency: Annotated[int, OptionSpec("Questions under way, at most.", least=1)] = 4
    timeout: Annotated[float, OptionSpec("Seconds for one attempt at a question.", least=0.01)] = 60.0
    limit: Annotated[int | None, OptionSpec("Ask this many questions, drawn at random.", least=1)] = None
    filter: shared.Filter = None
    variant: str = "own"
    context_from: Annotated[Any, OptionSpec("Those of a stored run.", metavar="RUN", panel=PASSAGES_PANEL)] = None
    corpus: Annotated[Any, OptionSpec("Documents' texts: .jsonl, .csv, a folder of text.", panel=PASSAGES_PANEL)] = None
    store: shared.Store = None
    fresh: Annotated[bool, OptionSpec("Start another run where an unfinished one could go on.")] = False
    retry_failed: Annotated[bool, OptionSpec("Ask again what failed in the newest such run.")] = False
    progress: Callable[["Progress"], None] | None = None
    warn: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        from ragauge.verbs.sources import VARIANTS

        minimums = {"repeat": 1, "concurrency": 1, "limit": 1}
        for name, minimum in minimums.items():
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise UsageError(f"run: {name} must be at least {minimum}, got {value}.")
        if self.timeout <= 0:
            raise UsageError(f"run: timeout must be above 0 seconds, got {self.timeout:g}.")
        if self.variant not in VARIANTS:
            raise UnknownName("variant", self.variant, VARIANTS)
        if self.variant != "own" and self.context_from is not None and self.variant != "replayed":
            raise UsageError(f"run: passages come from another run or are those of {self.variant}, not both.")
        if self.variant == "replayed" and self.context_from is None:
            raise UsageError("run: the variant replayed needs the run whose passages are used: context_from=RUN.")
        if self.fresh and self.retry_failed:
            raise UsageError("run: fresh starts another run, retry_failed goes on with the last one. Choose one.")

    @property
    def of(self) -> "Variant":
        """The variant."""
        from ragauge.verbs.sources import VARIANTS

        return "replayed" if self.context_from is not None else VARIANTS[VARIANTS.index(self.variant)]


@dataclass(frozen=True, kw_only=True)
class JudgingOptions:
    """How a run is judged that is evaluated at once."""

    metrics: Annotated[str, OptionSpec("Metrics or presets, comma-separated.", "-m --metrics", panel=JUDGING_PANEL)] = (
        ""
    )
    judge: Annotated[
        str, OptionSpec("local, none, openai:MODEL, hybrid:openai:MODEL, jury:A+B.", panel=JUDGING_PANEL)
    ] = "local"
    max_cost: Annotated[
        float | None, OptionSpec("US dollars that the judge may spend; a hard stop.", panel=JUDGING_PANEL)
    ] = None


@dataclass(frozen=True, kw_only=True)
class ConfirmOptions:
    """What is to be confirmed. Each field is an argument of `confirm`, whose documentation explains it."""

    run: Annotated[Any, OptionSpec("An evaluated run: id, name or latest.", argument=True)] = field(kw_only=False)
    system: Annotated[
        Any, OptionSpec("The system that answered it, as `ragauge run` takes it; it must take passages.")
    ] = field(kw_only=False)
    corpus: Annotated[
        Any, OptionSpec("The documents' texts: .jsonl, .csv, a folder of text; else what was recorded.")
    ] = None
    limit: Annotated[
        int, OptionSpec("Experiments, at most: each cause in turn, its examples drawn at random.", least=1)
    ] = 30
    seed: Annotated[int, OptionSpec("Of the draw.")] = 0
    control: Annotated[
        bool, OptionSpec("Answer from the unchanged passages too, for systems that vary: twice the calls.")
    ] = False
    judge: Annotated[str | None, OptionSpec("Whose causes; the judge that judged the run last by default.")] = None
    settings: Annotated[Any, OptionSpec("YAML with the system's settings.", "--system-config")] = None
    concurrency: Annotated[int, OptionSpec("Questions under way, at most.", least=1)] = 4
    timeout: Annotated[float, OptionSpec("Seconds for one attempt at a question.", least=0.01)] = 60.0
    max_cost: Annotated[float | None, OptionSpec("US dollars that the judge may spend; a hard stop.")] = None
    store: shared.Store = None
    progress: Callable[["Progress"], None] | None = None
    warn: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        for name in ("limit", "concurrency"):
            if getattr(self, name) < 1:
                raise UsageError(f"confirm: {name} must be at least 1, got {getattr(self, name)}.")
        if self.timeout <= 0:
            raise UsageError(f"confirm: timeout must be above 0 seconds, got {self.timeout:g}.")


LabeledSource = Annotated[
    Any,
    OptionSpec(
        "Answers or claims with passages and human labels, or a run that people labelled.",
        argument=True,
        metavar="RUN|FILE",
    ),
]


@dataclass(frozen=True, kw_only=True)
class LabeledOptions(ModelCallOptions):
    """Texts that people labelled, and judges that are asked about them."""

    source: LabeledSource = field(kw_only=False)
    judge_name: str = ""
    prompts: Any = None
    supported: Annotated[
        str | Collection[str], OptionSpec("Values of the label that mean supported; all others mean not.")
    ] = ()
    guideline: Annotated[
        Any, OptionSpec("Of a run: labels by these instructions, a text file or a hash; its last draw's by default.")
    ] = None
    store: shared.Store = None
    columns: Annotated[
        Mapping[str, str] | None,
        OptionSpec("A column under another name: --map label=verdict; repeatable.", "--map", list[str] | None),
    ] = None
    limit: Annotated[int | None, OptionSpec("So many rows, drawn at random, always the same.", least=1)] = None
    progress: Callable[["Progress"], None] | None = None


@dataclass(frozen=True, kw_only=True)
class CheckJudgeOptions(LabeledOptions):
    """Judges to check. Each field is an argument of `check_judge`, whose documentation explains it."""

    source: LabeledSource = field(default=None, kw_only=False)
    judge: Annotated[
        Any,
        OptionSpec(
            "Who is checked: openai:MODEL and others; repeatable. local always comes along.", kind=list[str] | None
        ),
    ] = ()
    verdict: Annotated[
        str | Sequence[str],
        OptionSpec("Columns of the file with verdicts of judges asked elsewhere; then nobody is asked but by --judge."),
    ] = ()
    modes: Annotated[
        str | Sequence[str], OptionSpec("How models are asked: fused (all claims in a call), per_claim, or both.")
    ] = "fused,per_claim"
    segments: shared.Segments = ()


@dataclass(frozen=True, kw_only=True)
class CalibrateJudgeOptions(LabeledOptions):
    """A judge to calibrate. Each field is an argument of `calibrate_judge`, whose documentation explains it."""

    judge: Annotated[Any, OptionSpec("Who is calibrated: local, openai:MODEL, hybrid:openai:MODEL.")] = "local"
    output: Annotated[str | Path, OptionSpec("The file to write, such as judge.json.", "-o --output", kind=Path)] = (
        Path("judge.json")
    )


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(ModelCallOptions):
    """What to probe, and how. Each field is an argument of `probe_judge`, whose documentation explains it."""

    source: Annotated[
        Any,
        OptionSpec(
            "A stored run, or a file: answers with passages (labels where known), or pairs of answers.",
            argument=True,
            metavar="RUN|FILE",
        ),
    ] = field(kw_only=False)
    judge: Annotated[Any, OptionSpec("Who is probed: local, openai:MODEL, hybrid:openai:MODEL.")] = "local"
    judge_name: str = ""
    prompts: Any = None
    probes: Annotated[
        str | Sequence[str], OptionSpec("Which, comma-separated; by default all that the examples allow.")
    ] = ""
    family: Annotated[
        str,
        OptionSpec(
            "Column that says who wrote an answer, for self_preference; COLUMN=VALUE names the judge's own family."
        ),
    ] = ""
    tolerance: Annotated[float | None, OptionSpec("How far a value may lie from what must hold; 0.05 by default.")] = (
        None
    )
    supported: Annotated[
        str | Collection[str], OptionSpec("Values of the label that mean supported; all others mean not.")
    ] = ()
    store: shared.Store = None
    columns: Annotated[
        Mapping[str, str] | None,
        OptionSpec("A column under another name: --map label=verdict; repeatable.", "--map", list[str] | None),
    ] = None
    limit: Annotated[int | None, OptionSpec("So many examples, drawn at random, always the same.", least=1)] = None
    progress: Callable[["Progress"], None] | None = None


@dataclass(frozen=True, kw_only=True)
class PrepareOptions(ModelCallOptions):
    """What to prepare, and how.

    Attributes:
        source: the eval set: a path or a table.
        output: the file to write.
        judge: "local" takes sentences as claims; a model's or hybrid judge's spec asks the model.
        judge_name: of a judge that is an object.
        progress: called with what is done.
    """

    source: Annotated[Any, OptionSpec("The eval set: a file or folder of questions.", argument=True, metavar="SET")] = (
        field(kw_only=False)
    )
    output: Annotated[Path, OptionSpec("The prepared set to write, .jsonl or .jsonl.gz.", "-o --output")]
    judge: Annotated[
        Any, OptionSpec("Who reads: openai:MODEL and others, or local: sentences as claims, no call.", kind=str)
    ] = "local"
    judge_name: str = ""
    store: shared.Store = None
    progress: Callable[["Progress"], None] | None = None


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """What a project is begun with.

    Attributes:
        folder: the project.
        system: what to ask, as `ragauge run` takes it; "" = the likeliest that is found.
        eval_set: the questions, relative to the folder; "" = a file that is found, else a first set is made.
        columns: our field -> the column of the questions' file; what is written names them too.
        segments: columns of that file to report by; likewise.
        force: write over files that are there; those that say something else stay beside them as NAME.bak.
        store: where the first evaluation is kept.
    """

    folder: Annotated[Path, OptionSpec("The project.", argument=True)] = field(default=Path(), kw_only=False)
    system: Annotated[str, OptionSpec("What to ask, as ragauge run takes it; else it is looked for.")] = ""
    eval_set: Annotated[str, OptionSpec("A file of questions; else one is looked for, or made.", "--set")] = ""
    columns: shared.Columns = None
    segments: shared.Segments = ()
    force: Annotated[bool, OptionSpec("Write over files that are there; the old ones stay as NAME.bak.")] = False
    store: shared.Store = None


@dataclass(frozen=True, kw_only=True)
class AnnCheckOptions:
    """Which index is asked what. Each field is an argument of `ann_check`, whose documentation explains it."""

    study: Annotated[str, OptionSpec("A stored study of indexes.", argument=True, metavar="STUDY")] = field(
        kw_only=False
    )
    queries: Annotated[Any, OptionSpec("A file of vectors to ask.", "--queries")] = field(kw_only=False)
    vectors: Annotated[Any, OptionSpec("The vectors as they are now; by default the study's file, read again.")] = None
    trial: Annotated[str, OptionSpec("The trial whose index is checked; by default the recommended one.")] = ""
    minimum: Annotated[float | None, OptionSpec("The least mean recall.", "--min")] = None
    baseline: Annotated[str, OptionSpec("A run of the same queries that it must not fall below.")] = ""
    max_drop: Annotated[
        str, OptionSpec("How far recall may fall below the baseline's, in points (0.01) or %.", metavar="DROP")
    ] = "1 points"
    name: Annotated[str, OptionSpec("Of the run; STUDY-check by default.")] = ""
    store: shared.Store = None


@dataclass(frozen=True, kw_only=True)
class AnnOptions(ModelCallOptions, MakeStudyOptions):
    """Indexes to hold against exact search. Each field is an argument of `ann`, whose documentation explains it."""

    vectors: Annotated[
        Any, OptionSpec("A file .npy, .fvecs, .parquet, .hdf5; with --corpus a set.", argument=True, metavar="VECTORS")
    ] = field(kw_only=False)
    index: Annotated[
        str | Sequence[str], OptionSpec("Such as hnswlib:M=16,32:ef_search=32,64; repeatable.", "--index", list[str])
    ] = field(kw_only=False)
    corpus: Annotated[Any, OptionSpec("Index its documents, and ask VECTORS, a set of questions.", "--corpus")] = None
    embedder: Annotated[
        str | Mapping[str, Any], OptionSpec("What makes vectors: local, provider:model, module:name.", kind=str)
    ] = "local"
    query_prefix: Annotated[str, OptionSpec("What stands before each question.", metavar="TEXT")] = ""
    document_prefix: Annotated[str, OptionSpec("What stands before each document.", metavar="TEXT")] = ""
    queries: Annotated[Any, OptionSpec("A file of vectors to ask.")] = None
    holdout: Annotated[int, OptionSpec("Take so many of the vectors out and ask them.", least=0)] = 0
    metric: Annotated[
        Literal["cosine", "l2", "ip"], OptionSpec("Of the vectors.", kind=Literal["cosine", "l2", "ip"])
    ] = "cosine"
    k: Annotated[int, OptionSpec("How many neighbours.", "-k", least=1)] = 10
    portfolio: Annotated[
        bool, OptionSpec("OpenSearch's five settings of a graph, with --target one by one until it is met.")
    ] = False
    rounds: Annotated[int, OptionSpec("How often every query is timed.", least=1)] = 3
    threads: Annotated[str | int | Sequence[int], OptionSpec("Queries a second by number of threads, such as 1,4.")] = (
        "1"
    )
    growth: Annotated[bool, OptionSpec("Predict recall at two and four times as many vectors.")] = False
    selectivity: Annotated[
        str | float | Sequence[float], OptionSpec("Search under filters that such shares pass: 1,0.1,0.01.")
    ] = ()
    labels: Annotated[str | Sequence[str], OptionSpec("Which vectors pass: random, clustered.")] = "random,clustered"
    filter: Annotated[
        Mapping[str, str] | None, OptionSpec("Search where columns have these values: lang=de, comma = and, one each.")
    ] = None
    oversample: Annotated[str | int | Sequence[int], OptionSpec("How many times k post-filtering asks for.")] = "1,10"
    name: Annotated[str, OptionSpec("Of the study; ann-FILE by default.")] = ""

    @property
    def open_arguments(self) -> dict[str, Any]:
        """As of any study; `metric` is that of the vectors here."""
        return {**super().open_arguments, "metric": ""}
