"""What the verbs of test sets take, each option declared once."""

# no `from __future__ import annotations` here: what these classes declare is read where commands are made of it

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ragauge.api.inputs.typed import Columns, Typed
from ragauge.data.writers.sets import SetForm

Corpus = Annotated[Any, Typed("The documents: a folder, a file or table with ids and texts.", metavar="CORPUS")]


@dataclass(frozen=True, kw_only=True)
class CheckSetOptions:
    """What is held against what.

    Attributes:
        set: the set, JSON lines.
        corpus: its documents, as they are now.
        fix: moved evidence is given its place of now; examples whose evidence changed or is gone become drafts.
        output: where the mended set is written.
        columns: our field -> the set's column.
    """

    set: Annotated[Any, Typed("The set: JSON lines.", argument=True, metavar="SET")] = field(kw_only=False)
    corpus: Corpus
    fix: Annotated[bool, Typed("Put moved labels where their evidence stands now; the rest become drafts.")] = False
    output: Annotated[Path | None, Typed("The mended set to write, with --fix.", "-o --output", kind=Path)] = None
    columns: Columns = None


@dataclass(frozen=True, kw_only=True)
class FreezeSetOptions:
    """What is frozen.

    Attributes:
        set: the set, JSON lines.
        corpus: its documents.
        columns: our field -> the set's column.
    """

    set: Annotated[Any, Typed("The set: JSON lines.", argument=True, metavar="SET")] = field(kw_only=False)
    corpus: Corpus
    columns: Columns = None


@dataclass(frozen=True, kw_only=True)
class MarkSetOptions:
    """What is marked, and as what.

    Attributes:
        set: the set, JSON lines.
        to: draft, reviewed, golden or rejected.
        by: who looked.
        ids: query_ids.
        all: every example.
        note: why.
    """

    set: Annotated[Any, Typed("The set: JSON lines; it is written anew.", argument=True, metavar="SET")] = field(
        kw_only=False
    )
    to: Annotated[str, Typed("draft, reviewed, golden or rejected. Rejected examples are not evaluated.")]
    by: Annotated[str, Typed("Who looked at them.")] = ""
    ids: Annotated[str | Sequence[str], Typed("Which, by query_id, comma-separated.", kind=str)] = ""
    all: Annotated[bool, Typed("Every example of the set.")] = False
    note: Annotated[str, Typed("Why.")] = ""


@dataclass(frozen=True, kw_only=True)
class GenerateSetOptions:
    """What a set is made from.

    Attributes:
        corpus: the documents.
        output: the file to write.
        n: how many questions.
        seed: of the drawing.
    """

    corpus: Annotated[
        Any, Typed("The documents: a folder, a file or table with ids and texts.", argument=True, metavar="CORPUS")
    ] = field(kw_only=False)
    output: Annotated[Path, Typed("The set to write, .jsonl.", "-o --output", kind=Path)]
    n: Annotated[int, Typed("How many questions.", "-n", least=1)] = 100
    seed: Annotated[int, Typed("Of the drawing: equal seeds make equal sets.")] = 7


@dataclass(frozen=True, kw_only=True)
class ExportSetOptions:
    """What is written, and how.

    Attributes:
        set: the set.
        to: beir, ragas or deepeval.
        output: a folder for beir, else a file.
        corpus: the documents.
    """

    set: Annotated[Any, Typed("The set.", argument=True, metavar="SET")] = field(kw_only=False)
    to: Annotated[SetForm, Typed("beir, ragas or deepeval.", kind=SetForm)]
    output: Annotated[Path, Typed("A folder for beir, .jsonl for ragas, .json for deepeval.", "-o --output", kind=Path)]
    corpus: Annotated[Any, Typed("The documents, written along.", metavar="CORPUS")] = None
