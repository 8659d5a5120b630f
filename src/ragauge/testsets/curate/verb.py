"""Test sets of the store: listed, curated, exported, and compared with their older versions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ragauge.core.curation import SetVersion
from ragauge.core.errors import UnknownName, UsageError
from ragauge.evaluation.runs.verb import runs
from ragauge.testsets.curate.compute import SetCounts, SetRun, StoredSet
from ragauge.testsets.options import ExportSetOptions, MarkSetOptions, SetStatsOptions
from ragauge.testsets.stats.verb import compute_run_reach
from ragauge.verbs.option_specs import OptionSpec, expand_options, with_options
from ragauge.verbs.result_base import ValueResult
from ragauge.verbs.sources import parse_names, resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
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


@with_options(
    old=Annotated[Path, OptionSpec("The older set, in any format that evaluate reads.", argument=True)],
    new=Annotated[Path, OptionSpec("The newer set.", argument=True)],
)
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


MAX_RUNS = 10
MAX_CACHED_VERSIONS = 64  # versions whose counts are kept


def list_stored_sets(*, store: str | None = None) -> list[SetVersion]:
    """Every version of every set, the newest first.

    Args:
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        return opened_store.sets.list()


def load_stored_set(name: str, version: str, *, first: int = 0, limit: int = 50, store: str | None = None) -> StoredSet:
    """A version of a set: its labels, its runs, the change that it can show, and a page of its examples.

    Args:
        name: of the set.
        version: content hash of its examples.
        first: how many examples to leave out before the page.
        limit: examples of the page at most.
        store: URL of the store.

    Raises:
        UnknownName: no such set or version.
    """
    from ragauge.store.store_access import open_store

    url = resolve_store_url(store)
    versions = _list_versions(name, url)
    about = next((set_version for set_version in versions if set_version.version == version), None)
    if about is None:
        raise UnknownName(f"version of the set {name!r}", version, [set_version.version for set_version in versions])
    rows = runs(limit=MAX_RUNS, filter={"set": name, "version": version}, store=url)
    run = next((row for row in rows if row.means and row.state == "finished" and row.responses >= about.n), None)
    reach = None if run is None else compute_run_reach(SetStatsOptions(name, run=run.run_id, store=url), version)
    with open_store(url) as opened_store:
        examples = opened_store.sets.part(name, version, first, limit)
    over = tuple(
        SetRun(row.run_id, row.name, row.created_at, row.state, {m.metric: m.mean for m in row.headline.values()})
        for row in rows
    )
    by = "" if run is None else run.run_id
    return StoredSet(about, _load_counts(url, name, version), tuple(versions), over, by, reach, first, examples)


def load_stored_examples(name: str, version: str, *, store: str | None = None) -> EvalSet:
    """Every example of a version of a set.

    Raises:
        UnknownName: no such set or version.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        return opened_store.sets.get(name, version)


def diff_stored_sets(name: str, old: str = "", new: str = "", *, store: str | None = None) -> SetDiff:
    """What was added, removed and changed between two stored versions of a set.

    Args:
        name: of the set.
        old: the older version; "" = the one that was stored before the newer.
        new: the newer version; "" = the newest.
        store: URL of the store.

    Raises:
        UnknownName: no such set or version.
        UsageError: no version was stored before the newer one.
    """
    from ragauge.testsets.curate.compute import compare_set_files
    from ragauge.testsets.set_file import to_set_file

    versions = [set_version.version for set_version in _list_versions(name, store)]
    new = new or versions[0]
    for version in filter(None, (old, new)):
        if version not in versions:
            raise UnknownName(f"version of the set {name!r}", version, versions)
    older_versions = versions[versions.index(new) + 1 :]
    if not old and not older_versions:
        raise UsageError(f"the set {name!r} has no version stored before {new}. Give another one: old=VERSION.")
    pair = (load_stored_examples(name, version, store=store) for version in (old or older_versions[0], new))
    return SetDiff(compare_set_files(*map(to_set_file, pair)))


def _list_versions(name: str, store: str | None) -> list[SetVersion]:
    """Versions of a set, the newest first; UnknownName where there is none."""
    all_versions = list_stored_sets(store=store)
    if matching := [set_version for set_version in all_versions if set_version.name == name]:
        return matching
    raise UnknownName("set", name, {set_version.name for set_version in all_versions})


@lru_cache(maxsize=MAX_CACHED_VERSIONS)
def _load_counts(url: str, name: str, version: str) -> SetCounts:
    """Counts of a version, which never changes: it is the hash of its content."""
    return SetCounts.of(load_stored_examples(name, version, store=url))
