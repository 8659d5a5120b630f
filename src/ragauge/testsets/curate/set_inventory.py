"""Test sets as the store knows them: every version that a run was over, or that was added for itself."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName, UsageError
from ragauge.evaluation.runs.verb import runs
from ragauge.testsets.curate.set_versions import SetCounts, SetRun, SetVersion, StoredSet
from ragauge.testsets.curate.verb import SetDiff
from ragauge.testsets.options import SetStatsOptions
from ragauge.testsets.stats.verb import compute_run_reach
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet

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
