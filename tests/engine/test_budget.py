"""What may be spent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.scripted_model import NAME, ask

from ragauge.core.ask import Ask, Usage, build_reply_key
from ragauge.core.errors import RagaugeError
from ragauge.engine.budget import DEFAULT_OUTPUT_TOKENS, Budget, BudgetReached, Reservation
from ragauge.text.tokens import count_tokens


def a_dollar_a_token(_name: object, usage: Usage) -> float:
    return float(usage.input_tokens + usage.output_tokens)


@given(st.text(st.characters(), max_size=300))
def test_input_is_never_underestimated(text: str) -> None:
    """What is set aside for the input covers its tokens, whatever the script: digits, marks, emoji, surrogates."""
    held = Budget(1e9, a_dollar_a_token).reserve(NAME, ask(text))
    tokens = count_tokens(text.encode("utf-8", "replace").decode())
    assert held.output is not None
    assert held.cost - held.output >= tokens


def test_output_is_bounded_and_the_key_is_not_changed() -> None:
    """The model is told at how many tokens to stop: enough for twice the largest seen; the reply's key is as asked."""
    budget = Budget(1e9, a_dollar_a_token)
    first = budget.reserve(NAME, ask("a"))
    assert first.output == DEFAULT_OUTPUT_TOKENS
    budget.record_cost(NAME, ask("a"), Usage(10, 6_000))
    later = budget.reserve(NAME, ask("a"))
    assert later.output == 24_000
    sent = later.limit_output(ask("a"))
    assert sent.params == {"temperature": 0.0, "max_tokens": 24_000}
    assert build_reply_key(NAME, ask("a")) != build_reply_key(NAME, sent)
    assert Reservation().limit_output(ask("a")) == ask("a")


def test_least_output_is_taken_where_the_usual_does_not_fit() -> None:
    """Near the bound a call is told to keep to less, and refused below twice the largest output seen."""
    budget = Budget(4_000.0, a_dollar_a_token)
    held = budget.reserve(NAME, ask("a"))
    assert held.output == 1_500
    budget.release(held)
    budget.record_cost(NAME, ask("a"), Usage(0, 1_400))
    with pytest.raises(BudgetReached, match=r"1400.0000 spent, and the next call may cost"):
        budget.reserve(NAME, ask("a"))
    budget.reserve(NAME, Ask("chat", "cover_aspects", 1, (("user", ""),)))  # another question's outputs are not known
    assert budget.holders == 1


def test_without_a_bound_nothing_is_set_aside() -> None:
    """No bound: no output bound is sent, whatever the price."""
    budget = Budget(None, lambda _name, _usage: None)
    assert budget.reserve(NAME, ask("a")) == Reservation()
    assert budget.record_cost(NAME, ask("a"), Usage(5, 5)) is None
    assert (budget.unpriced, budget.tokens) == (1, Usage(5, 5))
    assert budget.record_cost(NAME, ask("a"), None) is None
    assert budget.unpriced == 1


def test_a_bound_needs_a_price() -> None:
    """A bound for a model whose price is unknown is refused; without a bound it is not."""
    with pytest.raises(RagaugeError, match="RAGAUGE_PRICES"):
        Budget(1.0, lambda _name, _usage: None).check_price(NAME)
    Budget(None, lambda _name, _usage: None).check_price(NAME)
