"""Whether an answer addresses the question."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.conftest import OwnTime

from ragauge.core.facts import AnswerFacts, JudgeFacts
from ragauge.judges.inputs import Inputs, VerifyAnswer
from ragauge.judges.local.answer_type import find_slot, has_asked_thing

Put = Callable[[Inputs], JudgeFacts]


def addressed(put: Put, query: str, answer: str) -> str | None:
    """What the judge says."""
    facts = put(VerifyAnswer(query, None, answer))
    assert isinstance(facts, AnswerFacts)
    return facts.address


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("How long does the warranty of the hub last?", "The warranty of the hub lasts 24 months."),
        ("How many devices can be paired?", "60"),
        ("Who founded the company?", "Lena Ortiz."),
        ("Is the lid made of steel?", "Yes."),
        ("The lid is made of steel. True or false?", "False."),
        ("When was the bridge opened?", "It was opened in spring, after the floods."),
        ("Why does iron rust?", "Iron rusts because it reacts with oxygen and water, which forms iron oxide."),
        ("Was kostet der Plan Studio?", "Der Plan Studio kostet 49 Euro im Monat."),
        ("标准套餐多少钱？", "标准套餐每月49欧元。"),
        ("", "The lid is green."),
    ],
)
def test_an_answer_to_the_question(put: Put, query: str, answer: str) -> None:
    """What the question asks for is there."""
    assert addressed(put, query, answer) == "fully"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("How long does the warranty of the hub last?", "Penguins are birds that live mostly on cold southern coasts."),
        ("How long does the warranty of the hub last?", "I could not find this in the documents."),
        ("How many devices can be paired?", "Green ones."),
        ("How long does the warranty last?", ""),
        ("How long does the warranty last?", "Hello!"),
        ("How long does the warranty last?", "What do you mean?"),
    ],
)
def test_an_answer_to_something_else(put: Put, query: str, answer: str) -> None:
    """Off the topic, a refusal, the wrong kind of thing, or nothing at all."""
    assert addressed(put, query, answer) == "no"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("When was the old bridge over the river opened?", "The old bridge over the river was opened by the mayor."),
        ("How many devices can the hub pair?", "The hub can pair devices such as phones, laptops and printers."),
        (
            "What does the studio plan cost and how can I cancel the subscription?",
            "The studio plan costs 49 euros a month, and a discount is given to schools and charities.",
        ),
        (
            "How long does the warranty of the hub last?",
            "The documents do not mention the exact period. The warranty of the hub covers the drives and the fan.",
        ),
    ],
)
def test_a_partial_answer(put: Put, query: str, answer: str) -> None:
    """The topic without the number or date asked for, one of two questions, or half a refusal."""
    assert addressed(put, query, answer) == "partly"


def test_without_vectors_words_decide(put_lexically: Put) -> None:
    """A failed embedding leaves the verdict to the words."""
    query = "How long does the warranty of the hub last?"
    assert addressed(put_lexically, query, "The warranty of the hub lasts 24 months.") == "fully"
    assert addressed(put_lexically, query, "Penguins are birds and live in the southern hemisphere, 12 kinds.") == "no"


def expected(put: Put, query: str, answer: str) -> float:
    """P(fully) + P(partly) / 2."""
    facts = put(VerifyAnswer(query, None, answer))
    assert isinstance(facts, AnswerFacts)
    assert facts.address_p is not None
    fully, partly, no = facts.address_p
    assert min(fully, partly, no) >= 0.0
    assert fully + partly + no == pytest.approx(1.0, abs=1e-5)
    return fully + partly / 2


@pytest.mark.parametrize(
    ("query", "beside", "answer"),
    [
        (
            "When was the bridge opened?",
            "The bridge is a well known landmark of the city and is visited by many tourists.",
            "The bridge was opened to carts in the spring of 1871.",
        ),
        (
            "When does the pool of 1960 close in winter?",
            "The pool of 1960 has a slide and a warm basin for children.",
            "In winter the pool of 1960 closes at 8 p.m.",
        ),
        (
            "How many rooms does the hotel have?",
            "The hotel has rooms with a balcony, a minibar and a view of the lake.",
            "The hotel has 42 rooms, most of them with a balcony.",
        ),
        (
            "How long did the repair of the 1931 organ take?",
            "The repair of the 1931 organ was paid for by the parish and a lottery in 1988.",
            "The repair of the 1931 organ took fourteen months.",
        ),
        (
            "Who founded the bakery in Elm Street?",
            "The bakery in Elm Street sells bread and cakes and has a terrace with a view of the river.",
            "The bakery in Elm Street was founded by Marta Lindqvist, a miller's daughter.",
        ),
        (
            "Where is the archive of the guild kept?",
            "The archive of the guild holds many letters and a few maps, and it is being sorted.",
            "The archive of the guild is kept in the cellar of the town hall.",
        ),
        (
            "Which is cheaper, the day ticket or the monthly pass?",
            "Fares are paid at the counter or to the driver, and are cheaper for children.",
            "The monthly pass is cheaper from the eighth day on.",
        ),
        (
            "What is the difference between a sloop and a cutter?",
            "A sloop is a sailing boat that is popular with families.",
            "A sloop has one headsail, while a cutter has two.",
        ),
    ],
)
def test_the_topic_without_the_thing_asked_for(put: Put, query: str, beside: str, answer: str) -> None:
    """When, how many, how long, who, where, which of two, compare: the topic alone is no full answer, the thing is."""
    assert addressed(put, query, beside) != "fully"
    assert addressed(put, query, answer) == "fully"
    assert expected(put, query, beside) < 0.75 < expected(put, query, answer)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("When was the bridge opened?", "Porto"),
        ("How many devices can be paired?", "Green ones."),
        ("Who wrote the anthem?", "42"),
        ("Where was the painter of the town hall born?", "1931"),
        ("What is the name of the ship?", "The name of the ship is the name of the ship."),
    ],
)
def test_few_words_of_another_kind_or_of_the_question(put: Put, query: str, answer: str) -> None:
    """A few words that are no thing of the kind asked for, and the question said again, do not address it."""
    assert addressed(put, query, answer) == "no"
    assert expected(put, query, answer) < 0.3


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Who wrote the anthem?", "anna stone"),
        ("When was the bridge opened?", "1871"),
        ("What is the capital of the island?", "Mdina"),
        ("How long does the warranty last?", "two years"),
        ("Is the pool open?", "Yes, on Sundays."),
        ("Quelle est la capitale de l'île ?", "Mdina"),
    ],
)
def test_few_words_of_the_kind_asked_for(put: Put, query: str, answer: str) -> None:
    """A few words need share none with the question."""
    assert expected(put, query, answer) > 0.8


def test_a_part_left_open_costs_part_of_the_probability(put: Put) -> None:
    """Of two questions, one answered is worth less than both, and more than none."""
    query = "What does the studio plan cost and how can I cancel the subscription?"
    one = "The studio plan costs 49 euros a month, and a discount is given to schools and charities."
    both = f"{one} You can cancel the subscription in the settings at any time."
    neither = "Penguins are birds that live mostly on cold southern coasts."
    assert expected(put, query, neither) < 0.2 < expected(put, query, one) < 0.75 < expected(put, query, both)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Who designed the lighthouse of Kelvin?", "The lighthouse of Kelvin is a landmark on the northern coast."),
        ("How do I clean the filter?", "Cleaning the filter is something that most owners do twice a year."),
        ("How can you reset the alarm panel?", "Alarm panels are a useful thing to have in a house with many doors."),
        ("When does the library in Molde open?", "The library in Molde is run by the county."),
        ("How much does the annual pass cost?", "The annual pass is popular among people who commute."),
        ("Why was the concert moved, and until when?", "The concert has been moved."),
        ("Who built the mill and when?", "The mill was built by Ole Berg."),
        ("Where is the depot, and how many buses does it hold?", "The depot is in Larvik."),
        ("Why was the lift shut, and until when?", "The lift was shut since a cable had worn."),
    ],
)
def test_the_topic_alone_and_half_an_answer_are_unclear(put: Put, query: str, answer: str) -> None:
    """What is on the topic without an answer, and the answer to one of two questions, get no more than half."""
    assert expected(put, query, answer) <= 0.5


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Who designed the lighthouse of Kelvin?", "Ines Moll did."),
        ("How do I clean the filter?", "Rinse the filter under warm water and let it dry."),
        ("How can you reset the alarm panel?", "Hold the grey key of the panel until the lamp goes out."),
        ("When does the library in Molde open?", "At 9:30."),
        ("How much does the annual pass cost?", "90 euros."),
        ("Why was the concert moved, and until when?", "It was moved to 4 June because the hall had no power."),
        ("Who built the mill and when?", "The mill was built by Ole Berg in 1822."),
        ("Where is the depot, and how many buses does it hold?", "The depot is in Larvik and holds 40 buses."),
        ("Why was the lift shut, and until when?", "It is shut until 3 May because a cable had worn."),
    ],
)
def test_the_answers_to_the_same_questions_are_more_likely_than_not(put: Put, query: str, answer: str) -> None:
    """What was asked for is there, in few words or in many."""
    assert expected(put, query, answer) > 0.5


def test_a_refusal_has_no_share_of_the_answer(put: Put) -> None:
    """What declines does not address the question, surely."""
    facts = put(VerifyAnswer("How long does the warranty last?", None, "I could not find this in the documents."))
    assert isinstance(facts, AnswerFacts)
    assert facts.address_p == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("Is it red or black?", "choice"),
        ("Which came first, the mill or the chapel?", "choice"),
        ("Are there any stairs or ramps?", "yes or no"),
        ("When it rains, what does the keeper do?", None),
        ("When should the filter be changed?", "time"),
        ("How many guests came in 1931?", "number"),
        ("Compare the sloop with the cutter.", "comparison"),
        ("Why was it shut?", "reason"),
        ("How do I reset the pump?", "manner"),
        ("What is a sloop?", None),
    ],
)
def test_what_a_question_leaves_open(query: str, kind: str | None) -> None:
    """The kind of thing asked for is read from the form of the question."""
    assert find_slot(query) == kind


@pytest.mark.parametrize(
    ("query", "answer", "held"),
    [
        ("How many guests came?", "2000 guests came.", True),
        ("How many guests came?", "It was held in 1931.", False),
        ("How many guests came in 12 coaches?", "They came in 12 coaches.", False),
        ("How many countries have one?", "Those are Malta, Cyprus and Iceland.", True),
        ("When was the fair of 1931?", "The fair of 1931 was a success.", False),
        ("When does the alarm ring?", "It rings if the door is left open.", True),
        ("When did the alarm ring?", "It rings if the door is left open.", False),
        ("Who may enter?", "The door is opened by a porter.", True),
        ("Who met Anna Stone?", "Anna Stone was met at the gate.", False),
        ("Is it red or black?", "Neither.", True),
    ],
)
def test_the_thing_asked_for_is_not_one_that_the_question_named(query: str, answer: str, held: bool) -> None:
    """An amount is no year, a condition no date, and what the question names is no answer."""
    kind = find_slot(query)
    assert kind is not None
    assert has_asked_thing(kind, query, answer) is held


def test_long_hostile_texts_are_read_in_time(put: Put, own_time: OwnTime) -> None:
    """A question and an answer made to be slow take no longer than long ones may."""

    def read() -> None:
        for query in (
            "when " * 2_000,
            "a or " * 2_000 + "?",
            "what " * 500 + "and what " * 500,
            "x" * 10_000 + " or y?",
        ):
            for answer in ("by a" * 5_000, "one hour " * 3_000, "aing" * 6_000):
                expected(put, query, answer)

    own_time.within(10.0, read, times=1)
