"""What the prompts about one answer share, on the examples of the bench and as a server receives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.judge_examples import write_examples
from bench.shared_prefix import measured
from tests.loopback.server import FaultyServer

import ragauge as rg

METRICS = "faithfulness,answer_relevance,context_precision,context_recall"


@pytest.mark.server
def test_prompts_of_one_answer_share_their_prefix(tmp_path: Path) -> None:
    """Three quarters of what the three questions send is one prefix; less than 6,000 characters an answer are fresh."""
    n = 20
    write_examples(tmp_path / "answers.jsonl", n)
    with FaultyServer() as server:
        rg.evaluate(
            tmp_path / "answers.jsonl",
            judge=f"openai-chat:any@{server.url}",
            metrics=METRICS,
            store=f"sqlite:///{tmp_path}/s.db",
        )
        prompts = ["".join(one["content"] for one in request.body["messages"]) for request in server.requests]
    assert len(prompts) == 3 * n
    found = measured(prompts)
    assert found.share >= 0.75
    assert found.fresh / n <= 6_000
    assert sum(map(len, prompts)) / n <= 10_000


def test_what_differs_from_its_first_character_shares_nothing() -> None:
    """Prompts whose system texts differ have no common prefix; one without passages is fresh altogether."""
    head = "<<<passages 01234567\n[1.1] It is free.\n01234567>>>\n"
    found = measured([f"Check. {head}", f"Rate. {head}", "Agree."])
    assert (found.share, found.fresh) == (0.0, len(f"Check. {head}Rate. {head}Agree."))
    alike = measured([f"{head}Check.", f"{head}Rate."])
    assert alike.share == pytest.approx(2 * len(head) / (2 * len(head) + 11))
    assert alike.fresh == len(head) + 11
