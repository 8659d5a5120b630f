"""The demo: what was planted is what its reports name."""

from __future__ import annotations

import pytest
from tests.conftest import Demonstrated
from tests.docs.pages import taken

import ragauge as rg
from ragauge.evaluation.demo.demo_systems import DemoSystem, build_systems, read_eval_set

(SHOWN,) = taken("README.md", "text")
pytestmark = pytest.mark.prove


@pytest.fixture(scope="module")
def cards(demonstrated: Demonstrated) -> dict[str, rg.Scorecard]:
    """The scorecards of the demo's runs, read from its store."""
    return {name: rg.evaluate(name, store=demonstrated.store) for name in demonstrated.paths}


@pytest.fixture(scope="module")
def systems() -> dict[str, DemoSystem]:
    return build_systems()


@pytest.mark.parametrize(
    ("name", "causes"),
    [
        ("broken-retrieval", ("retrieval_miss", "ranked_low", "empty_retrieval")),
        ("corrupted-generation", ("hallucinated", "contradicted", "off_topic")),
    ],
)
def test_report_names_each_planted_cause(
    demonstrated: Demonstrated, cards: dict[str, rg.Scorecard], name: str, causes: tuple[str, ...]
) -> None:
    """The report of a broken configuration names every cause that was planted in it, with its count and a fix."""
    page = demonstrated.paths[name].read_text()
    findings = {finding.cause: finding for finding in cards[name].findings}
    for cause in causes:
        assert cause in findings
        assert findings[cause].fix
        assert f'id="cause-{cause}"' in page
        assert findings[cause].explains >= 3


def test_planted_causes_lead(cards: dict[str, rg.Scorecard]) -> None:
    """The first thing that a broken configuration's report says is about the part that was broken."""
    assert cards["broken-retrieval"].findings[0].cause in ("retrieval_miss", "ranked_low")
    first = cards["corrupted-generation"].findings[0].cause
    assert first in ("hallucinated", "contradicted", "ignored", "off_topic")


@pytest.mark.parametrize("name", ["broken-retrieval", "corrupted-generation"])
def test_struck_questions_fail_more(cards: dict[str, rg.Scorecard], systems: dict[str, DemoSystem], name: str) -> None:
    """Nearly every question that a fault struck fails, and fewer of the others do."""
    planted = set(systems[name].planted)
    failed = set(cards[name].failures["query_id"])
    others = {example.query_id for example in read_eval_set().examples} - planted
    assert len(planted & failed) / len(planted) > 0.9
    assert len(others & failed) / len(others) < len(planted & failed) / len(planted) - 0.2


def test_broken_part_shows_in_its_layer(cards: dict[str, rg.Scorecard]) -> None:
    """Broken retrieval lowers recall, corrupted generation lowers faithfulness, each with its interval apart."""
    good, retrieval, generation = (cards[name] for name in ("good", "broken-retrieval", "corrupted-generation"))
    recall, broken = good["recall@5"].interval, retrieval["recall@5"].interval
    assert recall is not None
    assert broken is not None
    assert broken.high < recall.low
    assert generation["recall@5"].mean == good["recall@5"].mean
    faithful, corrupted = good["faithfulness"].interval, generation["faithfulness"].interval
    assert faithful is not None
    assert corrupted is not None
    assert corrupted.high < faithful.low
    made_up = generation["fabricated_specifics"].interval
    assert made_up is not None
    assert made_up.low > (good["fabricated_specifics"].mean or 0)


def test_readme_shows_what_the_demo_prints(demonstrated: Demonstrated) -> None:
    """The output in the README is the demo's own."""
    printed = [line.rstrip() for line in demonstrated.printed.strip().splitlines()]
    assert SHOWN.text.splitlines() == printed, "the README's demo output is stale: python tools/readme_demo.py"
