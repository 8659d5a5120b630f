"""The options of verbs that run and judge, declared once: fields are Python keywords and the command's options.

Annotations are looked at, so they stand unquoted; what is imported for them alone is quoted.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ragauge.core.errors import UnknownName, UsageError
from ragauge.verbs import option_specs as shared
from ragauge.verbs.calls import ModelCallOptions
from ragauge.verbs.option_specs import OptionSpec

if TYPE_CHECKING:
    from ragauge.core.response import Variant
    from ragauge.engine.execute import Progress
    from ragauge.verbs.sources import InputSource

PASSAGES_PANEL, JUDGING_PANEL = "Passages the answers are based on", "Judging, with --evaluate"


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
        OptionSpec("Judge where labels are missing: local, none, openai:MODEL, hybrid:openai:MODEL, calibrated:FILE."),
    ] = "local"
    judge_name: str = ""
    judge_repeats: Annotated[int, OptionSpec("Number of judge repeats; prints how much the means vary.", least=1)] = 1
    prompts: Any = None
    controls: shared.Controls = None
    criteria: Any = None
    store: shared.Store = None
    name: Annotated[str, OptionSpec("Name of the run; defaults to the file name.")] = ""
    columns: shared.Columns = None
    segments: shared.Segments = ()
    context_marker: Annotated[
        str, OptionSpec("Template of logged prompts with {context} and {query}, or the text before the context.")
    ] = ""
    scores: shared.Scores = ()
    without_retrieval: Annotated[bool, OptionSpec("Also read traces whose answers had no retrieval.")] = False
    config: Mapping[str, Any] | None = None
    limit: Annotated[int | None, OptionSpec("Evaluate only this many examples, sampled at random.", least=1)] = None
    filter: shared.Filter = None
    workers: Annotated[int | None, OptionSpec("Number of processes; defaults to all cores.", least=1)] = None
    index: shared.Index = None
    baseline: shared.Baseline = None
    variant: Annotated[str, OptionSpec("Passages the answers are based on: own, oracle, closed_book or replayed.")] = (
        "own"
    )
    traffic: Annotated[bool, OptionSpec("The responses are production traffic, not answers to an eval set.")] = False
    retry_failed: Annotated[bool, OptionSpec("Retry judge calls that failed.")] = False
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
        Any, OptionSpec("The questions: a file, a folder, or the name of a stored set.", argument=True, metavar="SET")
    ] = field(kw_only=False)
    name: Annotated[str, OptionSpec("Name of the run; defaults to the system's name.")] = ""
    columns: shared.Columns = None
    segments: shared.Segments = ()
    settings: Annotated[
        Any, OptionSpec("YAML file with the system's settings in a `system` section.", "--system-config")
    ] = None
    repeat: Annotated[int, OptionSpec("Ask each question this many times.", least=1)] = 1
    concurrency: Annotated[int, OptionSpec("Maximum concurrent questions.", least=1)] = 4
    timeout: Annotated[float, OptionSpec("Timeout of one attempt at a question, in seconds.", least=0.01)] = 60.0
    limit: Annotated[int | None, OptionSpec("Ask only this many questions, sampled at random.", least=1)] = None
    filter: shared.Filter = None
    variant: str = "own"
    context_from: Annotated[Any, OptionSpec("From a stored run.", metavar="RUN", panel=PASSAGES_PANEL)] = None
    corpus: Annotated[Any, OptionSpec("The documents: .jsonl, .csv, a folder of text.", panel=PASSAGES_PANEL)] = None
    store: shared.Store = None
    fresh: Annotated[bool, OptionSpec("Start a new run instead of resuming an unfinished one.")] = False
    retry_failed: Annotated[bool, OptionSpec("Retry the failed questions of the newest matching run.")] = False
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
            raise UsageError(f"run: passages come from another run or from {self.variant}, not both.")
        if self.variant == "replayed" and self.context_from is None:
            raise UsageError("run: the variant replayed needs context_from=RUN, the run whose passages to use.")
        if self.fresh and self.retry_failed:
            raise UsageError("run: fresh starts a new run, retry_failed continues the last one. Choose one.")

    @property
    def of(self) -> "Variant":
        """The variant."""
        from ragauge.verbs.sources import VARIANTS

        return "replayed" if self.context_from is not None else VARIANTS[VARIANTS.index(self.variant)]


@dataclass(frozen=True, kw_only=True)
class JudgingOptions:
    """How a run is judged that is evaluated at once."""

    metrics: Annotated[str, OptionSpec("Comma-separated metrics or presets.", "-m --metrics", panel=JUDGING_PANEL)] = ""
    judge: Annotated[
        str, OptionSpec("local, none, openai:MODEL, hybrid:openai:MODEL, jury:A+B.", panel=JUDGING_PANEL)
    ] = "local"
    max_cost: Annotated[
        float | None, OptionSpec("Maximum judge cost in US dollars; a hard limit.", panel=JUDGING_PANEL)
    ] = None


@dataclass(frozen=True, kw_only=True)
class ConfirmOptions:
    """What is to be confirmed. Each field is an argument of `confirm`, whose documentation explains it."""

    run: Annotated[Any, OptionSpec("An evaluated run: id, name or latest.", argument=True)] = field(kw_only=False)
    system: Annotated[
        Any, OptionSpec("The system that answered, in the form `ragauge run` takes; it must accept passages.")
    ] = field(kw_only=False)
    corpus: Annotated[
        Any, OptionSpec("The documents: .jsonl, .csv, or a folder of text files; defaults to the recorded passages.")
    ] = None
    limit: Annotated[
        int, OptionSpec("Maximum experiments: takes the causes in turn and samples their examples at random.", least=1)
    ] = 30
    seed: Annotated[int, OptionSpec("Random seed of the sample.")] = 0
    control: Annotated[
        bool, OptionSpec("Also answer from the unchanged passages, for systems that vary; doubles the calls.")
    ] = False
    judge: Annotated[str | None, OptionSpec("Judge whose causes to test; defaults to the run's last judge.")] = None
    settings: Annotated[Any, OptionSpec("YAML file with the system's settings.", "--system-config")] = None
    concurrency: Annotated[int, OptionSpec("Maximum concurrent questions.", least=1)] = 4
    timeout: Annotated[float, OptionSpec("Timeout of one attempt at a question, in seconds.", least=0.01)] = 60.0
    max_cost: Annotated[float | None, OptionSpec("Maximum judge cost in US dollars; a hard limit.")] = None
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
        "Answers or claims with passages and human labels, or a run with human labels.",
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
        str | Collection[str], OptionSpec("Label values that mean supported; all others mean not supported.")
    ] = ()
    guideline: Annotated[
        Any, OptionSpec("Labeling instructions of a run: a text file or a hash; the last draw's by default.")
    ] = None
    store: shared.Store = None
    columns: Annotated[
        Mapping[str, str] | None,
        OptionSpec("Map a field to a column: --map label=verdict; repeatable.", "--map", list[str] | None),
    ] = None
    limit: Annotated[int | None, OptionSpec("Number of rows, sampled with a fixed seed.", least=1)] = None
    progress: Callable[["Progress"], None] | None = None


@dataclass(frozen=True, kw_only=True)
class CheckJudgeOptions(LabeledOptions):
    """Judges to check. Each field is an argument of `check_judge`, whose documentation explains it."""

    source: LabeledSource = field(default=None, kw_only=False)
    judge: Annotated[
        Any,
        OptionSpec(
            "Judge to check, such as openai:MODEL; repeatable. local is always included.", kind=list[str] | None
        ),
    ] = ()
    verdict: Annotated[
        str | Sequence[str],
        OptionSpec("Columns with verdicts from other judges; with these, only judges named with --judge are called."),
    ] = ()
    modes: Annotated[
        str | Sequence[str], OptionSpec("How to ask models: fused (all claims in one call), per_claim, or both.")
    ] = "fused,per_claim"
    segments: shared.Segments = ()


@dataclass(frozen=True, kw_only=True)
class CalibrateJudgeOptions(LabeledOptions):
    """A judge to calibrate. Each field is an argument of `calibrate_judge`, whose documentation explains it."""

    judge: Annotated[Any, OptionSpec("Judge to calibrate: local, openai:MODEL, hybrid:openai:MODEL.")] = "local"
    output: Annotated[str | Path, OptionSpec("Output file, such as judge.json.", "-o --output", kind=Path)] = Path(
        "judge.json"
    )


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(ModelCallOptions):
    """What to probe, and how. Each field is an argument of `probe_judge`, whose documentation explains it."""

    source: Annotated[
        Any,
        OptionSpec(
            "A stored run, or a file of answers with passages (and labels, if known) or of answer pairs.",
            argument=True,
            metavar="RUN|FILE",
        ),
    ] = field(kw_only=False)
    judge: Annotated[Any, OptionSpec("Judge to probe: local, openai:MODEL, hybrid:openai:MODEL.")] = "local"
    judge_name: str = ""
    prompts: Any = None
    probes: Annotated[
        str | Sequence[str], OptionSpec("Comma-separated probes; defaults to all that the examples allow.")
    ] = ""
    family: Annotated[
        str,
        OptionSpec(
            "Column with the author of each answer, for self_preference; COLUMN=VALUE names the judge's own family."
        ),
    ] = ""
    tolerance: Annotated[float | None, OptionSpec("Allowed deviation from the expected value; defaults to 0.05.")] = (
        None
    )
    supported: Annotated[
        str | Collection[str], OptionSpec("Label values that mean supported; all others mean not supported.")
    ] = ()
    store: shared.Store = None
    columns: Annotated[
        Mapping[str, str] | None,
        OptionSpec("Map a field to a column: --map label=verdict; repeatable.", "--map", list[str] | None),
    ] = None
    limit: Annotated[int | None, OptionSpec("Number of examples, sampled with a fixed seed.", least=1)] = None
    progress: Callable[["Progress"], None] | None = None


@dataclass(frozen=True, kw_only=True)
class PrepareOptions(ModelCallOptions):
    """What to prepare, and how."""

    #: the eval set: a path or a table.
    source: Annotated[Any, OptionSpec("The eval set: a file or folder of questions.", argument=True, metavar="SET")] = (
        field(kw_only=False)
    )
    output: Annotated[Path, OptionSpec("Output file, .jsonl or .jsonl.gz.", "-o --output")]  #: the file to write.
    #: "local" takes sentences as claims; a model's or hybrid judge's spec asks the model.
    judge: Annotated[
        Any, OptionSpec("Judge that extracts claims: openai:MODEL, or local: each sentence is a claim.", kind=str)
    ] = "local"
    judge_name: str = ""  #: of a judge that is an object.
    store: shared.Store = None
    progress: Callable[["Progress"], None] | None = None  #: called with what is done.


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """What a project is begun with."""

    #: the project.
    folder: Annotated[Path, OptionSpec("The project folder.", argument=True)] = field(default=Path(), kw_only=False)
    #: what to ask, as `ragauge run` takes it; "" = the likeliest that is found.
    system: Annotated[str, OptionSpec("The system, as for ragauge run; found by default.")] = ""
    #: the questions, relative to the folder; "" = a file that is found, else a first set is made.
    eval_set: Annotated[str, OptionSpec("A file of questions; found or created by default.", "--set")] = ""
    columns: shared.Columns = None  #: our field -> the column of the questions' file; what is written names them too.
    segments: shared.Segments = ()  #: columns of that file to report by; likewise.
    #: write over files that are there; those that say something else stay beside them as NAME.bak.
    force: Annotated[bool, OptionSpec("Overwrite existing files; the old ones are kept as NAME.bak.")] = False
    store: shared.Store = None  #: where the first evaluation is kept.
