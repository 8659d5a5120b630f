"""Which gold documents of a scheduled run its corpus still holds: by id, else by their texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.core.document import IndexListing
from ragauge.core.errors import RagaugeError
from ragauge.core.identity import normalize_text

if TYPE_CHECKING:
    from ragauge.core.config.monitor import ScheduleSection
    from ragauge.core.document import Document
    from ragauge.store.store_access import Store

MAX_EARLIER_RUNS = 60  # earlier runs of a schedule whose passages are looked at, the newest


def build_gold_listing(
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
    labelled, ids = store.listings.list_labeled_documents(run_id), {document.doc_id for document in documents}
    missing = labelled - ids
    texts = find_texts(store, _list_earlier_runs(store, run_id, schedule), missing) if missing else {}
    renamed = match_by_text(texts, documents)
    absent = missing - renamed
    return None if absent == labelled else IndexListing(len(documents), frozenset(absent), renamed)


def _list_earlier_runs(store: Store, run_id: str, schedule: ScheduleSection) -> list[str]:
    """The baseline, which stays, then the earlier runs, the newest first."""
    from ragauge.comparison.baselines.baseline import find_baseline_run

    run_ids = [
        job.run_id for job in store.jobs.list_latest(MAX_EARLIER_RUNS) if job.name == schedule.name and job.run_id
    ]
    try:
        base = find_baseline_run(schedule.baseline, store)
    except RagaugeError:  # there is none yet
        base = None
    return [
        earlier_id
        for earlier_id in dict.fromkeys([*([base.run_id] if base is not None else []), *run_ids])
        if earlier_id != run_id
    ]


def find_texts(store: Store, run_ids: Iterable[str], doc_ids: Collection[str]) -> dict[str, str]:
    """The longest text that runs found of some documents, in the first run that found one of each."""
    texts: dict[str, str] = {}
    for run_id in run_ids:
        if texts.keys() >= set(doc_ids):
            break
        run_texts: dict[str, str] = {}
        try:
            pairs = list(store.runs.pairs(run_id))
        except RagaugeError:  # it was deleted meanwhile
            continue
        for _, response in pairs:
            for passage in response.passages or ():
                if passage.doc_id in doc_ids and passage.doc_id not in texts and passage.text:
                    run_texts[passage.doc_id] = max(run_texts.get(passage.doc_id, ""), passage.text, key=len)
        texts |= run_texts
    return texts


def match_by_text(texts: Mapping[str, str], documents: Sequence[Document]) -> frozenset[str]:
    """Those whose text stands in a document; one of fewer than three words, or of frequent ones alone, says nothing.

    >>> from ragauge.core.document import Document
    >>> there = [Document("new", "", "Refunds  take 14 days. Ask us.")]
    >>> sorted(match_by_text({"old": "Refunds take 14 days.", "gone": "Parcels leave on Monday.", "few": "Ask"}, there))
    ['old']
    """
    from ragauge.testsets.quote_match import is_weak_quotation

    needles = {doc_id: normalize_text(text) for doc_id, text in texts.items() if not is_weak_quotation(text)}
    document_texts = [normalize_text(document.text) for document in documents] if needles else []
    return frozenset(
        doc_id for doc_id, text in needles.items() if any(text in document_text for document_text in document_texts)
    )
