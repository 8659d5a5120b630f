"""What the verbs of test sets take, each option declared once."""

# no `from __future__ import annotations` here: what these classes declare is read where commands are made of it

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ragauge.core.curation import SetForm, State
from ragauge.verbs.calls import ModelCallOptions
from ragauge.verbs.option_specs import Columns, LastJudge, Metrics, OptionSpec, Store, StoredRun

if TYPE_CHECKING:
    from ragauge.engine.execute import Progress

Corpus = Annotated[Any, OptionSpec("Documents: a folder, or a file or table with ids and texts.", metavar="CORPUS")]


@dataclass(frozen=True, kw_only=True)
class CheckSetOptions(ModelCallOptions):
    """What is held against what."""

    #: the set.
    set: Annotated[Any, OptionSpec("The eval set; must be JSON lines with --fix.", argument=True, metavar="SET")] = (
        field(kw_only=False)
    )
    corpus: Corpus  #: its documents, as they are now.
    #: who says whether a passage states a reference; none = nobody.
    judge: Annotated[
        Any, OptionSpec("Judge that looks for missing labels: local, openai:MODEL, or none.", kind=str)
    ] = "local"
    judge_name: str = ""  #: of a judge that is an object.
    #: moved evidence is given its place of now; examples whose evidence changed or is gone become drafts.
    fix: Annotated[bool, OptionSpec("Update labels whose evidence moved; other stale examples become drafts.")] = False
    #: where the mended set is written.
    output: Annotated[Path | None, OptionSpec("The fixed set to write; needs --fix.", "-o --output", kind=Path)] = None
    columns: Columns = None  #: our field -> the set's column.
    store: Store = None  #: where a model's replies are kept.
    progress: Callable[["Progress"], None] | None = None  #: called as examples are judged.


@dataclass(frozen=True, kw_only=True)
class FreezeSetOptions:
    """What is frozen."""

    set: Annotated[Any, OptionSpec("The eval set.", argument=True, metavar="SET")] = field(kw_only=False)  #: the set.
    corpus: Corpus  #: its documents.
    columns: Columns = None  #: our field -> the set's column.


@dataclass(frozen=True, kw_only=True)
class MarkSetOptions:
    """What is marked, and as what."""

    #: the set, JSON lines.
    set: Annotated[Any, OptionSpec("The eval set (JSON lines); it is rewritten.", argument=True, metavar="SET")] = (
        field(kw_only=False)
    )
    #: draft, reviewed, golden or rejected.
    to: Annotated[
        State, OptionSpec("draft, reviewed, golden or rejected. Rejected examples are not evaluated.", kind=State)
    ]
    by: Annotated[str, OptionSpec("Name of the annotator.")] = ""  #: who looked.
    #: query_ids.
    ids: Annotated[str | Sequence[str], OptionSpec("Examples to mark: query_ids, comma-separated.", kind=str)] = ""
    all: Annotated[bool, OptionSpec("Mark every example of the set.")] = False  #: every example.
    note: Annotated[str, OptionSpec("Why.")] = ""  #: why.


@dataclass(frozen=True, kw_only=True)
class AddExamplesOptions:
    """Which examples of a run go into a set. Each field is an argument of `add_examples`, which explains it."""

    run: StoredRun = field(kw_only=False)
    to: Annotated[Path, OptionSpec("The eval set (.jsonl); created if it does not exist.", kind=Path, metavar="SET")]
    ids: Annotated[
        str | Sequence[str], OptionSpec("query_ids to add.", argument=True, kind=list[str] | None, metavar="ID")
    ] = field(default=(), kw_only=False)
    failed: Annotated[bool, OptionSpec("Add all failed examples of the run.")] = False
    sample: Annotated[
        int | None, OptionSpec("Add this many, sampled in proportion to the answers' weights.", least=1)
    ] = None
    by: Annotated[str, OptionSpec("Stratify the sample by this segment.", metavar="SEGMENT")] = ""
    from_set: Annotated[
        Any,
        OptionSpec("The run's eval set, to copy quotes from; default: the file of that name.", "--from", metavar="SET"),
    ] = None
    tag: Annotated[str | Sequence[str], OptionSpec("Tags for the added examples, comma-separated.", kind=str)] = ""
    by_name: Annotated[str, OptionSpec("Name of the person who adds them.", metavar="NAME")] = ""
    seed: Annotated[int, OptionSpec("Seed of the sample.")] = 7
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class GenerateSetOptions(ModelCallOptions):
    """What a set is made from."""

    #: the documents.
    corpus: Annotated[
        Any, OptionSpec("Documents: a folder, or a file or table with ids and texts.", argument=True, metavar="CORPUS")
    ] = field(kw_only=False)
    #: the file to write.
    output: Annotated[Path, OptionSpec("The eval set to write (.jsonl).", "-o --output", kind=Path)]
    n: Annotated[int, OptionSpec("Number of questions.", "-n", least=1)] = 100  #: how many questions.
    #: who writes them; "" = nobody: known-item queries.
    model: Annotated[
        Any, OptionSpec("Model that writes questions, such as openai:MODEL; default: known-item queries.", kind=str)
    ] = ""
    model_name: str = ""  #: of a model that is an object.
    #: who checks them; "" = the same model.
    judge: Annotated[Any, OptionSpec("Model that checks the questions; default: the same model.", kind=str)] = ""
    judge_name: str = ""  #: of a judge that is an object.
    #: type of question -> share.
    types: Annotated[
        str | Mapping[str, float], OptionSpec("Shares of the question types: single=40,multi_hop=15,…", kind=str)
    ] = ""
    #: personas, styles, lengths and languages with their shares.
    plan: Annotated[
        Any, OptionSpec("YAML file with personas, styles, lengths and languages of the questions.", kind=Path)
    ] = None
    #: how many questions are about recent and about niche documents.
    documents: Annotated[
        str | Mapping[str, int], OptionSpec("Number of questions per document pool: recent=10,niche=20.", kind=str)
    ] = ""
    #: a set whose questions are not written again.
    existing: Annotated[Any, OptionSpec("A set whose questions must not be repeated.", metavar="SET")] = None
    #: a file for what was not kept.
    rejected: Annotated[Path | None, OptionSpec("Write rejected questions and reasons here: .jsonl.", kind=Path)] = None
    seed: Annotated[int, OptionSpec("Random seed.")] = 7  #: of the drawing.
    #: of text files: stem, their paths without their endings; path, with them, where the system names files so.
    ids: Annotated[
        Literal["stem", "path"],
        OptionSpec("Ids of text files: path without or with extension.", kind=Literal["stem", "path"]),
    ] = "stem"
    store: Store = None  #: where replies are kept.
    progress: Callable[["Progress"], None] | None = None  #: called with what is done of each round.


@dataclass(frozen=True, kw_only=True)
class ExportSetOptions:
    """What is written, and how."""

    set: Annotated[Any, OptionSpec("The eval set.", argument=True, metavar="SET")] = field(kw_only=False)  #: the set.
    to: Annotated[SetForm, OptionSpec("beir, ragas or deepeval.", kind=SetForm)]  #: beir, ragas or deepeval.
    #: a folder for beir, else a file.
    output: Annotated[
        Path, OptionSpec("A folder for beir, .jsonl for ragas, .json for deepeval.", "-o --output", kind=Path)
    ]
    #: the documents.
    corpus: Annotated[Any, OptionSpec("Documents to include in the export.", metavar="CORPUS")] = None


@dataclass(frozen=True, kw_only=True)
class VarySetOptions:
    """What is put otherwise, and how."""

    set: Annotated[Any, OptionSpec("The eval set.", argument=True, metavar="SET")] = field(kw_only=False)  #: the set.
    #: of variation.
    kinds: Annotated[
        str | Sequence[str],
        OptionSpec("Kinds: typos, keywords, case, entity (needs --corpus); default: all.", kind=str),
    ] = ""
    #: the set to write.
    output: Annotated[
        Path | None,
        OptionSpec("File for originals and variants (.jsonl); default: SET.varied.jsonl.", "-o --output", kind=Path),
    ] = None
    #: its documents.
    corpus: Annotated[
        Any, OptionSpec("The documents; entity makes questions that none of them answers.", metavar="CORPUS")
    ] = None
    #: variants of each kind at most.
    n: Annotated[int | None, OptionSpec("Maximum variants of each kind; default: all.", "-n", least=1)] = None
    seed: Annotated[int, OptionSpec("Random seed.")] = 7  #: of the drawing.
    columns: Columns = None  #: our field -> the set's column.


@dataclass(frozen=True, kw_only=True)
class SetStatsOptions:
    """What is described, and by what."""

    set: Annotated[Any, OptionSpec("The eval set.", argument=True, metavar="SET")] = field(kw_only=False)  #: the set.
    #: its documents.
    corpus: Annotated[Any, OptionSpec("Its documents, to report topics and overlap.", metavar="CORPUS")] = None
    #: questions of people.
    like: Annotated[Any, OptionSpec("Real users' questions to compare the set with.", metavar="REAL")] = None
    #: a run on the set that was evaluated.
    run: Annotated[Any, OptionSpec("An evaluated run, to find detectable differences.", metavar="RUN")] = None
    #: another run, to pair it with.
    baseline: Annotated[Any, OptionSpec("A run to pair with --run, as compare does.", metavar="RUN")] = None
    #: the change that is to be seen.
    detect: Annotated[str, OptionSpec("The difference to detect: 3% of the mean, or 3 points.")] = ""
    metrics: Metrics = ()  #: names and presets.
    judge: LastJudge = None  #: whose verdicts.
    seed: Annotated[int, OptionSpec("Seed of the classifier's folds.")] = 7  #: of the classifier's folds.
    store: Store = None  #: where runs are kept.
