"""Test sets: curated, held against their older versions, written in other forms."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.testsets.options import ExportSetOptions, MarkSetOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import Found
from ragauge.verbs.sources import named

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.curate.compute import SetDifference
    from ragauge.testsets.set_file import SetFile


class SetDiff(Found):
    """What differs between two versions of a set, in every form."""

    found: SetDifference

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.tables import difference_sections

        return difference_sections(self.found)


@keywords(MarkSetOptions)
def mark_set(wanted: MarkSetOptions) -> int:
    """Marks examples of a set as draft, reviewed, golden or rejected. Lines that this does not change keep their bytes.

    Options:
        set: the set, JSON lines; it is written anew, whole or not at all.
        to: draft, reviewed, golden or rejected.
        by: who looked; needed but for draft.
        ids: which, by query_id.
        all: every example.
        note: why.

    Returns:
        How many examples changed.

    Raises:
        UsageError: an unknown state, nobody who looked, or neither ids nor all.
        UnknownName: a query_id that the set does not have.
    """
    from ragauge.store.exclusive import changing
    from ragauge.testsets.curate.compute import ReviewMark, marked

    ids = named(wanted.ids)
    if bool(ids) is wanted.all:
        raise UsageError("testset mark: say which examples: --ids ID,ID or --all.")
    mark = ReviewMark(wanted.to, wanted.by, wanted.note)
    with changing(wanted.set):
        changed, n = marked(_read(wanted.set), mark, None if wanted.all else ids)
        if n:
            changed.write(wanted.set)
    return n


def diff_sets(old: Any, new: Any) -> SetDiff:
    """What was added, removed and changed between two versions of a set, by field.

    Of two files of JSON lines everything is compared, `meta` and columns that nothing reads too; where one of them has
    another form, what `evaluate` reads of both.

    Args:
        old: the older set, in any form that `read_set` reads.
        new: the newer one.

    Raises:
        DataError: a set that cannot be read, with its line.
    """
    from ragauge.testsets.curate.compute import difference
    from ragauge.testsets.set_file import lines_of, set_lines

    pair = (set_lines(old), set_lines(new))
    if not all(one.before for one in pair):
        pair = (lines_of(pair[0].eval_set), lines_of(pair[1].eval_set))
    return SetDiff(difference(*pair))


@keywords(ExportSetOptions)
def export_set(wanted: ExportSetOptions) -> int:
    """Writes a set in the form of another tool: a BEIR folder, ragas' JSON lines or deepeval's JSON of goldens.

    What the form has no place for stands beside it under our names: `read_set` reads equal examples again.

    Options:
        set: the set, in any form that `read_set` reads.
        to: beir, ragas or deepeval.
        output: the folder (beir) or file (.jsonl for ragas, .json for deepeval).
        corpus: the documents; with it a BEIR folder has its corpus, the others the texts of gold documents.

    Returns:
        How many examples.

    Raises:
        UsageError: an unknown form, another ending, or a file or folder that is there and holds something.
        DataError: labels that BEIR has no place for, with the example.
    """
    from ragauge.readers.chroma import plain_texts
    from ragauge.readers.source import read_set
    from ragauge.testsets.set_writers import export
    from ragauge.verbs.files import make_folder

    path = Path(wanted.output)
    make_folder(path)
    texts = None if wanted.corpus is None else plain_texts(wanted.corpus)
    return export(wanted.to, path, read_set(wanted.set).examples, texts)


def _read(source: Any) -> SetFile:
    from ragauge.testsets.set_file import read_set_file

    return read_set_file(source)
