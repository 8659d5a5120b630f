"""Whether an answer declines that calls what it was given by another name than document."""

from __future__ import annotations

import re

import pytest
from tests.conftest import OwnTime
from tests.judging.refusal_texts_sources import ADMONISHED, ANSWERED, REFUSED
from tests.judging.refusal_texts_sources_more import ANSWERED as MORE_ANSWERED
from tests.judging.refusal_texts_sources_more import REFUSED as MORE

from ragauge.judges.local import refusals
from ragauge.judges.local.refusals import LANGUAGES, divide_sentence, is_refusal
from ragauge.judges.local.statements import find_statements
from ragauge.text.word_files import CONTINUED_LINE, compile_wordings, read_words


@pytest.mark.parametrize("answer", REFUSED)
def test_a_review_an_email_or_a_table_that_does_not_tell_is_a_refusal(answer: str) -> None:
    """Whatever the text is called, saying that it does not tell declines and claims nothing."""
    found = find_statements(answer)
    assert found.refuses
    assert found.claims == ()


@pytest.mark.parametrize("answer", ANSWERED)
def test_what_a_contract_or_a_table_does_not_do_is_an_answer(answer: str) -> None:
    """What is not covered, supported, sent or allowed answers; so do conditions, denials and what goes on to answer."""
    assert not find_statements(answer).refuses


@pytest.mark.parametrize("answer", [text for listed in MORE.values() for text in listed])
def test_reviews_that_do_not_tell_are_refusals_in_sixteen_languages(answer: str) -> None:
    """Reviews, emails, tables, reports and pages that do not tell decline in every language that is claimed."""
    assert find_statements(answer).refuses


@pytest.mark.parametrize("answer", [text for listed in MORE_ANSWERED.values() for text in listed])
def test_what_befalls_a_review_is_an_answer_in_sixteen_languages(answer: str) -> None:
    """A page that does not load and a contract that does not cover answer in every language that is claimed."""
    assert not find_statements(answer).refuses


def test_every_other_language_has_texts() -> None:
    """No language with wordings goes without refusals and answers."""
    assert MORE.keys() == MORE_ANSWERED.keys() == LANGUAGES - {"en"}


@pytest.mark.parametrize("answer", ADMONISHED)
def test_admonitions_leave_a_refusal_a_refusal(answer: str) -> None:
    """Sympathy before, and "it is important to", "not only ... but", "however, I cannot" after it answer nothing."""
    assert find_statements(answer).refuses


def test_not_only_is_no_turn() -> None:
    """The "but" of "not only ..., but" goes on in the same sense; one that turns still divides."""
    assert len(divide_sentence("It is not only illegal, but it can also be harmful.")) == 1
    assert len(divide_sentence("It is illegal, but it can also be harmless.")) == 2


@pytest.mark.parametrize("name", refusals.FILES)
def test_every_wording_stands_on_its_own(name: str) -> None:
    """A wording that is continued without a "|" would fall into two halves that mean something else together."""
    english, own = (read_words(refusals.__file__, f"refusals/{file}") for file in ("english", name))
    words = {**english["words"], **own["words"], **english["wrap_words"], **own.get("wrap_words", {})}
    for lines in (own["declining"], own["conduct"], own["wrapping"]):
        for line in CONTINUED_LINE.sub("|", lines).split("\n"):
            try:
                compile_wordings(line, words)
            except re.error as error:
                pytest.fail(f"{name}: {line.strip()[:100]}: {error}")


@pytest.mark.parametrize(
    "part",
    [
        "the reviews do not ",
        "not mentioned in the reviews ",
        "reviews ",
        "the email and it ",
        "the-",
        "no one's ",
        "die bewertungen sagen ",
        "les avis ",
        "las reseñas no ",
        "опис отзыв ",
        "评论没有",
        "लो समीक्षा ",
    ],
)
def test_no_text_takes_long(part: str, own_time: OwnTime) -> None:
    """The wordings for other names of texts are bounded too."""
    text, pieces = part * 50_000, (part.strip() + ". ") * 3_000
    own_time.within(1.0, lambda: (is_refusal(text), find_statements(text), find_statements(pieces)))
