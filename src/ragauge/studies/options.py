"""The options of studies, declared once: fields are Python keywords and the command's options.

Annotations are looked at, so they stand unquoted; what is imported for them alone is quoted.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.search_space import DESIGNS, PRESETS
from ragauge.verbs import option_specs as shared
from ragauge.verbs.calls import ModelCallOptions
from ragauge.verbs.option_specs import METRICS, OptionSpec, Store

if TYPE_CHECKING:
    from ragauge.engine.execute import Progress

RACE_PANEL = "Trials"
PRECISIONS = ("int8", "binary")
RESCORED_PRECISION = "binary_rescored"  # comes with binary
EMBEDDER_NAME = re.compile(r"[\w.:/-]+(?==)")  # before =, it looks like an embedder's name
PREFIX_METAVAR = "[EMBEDDER=]TEXT"
Numbers = str | int | Sequence[int]
Prefix = str | Sequence[str] | Mapping[str, str]
Chunker = str | Mapping[str, Any]
Decide = Literal["interval", "point"]
DECIDE = OptionSpec("What decides whether a trial is worth its price: the interval or the estimate.", kind=Decide)


@dataclass(frozen=True, kw_only=True)
class ReadStudyOptions:
    """How the trials of any study are read."""

    #: the trial that others are held against.
    base: Annotated[str, OptionSpec("The trial to compare the others with.")] = ""
    #: METRIC=x, or x of what decides: take the cheapest whose whole interval meets it.
    target: Annotated[
        str | float | None, OptionSpec("Recommend the cheapest trial that reaches this value.", metavar="METRIC=x")
    ] = None
    #: the measurement that says what a trial costs; by default the kind's own.
    cost: Annotated[str, OptionSpec("The measurement to use as cost.")] = ""
    #: look for the knee on the logarithm of the cost.
    log: Annotated[bool, OptionSpec("Find the knee on a logarithmic cost axis.")] = False
    store: Store = None  #: URL of the store.

    @property
    def open_arguments(self) -> dict[str, Any]:
        """What `open_study` takes of them."""
        taken = ("metric", "base", "target", "cost", "log", "decide", "store")
        return {name: value for name, value in vars(self).items() if name in taken}


@dataclass(frozen=True, kw_only=True)
class MakeStudyOptions(ReadStudyOptions):
    """How the trials of any study are made."""

    #: forget a study of this name first.
    fresh: Annotated[bool, OptionSpec("Delete an existing study of this name first.")] = False
    say: Callable[[str], None] | None = None  #: told what is done, a line a trial.

    def refuse_unscored(self, valid_names: Sequence[str], hint: str = "") -> None:
        """What decides has to be scored: UnknownName before the first trial, not after the last."""
        from ragauge.metrics.catalogue import parse_metric
        from ragauge.studies.recommendation import parse_target

        for name in filter(None, (self.open_arguments.get("metric"), parse_target(self.target)[0])):
            if str(parse_metric(name)) not in valid_names:
                raise UnknownName("metric of this study", name, valid_names, hint)


@dataclass(frozen=True, kw_only=True)
class OpenStudyOptions(ReadStudyOptions):
    """A stored study, and how it is read. Its documentation explains each field."""

    name: Annotated[str, OptionSpec("A stored study.", argument=True, metavar="NAME")] = field(kw_only=False)
    metric: Annotated[str, OptionSpec("The metric that decides.")] = ""
    decide: Annotated[Decide, DECIDE] = "interval"


@dataclass(frozen=True, kw_only=True)
class ChunkingOptions(MakeStudyOptions):
    """What is cut how. Each field is an argument of `chunking`, whose documentation explains it."""

    set: Annotated[Any, OptionSpec("Eval set with gold spans, or Chroma's CSV.", argument=True, metavar="SET")] = field(
        kw_only=False
    )
    corpus: Annotated[Any, OptionSpec("A folder of text files, or a file with ids and texts.", "--corpus")] = field(
        kw_only=False
    )
    chunker: Annotated[
        Chunker | Sequence[Chunker],
        OptionSpec("A chunker, such as token:size=200,400:overlap=0; repeatable.", "--chunker", list[str]),
    ] = field(kw_only=False)
    retriever: Annotated[
        Literal["bm25", "dense", "hybrid"], OptionSpec("Retriever.", kind=Literal["bm25", "dense", "hybrid"])
    ] = "bm25"
    k: Annotated[Numbers, OptionSpec("Cutoffs, in chunks.", "-k")] = "1,3,5,10,15,20"
    budget: Annotated[Numbers, OptionSpec("Cutoffs, in tokens.")] = "512,1024,2048,4096"
    fill: Annotated[
        Literal["cut", "whole"], OptionSpec("cut shortens the last chunk.", kind=Literal["cut", "whole"])
    ] = "cut"
    allow_changed: Annotated[bool, OptionSpec("Skip chunks whose text is not in the document.")] = False
    price_of: Annotated[str, OptionSpec("The embedding model whose price is used for the index cost.")] = (
        "openai:text-embedding-3-small"
    )
    name: Annotated[str, OptionSpec("Name of the study; default: chunking-SET.")] = ""
    metric: Annotated[str, OptionSpec("The metric that decides, such as token_iou:budget=1024.")] = ""


@dataclass(frozen=True, kw_only=True)
class EmbeddingsOptions(ModelCallOptions, MakeStudyOptions):
    """What is held against what. Each field is an argument of `embeddings`, whose documentation explains it."""

    set: Annotated[
        Any, OptionSpec("Eval set with relevant documents; a BEIR folder.", argument=True, metavar="SET")
    ] = field(kw_only=False)
    corpus: Annotated[Any, OptionSpec("A folder of text files or BEIR's; a file with ids, texts.", "--corpus")] = field(
        kw_only=False
    )
    embedder: Annotated[
        str | Sequence[str] | Mapping[str, Any],
        OptionSpec("local, provider:model or module:name; repeatable.", "--embedder", list[str]),
    ] = field(kw_only=False)
    dimensions: Annotated[Numbers, OptionSpec("Also test vectors cut to these lengths: 256,128.")] = ""
    quantize: Annotated[str | Sequence[str], OptionSpec("Also test quantized vectors: int8,binary.")] = ""
    query_prefix: Annotated[
        Prefix, OptionSpec("Text to put before each question.", kind=list[str] | None, metavar=PREFIX_METAVAR)
    ] = ()
    document_prefix: Annotated[
        Prefix, OptionSpec("Text to put before each document.", kind=list[str] | None, metavar=PREFIX_METAVAR)
    ] = ()
    name: Annotated[str, OptionSpec("Name of the study; default: embeddings-SET.")] = ""
    metric: Annotated[str, OptionSpec("The metric that decides; default: ndcg@10.")] = ""
    decide: Annotated[Decide, DECIDE] = "interval"

    @property
    def names(self) -> tuple[str, ...]:
        """The embedders, each once."""
        embedders = [self.embedder] if isinstance(self.embedder, str) else self.embedder
        return tuple(dict.fromkeys(embedders))

    @property
    def objects(self) -> Mapping[str, Any]:
        """Name -> function or object, of those that are given in Python."""
        return self.embedder if isinstance(self.embedder, Mapping) else {}

    @property
    def grid(self) -> list[dict[str, Any]]:
        """The parameters of every trial: BM25, then each embedder whole, shortened, and quantized.

        Raises:
            UnknownName: a precision that is not known, or a prefix for an embedder that is not named.
            UsageError: dimensions below 1, two prefixes of one embedder, or no embedder.
        """
        if not self.names:
            raise UsageError("embeddings: name at least one embedder, such as local.")
        widths, precisions = parse_numbers("--dimensions", self.dimensions), _parse_precisions(self.quantize)
        if any(item < 1 for item in widths):
            raise UsageError(f"embeddings: dimensions must be at least 1, got {min(widths)}.")
        prefixes_by_key = {
            key: _parse_prefixes(key, getattr(self, key), self.names) for key in ("query_prefix", "document_prefix")
        }
        trials: list[dict[str, Any]] = [{"embedder": "bm25"}]
        for name in self.names:
            prefixes = {
                key: prefix for key, by_embedder in prefixes_by_key.items() if (prefix := by_embedder.get(name))
            }
            for dimensions in (None, *dict.fromkeys(widths)):
                for precision in (None, *precisions):
                    parameters = {"embedder": name, **prefixes, "dimensions": dimensions, "quantize": precision}
                    trials.append({key: value for key, value in parameters.items() if value is not None})
        return [item for n, item in enumerate(trials) if item not in trials[:n]]


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """What to try. Each field is an argument of `sweep`, whose documentation explains it."""

    system: Annotated[Any, OptionSpec("module:function that builds the system, or reference:FOLDER.")] = field(
        default=None, kw_only=False
    )
    set: Annotated[Any, OptionSpec("Eval set: a file, a folder, or the name of a stored set.")] = field(
        default=None, kw_only=False
    )
    parameters: Annotated[
        Mapping[str, Sequence[Any]] | None,
        OptionSpec("Values to try, such as -p k=1,5,10; repeatable.", "-p --parameter", list[str] | None),
    ] = None
    base: Mapping[str, Any] | None = None
    objective: Annotated[Any, OptionSpec("The metric that decides.")] = "context_recall"
    metrics: Annotated[str | Sequence[str], METRICS] = ()
    index: Sequence[str] = ()
    leave_out: Sequence[Mapping[str, Any]] = ()
    preset: Annotated[str, OptionSpec("A preset of parameters, chunk_size or top_k; overrides the file.")] = ""
    design: Annotated[str, OptionSpec("Which configurations to try.", kind=Literal[DESIGNS], panel=RACE_PANEL)] = "grid"
    trials: Annotated[int, OptionSpec("Number of configurations of a random design.", least=2, panel=RACE_PANEL)] = 24
    race: Annotated[
        bool,
        OptionSpec("Drop clear losers early, or ask every trial all questions.", "--race/--no-race", panel=RACE_PANEL),
    ] = True
    margin: Annotated[
        float, OptionSpec("Drop trials that cannot beat the leader by this much.", least=0, panel=RACE_PANEL)
    ] = 0.0
    budget: Annotated[
        int | None, OptionSpec("Limit the context by tokens instead of k passages.", least=1, panel=RACE_PANEL)
    ] = None
    confirm: Annotated[
        Any, OptionSpec("Confirm on this set, or on a share such as 25%.", metavar="SET|SHARE", panel=RACE_PANEL)
    ] = None
    judge: Annotated[Any, OptionSpec("Judge for what labels don't cover: local or openai:MODEL.")] = "local"
    max_cost: Annotated[float | None, OptionSpec("Stop when the judge has spent this many US dollars.")] = None
    noise: Annotated[float, OptionSpec("Treat differences within ± this as noise.", least=0)] = 0.03
    cost: Annotated[str, OptionSpec("What to use as cost: cost, latency or context_tokens.")] = ""
    keep_open: int | None = None
    concurrency: Annotated[int, OptionSpec("Maximum concurrent questions.", least=1)] = 4
    timeout: Annotated[float, OptionSpec("Timeout of one attempt at a question, in seconds.", least=0.01)] = 60.0
    seed: Annotated[int, OptionSpec("Seed of a random design.", panel=RACE_PANEL)] = 0
    name: Annotated[str, OptionSpec("Name of the study; default: sweep-SET.")] = ""
    fresh: Annotated[bool, OptionSpec("Delete an existing study of this name first.")] = False
    store: Store = None
    say: Callable[[str], None] | None = None
    progress: Callable[["Progress"], None] | None = None

    def __post_init__(self) -> None:
        if self.design not in DESIGNS:
            raise UnknownName("design", self.design, DESIGNS)
        if self.preset and self.preset not in PRESETS:
            raise UnknownName("preset of sweep", self.preset, PRESETS)
        for name, minimum in (("keep_open", 1), ("concurrency", 1), ("trials", 2), ("margin", 0), ("noise", 0)):
            if getattr(self, name) is not None and getattr(self, name) < minimum:
                raise UsageError(f"sweep: {name} must be at least {minimum}, got {getattr(self, name):g}.")

    @classmethod
    def from_config(cls, source: Any, **overrides: Any) -> "SweepOptions":
        """The section `sweep` of ragauge.yaml; what is given here goes before it, parameters one by one.

        A preset given here goes before parameters of the same names that the section has. The section may be absent
        where system and set are given.

        Raises:
            DataError: no such file.
            ConfigError: mistakes in it.
            UsageError: it has no such section.
        """
        from ragauge.core.config.config_loader import read_config

        section = read_config(source).checked().sweep
        if section is None:
            if {"system", "set"} <= set(overrides):
                return cls(**overrides)
            raise UsageError(f"{source} has no sweep section. For an example, run: ragauge docs sweeps")
        typed = overrides.pop("parameters", None) or {}
        parameters = {**section.parameters, **PRESETS.get(overrides.get("preset", ""), {}), **typed}
        return cls(**{**dict(section), **overrides, "parameters": parameters})

    @property
    def values(self) -> dict[str, Sequence[Any]]:
        """Parameter -> its values, those of the preset among them.

        Raises:
            UsageError: no system or set, or a budget beside k.
        """
        for name in ("system", "set"):
            if getattr(self, name) is None:
                raise UsageError(
                    f"sweep: {name} is missing. Set it in the sweep section of ragauge.yaml or use --{name}."
                )
        parameter_values = {**PRESETS.get(self.preset, {}), **(self.parameters or {})}
        if self.budget is not None and "k" in parameter_values:
            raise UsageError("sweep: budget replaces k. Remove k from parameters, or remove budget.")
        return parameter_values if self.budget is None else {**parameter_values, "budget": [self.budget]}


def parse_numbers(option: str, raw: Numbers) -> tuple[int, ...]:
    """Whole numbers, as they are typed or as a sequence.

    >>> parse_numbers("-k", "1, 3,5")
    (1, 3, 5)

    Raises:
        UsageError: something else; the option is named.
    """
    raw = [raw] if isinstance(raw, int) else raw
    parts = [part for part in raw.split(",") if part.strip()] if isinstance(raw, str) else raw
    try:
        return tuple(int(part) for part in parts)
    except (TypeError, ValueError):
        problem = f"expected whole numbers, comma-separated, got {raw!r}"
        raise UsageError(f"{option}: {problem}.") from None


def _parse_precisions(quantize: str | Sequence[str]) -> tuple[str, ...]:
    from ragauge.verbs.sources import parse_names

    precisions: list[str] = []
    for name in parse_names(quantize):
        if name not in PRECISIONS:
            hint = "It is made together with binary." if name == RESCORED_PRECISION else ""
            raise UnknownName("precision", name, PRECISIONS, hint)
        precisions += ("binary", RESCORED_PRECISION) if name == "binary" else (name,)
    return tuple(dict.fromkeys(precisions))


def _parse_prefixes(key: str, raw: Prefix, embedders: Sequence[str]) -> Mapping[str, str]:
    """Embedder -> prefix; a text that names no embedder stands before the texts of all."""
    if isinstance(raw, Mapping):
        for name in raw:
            if name not in embedders:
                raise UnknownName("embedder with a prefix", name, embedders)
        return raw
    prefix_by_embedder: dict[str, str] = {}
    for text in [raw] if isinstance(raw, str) else raw:
        embedder_name = next((embedder for embedder in embedders if text.startswith(f"{embedder}=")), None)
        if not embedder_name and (unknown := EMBEDDER_NAME.match(text)):
            hint = "If the prefix itself contains =, write EMBEDDER=TEXT."
            raise UnknownName("embedder with a prefix", unknown[0], embedders, hint)
        new_prefixes = (
            {embedder_name: text[len(embedder_name) + 1 :]} if embedder_name else dict.fromkeys(embedders, text)
        )
        if twice := [embedder for embedder in new_prefixes if embedder in prefix_by_embedder]:
            option = f"--{key.replace('_', '-')}"
            raise UsageError(
                f"{option}: {twice[0]} has two prefixes, {prefix_by_embedder[twice[0]]!r} and "
                f"{new_prefixes[twice[0]]!r}."
            )
        prefix_by_embedder |= new_prefixes
    return prefix_by_embedder


@dataclass(frozen=True, kw_only=True)
class AnnCheckOptions:
    """Which index is asked what. Each field is an argument of `ann_check`, whose documentation explains it."""

    study: Annotated[str, OptionSpec("A stored index study.", argument=True, metavar="STUDY")] = field(kw_only=False)
    queries: Annotated[Any, OptionSpec("A file of query vectors.", "--queries")] = field(kw_only=False)
    vectors: Annotated[Any, OptionSpec("The current vectors; defaults to the study's file, read again.")] = None
    trial: Annotated[str, OptionSpec("The trial whose index to check; defaults to the recommended one.")] = ""
    minimum: Annotated[float | None, OptionSpec("Minimum mean recall.", "--min")] = None
    baseline: Annotated[str, OptionSpec("A run of the same queries to compare recall with.")] = ""
    max_drop: Annotated[
        str, OptionSpec("Allowed drop in recall below the baseline, in points (0.01) or %.", metavar="DROP")
    ] = "1 points"
    name: Annotated[str, OptionSpec("Name of the run; defaults to STUDY-check.")] = ""
    store: shared.Store = None


@dataclass(frozen=True, kw_only=True)
class AnnOptions(ModelCallOptions, MakeStudyOptions):
    """Indexes to hold against exact search. Each field is an argument of `ann`, whose documentation explains it."""

    vectors: Annotated[
        Any, OptionSpec("A .npy, .fvecs, .parquet, .hdf5 file; with --corpus a set.", argument=True, metavar="VECTORS")
    ] = field(kw_only=False)
    index: Annotated[
        str | Sequence[str], OptionSpec("Such as hnswlib:M=16,32:ef_search=32,64; repeatable.", "--index", list[str])
    ] = field(kw_only=False)
    corpus: Annotated[Any, OptionSpec("Index these documents; VECTORS is the eval set.", "--corpus")] = None
    embedder: Annotated[
        str | Mapping[str, Any], OptionSpec("Embedder: local, provider:model, module:name.", kind=str)
    ] = "local"
    query_prefix: Annotated[str, OptionSpec("Text to put before each question.", metavar="TEXT")] = ""
    document_prefix: Annotated[str, OptionSpec("Text to put before each document.", metavar="TEXT")] = ""
    queries: Annotated[Any, OptionSpec("A file of query vectors.")] = None
    holdout: Annotated[int, OptionSpec("Hold out this many vectors as queries.", least=0)] = 0
    metric: Annotated[
        Literal["cosine", "l2", "ip"], OptionSpec("Distance between vectors.", kind=Literal["cosine", "l2", "ip"])
    ] = "cosine"
    k: Annotated[int, OptionSpec("Number of neighbors.", "-k", least=1)] = 10
    portfolio: Annotated[
        bool, OptionSpec("Try OpenSearch's five graph settings; with --target, stop at the first that meets it.")
    ] = False
    rounds: Annotated[int, OptionSpec("Timed rounds per query.", least=1)] = 3
    threads: Annotated[
        str | int | Sequence[int], OptionSpec("Thread counts for measuring queries per second, such as 1,4.")
    ] = "1"
    growth: Annotated[bool, OptionSpec("Predict recall with two and four times as many vectors.")] = False
    selectivity: Annotated[
        str | float | Sequence[float], OptionSpec("Search with filters that pass these shares: 1,0.1,0.01.")
    ] = ()
    labels: Annotated[str | Sequence[str], OptionSpec("Which vectors pass: random, clustered.")] = "random,clustered"
    filter: Annotated[
        Mapping[str, str] | None, OptionSpec("Search only where columns have these values: lang=de; a comma means and.")
    ] = None
    oversample: Annotated[str | int | Sequence[int], OptionSpec("Multiples of k for post-filtering.")] = "1,10"
    name: Annotated[str, OptionSpec("Name of the study; defaults to ann-FILE.")] = ""

    @property
    def open_arguments(self) -> dict[str, Any]:
        """As of any study; `metric` is that of the vectors here."""
        return {**super().open_arguments, "metric": ""}
