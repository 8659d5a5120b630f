"""What a failed call took is no answer's time or price: rules on them need calls that were answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.api.test_gate import SCHEMA

import ragauge as rg
from ragauge.gating.result import Check

RULES = (
    {"metric": "latency", "max": 4000},
    {"metric": "latency", "max": 4000, "statistic": "mean"},
    {"metric": "latency", "max": 4000, "decide": "point"},
    {"metric": "tokens", "max": 100},
)
DROP = ({"metric": "latency", "max_drop": "10%"},)
FAST, SLOW = 3.0, 60_000.0  # ms, of failed calls; others take 800


def rows(n_failed: int, failed_ms: float, *, first: int = 0, n: int = 60) -> list[dict[str, Any]]:
    """Recorded calls of which the first ones failed, with what they took all the same."""
    return [
        {
            "query_id": f"q{first + i}",
            "query": f"what is {first + i}",
            "tokens": 5,
            "latency_ms": {"total": (failed_ms if i < n_failed else 800.0) + i / 100},
            **({"error": "boom"} if i < n_failed else {"answer": "it is.", "passages": []}),
        }
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Runs of which all calls, most, a few or none failed, at once or after a minute; and traffic of both kinds."""
    url = f"sqlite:///{tmp_path_factory.mktemp('failed')}/gate.db"
    given: dict[str, Any] = {"metrics": ["latency", "tokens"], "judge": "none", "store": url, "workers": 1}
    for name, n_failed, ms in (
        ("all", 60, FAST),
        ("most", 55, FAST),
        ("few", 1, FAST),
        ("none", 0, FAST),
        ("slow", 60, SLOW),
    ):
        rg.evaluate(rows(n_failed, ms), name=name, **given)
    rg.evaluate(rows(60, FAST, first=1000), name="traffic-all", traffic=True, **given)
    rg.evaluate(rows(0, FAST, first=2000), name="traffic-none", traffic=True, **given)
    return url


def checked(store: str, run: str, rules: Any = RULES, baseline: str | None = None) -> list[Check]:
    """The checks of the rules on the whole run; the share of failed calls is let pass."""
    gate = {"gate": {"min_n": 10, "max_failed": 0.99, "rules": list(rules)}}
    found = rg.gate(run, rules=gate, baseline=baseline, store=store)
    Draft202012Validator(json.loads(Path(SCHEMA).read_text())).validate(json.loads(found.to_json()))
    return [check for check in found.checks if check.kind != "max_failed"]


@pytest.mark.parametrize(("run", "n_failed"), [("all", 60), ("most", 55)])
def test_no_rule_passes_on_what_failed_calls_took(store: str, run: str, n_failed: int) -> None:
    """Where fewer than min_n calls were answered, quantile, mean, estimate and tokens alike are not enough data."""
    checks = checked(store, run)
    assert {(check.verdict, check.because) for check in checks} == {("not_enough_data", "unanswered")}
    assert {(check.lost.system, check.lost.baseline) for check in checks if check.lost} == {(n_failed, 0)}


@pytest.mark.parametrize("run", ["few", "none"])
def test_a_few_failed_calls_count_with_what_they_took(store: str, run: str) -> None:
    """With min_n answered calls or more nothing changes: a failed one counts with its time."""
    assert {check.verdict for check in checked(store, run)} == {"pass"}


def test_slow_failures_still_fail(store: str) -> None:
    """Calls that all failed after a minute took too long, whatever they would have answered."""
    latency = [check for check in checked(store, "slow") if check.metric == "latency"]
    assert {check.verdict for check in latency} == {"fail"}
    (drop,) = checked(store, "slow", DROP, "none")
    assert drop.verdict == "fail"


@pytest.mark.parametrize(
    ("run", "baseline", "lost"),
    [
        ("all", "none", (60, 0)),
        ("none", "all", (0, 60)),
        ("none", "slow", (0, 60)),
        ("none", "most", (0, 55)),
        ("traffic-all", "traffic-none", (60, 0)),
        ("traffic-none", "traffic-all", (0, 60)),
    ],
)
def test_no_drop_is_decided_by_failed_calls(store: str, run: str, baseline: str, lost: tuple[int, int]) -> None:
    """Neither a faster run whose calls failed passes, nor a slower one fails beside a baseline whose calls failed."""
    (drop,) = checked(store, run, DROP, baseline)
    assert (drop.verdict, drop.because) == ("not_enough_data", "unanswered")
    assert drop.lost is not None
    assert (drop.lost.system, drop.lost.baseline) == lost


def test_the_reason_and_the_remedy_are_said(store: str) -> None:
    """The page says how many calls failed, whose, and what to do about it."""
    gate = {"gate": {"min_n": 10, "rules": list(DROP)}}
    text = " ".join(str(rg.gate("none", rules=gate, baseline="all", store=store).to_dict()["summary"]).split())
    assert "60 of 60 calls of the baseline failed: fewer than min_n (10) were answered" in text
    assert "To see what failed in the baseline and why: ragauge show all" in text
    assert "More examples" not in text
