"""Test sets: curated, held against their older versions, written in other forms."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.testsets.options import ExportSetOptions, MarkSetOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import ValueResult
from ragauge.verbs.sources import parse_names

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.curate.compute import SetDifference
    from ragauge.testsets.set_file import SetFile


class SetDiff(ValueResult):
    """What differs between two versions of a set, in every form."""

    data: SetDifference

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.tables import build_difference_sections

        return build_difference_sections(self.data)


@expand_options(MarkSetOptions)
def mark_set(options: MarkSetOptions) -> int:
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
    from ragauge.store.exclusive import lock_for_change
    from ragauge.testsets.curate.compute import ReviewMark, mark_examples

    ids = parse_names(options.ids)
    if bool(ids) is options.all:
        raise UsageError("testset mark: select the examples with --ids ID,ID or --all.")
    mark = ReviewMark(options.to, options.by, options.note)
    with lock_for_change(options.set):
        changed, n = mark_examples(_read_set(options.set), mark, None if options.all else ids)
        if n:
            changed.write(options.set)
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
    from ragauge.testsets.curate.compute import compare_set_files
    from ragauge.testsets.set_file import read_set_lines, to_set_file

    pair = (read_set_lines(old), read_set_lines(new))
    if not all(set_file.before for set_file in pair):
        pair = (to_set_file(pair[0].eval_set), to_set_file(pair[1].eval_set))
    return SetDiff(compare_set_files(*pair))


@expand_options(ExportSetOptions)
def export_set(options: ExportSetOptions) -> int:
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
    from ragauge.readers.chroma import read_texts
    from ragauge.readers.source import read_set
    from ragauge.testsets.set_writers import export_examples
    from ragauge.verbs.files import make_folder

    path = Path(options.output)
    make_folder(path)
    texts = None if options.corpus is None else read_texts(options.corpus)
    return export_examples(options.to, path, read_set(options.set).examples, texts)


def _read_set(source: Any) -> SetFile:
    from ragauge.testsets.set_file import read_set_file

    return read_set_file(source)
