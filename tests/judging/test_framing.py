"""What a passage holds only under a denial, a doubt, a condition or a question does not support a claim."""

from __future__ import annotations

import pytest
from tests.judging.framed_texts import CLAIMS, DENIED, DOUBTED, INNOCENT, TONGUES

from ragauge.judging.local.support import ANOTHER, COPIED, STATED, UNDER, PreparedPassages, Weighed

BEFORE, BEHIND = "The report is about a coastal town.", "The next chapter describes the method."


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def put(wording: str, claim: str) -> str:
    """A passage that holds a claim in a wording, between two other sentences."""
    return f"{BEFORE} {wording.format(x=claim, X=capital(claim))} {BEHIND}"


def weigh(claim: str, *passages: str) -> Weighed:
    """The verdict on a claim."""
    return PreparedPassages(passages, [claim]).weigh(claim)


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("wording", DENIED)
def test_what_is_denied_is_not_supported(wording: str, claim: str) -> None:
    """A copy under a denial has a p of 0.2 at most, no support, and a reason."""
    found = weigh(f"{capital(claim)}.", put(wording, claim))
    assert found.supporting == ()
    assert found.p <= UNDER["denied"]
    assert found.reason.startswith("passage 1 says ")


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("wording", DOUBTED)
def test_what_is_left_open_is_not_supported(wording: str, claim: str) -> None:
    """A copy under a doubt, a condition or a question has a p of 0.45 at most, and no support."""
    found = weigh(f"{capital(claim)}.", put(wording, claim))
    assert found.supporting == ()
    assert found.p <= ANOTHER
    assert found.reason.startswith("passage 1 says ")


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("wording", INNOCENT)
def test_innocent_words_change_nothing(wording: str, claim: str) -> None:
    """A plain statement beside the same words in another clause, or reported by an authority, is a copy as any."""
    found = weigh(f"{capital(claim)}.", put(wording, claim))
    assert found.supporting == (1,), found
    assert found.p == COPIED


@pytest.mark.parametrize("wording", [one for one in (*DENIED, *DOUBTED) if not one.startswith(("Myth:", "Rumours c"))])
def test_a_claim_with_the_same_frame_is_supported(wording: str) -> None:
    """What denies, doubts or asks as its passage does says what the passage says."""
    text = wording.format(x=CLAIMS[0], X=capital(CLAIMS[0]))
    assert weigh(text, f"{BEFORE} {text} {BEHIND}").p >= STATED


@pytest.mark.parametrize("wording", [*DENIED, *DOUBTED])
def test_another_that_states_it_still_supports(wording: str) -> None:
    """Another passage, or another sentence of the same, that states the claim plainly supports it."""
    claim = f"{capital(CLAIMS[1])}."
    framed, plain = put(wording, CLAIMS[1]), f"The guide says more. {claim}"
    assert weigh(claim, framed, plain).supporting == (2,)
    assert weigh(claim, plain, framed).p == COPIED
    assert weigh(claim, f"{framed}\n\nThe guide adds this. {claim}").supporting == (1,)


@pytest.mark.parametrize(("claim", "denied", "doubted", "plain"), TONGUES)
def test_other_languages(claim: str, denied: str, doubted: str, plain: str) -> None:
    """The commonest wordings of six other languages are known, and reported speech is none."""
    assert weigh(claim, denied).p <= UNDER["denied"]
    assert weigh(claim, doubted).p <= ANOTHER
    assert weigh(claim, plain).supporting == (1,)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The virus spreads by touch.", "The virus is falsely said to spread by touch in damp rooms."),
        ("The drug reduced deaths in the trial by half.", "With a higher dose the drug would have reduced deaths in "
         "the trial by half."),
        ("The new bridge opens before winter.", "The new bridge is unlikely to open before winter."),
        ("Regular sleep slows the loss of memory.", "Regular sleep is not known to slow the loss of memory."),
        ("A second wave was highly fatal in the north.", "It is a common myth that a second\nwave was highly fatal in "
         "the north."),
    ],
)  # fmt: skip
def test_a_frame_within_the_copy(claim: str, passage: str) -> None:
    """What stands in the midst of the copy counts too, and lines that a sentence was broken into are one sentence."""
    found = weigh(claim, passage)
    assert found.supporting == ()
    assert found.p <= ANOTHER


def test_the_reason_names_the_frame() -> None:
    """The passage and its words are told."""
    claim = "The red valve closes within two seconds."
    found = weigh(claim, BEFORE, "There is no evidence that the red valve closes within two seconds.")
    assert found.reason == "passage 2 says it under 'There is no evidence that'"


@pytest.mark.parametrize("claim", ["Leeds", "the red valve", "two seconds"])
def test_a_short_answer_is_no_statement(claim: str) -> None:
    """A name or a phrase cannot be denied: what it stands for may be said in a condition."""
    text = "If the red valve in Leeds closes within two seconds, the lamp goes out."
    assert weigh(claim, text).supporting == (1,)


def test_what_depends_on_a_condition_is_left() -> None:
    """What follows from a condition is no condition, and a claim may say "when" for "if"."""
    text = "If the red valve closes, the green lamp of the boiler goes out."
    assert weigh("The green lamp of the boiler goes out.", text).supporting == (1,)
    assert weigh("When the red valve closes, the green lamp of the boiler goes out.", text).supporting == (1,)
