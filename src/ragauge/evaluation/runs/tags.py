"""Tags of runs: words by which lists are filtered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from ragauge.comparison.baselines.verb import resolve_run
from ragauge.core.errors import UsageError
from ragauge.verbs.option_specs import OptionSpec, Store, StoredRun, with_options
from ragauge.verbs.sources import resolve_store_url

MAX_TAG_CHARS = 60  # characters of a tag


Tags = Annotated[
    list[str], OptionSpec("One or more tags, such as release.", kind=list[str], argument=True, metavar="NAME...")
]


@with_options(run=StoredRun, tags=Tags, store=Store)
def tag_run(run: Any, *tags: str, store: str | None = None) -> dict[str, Any]:
    """Gives a stored run tags, beside those that it has.

    Args:
        run: a stored run: id, name, "latest", or what stands for one, such as a scorecard.
        tags: words such as release or golden.
        store: URL of the store.

    Returns:
        run_id, name and tags: all that the run has now.

    Raises:
        UnknownName: no such run.
        UsageError: no tag, or one that is empty or cannot be printed.
    """
    return _change_tags(run, tags, store, away=False)


@with_options(run=StoredRun, tags=Tags, store=Store)
def untag_run(run: Any, *tags: str, store: str | None = None) -> dict[str, Any]:
    """Takes tags away from a stored run; arguments and result are those of `tag_run`.

    Raises:
        UnknownName: no such run, or it has no such tag.
        UsageError: no tag.
    """
    return _change_tags(run, tags, store, away=True)


def describe_tags(row: dict[str, Any], _: object) -> str:
    """What `ragauge runs tag` and `untag` print."""
    named = f"{row['name']} ({row['run_id']})"
    return f"{named} is tagged: {', '.join(row['tags'])}" if row["tags"] else f"{named} has no tag now"


def _change_tags(run: Any, tags: Sequence[str], store: str | None, *, away: bool) -> dict[str, Any]:
    from ragauge.store.store_access import open_store

    words = [tag.strip() if away else _validate_tag(tag) for tag in tags]
    if not words:
        raise UsageError("which tag? Name one or more: ragauge runs tag latest release")
    with open_store(resolve_store_url(store)) as opened_store:
        resolved_run = resolve_run(run, opened_store)
        (opened_store.run_log.remove_tags if away else opened_store.run_log.tag)(resolved_run.run_id, words)
        return {
            "run_id": resolved_run.run_id,
            "name": resolved_run.name,
            "tags": opened_store.run_log.tags(resolved_run.run_id),
        }


def _validate_tag(tag: str) -> str:
    """A word that a tag can be."""
    word = tag.strip()
    if not word or not word.isprintable() or "," in word or len(word) > MAX_TAG_CHARS:
        got = tag if len(tag) <= MAX_TAG_CHARS else f"{tag[:20]}… of {len(tag):,} characters"
        raise UsageError(
            f"a tag is a word of at most {MAX_TAG_CHARS} printable characters without a comma, got {got!r}. Write "
            "release."
        )
    return word
