"""Systems without a fault: every answer is right and rests on its passages, in other words than theirs.

Answers that have to be calculated (14 stations and 3: 17) stand apart under "calculated": the local judge cannot see
that they follow, and fails them.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ragauge.core.example import Example
from ragauge.core.facts import Evidence
from ragauge.core.response import Passage, Response
from ragauge.diagnosis.causes.attribution import judge_example
from ragauge.engine.judges import build_judge
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.inputs import build_inputs
from ragauge.judges.judge import answer_asks
from ragauge.metrics.facts import Facts

FOLDER = Path(__file__).resolve().parents[1] / "golden/flawless"
N_PASSAGES = 4


def judge_system(name: str) -> Counter[str]:
    """The verdicts of the local judge on a system's answers, each with its document among three others."""
    system = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    judge, answering, doc_ids = build_judge("local"), EmbedAnswers(), list(system["documents"])
    assert judge is not None
    verdicts: Counter[str] = Counter()
    for n, (query, doc_id, answer) in enumerate(system["answers"]):
        others = [name for name in doc_ids if name != doc_id]
        shown = [others[(n + k) % len(others)] for k in range(N_PASSAGES - 1)]
        shown.insert(n % N_PASSAGES, doc_id)
        example = Example(f"q{n}", query)
        passages = tuple(Passage(name, name, system["documents"][name]) for name in shown)
        response = Response(f"q{n}", passages=passages, answer=answer)
        inputs = build_inputs("verify_answer", example, response, {})
        assert inputs is not None
        facts = answer_asks(judge.ask(inputs), answering)
        evidence = {"verify_answer": Evidence("k", "verify_answer", 1, judge.judge_id, "ok", facts)}
        verdicts[judge_example(Facts(example, response, evidence))[0].verdict] += 1
    return verdicts


@pytest.mark.parametrize("name", ["backups", "bicycles", "library"])
def test_no_answer_of_a_flawless_system_fails(name: str) -> None:
    """None failed, and at most three in ten are unclear."""
    verdicts = judge_system(name)
    assert verdicts.total() >= 25
    assert verdicts["failed"] == 0
    assert verdicts["unclear"] + verdicts["not_judged"] <= 0.3 * verdicts.total()
