"""How one example shows claims of which a probability says something else than the passages named."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from ragauge.core.facts import AnswerFacts, ReferenceClaim, ReferenceFacts
from ragauge.diagnosis.examples.one_example import build_sections
from ragauge.diagnosis.examples.tables import label_claims, split_answer
from ragauge.rendering.writers.terminal import render_terminal
from ragauge.scores.results.scorecard import ExampleView, ScorecardData


def printed(view: ExampleView) -> str:
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(render_terminal(build_sections(view)))
    return out.getvalue()


def with_p(view: ExampleView, p: float) -> ExampleView:
    """The example with this probability of its second claim, and of a reference claim in no passage that is named."""
    answer, reference = view.evidence["verify_answer"], view.evidence["verify_reference"]
    assert isinstance(answer.facts, AnswerFacts)
    first, second = answer.facts.claims
    return replace(
        view,
        evidence={
            "verify_answer": replace(answer, facts=replace(answer.facts, claims=(first, replace(second, p=p)))),
            "verify_reference": replace(reference, facts=ReferenceFacts((ReferenceClaim(1, "60 devices.", (), p),))),
        },
    )


@pytest.mark.parametrize(
    ("p", "label", "where"),
    [(0.89, "supported", "found, but no passage named"), (0.05, "not_in_context", "missed by retrieval")],
)
def test_lines_agree_with_the_probability(card: ScorecardData, p: float, label: str, where: str) -> None:
    """A claim likelier there than not is found though no passage is named; an unlikely one is missed."""
    view = with_p(card.worst[0], p)
    assert label_claims(view) == {1: "supported", 2: label}
    assert [piece.label for piece in split_answer(view) if piece.label] == ["supported", label]
    assert f"{where} (p {p:.2f})" in printed(view)


def test_what_nothing_decides_is_shown_as_unclear(card: ScorecardData) -> None:
    """An answer's claim between the bars is neither supported nor missing."""
    shown = printed(with_p(card.worst[0], 0.45))
    assert "~ 2. unclear whether the passages support it" in shown
    assert "1 of 2 claims surely found in the passages, 1 unclear" in shown
