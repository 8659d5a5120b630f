"""What a passage holds only behind a head that denies it supports no claim."""

from __future__ import annotations

import pytest

from ragauge.judging.local.support import COPIED, DENIED, STATED, PreparedPassages, Weighed

BEFORE, BEHIND = "The report is about a coastal town.", "The next chapter describes the method."
CLAIMS = (
    "the old lighthouse at Skarv was rebuilt in granite",
    "the north depot stores grain for three villages",
    "Mara Lind designed the pier beside the harbour",
    "the red valve closes within two seconds",
)
DENYING = (
    "There is no evidence that",
    "No convincing evidence was found to suggest that",
    "It was falsely reported that",
    "It is a common myth that",
    "The ministry denied that",
    "The council denied online reports that",
    "The authors reject the hypothesis that",
    "Nothing in the archive suggests that",
    "The editors withdrew the claim that",
    "It is wrong to say that",
    "It isn’t true that",
)
STATING = (
    "The ministry said that {x}.",
    "The authors found evidence that {x}.",
    "It is true that {x}.",
    "There is no doubt that {x}.",
    "Nobody denied that {x}.",
    "It cannot be denied that {x}.",
    "Not only tourists notice that {x}.",
    "The falsely accused guide told visitors that {x}.",
    "The mayor, who denied the charges, added that {x}.",
    "There is no evidence that seals live there, but {x}.",
    "It is a myth that seals live there; {x}.",
    "There is no evidence that seals live there. Once more: {x}.",
    "According to the annual report, {x}.",
)


def weigh(claim: str, *passages: str) -> Weighed:
    """The verdict on a claim."""
    return PreparedPassages(passages, [claim]).weigh(claim)


def sentence(text: str) -> str:
    """The text as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("head", DENYING)
def test_what_a_head_denies_is_not_supported(head: str, claim: str) -> None:
    """A copy behind a denying head has a p of 0.2 at most, no support, and a reason that names the passage."""
    verdict = weigh(sentence(claim), BEFORE, f"{BEFORE} {head} {claim}. {BEHIND}")
    assert verdict.supporting == ()
    assert verdict.p <= DENIED
    assert verdict.reason.startswith("passage 2 ")


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("wording", STATING)
def test_other_heads_change_nothing(wording: str, claim: str) -> None:
    """A head that states, denies a denial or belongs to another statement leaves the copy a copy."""
    verdict = weigh(sentence(claim), f"{BEFORE} {wording.format(x=claim)} {BEHIND}")
    assert (verdict.supporting, verdict.p) == ((1,), COPIED)


@pytest.mark.parametrize("head", DENYING)
def test_a_claim_that_denies_is_supported(head: str) -> None:
    """A claim with the same head says what the passage says."""
    text = f"{head} {CLAIMS[0]}."
    assert weigh(text, f"{BEFORE} {text} {BEHIND}").p >= STATED


@pytest.mark.parametrize("head", DENYING)
def test_another_sentence_still_supports(head: str) -> None:
    """Another passage, or another sentence of the same, that states the claim supports it."""
    claim = sentence(CLAIMS[1])
    denied, plain = f"{BEFORE} {head} {CLAIMS[1]}.", f"The guide says more. {claim}"
    assert weigh(claim, denied, plain).supporting == (2,)
    assert weigh(claim, plain, denied).p == COPIED
    assert weigh(claim, f"{denied}\n\nThe guide adds this. {claim}").supporting == (1,)


def test_the_reason_names_the_head() -> None:
    """The passage and the head are told."""
    verdict = weigh(sentence(CLAIMS[3]), BEFORE, f"The ministry denied that {CLAIMS[3]}.")
    assert verdict.reason == "passage 2 denies it: 'The ministry denied that'"
