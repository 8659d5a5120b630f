"""Finds the requests that a run makes of several documents: tasks about what is at hand, without a topic to search for.

Only ids, requests and passages count, so that the order of the examples changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ragauge.core.identity import hash_json
from ragauge.core.response import build_request_key
from ragauge.engine.control_pairs import Source, build_source
from ragauge.store.store_access import Store

MIN_DOCUMENTS = 3  # that differ, of which the same is requested
MAX_SHARE = 0.5  # of the requests that one document may have: what is found again and again has a topic
MAX_SOURCES = 50  # requests of the same words whose passages are compared, drawn by their ids


def find_tasks(store: Store, run_id: str) -> frozenset[str]:
    """Keys of the requests that a run makes of at least three documents, none of which has more than half of them.

    Documents are the same where they share an id or a text, or 70 % of the words of the shorter one.
    """
    numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)  # key -> query_id -> its first response
    for number, example in store.runs.iter_examples(run_id):
        if (key := build_request_key(example)) is not None:
            numbers[key].setdefault(example.query_id, number)
    return frozenset(
        key for key, by_id in numbers.items() if len(by_id) >= MIN_DOCUMENTS and is_task(_read_sources(store, by_id))
    )


def is_task(sources: Sequence[Source]) -> bool:
    """Whether requests of the same content words were made of documents that differ."""
    similar_counts = [sum(source.is_same_as(other) for other in sources) for source in sources]
    distinct: list[Source] = []
    for source in sorted(sources, key=lambda source: source.key):
        if not any(source.is_same_as(other) for other in distinct):
            distinct.append(source)
    return len(distinct) >= MIN_DOCUMENTS and max(similar_counts) <= MAX_SHARE * len(sources)


def _read_sources(store: Store, numbers: dict[str, int]) -> list[Source]:
    sampled_ids = sorted(numbers, key=lambda query_id: hash_json([query_id]))[:MAX_SOURCES]
    loaded = store.runs.load([numbers[query_id] for query_id in sampled_ids])
    return [source for item in loaded if (source := build_source(item.example, item.response))]
