"""Questions put otherwise: how a variant names the question that it was made from."""

from __future__ import annotations

SEGMENT = "variation"  # column of the segments that says how a question was put otherwise
MARK = "~"


def build_variant_id(query_id: str, kind: str) -> str:
    """The query_id of a question's variant of a kind.

    >>> build_variant_id("q1", "typos")
    'q1~typos'
    """
    return f"{query_id}{MARK}{kind}"


def parse_original_id(query_id: str, kind: str) -> str | None:
    """The query_id of the question that a variant was made from; None where the id is not one of such a variant.

    >>> parse_original_id("q1~typos", "typos"), parse_original_id("q1", "typos")
    ('q1', None)
    """
    ending = f"{MARK}{kind}"
    return query_id.removesuffix(ending) if query_id.endswith(ending) and query_id != ending else None
