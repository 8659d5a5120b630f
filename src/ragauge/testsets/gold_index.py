"""Which gold documents of a scheduled run its corpus still holds: by id, else by their texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.core.document import IndexListing
from ragauge.core.errors import RagaugeError
from ragauge.core.identity import folded

if TYPE_CHECKING:
    from ragauge.core.config.monitor import ScheduleSection
    from ragauge.core.document import Document
    from ragauge.store.store_access import Store

MOST_RUNS = 60  # earlier runs of a schedule whose passages are looked at, the newest


def gold_listing(
    store: Store, run_id: str, schedule: ScheduleSection, documents: Sequence[Document]
) -> IndexListing | None:
    """Which labelled documents of a run a corpus holds; None where it holds none of them, by id or text.

    A document whose id is not there is looked for by the longest text that an earlier run of the schedule, or its
    baseline, found of it: it is there where a document of the corpus has that text in it, white space aside.

    Args:
        store: with the runs.
        run_id: of the run.
        schedule: which made it.
        documents: of the corpus.
    """
    labelled, ids = store.listings.labelled(run_id), {one.doc_id for one in documents}
    missing = labelled - ids
    texts = known_texts(store, _earlier(store, run_id, schedule), missing) if missing else {}
    renamed = found_by_text(texts, documents)
    absent = missing - renamed
    return None if absent == labelled else IndexListing(len(documents), frozenset(absent), renamed)


def _earlier(store: Store, run_id: str, schedule: ScheduleSection) -> list[str]:
    """The baseline, which stays, then the earlier runs, the newest first."""
    from ragauge.comparison.baselines.baseline import baseline_run

    found = [job.run_id for job in store.jobs.latest(MOST_RUNS) if job.name == schedule.name and job.run_id]
    try:
        base = baseline_run(schedule.baseline, store)
    except RagaugeError:  # there is none yet
        base = None
    return [one for one in dict.fromkeys([*([base.run_id] if base is not None else []), *found]) if one != run_id]


def known_texts(store: Store, run_ids: Iterable[str], wanted: Collection[str]) -> dict[str, str]:
    """The longest text that runs found of some documents, in the first run that found one of each."""
    known: dict[str, str] = {}
    for run_id in run_ids:
        if known.keys() >= set(wanted):
            break
        found: dict[str, str] = {}
        try:
            pairs = list(store.runs.pairs(run_id))
        except RagaugeError:  # it was deleted meanwhile
            continue
        for _, response in pairs:
            for one in response.passages or ():
                if one.doc_id in wanted and one.doc_id not in known and one.text:
                    found[one.doc_id] = max(found.get(one.doc_id, ""), one.text, key=len)
        known |= found
    return known


def found_by_text(texts: Mapping[str, str], documents: Sequence[Document]) -> frozenset[str]:
    """Those whose text stands in a document; one of fewer than three words, or of frequent ones alone, says nothing.

    >>> from ragauge.core.document import Document
    >>> there = [Document("new", "", "Refunds  take 14 days. Ask us.")]
    >>> sorted(found_by_text({"old": "Refunds take 14 days.", "gone": "Parcels leave on Monday.", "few": "Ask"}, there))
    ['old']
    """
    from ragauge.testsets.quote_match import shows_little

    wanted = {doc_id: folded(text) for doc_id, text in texts.items() if not shows_little(text)}
    wholes = [folded(one.text) for one in documents] if wanted else []
    return frozenset(doc_id for doc_id, text in wanted.items() if any(text in whole for whole in wholes))
