"""The options of studies, declared once: fields are Python keywords and the command's options.

Annotations are looked at, so they stand unquoted; what is imported for them alone is quoted.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.search_space import DESIGNS, PRESETS
from ragauge.verbs.calls import ModelCallOptions
from ragauge.verbs.option_specs import METRICS, Store, Typed

if TYPE_CHECKING:
    from ragauge.engine.execute import Progress

RACE = "Which trials, and how far"
QUANTIZED = ("int8", "binary")
RESCORED = "binary_rescored"  # comes with binary
NAMED = re.compile(r"[\w.:/-]+(?==)")  # before =, it looks like an embedder's name
PREFIX = "[EMBEDDER=]TEXT"
Numbers = str | int | Sequence[int]
Prefix = str | Sequence[str] | Mapping[str, str]
Chunker = str | Mapping[str, Any]
Decide = Literal["interval", "point"]
DECIDE = Typed("What says which is worth its price: the interval, or the estimate alone.", kind=Decide)


@dataclass(frozen=True, kw_only=True)
class ReadStudyOptions:
    """How the trials of any study are read.

    Attributes:
        base: the trial that others are held against.
        target: METRIC=x, or x of what decides: take the cheapest whose whole interval meets it.
        cost: the measurement that says what a trial costs; by default the kind's own.
        log: look for the knee on the logarithm of the cost.
        store: URL of the store.
    """

    base: Annotated[str, Typed("The trial that others are held against.")] = ""
    target: Annotated[str | float | None, Typed("Take the cheapest that surely reaches it.", metavar="METRIC=x")] = None
    cost: Annotated[str, Typed("The measurement that a trial costs.")] = ""
    log: Annotated[bool, Typed("Look for the knee on the logarithm of the cost.")] = False
    store: Store = None

    @property
    def reading(self) -> dict[str, Any]:
        """What `open_study` takes of them."""
        taken = ("metric", "base", "target", "cost", "log", "decide", "store")
        return {name: value for name, value in vars(self).items() if name in taken}


@dataclass(frozen=True, kw_only=True)
class MakeStudyOptions(ReadStudyOptions):
    """How the trials of any study are made.

    Attributes:
        fresh: forget a study of this name first.
        say: told what is done, a line a trial.
    """

    fresh: Annotated[bool, Typed("Forget a study of this name first.")] = False
    say: Callable[[str], None] | None = None

    def refuse_unscored(self, known: Sequence[str], hint: str = "") -> None:
        """What decides has to be scored: UnknownName before the first trial, not after the last."""
        from ragauge.metrics.catalogue import parse
        from ragauge.studies.recommendation import target_of

        for name in filter(None, (self.reading.get("metric"), target_of(self.target)[0])):
            if str(parse(name)) not in known:
                raise UnknownName("metric of this study", name, known, hint)


@dataclass(frozen=True, kw_only=True)
class OpenStudyOptions(ReadStudyOptions):
    """A stored study, and how it is read. Its documentation explains each field."""

    name: Annotated[str, Typed("A stored study.", argument=True, metavar="NAME")] = field(kw_only=False)
    metric: Annotated[str, Typed("What decides.")] = ""
    decide: Annotated[Decide, DECIDE] = "interval"


@dataclass(frozen=True, kw_only=True)
class ChunkingOptions(MakeStudyOptions):
    """What is cut how. Each field is an argument of `chunking`, whose documentation explains it."""

    set: Annotated[Any, Typed("Questions with gold spans; or Chroma's CSV.", argument=True, metavar="SET")] = field(
        kw_only=False
    )
    corpus: Annotated[Any, Typed("A folder of text files, or a file with ids and texts.", "--corpus")] = field(
        kw_only=False
    )
    chunker: Annotated[
        Chunker | Sequence[Chunker],
        Typed("Such as token:size=200,400:overlap=0; give several.", "--chunker", list[str]),
    ] = field(kw_only=False)
    retriever: Annotated[
        Literal["bm25", "dense", "hybrid"], Typed("What ranks.", kind=Literal["bm25", "dense", "hybrid"])
    ] = "bm25"
    k: Annotated[Numbers, Typed("Numbers of chunks to look at.", "-k")] = "1,3,5,10,15,20"
    budget: Annotated[Numbers, Typed("Numbers of tokens to look at.")] = "512,1024,2048,4096"
    fill: Annotated[Literal["cut", "whole"], Typed("cut shortens the last chunk.", kind=Literal["cut", "whole"])] = (
        "cut"
    )
    allow_changed: Annotated[bool, Typed("Leave out chunks whose text is not in the document.")] = False
    price_of: Annotated[str, Typed("The embedding model whose price an index has.")] = "openai:text-embedding-3-small"
    name: Annotated[str, Typed("Of the study; chunking-SET by default.")] = ""
    metric: Annotated[str, Typed("What decides, such as token_iou:budget=1024.")] = ""


@dataclass(frozen=True, kw_only=True)
class EmbeddingsOptions(ModelCallOptions, MakeStudyOptions):
    """What is held against what. Each field is an argument of `embeddings`, whose documentation explains it."""

    set: Annotated[Any, Typed("Questions with relevant documents; a BEIR folder.", argument=True, metavar="SET")] = (
        field(kw_only=False)
    )
    corpus: Annotated[Any, Typed("A folder of text files or BEIR's, a file with ids, texts.", "--corpus")] = field(
        kw_only=False
    )
    embedder: Annotated[
        str | Sequence[str] | Mapping[str, Any],
        Typed("local, provider:model, or module:name; give several.", "--embedder", list[str]),
    ] = field(kw_only=False)
    dimensions: Annotated[Numbers, Typed("The first so many numbers too: 256,128.")] = ""
    quantize: Annotated[str | Sequence[str], Typed("Smaller numbers too: int8,binary.")] = ""
    query_prefix: Annotated[
        Prefix, Typed("What stands before each question.", kind=list[str] | None, metavar=PREFIX)
    ] = ()
    document_prefix: Annotated[
        Prefix, Typed("What stands before each document.", kind=list[str] | None, metavar=PREFIX)
    ] = ()
    name: Annotated[str, Typed("Of the study; embeddings-SET by default.")] = ""
    metric: Annotated[str, Typed("What decides; ndcg@10 by default.")] = ""
    decide: Annotated[Decide, DECIDE] = "interval"

    @property
    def names(self) -> tuple[str, ...]:
        """The embedders, each once."""
        given = [self.embedder] if isinstance(self.embedder, str) else self.embedder
        return tuple(dict.fromkeys(given))

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
        widths, precisions = numbers("--dimensions", self.dimensions), _precisions(self.quantize)
        if any(one < 1 for one in widths):
            raise UsageError(f"embeddings: dimensions must be at least 1, got {min(widths)}.")
        before = {key: _prefixes(key, getattr(self, key), self.names) for key in ("query_prefix", "document_prefix")}
        trials: list[dict[str, Any]] = [{"embedder": "bm25"}]
        for name in self.names:
            prefixes = {key: found for key, mine in before.items() if (found := mine.get(name))}
            for dimensions in (None, *dict.fromkeys(widths)):
                for precision in (None, *precisions):
                    made = {"embedder": name, **prefixes, "dimensions": dimensions, "quantize": precision}
                    trials.append({key: value for key, value in made.items() if value is not None})
        return [one for n, one in enumerate(trials) if one not in trials[:n]]


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """What to try. Each field is an argument of `sweep`, whose documentation explains it."""

    system: Annotated[Any, Typed("module:function that builds a system, or reference:FOLDER.")] = field(
        default=None, kw_only=False
    )
    set: Annotated[Any, Typed("The questions: a file or folder, or a stored set's name.")] = field(
        default=None, kw_only=False
    )
    parameters: Annotated[
        Mapping[str, Sequence[Any]] | None,
        Typed("Such as -p k=1,5,10, beside the file's others; repeatable.", "-p --parameter", list[str] | None),
    ] = None
    base: Mapping[str, Any] | None = None
    objective: Annotated[Any, Typed("What decides: a metric.")] = "context_recall"
    metrics: Annotated[str | Sequence[str], METRICS] = ()
    index: Sequence[str] = ()
    leave_out: Sequence[Mapping[str, Any]] = ()
    preset: Annotated[str, Typed("chunk_size or top_k: their parameters, before the file's.")] = ""
    design: Annotated[str, Typed("Which configurations.", kind=Literal[DESIGNS], panel=RACE)] = "grid"
    trials: Annotated[int, Typed("How many, of a random design.", least=2, panel=RACE)] = 24
    race: Annotated[
        bool, Typed("Drop on the way what surely loses, or ask every trial everything.", "--race/--no-race", panel=RACE)
    ] = True
    margin: Annotated[float, Typed("Drop what surely cannot beat the leader by this.", least=0, panel=RACE)] = 0.0
    budget: Annotated[int | None, Typed("Tokens of context in place of k passages.", least=1, panel=RACE)] = None
    confirm: Annotated[Any, Typed("A set, or a share held back, such as 25%.", metavar="SET|SHARE", panel=RACE)] = None
    judge: Annotated[Any, Typed("Who answers what labels do not: local, openai:MODEL.")] = "local"
    max_cost: Annotated[float | None, Typed("US dollars that the judge may spend now; a hard stop.")] = None
    noise: Annotated[float, Typed("Differences within ± this are no bottleneck.", least=0)] = 0.03
    cost: Annotated[str, Typed("What a trial costs: cost, latency or context_tokens.")] = ""
    keep_open: int | None = None
    concurrency: Annotated[int, Typed("Questions under way, at most.", least=1)] = 4
    timeout: Annotated[float, Typed("Seconds for one attempt at a question.", least=0.01)] = 60.0
    seed: Annotated[int, Typed("Of a random design.", panel=RACE)] = 0
    name: Annotated[str, Typed("Of the study; sweep-SET by default.")] = ""
    fresh: Annotated[bool, Typed("Forget a study of this name first.")] = False
    store: Store = None
    say: Callable[[str], None] | None = None
    progress: Callable[["Progress"], None] | None = None

    def __post_init__(self) -> None:
        if self.design not in DESIGNS:
            raise UnknownName("design", self.design, DESIGNS)
        if self.preset and self.preset not in PRESETS:
            raise UnknownName("preset of sweep", self.preset, PRESETS)
        for name, least in (("keep_open", 1), ("concurrency", 1), ("trials", 2), ("margin", 0), ("noise", 0)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise UsageError(f"sweep: {name} must be at least {least}, got {getattr(self, name):g}.")

    @classmethod
    def read(cls, source: Any, **given: Any) -> "SweepOptions":
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
            if {"system", "set"} <= set(given):
                return cls(**given)
            raise UsageError(f"{source} has no section sweep. ragauge docs sweeps shows one.")
        typed = given.pop("parameters", None) or {}
        parameters = {**section.parameters, **PRESETS.get(given.get("preset", ""), {}), **typed}
        return cls(**{**dict(section), **given, "parameters": parameters})

    @property
    def values(self) -> dict[str, Sequence[Any]]:
        """Parameter -> its values, those of the preset among them.

        Raises:
            UsageError: no system or set, or a budget beside k.
        """
        for name in ("system", "set"):
            if getattr(self, name) is None:
                raise UsageError(f"sweep: no {name}. Write it in the section sweep of ragauge.yaml, or give --{name}.")
        found = {**PRESETS.get(self.preset, {}), **(self.parameters or {})}
        if self.budget is not None and "k" in found:
            raise UsageError("sweep: budget takes the place of k. Leave k out of parameters, or leave budget out.")
        return found if self.budget is None else {**found, "budget": [self.budget]}


def numbers(option: str, given: Numbers) -> tuple[int, ...]:
    """Whole numbers, as they are typed or as a sequence.

    >>> numbers("-k", "1, 3,5")
    (1, 3, 5)

    Raises:
        UsageError: something else; the option is named.
    """
    given = [given] if isinstance(given, int) else given
    parts = [part for part in given.split(",") if part.strip()] if isinstance(given, str) else given
    try:
        return tuple(int(part) for part in parts)
    except (TypeError, ValueError):
        told = f"expected whole numbers, comma-separated, got {given!r}"
        raise UsageError(f"{option}: {told}.") from None


def _precisions(quantize: str | Sequence[str]) -> tuple[str, ...]:
    from ragauge.verbs.sources import named

    found: list[str] = []
    for one in named(quantize):
        if one not in QUANTIZED:
            hint = "It is made beside binary." if one == RESCORED else ""
            raise UnknownName("precision", one, QUANTIZED, hint)
        found += ("binary", RESCORED) if one == "binary" else (one,)
    return tuple(dict.fromkeys(found))


def _prefixes(key: str, given: Prefix, embedders: Sequence[str]) -> Mapping[str, str]:
    """Embedder -> prefix; a text that names no embedder stands before the texts of all."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in embedders:
                raise UnknownName("embedder with a prefix", name, embedders)
        return given
    found: dict[str, str] = {}
    for text in [given] if isinstance(given, str) else given:
        named = next((one for one in embedders if text.startswith(f"{one}=")), None)
        if not named and (unknown := NAMED.match(text)):
            hint = "A prefix that holds = itself is written EMBEDDER=TEXT."
            raise UnknownName("embedder with a prefix", unknown[0], embedders, hint)
        mine = {named: text[len(named) + 1 :]} if named else dict.fromkeys(embedders, text)
        if twice := [one for one in mine if one in found]:
            option = f"--{key.replace('_', '-')}"
            raise UsageError(f"{option}: {twice[0]} has two prefixes, {found[twice[0]]!r} and {mine[twice[0]]!r}.")
        found |= mine
    return found
