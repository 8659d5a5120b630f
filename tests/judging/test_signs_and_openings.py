"""Agreement of very short answers: signs and their names, yes and no alone, code with its marks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.core.example import Example
from ragauge.core.facts import AgreementFacts, AnswerFacts, JudgeFacts
from ragauge.core.response import Response
from ragauge.judges.inputs import Inputs, build_inputs, list_reference_claims

Put = Callable[[Inputs], JudgeFacts]
SIGN, POLAR, HOW = "Which character ends a statement?", "Is it supported on Windows?", "How is it written?"


def facts(put: Put, query: str, answer: str, reference: str) -> tuple[AnswerFacts, AgreementFacts]:
    """What is found for one answer, by the way that an evaluation takes."""
    example, response = Example("q", query, references=(reference,)), Response("q", answer=answer)
    asked = build_inputs("verify_answer", example, response, {})
    assert asked is not None
    verified = put(asked)
    assert isinstance(verified, AnswerFacts)
    inputs = build_inputs("agree", example, response, {"verify_answer": verified})
    assert inputs is not None
    agreed = put(inputs)
    assert isinstance(agreed, AgreementFacts)
    return verified, agreed


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("A semicolon ends a statement.", "`;`"),
        ("Use a semicolon (`;`).", ";"),
        ("`;`", "A semicolon."),
        ("Statements end with `;`.", "semicolon"),
        ("Use a vertical bar.", "The pipe character (|)"),
        ("It is a dollar sign, `$`.", "`$`"),
        ("Statements end with #.", "a hash sign"),
        ("`[]`", "Square brackets."),
        ("The double equals operator.", "`==`"),
        ("Use `**`.", "`**`"),
        ("?", "`?`"),
    ],
)
def test_a_sign_is_its_name(put: Put, answer: str, reference: str) -> None:
    """A sign and its name state each other, in code spans or not, and the answer is on the topic."""
    verified, agreed = facts(put, SIGN, answer, reference)
    assert agreed.reference == (True,)
    assert "absent" not in agreed.answer
    if not verified.claims:
        assert verified.address == "fully"


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("A comma ends a statement.", "`;`"),
        ("`[]`", "`{}`"),
        ("`->`", "`=>`"),
        ("A comma, not a semicolon.", ";"),
        ("A line - or two - ends it.", "`-`"),
    ],
)
def test_another_sign_is_another_answer(put: Put, answer: str, reference: str) -> None:
    """Another sign, a sign that is denied, or one that is punctuation of the answer states nothing."""
    assert facts(put, SIGN, answer, reference)[1].reference == (False,)


@pytest.mark.parametrize(
    ("answer", "reference", "stated"),
    [
        ("No.", "No, it is not supported.", True),
        ("No, it is not supported.", "No.", True),
        ("Yes.", "Yes, it is supported since 8.0.", True),
        ("Yes", "Yes.", True),
        ("Yes.", "No, it is not supported.", False),
        ("No.", "Yes, it is supported since 8.0.", False),
    ],
)
def test_yes_or_no_alone(put: Put, answer: str, reference: str, stated: bool) -> None:
    """Yes or no alone states a reference that opens so, and none that opens otherwise."""
    assert facts(put, POLAR, answer, reference)[1].reference == (stated,)


def test_more_than_yes_is_less_certain(put: Put) -> None:
    """What a reference says beyond its yes makes a bare yes less certain to be enough."""
    same = facts(put, POLAR, "Yes.", "Yes, it is supported on Windows.")[1].reference_p[0]
    more = facts(put, POLAR, "Yes.", "Yes, it is supported since 8.0.")[1].reference_p[0]
    assert same is not None
    assert more is not None
    assert same > more >= 0.5


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("Use {func}`x` there.", "`{func}`x``"),
        ("It is `WHERE id = ?`.", "`WHERE id = ?`"),
        ("`String?`", "String?"),
        ("Write `x ? y : z`.", "x ? y : z"),
        ("Call `foo()`.", "```python\nfoo()\n```"),
        ("Use SELECT a FROM t WHERE id = ? AND b > 3;", "SELECT a FROM t WHERE id = ? AND b > 3"),
    ],
)
def test_code_is_not_cut_and_its_marks_are_none(put: Put, answer: str, reference: str) -> None:
    """A question mark of code ends no sentence of a reference, and fences of code are no claims."""
    assert len(list_reference_claims(Example("q", HOW, references=(reference,)))) == 1
    assert facts(put, HOW, answer, reference)[1].reference == (True,)
