"""The misalignment page in a terminal and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from ragauge.core.json_keys import encode
from ragauge.core.response import Run
from ragauge.evaluation.scorecard.alignment import build_sections, explain_disagreement
from ragauge.evaluation.scorecard.html import render_report
from ragauge.rendering.writers.terminal import render_terminal
from ragauge.scores.results.overview import Alignment, LengthBand, MeanEstimate, Overview, RankUse, Stage, Timing
from ragauge.scores.results.scorecard import JudgeNote, ScorecardData
from ragauge.stats.weighted import Interval

HALF = MeanEstimate(0.5, Interval(0.4, 0.6, "wilson"), 100)
RANKS = (RankUse(1, 100, 50, 50, 60, 45), RankUse(2, 100, 30, 20, None, None), RankUse(3, 40, 5, 1, 0, 0))
FOUND = Alignment(
    ranks=RANKS,
    answers=100,
    ignored_top=50,
    ignored_share=HALF,
    flagged=True,
    unused=29,
    correlation=-0.4,
    correlation_interval=Interval(-0.5, -0.3, "jackknife over clusters"),
    positions={"first": HALF, "middle": MeanEstimate(None, None, 0), "last": MeanEstimate(0.2, None, 1)},
)
OVERVIEW = Overview(
    causes_by_segment={"type": {"a": {"noise": 3, "": 1}, "b": {}}},
    alignment=FOUND,
    lengths=tuple(
        LengthBand(low, high, n, {"faithfulness": HALF}, "characters") for low, high, n in ((10, 90, 7), (91, 4_000, 6))
    ),
    stages=(Stage("candidates", HALF), Stage("top n of the candidates", HALF)),
    timings=(Timing("total", 9, 1.0, 2.0, 3.0),),
)


def card_of(overview: Overview, name: str = "k=5") -> ScorecardData:
    return ScorecardData(Run("r1", name), JudgeNote("local-1"), 100, 0, (), {}, (), {}, 0, (), overview=overview)


def printed(card: ScorecardData, width: int = 100) -> str:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(render_terminal(build_sections(card)))
    return captured.get()


def test_page_says_whose_fault_a_flag_is() -> None:
    """A flagged page has the same words on ranking or generator as the terminal; a calm one has none."""
    said = explain_disagreement(RANKS[0])
    assert said in render_report(card_of(OVERVIEW))
    assert said in " ".join(printed(card_of(OVERVIEW), 200).split())
    assert said not in render_report(card_of(replace(OVERVIEW, alignment=replace(FOUND, flagged=False))))


def test_passages_that_are_all_irrelevant_accuse_nobody() -> None:
    """Where hardly any passage is relevant, terminal and page say that, not that ranking and generator disagree."""
    ranks = (RankUse(1, 100, 50, 50, 3, 0), RankUse(2, 100, 30, 20, 2, 1))
    bare = card_of(replace(OVERVIEW, alignment=replace(FOUND, ranks=ranks, flagged=False)))
    for text in (printed(bare, 300), render_report(bare)):
        assert "hardly any passage is relevant, so this shows nothing about the ranking or the generator" in text
        assert "generator disagree" not in text


def test_numbers_are_all_there() -> None:
    """Every table has its rows, and what is not known is said so."""
    text = printed(card_of(OVERVIEW))
    assert "100 answers with claims over passages" in text
    assert "not used in 50 of 100 answers, 50% [40%, 60%]" in text
    assert "29 of 100 (29%) answers use no passage" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["1", "50", "of", "100", "(50%)", "█" * 12, "50", "45", "of", "60", "(75%)"] in rows
    assert ["2", "30", "of", "100", "(30%)", "█" * 7, "20", "not", "known"] in rows
    assert ["3", "5", "of", "40", "(12%)", "█" * 3, "1", "none", "relevant"] in rows
    assert ["first", "third", "0.50", "[0.40,", "0.60]", "100"] in rows
    assert "middle third" not in text
    assert ["top", "candidates", "0.50", "[0.40,", "0.60]", "100"] in rows
    assert ["91", "to", "4,000", "6", "0.50", "[0.40,", "0.60]"] in rows


def test_nothing_known() -> None:
    """Without evidence the page says what it would need, and shows what else there is."""
    text = printed(card_of(replace(OVERVIEW, alignment=None)))
    assert "needs answers with claims" in text
    assert "Labeled documents remaining" in text
    assert encode(card_of(Overview()), "alignment")["alignment"] is None


def test_a_phone_wide_terminal_shows_it() -> None:
    """At 80 columns no row is cut off, and a hostile name cannot colour it."""
    text = printed(card_of(OVERVIEW, "\x1b[31m[red]x"), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "[red]x" in text
    assert "45 of 60" in text


@pytest.mark.parametrize(
    ("relevant", "used", "says"),
    [
        (60, 58, "the ranking is mostly at fault"),  # Wilson from 0.886
        (60, 20, "the generator ignores it"),  # to 0.459
        (60, 42, "does not show which part is at fault"),  # 0.70: on both sides
        (0, 0, "Check chunk size"),
        (None, None, "Check chunk size"),
    ],
)
def test_whose_fault(relevant: int | None, used: int | None, says: str) -> None:
    """Relevant first passages that are used clear the generator; relevant ones passed over do not."""
    assert says in explain_disagreement(RankUse(1, 100, 50, 50, relevant, used))


def test_json_says_the_same() -> None:
    """The scorecard's JSON holds the overview under fixed names, and the page's JSON a part of it."""
    whole: dict[str, Any] = encode(card_of(OVERVIEW))
    json.dumps(whole, allow_nan=False)
    assert whole["causes_by_segment"] == {"type": {"a": {"noise": 3, "": 1}, "b": {}}}
    assert whole["latency"] == {"total": {"n": 9, "p50": 1.0, "p95": 2.0, "p99": 3.0}}
    assert whole["stages"][0] == {"name": "candidates", "mean": 0.5, "ci": [0.4, 0.6], "n": 100}
    assert whole["alignment"]["ignored_top_ranked"] == {
        "count": 50,
        "mean": 0.5,
        "ci": [0.4, 0.6],
        "n": 100,
        "flagged": True,
    }
    assert whole["alignment"]["ranks"][1] == {
        "rank": 2,
        "n": 100,
        "used": 30,
        "highest_used": 20,
        "relevant": None,
        "relevant_used": None,
    }
    assert whole["context_length"][1]["metrics"]["faithfulness"]["mean"] == 0.5
    part = encode(card_of(OVERVIEW), "alignment")
    assert list(part) == ["run_id", "name", "alignment", "stages", "context_length"]
    assert {name: whole[name] for name in part} == part
