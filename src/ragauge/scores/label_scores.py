"""What people and a judge make of a labelled text, as scores of the metrics that such labels can tell of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ragauge.core.facts import AnswerFacts, Claim
from ragauge.core.human_labels import SEVERITY, THREE_LABELS, HumanLabel, LabeledAnswer, LabeledPart
from ragauge.core.identity import hash_json

QUESTION = "verify_answer"
HALF = 0.5


class LabelMapping(NamedTuple):
    """How labels and claims tell of a metric."""

    label: HumanLabel
    of_claim: Callable[[Claim], float]


# metrics that are a share of claims by what people label; unsupported is 1 less faithfulness
LABEL_MAPPINGS: Mapping[str, LabelMapping] = {
    "faithfulness": LabelMapping("supported", lambda claim: claim.chance),
    "contradicted": LabelMapping("contradicted", lambda claim: 1 - claim.chance if claim.contradicting else 0.0),
    "not_in_context": LabelMapping("not_in_context", lambda claim: 0.0 if claim.contradicting else 1 - claim.chance),
}
DEFAULT_METRICS = ("faithfulness",)  # by labels that say supported or not, and no more


class LabelScore(NamedTuple):
    """People's and the judge's score of one labelled text, in [0, 1], and on how many labelled parts it rests."""

    metric: str
    people: float
    judge: float
    labels: int


def find_labeled_metrics(rows: Sequence[LabeledAnswer]) -> tuple[str, ...]:
    """The metrics that the labels of a file can tell of: by kind only where both kinds, and no others, are in it."""
    labels = {label for row in rows for part in row.parts for label in part.labels}
    return tuple(LABEL_MAPPINGS) if labels | {"supported"} == set(THREE_LABELS) else DEFAULT_METRICS


def score_row(row: LabeledAnswer, facts: AnswerFacts | None, metrics: Sequence[str]) -> list[LabelScore]:
    """The mean over a row's labelled parts by people and by the judge; [] where the judge has a verdict on none.

    A part counts 1 or 0 by what more than half of the annotators say, and where they are split not at all. The judge's
    score of a part of one sentence is that of the metric on it. A label of several sentences says only whether all of
    them hold, so there the judge's is that of its worst claim.

    Args:
        row: of the labelled file.
        facts: of its answer; None = the judge failed.
        metrics: of TOLD.
    """
    judged_parts = (
        []
        if facts is None
        else [(part, claims) for part in row.parts if (claims := _select_claims(part, facts.claims))]
    )
    scores = []
    for name in metrics:
        mapping = LABEL_MAPPINGS[name]
        votes = [
            (vote, _score_claims(mapping, part_claims))
            for part, part_claims in judged_parts
            if (vote := _majority_vote(part, mapping.label)) is not None
        ]
        if votes:
            people, judge = (sum(column) / len(votes) for column in zip(*votes, strict=True))
            scores.append(LabelScore(name, people, judge, len(votes)))
    return scores


def _majority_vote(part: LabeledPart, label: HumanLabel) -> float | None:
    """1 where more than half of the annotators give this label, 0 where fewer do; None where they are split."""
    share = part.labels.count(label) / len(part.labels)
    return None if share == HALF else float(share > HALF)


def _select_claims(part: LabeledPart, claims: Sequence[Claim]) -> list[Claim]:
    """The judge's claims in a part; [] where it has none, or no verdict on one."""
    part_claims = [claim for claim in claims if claim.start < part.end and claim.end > part.start]
    return [] if any(claim.label is None for claim in part_claims) else part_claims


def _score_claims(mapping: LabelMapping, claims: Sequence[Claim]) -> float:
    if len({claim.within or (claim.start, claim.end) for claim in claims}) > 1:
        claims = [min(claims, key=lambda claim: (claim.chance, SEVERITY[claim.label or "supported"]))]
    return min(1.0, max(0.0, sum(mapping.of_claim(claim) for claim in claims) / len(claims)))


def hash_row_text(row: LabeledAnswer) -> bytes:
    """What tells a labelled text from others: all that the question sees."""
    return hash_text(row.query, row.passages, row.answer)


def hash_text(query: str, passages: Sequence[str], answer: str) -> bytes:
    """The same of a text that is no row: an answer of a run has it, and what was labelled of it."""
    return bytes.fromhex(hash_json({"query": query, "passages": list(passages), "answer": answer}))


def hash_example(row: LabeledAnswer) -> bytes:
    """What labelled parts share that are not independent: the question and its passages; without both, the text itself.

    >>> rows = [LabeledAnswer("1", "Q?", (), "a", ()), LabeledAnswer("2", "Q?", (), "b", ()),
    ...     LabeledAnswer("3", "", (), "", ())]
    >>> [hash_example(row) == hash_example(rows[0]) for row in rows]
    [True, True, False]
    """
    if row.query or row.passages:
        return bytes.fromhex(hash_json({"query": row.query, "passages": list(row.passages)}))
    return bytes.fromhex(hash_json({"answer": row.answer} if row.answer else {"query_id": row.query_id}))


def deduplicate_rows(rows: Sequence[LabeledAnswer]) -> list[LabeledAnswer]:
    """Each text once, where it first stands, with the labels that its last row gives it; a row without text counts."""
    by_text = {hash_row_text(row) if row.answer else str(n): row for n, row in enumerate(rows)}
    return list(by_text.values())


def hash_file(rows: Sequence[LabeledAnswer], name: str) -> bytes:
    """What tells a file of labels from others: its name, its texts and what people said of them.

    Texts count once whatever files they stand in; by its name a copy is taken back alone.
    """
    return bytes.fromhex(
        hash_json(
            [
                name,
                [
                    [
                        row.query,
                        list(row.passages),
                        row.answer,
                        [[part.start, part.end, list(part.labels)] for part in row.parts],
                    ]
                    for row in rows
                ],
            ]
        )
    )
