"""How questions are to be put, and which documents they are to be about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.testsets.corpus_view import CorpusView

MANNERS: Mapping[str, str] = {"personas": "persona", "styles": "style", "lengths": "length", "languages": "language"}
POOLS = ("recent", "niche")
POOL_SHARE = 0.1  # of the documents that are recent, or niche, at least
Shares = Mapping[str, Mapping[str, float]]


def read_plan(source: Path | Mapping[str, Any]) -> Shares:
    """Personas, styles, lengths and languages, each with its share.

    Args:
        source: path of a YAML or JSON file, or the same as a mapping: {"styles": {"keywords": 1, "a sentence": 3}}.

    Returns:
        persona, style, length, language -> wording -> share.

    Raises:
        DataError: no such file, or a list without shares above 0.
        UnknownName: another key.
    """
    from ragauge.core.config.yaml_tree import read_tree

    name = "plan" if isinstance(source, Mapping) else str(source)
    if isinstance(source, Path) and not source.exists():
        raise DataError("the file does not exist.", source=name)
    tree = source if isinstance(source, Mapping) else read_tree(source)
    shares = {}
    for key, wordings in (tree if isinstance(tree, Mapping) else {"": tree}).items():
        if key not in MANNERS:
            raise UnknownName("plan key", str(key), MANNERS)
        numbers = isinstance(wordings, Mapping) and all(
            isinstance(share, int | float) and not isinstance(share, bool) and 0 < share < float("inf")
            for share in wordings.values()
        )
        if not numbers or not wordings:
            raise DataError(
                f"{key}: expected texts with shares above 0, got {wordings!r}.",
                source=name,
                hint=f"Use {key}: {{one text: 2, another: 1}}",
            )
        shares[MANNERS[key]] = {str(wording): float(share) for wording, share in wordings.items()}
    return shares


def sample_manners(plan: Shares, seed: str) -> Iterator[Mapping[str, str]]:
    """How each question is put, without end; each list of the plan drawn independently of the others."""
    rng = Random(seed)  # noqa: S311 - draws wordings, no secret
    while True:
        yield {name: rng.choices(list(shares), list(shares.values()))[0] for name, shares in plan.items()}


def parse_pools(text: str | Mapping[str, int], n: int) -> dict[str, int]:
    """How many of n questions are about each pool of documents; "" = about any.

    Raises:
        UnknownName: no such pool.
        UsageError: no whole number above 0, or more than n together.

    >>> parse_pools("recent=10,niche=20", 100)
    {'recent': 10, 'niche': 20, '': 70}
    """
    pairs = (
        text.items()
        if isinstance(text, Mapping)
        else (entry.partition("=")[::2] for entry in text.replace(" ", "").split(",") if entry)
    )
    sizes: dict[str, int] = {}
    for name, size in pairs:
        if name not in POOLS:
            raise UnknownName("document pool", name, POOLS)
        if not str(size).isascii() or not str(size).isdigit() or int(size) < 1:
            raise UsageError(f"documents: expected {name}=N, a whole number above 0, got {name}={size}.")
        sizes[name] = int(size)
    remaining = n - sum(sizes.values())
    if remaining < 0:
        raise UsageError(f"documents: the pools need {sum(sizes.values()):,} questions, more than the {n:,} in total.")
    return {**sizes, "": remaining} if remaining else sizes


def select_pool(name: str, corpus: CorpusView) -> frozenset[str] | None:
    """The doc_ids of a pool: the tenth of the documents that is newest, or that is in the smallest topics; "" = None.

    Raises:
        UsageError: recent, where no document says when it was updated.
    """
    if not name:
        return None
    min_size = max(1, round(POOL_SHARE * len(corpus.ids)))
    if name == "niche":
        doc_ids: list[str] = []
        for topic in reversed(corpus.topics):
            if len(doc_ids) >= min_size:
                break
            doc_ids += topic
        return frozenset(doc_ids)
    dated = [(document.updated_at, document.doc_id) for document in corpus.documents.values() if document.updated_at]
    if not dated:
        raise UsageError("documents: recent needs documents with a date (updated_at), but no document has one.")
    return frozenset(doc_id for _, doc_id in sorted(dated, reverse=True)[:min_size])
