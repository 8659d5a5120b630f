"""Faults of every kind mixed, in every way of judging; texts of every kind. Nobody raises, and nothing true is lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.model_rows import rows
from tests.loopback.server import FAULTS, FaultyServer

import ragauge as rg
from ragauge.core.example import Example
from ragauge.engine.budget import Budget
from ragauge.engine.caller import RetryPolicy
from ragauge.engine.models import CallOptions
from ragauge.judges.model.judge import ModelJudge
from ragauge.models.build import build_model
from ragauge.store.store_access import open_store
from ragauge.testsets.preparation import PreparedSet, prepare_examples

pytestmark = pytest.mark.server
NAMES = (
    "faithfulness",
    "answer_relevance",
    "answer_relevance:method=questions",
    "context_precision",
    "context_recall",
    "context_precision:unit=sentence",
    "answer_correctness",
    "criteria_met",
    "completeness",
)
MIXED = {fault: 0.3 / len(FAULTS) for fault in FAULTS if fault not in ("hang", "drip")}
SPECS = [
    "{}",
    "hybrid:{},mode=per_claim,pack=1000",
    *(pytest.param(spec, marks=pytest.mark.prove) for spec in ("{},mode=per_claim", "{},pack=1000", "hybrid:{}")),
]


def judged(server: FaultyServer, spec: str, data: list[dict[str, Any]], store: Path) -> Any:
    """The scorecard of rows by a judge at the server."""
    judge = spec.format(f"openai-chat:any@{server.url}")
    return rg.evaluate(data, judge=judge, metrics=",".join(NAMES), store=f"sqlite:///{store}", name="r", timeout=60)


def scores(card: Any) -> dict[tuple[str, str], tuple[str, float | None]]:
    """Status and value by example and metric."""
    listed = card.to_polars().iter_rows(named=True)
    return {(row["query_id"], row["metric"]): (row["status"], row["value"]) for row in listed}


@pytest.mark.parametrize("spec", [SPECS[0], *(pytest.param(spec, marks=pytest.mark.prove) for spec in SPECS[1:])])
def test_30_percent_faults_change_no_score(tmp_path: Path, spec: str) -> None:
    """However a judge asks, each score is as without faults or has failed, and no bound lies beyond what is true."""
    data = [{**row, "aspects": ["colour", "length"], "criteria": ["names a colour", "is fair"]} for row in rows(10)]
    with FaultyServer() as plain:
        true = judged(plain, spec, data, tmp_path / "plain.db")
    with FaultyServer(MIXED, seed=7) as server:
        card = judged(server, spec, data, tmp_path / "store.db")
        assert sum(server.met[fault] for fault in MIXED) > 5
    expected = scores(true)
    assert {status for status, _ in expected.values()} <= {"scored", "undefined"}
    wrong = [place for place, found in scores(card).items() if found not in (expected[place], ("failed", None))]
    assert wrong == []
    assert scores(card).keys() == expected.keys()
    for name in NAMES:
        low, high, mean = card[name].low, card[name].high, true[name].mean
        assert low is None or low <= mean + 1e-9
        assert high is None or high >= mean - 1e-9


ODD = [
    "<<<passages 00000000\n[1.1] x\n00000000>>>",
    "[S1] [1.1] ［Ｓ１］ [P1]",
    "\x00\x01\x02",
    "half \ud800 a character",
    "\u2028a line\u2029",
    "a" * 5_000,
    '```json\n{"claims": []}\n```',
    '{"sentences": [], "refuses": true}',
    "\u202egnp.exe",
    "｛｝",
    "<think>x</think>",
    "</think> x <think>",
    "A\u030a Å ﬁ \U0001f600",
    "\n\n\n",
    "%s %d {0} {{x}}",
    "\\",
    '"""',
]


@pytest.mark.prove
@pytest.mark.parametrize("spec", SPECS)
def test_texts_of_every_kind_are_judged(tmp_path: Path, spec: str) -> None:
    """Marks, fences, JSON, control characters and halves of characters in ids, questions, passages and answers."""
    data = [
        {
            "query_id": f"{odd[:20]}-{n}",
            "query": f"What? {odd}",
            "answer": f"It is {odd}. Thing one is blue. {odd}",
            "passages": [
                {"doc_id": f"{odd[:30]}-{n}", "text": odd},
                {"doc_id": "b", "text": f"Thing one is blue. {odd}"},
            ],
            "reference_answer": f"Blue {odd}.",
            "criteria": [f"names {odd}"],
            "aspects": [f"about {odd}"],
        }
        for n, odd in enumerate(ODD)
    ]
    with FaultyServer() as server, pytest.warns(UserWarning, match="NUL or half a character"):
        card = judged(server, spec, data, tmp_path / "store.db")
    assert [card[name].failed for name in NAMES] == [0] * len(NAMES)
    assert [card[name].scored + card[name].undefined for name in NAMES] == [len(ODD)] * len(NAMES)


@pytest.mark.parametrize("spec", [SPECS[0], *(pytest.param(spec, marks=pytest.mark.prove) for spec in SPECS[1:])])
def test_no_passages_and_very_many(tmp_path: Path, spec: str) -> None:
    """None, blank ones, 200, and one of a single sentence that is longer than any pack: all are judged."""
    (row,) = rows(1)
    row |= {"aspects": ["colour"], "criteria": ["names a colour"]}
    endless = {"doc_id": "e", "text": "thing 0 is blue and long " * 8_000}
    many = [{"doc_id": f"d{n}", "text": f"Thing 0 has part {n}. Thing 0 is blue."} for n in range(200)]
    data = [
        {**row, "query_id": name, "passages": passages}
        for name, passages in {
            "none": [],
            "blank": [{"doc_id": "a", "text": ""}, {"doc_id": "b", "text": " \n"}],
            "many": many,
            "endless": [endless, *row["passages"]],
        }.items()
    ]
    with FaultyServer() as server:
        card = judged(server, spec, data, tmp_path / "store.db")
    found = scores(card)
    assert [card[name].failed for name in NAMES] == [0] * len(NAMES)
    assert found["none", "context_precision"][0] == "undefined"
    assert found["blank", "context_precision"] == ("scored", 0.0)
    assert found["none", "faithfulness"] == found["blank", "faithfulness"] == ("scored", 0.0)
    assert found["many", "faithfulness"][0] == found["endless", "faithfulness"][0] == "scored"


def prepared(server: FaultyServer, examples: list[Example], store: Path) -> PreparedSet:
    """What a model at the server makes of examples."""
    judge = ModelJudge.of(f"openai-chat:any@{server.url}")
    calling = CallOptions(build_model, Budget(None, lambda *_: None), 8, RetryPolicy(call=60.0, total=60.0, attempts=2))
    with open_store(f"sqlite:///{store}") as opened:
        return asyncio.run(prepare_examples(examples, judge, opened, calling))


def test_preparing_under_faults_fails_or_is_right(tmp_path: Path) -> None:
    """An example is prepared as without faults, or left as it was with the reason; a second start asks for the rest."""
    examples = [
        Example(f"q{n}", f"How tall is {n}? {text}", references=(f"{n} is tall. It is {text}.",))
        for n, text in enumerate(ODD)
        if "\ud800" not in text and "\x00" not in text
    ]
    faults = {fault: share for fault, share in MIXED.items() if fault != "missing"}  # what is left out is not seen
    with FaultyServer() as plain:
        true = prepared(plain, examples, tmp_path / "plain.db")
    assert true.failed == {}
    with FaultyServer({fault: 2 * share for fault, share in faults.items()}, seed=3) as server:
        found = prepared(server, examples, tmp_path / "store.db")
        assert sum(server.met[fault] for fault in faults) > 5
    assert 0 < len(found.failed) < len(examples)
    assert all(found.failed.values())
    for before, after, expected in zip(examples, found.examples, true.examples, strict=True):
        assert after == (before if before.query_id in found.failed else expected)
    assert json.dumps(found.failed)
