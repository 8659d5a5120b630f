"""Numbers, dates, names, percentages and quotations that nothing vouches for."""

from __future__ import annotations

import pytest
from tests.building import answer_facts, claim, evidence, example, passage, response

from ragauge.core.facts import Claim
from ragauge.core.response import REDACTED
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.text.sentences import split_sentences

ANSWER = "It opened in 2019 with 900 staff. ACME Corp. owns 20% of it. Jane Roe leads it since 3 May 2020."
TEXTS = ("It opened in 2019 with 850 staff.", "Acme Corp holds 20 percent. Jane Roe leads it.")


def verdicts(answer: str, *supporting: tuple[int, ...] | None) -> list[Claim]:
    """One claim a sentence; None = no verdict."""
    return [
        claim(*(by or ()), n=one.n, start=one.start, end=one.end, text=one.text, failed=by is None)
        for one, by in zip(split_sentences(answer), supporting, strict=True)
    ]


def scored(
    name: str, answer: str, texts: tuple[str, ...], claims: list[Claim], query: str = "What of it?"
) -> MetricResult:
    passages = [passage(f"d{n}", text) for n, text in enumerate(texts, 1)]
    found = evidence(answer_facts(*claims))
    return measure_metric(parse_metric(name), Facts(example(query=query), response(passages, answer), found))


def test_only_what_an_unsupported_claim_says_is_fabricated() -> None:
    """Of six specifics, 900 and 3 May 2020 stand nowhere; only that of the unsupported sentence is fabricated."""
    claims = verdicts(ANSWER, (), (2,), (2,))
    # 2019, 900, ACME Corp., 20%, Jane Roe, 3 May 2020
    assert scored("fabricated_specifics", ANSWER, TEXTS, claims).value == 1 / 6
    assert scored("unverified_specifics", ANSWER, TEXTS, claims).value == 2 / 6


@pytest.mark.parametrize(
    ("kind", "fabricated", "unverified"),
    [("number", 1.0, 1.0), ("date", 0.0, 0.5), ("name", 0.0, 0.0), ("percent", 0.0, 0.0), ("quote", None, None)],
)
def test_one_kind(kind: str, fabricated: float | None, unverified: float | None) -> None:
    """The parameter kind counts the specifics of that kind only; without any it is undefined."""
    claims = verdicts(ANSWER, (), (2,), (2,))
    assert scored(f"fabricated_specifics:kind={kind}", ANSWER, TEXTS, claims).value == fabricated
    assert scored(f"unverified_specifics:kind={kind}", ANSWER, TEXTS, claims).value == unverified


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("It took 1,000 of them.", "They took 1000 of them."),
        ("It grew by 20%.", "It grew by 20 percent."),
        ("It began on 3 Jan 2024.", "The beginning: 2024-01-03."),
        ("It belongs to acme corp and Acme Corp.", "It belongs to ACME Corp."),
    ],
)
def test_case_21_and_22_other_spelling_is_no_fabrication(said: str, text: str) -> None:
    """A specific in another spelling is the same, even inside a claim that the judge found unsupported."""
    assert scored("fabricated_specifics", said, (text,), verdicts(said, ())).value == 0


def test_case_22_name_inside_a_word_is_not_found() -> None:
    """US does not stand in USAGE."""
    said = "It belongs to the US."
    assert scored("fabricated_specifics", said, ("Read the USAGE notes.",), verdicts(said, ())).value == 1


def test_words_of_the_question_are_not_fabricated() -> None:
    """Repeating a name or a number of the question invents nothing."""
    said = "It is not known when Jane Roe sold 12 boats."
    for query, value in (("When did Jane Roe sell 12 boats?", 0), ("When?", 1)):
        assert scored("fabricated_specifics", said, ("Nothing.",), verdicts(said, ()), query).value == value


def test_repeated_specific_counts_once_wherever_it_is_unsupported() -> None:
    """A specific said twice counts once, and is fabricated if one of its sentences is unsupported."""
    said = "It has 7 boats. It has 7 boats of 12."
    for supporting in (((1,), ()), ((), (1,))):
        assert scored("fabricated_specifics:kind=number", said, ("12 boats",), verdicts(said, *supporting)).value == 0.5


def test_no_passages_make_every_specific_unverified() -> None:
    """With nothing retrieved all specifics of unsupported claims are fabricated."""
    said = "It has 7 boats."
    assert scored("fabricated_specifics", said, (), verdicts(said, ())).value == 1


def test_without_specifics_undefined() -> None:
    """An answer without specifics, such as a refusal, has no value; a refusal that names one has 0."""
    assert scored("fabricated_specifics", "That is not known.", TEXTS, []).status == "undefined"
    assert scored("fabricated_specifics", "There is no word of 1999.", TEXTS, []).value == 0


def test_missing_verdict_bounds_the_share() -> None:
    """A claim without verdict leaves the share between none and all of the specifics that only it could damn."""
    result = scored("fabricated_specifics", ANSWER, TEXTS, verdicts(ANSWER, (), (2,), None))
    assert (result.status, result.low, result.high) == ("failed", 1 / 6, 2 / 6)


def test_missing_verdict_on_a_verified_sentence_does_not_matter() -> None:
    """Where all of a sentence's specifics stand in the passages, its verdict cannot change the share."""
    result = scored("fabricated_specifics", ANSWER, TEXTS, verdicts(ANSWER, (), None, (2,)))
    assert (result.status, result.value) == ("scored", 1 / 6)


@pytest.mark.parametrize("name", ["fabricated_specifics", "unverified_specifics", "entity_recall", "context_tokens"])
@pytest.mark.parametrize(("text", "why"), [(REDACTED, "redacted"), (None, "no text")])
def test_case_26_passages_without_text(name: str, text: str | None, why: str) -> None:
    """Passages absent or redacted leave the metric not_applicable with the reason, never 0."""
    about, found = example("Jane Roe."), evidence(answer_facts(claim()))
    of = response([passage("d1", text)], "It has 7 boats.")
    result = measure_metric(parse_metric(name), Facts(about, of, found))
    assert (result.status, result.reason) == ("not_applicable", f"texts of the passages not recorded: {why}")
    result = measure_metric(parse_metric(name), Facts(about, response(None, "It has 7 boats."), found))
    assert (result.status, result.reason) == ("not_applicable", "passages not recorded")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("公司在2024年3月5日卖出1.5万台。", "2024年3月5日，公司卖出15000台。"),
        ("利益は300億円でした。", "300億円の利益があった。"),
        ("ارتفع الربح بنسبة ٢٠٪.", "ارتفع الربح 20%."),
        ("Die Deutsche Bahn zahlte am 3. Januar 2024 genau 1.234,50 Euro.", "Deutsche Bahn, 3.1.2024: 1.234,50 €"),
    ],
)
def test_case_39_no_language_is_assumed(said: str, text: str) -> None:
    """Specifics of Chinese, Japanese, Arabic and German answers are found in passages of their language."""
    assert scored("unverified_specifics", said, (text,), []).value == 0
    assert scored("unverified_specifics", said, ("…",), []).value == 1
