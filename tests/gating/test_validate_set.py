"""`validate` with an eval set: what no run over it can meet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from ragauge.comparison.pairs import FailedPairs, Pairs
from ragauge.core.errors import ConfigError
from ragauge.core.example import EvalSet, Example, Relevant
from ragauge.evaluation.doctor.validate import validate
from ragauge.gating.compute.decision import CheckCell, find_min_drop
from ragauge.gating.compute.sample import MeanDifference
from ragauge.metrics.catalogue import parse_metric

EXAMPLES = tuple(
    Example(
        f"q{n}",
        "How tall?",
        references=("330 m",),
        relevant=(Relevant(("d",)),) if n < 12 else None,
        tags=frozenset({"golden"} if n >= 8 else ()),
    )
    for n in range(20)
)


def found(*rules: dict[str, Any], examples: tuple[Example, ...] = EXAMPLES) -> tuple[str, ...]:
    """The notes on rules over a set, but for the one that no rule looks at its labels."""
    return tuple(note for note in noted(*rules, examples=examples) if "have relevance labels" not in note)


def noted(*rules: dict[str, Any], examples: tuple[Example, ...] = EXAMPLES) -> tuple[str, ...]:
    """Every note on rules over a set."""
    return validate({"gate": {"rules": list(rules)}}, set=EvalSet("golden", examples)).notes


def test_a_metric_that_no_label_serves_is_refused(tmp_path: Path) -> None:
    """A rule on a metric that applies to no example of the set is refused with its line, the reason and what to do."""
    path = tmp_path / "ragauge.yaml"
    path.write_text("gate:\n  rules:\n    - {metric: mrr, min: 0.5}\n    - {metric: 'recall:unit=chunk@5', min: 0.9}\n")
    with pytest.raises(ConfigError) as caught:
        validate(path, set=EvalSet("golden", EXAMPLES))
    (problem,) = caught.value.problems
    assert problem.line == 4
    assert "gate.rules[2].metric: recall:unit=chunk@5 applies to none of the 20 examples of the set" in str(problem)
    assert "no labels of chunks (relevant_chunks). Label the examples, or remove the rule." in str(problem)
    assert validate(path).notes == ()


def test_only_the_examples_of_the_rule_count() -> None:
    """A metric that applies to others, but to none with the rule's tag, is refused; so is a tag misspelt."""
    rule = {"tag": "late", "must_pass": True, "metric": "mrr", "min": 0.5}
    late = (*EXAMPLES, Example("q20", "How old?", tags=frozenset({"late"})))
    with pytest.raises(ConfigError, match="mrr applies to none of the 1 example of the set tagged late: no relevance"):
        found(rule, examples=late)
    with pytest.raises(ConfigError, match="no example has it: no tag 'lates'; nearest: late") as caught:
        found({**rule, "tag": "lates"}, examples=late)
    assert len(caught.value.problems) == 1


def test_a_tag_whose_examples_are_yet_to_come_is_noted() -> None:
    """Nothing has to pass where no example is tagged so, whatever other tags there are; a mean of none is refused."""
    must = {"tag": "regression", "must_pass": True}
    told = "rule 1: no example is tagged regression yet: nothing to check."
    plain = tuple(Example(f"q{n}", "How tall?", references=("330 m",)) for n in range(20))
    assert found(must) == found(must, examples=plain) == (told,)
    assert found({**must, "metric": "mrr", "min": 1}) == (told,)
    with pytest.raises(ConfigError, match="no example has it: no tag 'regression'"):
        found(must, {"tag": "regression", "metric": "latency", "max": 2000, "statistic": "p50"})


def test_more_than_the_set_has_is_noted() -> None:
    """A min_n above the number of examples is noted: no run over that set can meet the rule."""
    assert found({"metric": "faithfulness", "min": 0.5, "min_n": 20}) == ()
    assert found({"metric": "faithfulness", "min": 0.5, "min_n": 21}) == (
        "rule 1: min_n is 21, more than the 20 examples of the set: no run on this set can meet it.",
    )
    assert len(found({"metric": "self_knowledge", "min": 0.1, "max": 0.6, "min_n": 21})) == 1
    assert found({"metric": "faithfulness", "min": 0.5, "min_n": 13, "tag": "golden"}) == (
        "rule 1: min_n is 13, more than the 12 examples of the set tagged golden: no run on this set can meet it.",
    )


def test_too_few_labels_are_noted() -> None:
    """A metric that applies to fewer examples than min_n, or not to all that must pass, is noted with an example."""
    assert found({"metric": "mrr", "min": 0.5, "min_n": 12}) == ()
    assert found({"metric": "mrr", "min": 0.5, "min_n": 13}) == (
        "rule 1: mrr applies to 12 of the 20 examples of the set, but min_n is 13: no run on this set can meet it. "
        "It does not apply to q12: no relevance labels.",
    )
    (note,) = found({"tag": "golden", "must_pass": True, "metric": "mrr", "min": 0.5})
    assert note.startswith("rule 1: mrr applies to 4 of the 12 examples of the set tagged golden, but every one must")


def test_what_depends_on_the_response_is_not_guessed() -> None:
    """Metrics that need only a response, recorded or not, are taken to apply; so is what a judge finds out."""
    assert found(*({"metric": name, "max_drop": "15%"} for name in ("latency", "cost", "faithfulness"))) == ()
    assert found({"metric": "citation_recall", "min": 0.5}) == ()


def test_a_drop_that_the_set_cannot_decide_is_noted() -> None:
    """A smaller drop than a set of this size mostly decides is noted, with the drop and the size that would be."""
    (note,) = found({"metric": "faithfulness", "max_drop": "3 points"})
    assert "rule 1: 20 examples are often too few to decide a drop of 3 points" in note
    assert "20 examples can decide 15 points; 3 points need about 400." in note
    assert found({"metric": "faithfulness", "max_drop": "3 points", "decide": "point"}) == ()
    (few,) = found({"metric": "mrr", "max_drop": "10%"})
    assert "rule 1: 12 examples are often too few to decide a drop of 10%" in few


def test_a_quantile_that_the_set_cannot_bound_is_noted() -> None:
    """The p95 of twenty examples has no upper end, so that no run passes; the median has one."""
    (note,) = found({"metric": "latency", "max": 2000})
    assert "cannot show that p95 of latency meets a limit: that needs 59" in note
    assert found({"metric": "latency", "max": 2000, "statistic": "p50"}) == ()


@pytest.mark.parametrize("n", [20, 60, 400])
def test_what_is_said_to_be_decided_is(n: int) -> None:
    """A change that turns one score in ten over, half of them for the better, passes by the drop said, not by less."""
    turned = round(n / 20)
    base = np.array([0.0] * turned + [1.0] * (n - turned))
    none = FailedPairs(np.array([], dtype=np.int64), None, *((np.array([]), np.array([])),) * 2)
    pairs = Pairs(
        parse_metric("recall@5"), np.arange(n), base[::-1], base, None, None, none, np.array([], dtype=np.int64)
    )
    assert CheckCell(MeanDifference(pairs), -find_min_drop(n), above=True, min_n=10).verdict() == ("pass", "interval")
    less = CheckCell(MeanDifference(pairs), -0.6 * find_min_drop(n), above=True, min_n=10)
    assert less.verdict()[0] == "not_enough_data"


def test_labels_that_no_rule_looks_at() -> None:
    """Labels came and the rules are those of before: a note names the line to add, which validates; with it, none."""
    faithful = {"metric": "faithfulness", "max_drop": "25 points", "min_n": 10}
    (note,) = (one for one in noted(faithful) if "have relevance labels" in one)
    assert note.startswith("12 examples have relevance labels, but no rule uses them to check retrieval")
    line = note.partition(": - ")[2]
    assert line == "{metric: recall@5, max_drop: 25 points}"
    assert noted(faithful, yaml.safe_load(line)) == found(faithful, yaml.safe_load(line))
    assert noted(faithful, examples=EXAMPLES[5:]) == found(faithful, examples=EXAMPLES[5:])  # 7 decide nothing
