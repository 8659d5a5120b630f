"""Scores, claims and causes, one example a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Claim, Evidence
from ragauge.core.jsonl_files import open_text_writer
from ragauge.core.response import Response
from ragauge.core.score import Score
from ragauge.core.verdict import ExampleVerdict

View = tuple[Example, Response, Mapping[str, Evidence], Mapping[str, Score], str, ExampleVerdict | None]


def write_scores(path: str | Path, views: Iterable[View]) -> int:
    """Writes one example a line; the file appears when all are written.

    Args:
        path: packed where it ends in .gz.
        views: (example, response, question -> evidence, printed name -> score, cause, verdicts) each; "" = no cause,
            None = no verdict.

    Returns:
        How many were written.
    """
    n = 0
    with open_text_writer(Path(path)) as file:
        for view in views:
            file.write(json.dumps(scores_to_dict(*view), ensure_ascii=False, allow_nan=False) + "\n")
            n += 1
    return n


def scores_to_dict(
    example: Example,
    response: Response,
    evidence: Mapping[str, Evidence],
    scores: Mapping[str, Score],
    cause: str = "",
    verdicts: ExampleVerdict | None = None,
) -> dict[str, Any]:
    """One example's results as plain values; `repeat` stands there from the second answer on.

    Passages of a claim are named by passage_id. A claim without a verdict has the label null.
    """
    out: dict[str, Any] = {"query_id": example.query_id}
    if response.repeat:
        out["repeat"] = response.repeat
    out["scores"] = {
        name: {"value": score.value, "status": score.status, "reason": score.reason} for name, score in scores.items()
    }
    verified = evidence.get("verify_answer")
    facts = verified.facts if verified is not None else None
    claims = facts.claims if isinstance(facts, AnswerFacts) else ()
    out["claims"] = [_claim_to_dict(claim, response) for claim in claims]
    out["cause"] = cause or None
    if verdicts is not None:
        out["verdict"] = verdicts.verdict
        out["verdicts"] = {"right": verdicts.right, "grounded": verdicts.grounded}
        out["reason"] = verdicts.reason
    return out


def _claim_to_dict(claim: Claim, response: Response) -> dict[str, Any]:
    passages = response.passages or ()

    def list_passage_ids(numbers: tuple[int, ...]) -> list[str]:
        return [passages[n - 1].passage_id for n in numbers if n <= len(passages)]

    return {
        "text": claim.text,
        "label": claim.label,
        "p": claim.p,
        "supporting": list_passage_ids(claim.supporting),
        "contradicting": list_passage_ids(claim.contradicting),
    }
