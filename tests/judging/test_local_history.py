"""What the user said in earlier turns is never fabricated, and never evidence, to the local judge either."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.console import Console

import ragauge as rg
from ragauge.core.ask import Reply
from ragauge.core.example import Turn
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.diagnosis.examples.one_example import build_sections
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.judge import LocalJudge
from ragauge.rendering.writers.terminal import render_terminal

FERRY = ("The ferry to Ulvholm sails on 14 May at 9:00 for 2 guests.",)
PETS = ("Up to 2 pets travel free on the ferry.",)


def claims(passages: Sequence[str] | None, answer: str, *said: str, role: str = "user") -> tuple[Claim, ...]:
    """The claims of an answer after some earlier turns, without vectors."""
    turns = tuple(Turn("assistant" if role == "assistant" else "user", text) for text in said)
    inputs = VerifyAnswer("And now?", None if passages is None else tuple(passages), answer, turns)
    facts = answer_asks(LocalJudge().ask(inputs), lambda asks: [Reply("failed", reason="no vectors") for _ in asks])
    assert isinstance(facts, AnswerFacts)
    return facts.claims


@pytest.mark.parametrize(
    ("said", "echo"),
    [
        ("I have 3 cats.", "You said you have 3 cats."),
        ("My order number is 4711.", "You told me that your order number is 4711."),
        ("I live in Porto, and I work for Acme.", "You live in Porto and work for Acme."),
        ("Ich habe zwei Hunde namens Rex und Bello.", "Sie haben zwei Hunde namens Rex und Bello."),
    ],
)
def test_repeating_the_user_claims_nothing(said: str, echo: str) -> None:
    """A sentence that says again what the user said is no claim; beside it, and without the turn, claims are."""
    answer = f"{echo} Up to 2 pets travel free."
    assert all("pets" in claim.text and claim.supporting for claim in claims(PETS, answer, said) if claim.text)
    assert len(claims(PETS, answer)) > len(claims(PETS, answer, said)) == 1
    assert len(claims(PETS, answer, said, role="assistant")) == len(claims(PETS, answer))


def test_a_number_of_the_user_is_not_missing() -> None:
    """A claim about the user's order is judged by what the passages say of orders, not by its number."""
    passages, answer = ("Orders can be returned within 30 days.",), "Your order 4711 can be returned within 30 days."
    (alone,), (after,) = claims(passages, answer), claims(passages, answer, "My order number is 4711.")
    assert (alone.supporting, after.supporting) == ((), (1,))
    assert alone.window is not None
    assert alone.window.missing == ("4711",)
    (other,) = claims(passages, answer, "My order number is 4712.")
    assert other == alone


@pytest.mark.parametrize(
    ("passages", "answer", "said"),
    [
        (FERRY, "The ferry to Ulvholm sails on 12 May at 9:00 for your 4 guests.", "I come on 12 May with 4 guests."),
        (FERRY, "The ferry to Ulvholm sails on 12 May at 9:00 for 2 guests.", "It sails on 12 May, I think."),
        (PETS, "Your 3 cats travel free on the ferry.", "I have 3 cats."),
    ],
)
def test_the_user_is_no_evidence(passages: Sequence[str], answer: str, said: str) -> None:
    """Where a passage has another number or date in that place, the user's supports nothing."""
    (claim,) = claims(passages, answer, said)
    assert claim.supporting == ()


def test_a_contradiction_stays_one() -> None:
    """What passages contradict is contradicted, also where the user said so first."""
    said = "The ferry to Ulvholm sails on 12 May at 9:00 for 2 guests."
    (claim,) = claims(FERRY, said, said)
    assert claim.contradicting == (1,)


def test_a_conversation_end_to_end(tmp_path: object) -> None:
    """Read from chats: nothing of what the user said is fabricated, turns make clusters, and the view shows them."""
    log = {
        "messages": [
            {"role": "user", "content": "My order number is 4711. Who can help?"},
            {"role": "assistant", "content": "The service desk.", "contexts": ["The service desk helps with orders."]},
            {"role": "user", "content": "Can I return it?"},
            {
                "role": "assistant",
                "content": "Your order 4711 can be returned within 30 days.",
                "contexts": ["Orders can be returned within 30 days."],
            },
        ]
    }
    logs = [{"conversation_id": f"c{n}", **log} for n in range(4)]
    card = rg.evaluate(logs, metrics="faithfulness,fabricated_specifics", store=f"sqlite:///{tmp_path}/s.db")
    run = rg.open_run("latest", store=f"sqlite:///{tmp_path}/s.db")
    values = {row.query_id: row.values for row in run.examples()}
    assert card.card.n == len(values) == 8
    assert values["c1-t2"]["fabricated_specifics"] == 0.0
    assert (values["c1-t2"]["faithfulness"] or 0.0) > 0.7
    interval = card["faithfulness"].interval
    assert interval is not None
    assert "cluster" in interval.method  # all alike here
    console = Console(width=120, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(render_terminal(build_sections(run.example("c1-t2"))))
    assert (
        "Conversation so far\nuser: My order number is 4711. Who can help?\nassistant: The service desk."
        in captured.get()
    )
