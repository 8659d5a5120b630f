"""Labels and retrieved passages that name the same documents otherwise: matched once, when a run is complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ragauge.core.document_names import match_document_names
from ragauge.core.messages import format_count

if TYPE_CHECKING:
    from ragauge.store.store_access import Store

LARGE_RUN_RESPONSES, PROBED_RESPONSES = 1_000, 200  # responses


def match_run_documents(store: Store, run_id: str, warn: Callable[[str], None]) -> None:
    """Gives retrieved documents the ids that the run's labels have for them, where nothing else can be meant.

    Args:
        store: with the run, all of whose responses are there.
        run_id: the run.
        warn: told what was matched, once.
    """
    labels = store.listings.list_labeled_documents(run_id)
    if (
        labels
        and store.runs.count_responses(run_id) > LARGE_RUN_RESPONSES
        and not labels.isdisjoint(store.listings.list_retrieved_documents(run_id, PROBED_RESPONSES))
    ):
        return  # the ids are alike: to read all of a large run takes long
    names = match_document_names(labels, store.listings.list_retrieved_documents(run_id)) if labels else {}
    if not names:
        return
    n = store.listings.rename_documents(run_id, names)
    old, new = next(iter(names.items()))
    warn(
        f"{format_count(len(names), 'document')} of the passages matched labels that differ only in folder or file "
        f"extension, such as {old} and {new}, in {format_count(n, 'response')}. If this is wrong, use the same ids."
    )
