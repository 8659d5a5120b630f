"""Which numbers, dates, names and quotes of an answer stand in nothing that it was given.

Which passages an answer used, and which its claims cite.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragauge.core.facts import Claim
from ragauge.core.response import Citation, Passage
from ragauge.text.citation_marks import find_citation_spans
from ragauge.text.source_notes import find_source_spans
from ragauge.text.specifics import ALL_KINDS, Haystack, Specific, find_specifics, is_found_in

Places = tuple[Specific, ...]  # one specific, everywhere that the answer has it


def find_unfounded(
    answer: str, query: str, passages: Sequence[Passage], kind: str
) -> tuple[tuple[Places, ...], tuple[Places, ...]]:
    """The distinct specifics of an answer, and those of them that stand in no passage nor in what the user said.

    Marks and lists that only name the answer's sources hold none.

    Args:
        answer: whose specifics.
        query: what the user said, the question and earlier turns: repeating it invents nothing.
        passages: with their texts.
        kind: number, date, name, percent or quote; any = all of them.
    """
    cited = find_citation_spans(answer, passages)
    supported, missing = _find_all_unfounded(answer, query, tuple(passage.text or "" for passage in passages), cited)
    if kind == "any":
        return supported, missing
    return tuple(marks for marks in supported if marks[0].kind == kind), tuple(
        marks for marks in missing if marks[0].kind == kind
    )


@lru_cache(maxsize=64)
def _find_all_unfounded(
    answer: str, query: str, texts: tuple[str, ...], cited: tuple[tuple[int, int], ...]
) -> tuple[tuple[Places, ...], tuple[Places, ...]]:
    """For all kinds at once: several metrics ask for one answer in a row."""
    distinct: dict[tuple[str, str, str], list[Specific]] = {}
    notes = (*find_source_spans(answer), *cited)
    for specific in find_specifics(answer, ALL_KINDS):
        if any(start <= specific.start < end for start, end in notes):
            continue
        distinct.setdefault((specific.kind, specific.normal, specific.unit), []).append(specific)
    haystack = Haystack.of([query, *texts])
    distinct_marks = tuple(map(tuple, distinct.values()))
    return distinct_marks, tuple(marks for marks in distinct_marks if not is_found_in(marks[0], haystack))


def list_targets(claim: Claim, citations: Sequence[Citation]) -> tuple[str, ...]:
    """What is cited for a claim, each target once: the citations whose characters overlap the claim's sentence.

    A citation of no characters marks a point and belongs to the sentence that holds it or ends there.

    >>> list_targets(Claim(1, "a", start=0, end=9),
    ...     [Citation(5, 12, "d1"), Citation(9, 20, "d2"), Citation(9, 9, "d3")])
    ('d1', 'd3')
    >>> list_targets(Claim(1, "a", start=0, end=4, within=(0, 9)), [Citation(5, 9, "d1")])
    ('d1',)
    """
    start, end = claim.within or (claim.start, claim.end)
    overlapping = (
        citation.target
        for citation in citations
        if citation.end > start and (citation.start < end or citation.start == citation.end == end)
    )
    return tuple(dict.fromkeys(overlapping))


def find_named_passages(target: str, passages: Sequence[Passage]) -> frozenset[int]:
    """Numbers of the passages that a citation's target names, by passage_id or by document; none for an unknown id.

    >>> sorted(find_named_passages("d1", [Passage("p1", "d1"), Passage("p2", "d2"), Passage("p3", "d1")]))
    [1, 3]
    """
    return frozenset(n for n, p in enumerate(passages, 1) if target in (p.passage_id, p.doc_id))


def find_cited_passages(claim: Claim, citations: Sequence[Citation], passages: Sequence[Passage]) -> frozenset[int]:
    """Z[i]: numbers of the passages that are cited for a claim."""
    return frozenset().union(*(find_named_passages(target, passages) for target in list_targets(claim, citations)))


def mark_used_passages(
    claims: Sequence[Claim], citations: Sequence[Citation], passages: Sequence[Passage]
) -> tuple[bool | None, ...]:
    """U as one mark a passage: whether it supports a claim or is cited for one.

    A claim without verdict may rest on any passage: then a passage that no other claim uses is None.

    >>> three = [Passage("p1", "d1"), Passage("p2", "d2"), Passage("p3", "d3")]
    >>> mark_used_passages([Claim(1, "a", end=9, supporting=(2,))], [Citation(0, 9, "d3")], three)
    (False, True, True)
    >>> mark_used_passages([Claim(1, "a", supporting=(2,)), Claim(2, "b", status="failed")], [], three)
    (None, True, None)
    """
    numbers: set[int] = set()
    for claim in claims:
        numbers.update(claim.supporting)
        if citations:
            numbers |= find_cited_passages(claim, citations, passages)
    otherwise = None if any(claim.status == "failed" for claim in claims) else False
    return tuple(True if n in numbers else otherwise for n in range(1, len(passages) + 1))
