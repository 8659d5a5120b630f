"""Which facts a judge cannot read, by its control pairs."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

from ragauge.core.readability import (
    MIN_AUROC,
    MIN_GAP,
    MIN_PAIRS,
    PASSAGE_FACTS,
    ControlledFact,
    ControlScale,
    Readability,
)
from ragauge.core.response import Response
from ragauge.metrics.base import NotRead

# which control pairs tell whether a fact, or all facts of a question, can be read
CONTROLS_BY_FACT: Mapping[str, ControlledFact] = {
    "verify_answer.support": "support",
    "verify_answer.used": "support",
    "verify_answer.address": "address",
    "verify_answer.addressed": "address",
    "agree": "agreement",
    "verify_reference": "reference",
    "rate_passages": "relevance",
    "rate_sentences": "relevance",
    "rate_answer": "relevance",
}
FACT_NAMES: Mapping[ControlledFact, str] = {
    "support": "whether passages support a claim",
    "reference": "whether passages hold a reference claim",
    "relevance": "whether a passage is about the question",
    "address": "whether an answer addresses the question",
    "agreement": "whether an answer agrees with a reference",
}
LAYOUT_NAMES = {"prose": "prose", "table": "tables", "cells": "tables of one cell a line"}
UNREAD = "this judge cannot tell"  # how the reason begins of a score that was not read


def explain_unread(fact: str, readability: Readability | None, response: Response) -> NotRead | None:
    """Why the judge cannot read a fact, or all facts of a question; None where it can, or no controls were asked."""
    controlled = CONTROLS_BY_FACT.get(fact) or CONTROLS_BY_FACT.get(fact.partition(".")[0])
    if readability is None or controlled is None or readability.can_read(controlled):
        return None
    if controlled in PASSAGE_FACTS and not response.passages:
        return None  # nothing to read: no passage supports or holds anything
    layout = f"{LAYOUT_NAMES[readability.layout]}, " if controlled in PASSAGE_FACTS else ""  # of the passages
    where = f"{layout}language {readability.language}"
    lack = _describe_shortfall(readability.scales.get(controlled))
    return NotRead(f"{UNREAD} {FACT_NAMES[controlled]} in such texts ({where}; {lack})")


def _describe_shortfall(scale: ControlScale | None) -> str:
    """What control pairs lack for a fact to count as read.

    >>> _describe_shortfall(ControlScale(yes=(0.9,) * 12, no=(0.1,) * 30))
    '12 control pairs known true, 30 known false: 20 of each needed'
    >>> _describe_shortfall(ControlScale(yes=(0.5,) * 25, no=(0.1,) * 15 + (0.9,) * 15))
    'AUROC 0.50 over 25 control pairs known true and 30 known false: 0.90 needed'
    """
    if scale is None or min(len(scale.yes), len(scale.no)) < MIN_PAIRS:
        yes, no = (0, 0) if scale is None else (len(scale.yes), len(scale.no))
        return f"{yes} control pairs known true, {no} known false: {MIN_PAIRS} of each needed"
    over = f"over {len(scale.yes)} control pairs known true and {len(scale.no)} known false"
    if scale.auroc < MIN_AUROC:
        return f"AUROC {floor(100 * scale.auroc) / 100:.2f} {over}: {MIN_AUROC:.2f} needed"
    return f"medians {floor(100 * scale.gap) / 100:.2f} apart {over}: {MIN_GAP:.2f} needed"
