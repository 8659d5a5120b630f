"""Agreement of an answer with its reference: short references, other accepted answers, the question as context."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.core.example import Example
from ragauge.core.facts import AgreementFacts, AnswerFacts, JudgeFacts
from ragauge.core.response import Response
from ragauge.judges.inputs import Agree, Inputs, VerifyAnswer, build_inputs
from ragauge.judges.judge import answer_asks, find_trivial_agreement
from ragauge.judges.local.checks import Wording
from ragauge.judges.local.reference_match import SHARED_P
from ragauge.judges.local.short_answers import AnswerClaim, is_short, list_readings
from ragauge.judges.model.judge import ModelJudge
from ragauge.metrics.answer.answer_correctness import AnswerCorrectness
from ragauge.metrics.answer.answer_grade import AnswerGrade
from ragauge.metrics.answer.answer_recall import AnswerRecall
from ragauge.metrics.base import Ratio

Put = Callable[[Inputs], JudgeFacts]


def agreed(put: Put, query: str, answer: str, *references: str) -> AgreementFacts:
    """What is found for one answer and its accepted answers, by the way that an evaluation takes."""
    example = Example("q", query, references=references)
    response = Response("q", answer=answer)
    verified = put(VerifyAnswer(query, None, answer))
    assert isinstance(verified, AnswerFacts)
    inputs = build_inputs("agree", example, response, {"verify_answer": verified})
    assert isinstance(inputs, Agree)
    facts = put(inputs)
    assert isinstance(facts, AgreementFacts)
    return facts


WHO = "Who wrote the harbour manual?"
WHEN = "When did the depot open?"

STATED = [
    (WHO, "The harbour manual was written by Mara Lindqvist.", "Mara Lindqvist"),
    (WHO, "It was Mara J. Lindqvist.", "Mara Lindqvist"),
    (WHO, "Mara Lindquist wrote it.", "Mara Lindqvist"),
    (WHO, "MARA LINDQVIST", "Mara Lindqvist (author)"),
    (WHO, "Chloe Arnaud wrote it.", "Chloé Arnaud, who was the harbour master then"),
    ("Which agency runs it?", "It is run by the Harbour Relief Agency.", "the Harbour Relief Agency or HRA"),
    ("Which agency runs it?", "The HRA runs it.", "the Harbour Relief Agency (HRA)"),
    ("Which two towns does it join?", "It joins Orle and Vint.", "Vint and Orle"),
    ("Which colours has the flag?", "1. Green\n2. White\n3. Orange", "orange, green and white"),
    (WHEN, "It opened on 3 May 1912.", "1912"),
    (WHEN, "It opened on May 3rd, 1912.", "3 May 1912"),
    ("How long is a permit valid?", "A permit is valid for four years.", "4 years"),
    ("How long is a permit valid?", "Four.", "4 years"),
    ("What did the crane cost?", "It cost £50 million.", "£50m"),
    ("How far is it?", "It is 24,901 miles.", "24,900 miles"),
    ("How many gates are there?", "There is one gate.", "1"),
    ("What is kept in the shed?", "Seashells are kept there.", "sea shells"),
    ("Which letters are on the key?", "The letters are JKL.", "J K L"),
    ("Which was first, the crane or the pier?", "The crane was built before the pier.", "the crane"),
    ("Does the pier have a light?", "Yes, it has one.", "yes"),
    ("Does the pier have a light?", "The pier does not have a light.", "No"),
    ("Does the pier have a light?", "Yes.", "yes"),
    ("Which word is on the sign?", "Let", "Let"),
    ("首都はどこですか。", "首都は東京です。", "東京"),
]

NOT_STATED = [
    (WHO, "The harbour manual was written by Mara Olsen.", "Mara Lindqvist"),
    (WHO, "It was not Mara Lindqvist.", "Mara Lindqvist"),
    ("Which two towns does it join?", "It joins Orle and Kell.", "Vint and Orle"),
    (WHEN, "It opened in 1912.", "3 May 1912"),
    (WHEN, "It opened on 4 May 1912.", "3 May 1912"),
    ("How long is a permit valid?", "A permit is valid for four months.", "4 years"),
    ("How many gates are there?", "It is on the map.", "1"),
    ("Which was first, the crane or the pier?", "The pier was built before the crane.", "the crane"),
    ("Does the pier have a light?", "No, it has none.", "yes"),
    ("Does the pier have a light?", "No.", "Yes, the pier has a light."),
    ("Which word is on the sign?", "I could not find Let in the documents.", "Let"),
    ("Which river is it near?", "It is near the town.", "the Orle"),
]


@pytest.mark.parametrize(("query", "answer", "reference"), STATED)
def test_a_short_reference_is_stated(put: Put, query: str, answer: str, reference: str) -> None:
    """Other spellings, forms of numbers and dates, orders and ellipses state a reference of few words."""
    assert agreed(put, query, answer, reference).reference == (True,)


@pytest.mark.parametrize(("query", "answer", "reference"), NOT_STATED)
def test_a_short_reference_is_not_stated(put: Put, query: str, answer: str, reference: str) -> None:
    """Another thing of the kind, a denial, a part of a list, a less exact date or another unit does not state it."""
    assert agreed(put, query, answer, reference).reference == (False,)


@pytest.mark.parametrize(
    ("query", "answer", "reference"),
    [
        ("What is the capital of Orland?", "The capital of Orland is Kell.", "Vint"),
        (WHEN, "The depot opened in 1914.", "1912"),
        (WHO, "The harbour manual was written by Jon Olsen.", "Mara Lindqvist"),
    ],
)
def test_another_thing_of_the_kind_contradicts(put: Put, query: str, answer: str, reference: str) -> None:
    """An answer that gives another name or number in the place of a short reference contradicts it."""
    assert agreed(put, query, answer, reference).answer == ("contradicts",)


def test_nothing_of_the_kind_is_only_absent(put: Put) -> None:
    """An answer that gives no name where a name is the reference, or names only what the question does, is absent."""
    for answer in ("The capital of Orland is an old town on a hill.", "Orland has a capital."):
        assert agreed(put, "What is the capital of Orland?", answer, "Vint").answer == ("absent",)


def test_any_accepted_answer_will_do(put: Put) -> None:
    """Stating another accepted answer states the reference, be it a phrase, a sentence or several; parts do not."""
    query = "What do I need for a mooring?"
    main = "You need a permit from the office."
    for answer in ("A harbour licence.", "Bring a harbour licence with you."):
        assert agreed(put, query, answer, "permit", "harbour licence").reference == (True,)
        assert agreed(put, query, answer, "permit").reference == (False,)
    second = "Registration happens at the gate. The fee is 12 euros."
    said = "Registration happens at the gate. The fee is 12 euros. Dogs are welcome."
    facts = agreed(put, query, said, main, second)
    assert (facts.answer, facts.reference) == (("agrees", "agrees", "absent"), (True,))
    assert agreed(put, query, "Registration happens at the gate.", main, second).reference == (False,)
    two = "A permit is needed. It is sold in Kell."
    assert agreed(put, query, said, two, second).reference == (True, True)


def test_what_the_question_says_need_not_be_repeated(put: Put) -> None:
    """A reference that restates the question is stated by the part of it that is new, and by nothing less."""
    query = "How long is the guarantee of a winch that was bought in March 2024?"
    reference = "A winch bought in March 2024 has a guarantee of 18 months."
    facts = agreed(put, query, "The guarantee lasts 18 months.", reference)
    assert (facts.answer, facts.reference) == (("agrees",), (True,))
    for answer in ("The guarantee lasts 12 months.", "The guarantee lasts 18 years.", "A winch has a guarantee."):
        assert agreed(put, query, answer, reference).reference == (False,)
    unseen = put(Agree(("The guarantee lasts 18 months.",), (reference,)))
    assert isinstance(unseen, AgreementFacts)
    assert unseen.reference == (False,)


def test_a_number_is_needed_as_often_as_it_is_said(put: Put) -> None:
    """The 2 of a name does not stand for a count of 2."""
    query = "How do the winches differ?"
    assert agreed(put, query, "The drum of Winch 2 takes 8 ropes.", "Winch 2 has 2 drums.").reference == (False,)
    assert agreed(put, query, "Winch 2 has 2 drums for ropes.", "Winch 2 has 2 drums.").reference == (True,)


def test_a_bare_yes_states_a_reference_without_a_claim(put: Put) -> None:
    """An answer that claims nothing may state the reference: recall and grade are right, precision is undefined."""
    query = "Does the pier have a light?"
    for answer, value in (("Yes.", 1.0), ("No.", 0.0)):
        facts = agreed(put, query, answer, "Yes")
        stated = [bool(one) for one in facts.reference]
        assert facts.answer == ()
        assert AnswerRecall().value(stated, refuse=False) == Ratio(int(value), 1)
        assert AnswerGrade().value((), stated, refuse=False) == value


def test_the_answer_alone_never_makes_a_refusal_right(put: Put) -> None:
    """A refusal that names the reference does not state it."""
    assert agreed(put, WHO, "I don't know whether it was Mara Lindqvist.", "Mara Lindqvist").reference == (False,)


def test_readings_of_a_reference() -> None:
    """Alternatives, members, glosses and brackets are told apart; a thousands comma divides nothing."""

    def read(text: str) -> list[list[str]]:
        return [[part.joined for part in each] for each in list_readings(text)]

    assert read("crane (bird)") == [["crane"]]
    assert read("Prince Olav (accept Duke of Kell)") == [["princeolav"], ["dukeofkell"]]
    assert read("pigeons or doves") == [["pigeons"], ["doves"]]
    assert read("Mara Olsen, who led the office from 1990") == [["maraolsen"]]
    assert read("red, white & blue") == [["red", "white", "blue"]]
    assert read("1,135 boats") == [["1135boats"]]
    assert read("") == read("...") == []


def test_kinds_of_references() -> None:
    """A phrase is short, a sentence is not."""
    assert is_short("the old lamp by the gate")
    assert not is_short("The old lamp stands by the gate.")
    assert not is_short("")


def test_a_word_within_a_word_is_not_named() -> None:
    """Parts are whole words, though words may be joined or end in the number of a footnote."""
    (part,) = list_readings("art")[0]
    assert not AnswerClaim("She bought a cart.").says(part)
    assert AnswerClaim("She bought art1 for the office.").says(part)


EQUAL = [
    "The documents do not say.",
    "I don't know.",
    "42",
    "-3.5",
    "- red\n- green\n- blue",
    "# Opening hours",
    "Opening hours:",
    "Is it open?",
    "```\nx = {}\nx += 1\n```",
    "x -= 1",
    "Das Lager liegt in Porto.",
    "東京です。",
    "Yes.",
    "See the documents.",
    "1. Open the lid.\n2. Press the button.",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "?!",
    "The pump, which was built in 1910, weighs 3 tons; it is not red, and nobody knows why.",
    "https://kell.example/a",
    "It is not true that the lamp is red.",
    "Hello!",
]


@pytest.mark.parametrize("text", EQUAL)
def test_equal_texts_agree(put: Put, text: str) -> None:
    """An answer that is its reference, whatever it is made of, agrees throughout, surely, and its correctness is 1."""
    for references in ((text,), ("Another answer.", text)):
        for answer in (text, f" {text.upper()}  "):
            facts = agreed(put, "What does it say?", answer, *references)
            assert set(facts.answer) <= {"agrees"}
            assert set(facts.answer_p) <= {1.0}
            assert set(facts.reference) == {True}
            assert set(facts.reference_p) == {1.0}
            stated = [p or 0.0 for p in facts.reference_p]
            assert AnswerCorrectness().value([p or 0.0 for p in facts.answer_p], stated, refuse=False) == 1.0


def test_equal_texts_agree_with_prepared_claims(put: Put) -> None:
    """An answer that is its reference agrees with whatever claims were prepared from it, with any judge."""
    text = "Opened in the year of the flood."
    inputs = Agree((text,), ("The depot opened in 1912.", "There was a flood."), WHEN, (), text, text)
    sure = AgreementFacts(("agrees",), (True, True), (1.0,), (1.0, 1.0))
    assert put(inputs) == sure
    assert answer_asks(ModelJudge.of("openai:any").ask(inputs), lambda asks: pytest.fail("asked")) == sure


@pytest.mark.parametrize(
    ("text", "other"),
    [("x += 1", "x -= 1"), ("3.5", "35"), ("-5", "5"), ("1,000", "1,000 km"), ("Is it open?", "It is open."), ("", "")],
)
def test_nearly_equal_is_not_equal(text: str, other: str) -> None:
    """A sign, a point or a question mark makes another text; nothing is no answer."""
    assert find_trivial_agreement(Agree((), (other,), "", (), text, other)) is None


def test_two_refusals_agree(put: Put) -> None:
    """A refusal states a reference that declines in other words, and no reference that answers."""
    for answer in ("I don't know.", "The documents do not mention it."):
        facts = agreed(put, WHO, answer, "Not enough information")
        assert (facts.reference, facts.reference_p) == ((True,), (1.0,))
        stated = [bool(one) for one in facts.reference]
        assert AnswerCorrectness().value((), stated, refuse=True, expected=False) == 1.0
        assert AnswerGrade().value((), stated, refuse=True, expected=False) == 1.0
        assert AnswerRecall().value(stated, refuse=True, expected=True) == Ratio(0, 1)
    assert agreed(put, WHO, "I don't know.", "Mara Lindqvist").reference == (False,)
    assert agreed(put, WHO, "Mara Lindqvist", "Not enough information").reference == (False,)


def test_half_an_answer_is_half(put: Put) -> None:
    """A reference of one sentence is stated by clauses: its half is half, in labels and nearly so in probabilities."""
    query = "What is known about the firm?"
    for reference in (
        "The firm was founded in 1998 by Ada Holm and is based in Porto.",
        "Founded in 1998 by Ada Holm and based in Porto",
    ):
        for answer in ("It was founded in 1998 by Ada Holm.", "It is based in Porto."):
            facts = agreed(put, query, answer, reference)
            assert sorted(map(bool, facts.reference)) == [False, True]
            assert 0.35 < sum(p or 0.0 for p in facts.reference_p) / 2 < 0.65
            assert facts.answer == ("agrees",)
        assert set(agreed(put, query, "The lamp is red.", reference).reference) == {False}


def test_what_stands_in_the_reference_agrees_surely(put: Put) -> None:
    """A claim copied from a reference agrees with probability 1; one whose copy is taken back there does not."""
    reference = "The pump was built in Porto in 1910. It is not true that the old lamp is red."
    facts = agreed(put, "What about the pump?", "Built in Porto in 1910. Boats are cheap [1].", reference)
    assert facts.answer_p[0] == 1.0
    assert (facts.answer_p[1] or 0.0) < 0.5
    facts = agreed(put, "What about the pump?", "Dogs bark. The pump was built in Porto in 1910 [2].", reference)
    assert facts.reference_p[0] == 1.0
    assert not Wording([reference]).has_statement("The old lamp is red.")
    assert not Wording([reference]).has_statement("lamp")


FIGURES = [
    ("1,577", "$1,577 million", True),
    ("1,577", "It was $1,577 thousand in 2019.", True),
    ("5.46", "5.46%", True),
    ("-0.2", "A decrease of $0.2 million.", True),
    ("1,577", "1,578 million", False),
    ("1,577", "157.7", False),
    ("$1,577 million", "1,577 thousand", False),
    ("$1,577 million", "$1.577 billion", True),
    ("-0.2", "An increase of 0.2 million.", False),
    ("5.46", "54.6%", False),
    ("12 years", "12 months", False),
]


@pytest.mark.parametrize(("reference", "answer", "stated"), FIGURES)
def test_a_bare_number_is_met_with_its_scale(put: Put, reference: str, answer: str, stated: bool) -> None:
    """A reference of figures alone is met by them with a unit, a scale or per cent; one that gives a scale is not."""
    assert agreed(put, "What was the total?", answer, reference).reference == (stated,)


def test_a_missing_scale_is_left_open(put: Put) -> None:
    """Figures without the scale of the reference neither state nor contradict it."""
    facts = agreed(put, "What was the total?", "It was 1,577.", "$1,577 million")
    assert (facts.answer, facts.reference) == (("absent",), (False,))
    assert 0.2 < (facts.reference_p[0] or 0.0) < 0.5


@pytest.mark.parametrize(("query", "answer", "reference"), [*STATED, *NOT_STATED])
def test_probabilities_fit_the_verdicts(put: Put, query: str, answer: str, reference: str) -> None:
    """What agrees or is stated has a probability of at least 0.5, what does not has less."""
    facts = agreed(put, query, answer, reference)
    assert len(facts.answer_p) == len(facts.answer)
    assert len(facts.reference_p) == len(facts.reference)
    pairs = [(verdict == "agrees", p) for verdict, p in zip(facts.answer, facts.answer_p, strict=True)]
    pairs += [(bool(stated), p) for stated, p in zip(facts.reference, facts.reference_p, strict=True)]
    assert all(p is not None and 0 <= p <= 1 and (p >= 0.5) == yes for yes, p in pairs)


def test_probabilities_are_in_order(put: Put) -> None:
    """A name as it is written is surer than another form of it, that than a part of it, that than another name."""
    answers = ("Mara Lindqvist wrote it.", "Mara J. Lindquist wrote it.", "Lindqvist wrote it.", "Jon Olsen wrote it.")
    found = [agreed(put, WHO, answer, "Mara Lindqvist").reference_p[0] or 0.0 for answer in answers]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[1] > 0.5 > found[2] > found[3]


def test_a_claim_that_could_not_be_had_has_no_probability(put: Put) -> None:
    """A missing claim has neither verdict nor probability, nor has what it might have stated."""
    facts = put(Agree((None, "Jon Olsen wrote it."), ("Mara Lindqvist",), WHO, (), "…"))
    assert isinstance(facts, AgreementFacts)
    assert (facts.answer[0], facts.answer_p[0], facts.reference, facts.reference_p) == (None, None, (None,), (None,))


@pytest.mark.parametrize("opening", ["Yes, ", "Yes. ", "Yes – ", "No, ", "yes; "])
def test_a_leading_yes_or_no_hides_no_equal_statement(put: Put, opening: str) -> None:
    """The text "Yes, X" states X and agrees with it, "X" states "Yes, X", and so does "Yes, X"; likewise with no."""
    plain = "the depot takes parcels of up to 20 kg."
    query = "Does the depot take parcels of up to 20 kg?"
    asked = query if opening.lower().startswith("yes") else "Does the depot refuse parcels of up to 20 kg?"
    led = opening + plain
    for answer, reference in [(led, plain), (plain, led), (led, led)]:
        for question in (asked, "What parcels are taken?"):
            if answer == plain and question == asked and opening.startswith("No"):
                continue  # whether "X" says no is then for the question's words to tell
            found = agreed(put, question, answer.capitalize(), reference.capitalize())
            assert set(found.answer) == {"agrees"}, (answer, reference)
            assert found.reference[-1] is True


@pytest.mark.parametrize(("answer", "reference"), [("No", "Yes"), ("Yes", "No")])
@pytest.mark.parametrize("joint", [", ", ". ", " – "])
def test_yes_and_no_before_the_same_statement_disagree(put: Put, answer: str, reference: str, joint: str) -> None:
    """The text "No, X" contradicts "Yes, X", whatever X is: nothing is stated, and correctness is 0."""
    for rest in ("the depot takes parcels of up to 20 kg.", "Porto.", "`--no-cache` is set."):
        found = agreed(put, "Does it?", f"{answer}{joint}{rest}", f"{reference}{joint}{rest}")
        assert found.answer[0] == "contradicts"
        assert not any(found.reference)
        assert (found.answer_p[0] or 0.0) < 0.5


def test_another_accepted_answer_may_begin_otherwise(put: Put) -> None:
    """Where one accepted answer says yes and another no, either is right."""
    facts = agreed(put, "Is it open?", "No, it opens in May.", "Yes, it opens in May.", "No, it opens in May.")
    assert facts.answer == ("agrees",)


@pytest.mark.parametrize("answer", ["--no-cache-dir", "Use `--no-cache-dir`.", "It is --cache.", "--no_cache"])
def test_a_changed_identifier_states_no_reference(put: Put, answer: str) -> None:
    """A short reference that is an identifier of code is stated as it is written or not at all."""
    assert agreed(put, "Which flag skips it?", answer, "--no-cache").reference == (False,)
    for right in ("--no-cache", "Use `--no-cache`.", "It is --no-cache, as always."):
        assert agreed(put, "Which flag skips it?", right, "--no-cache").reference == (True,)


def test_the_slashes_of_a_path_part_no_alternatives(put: Put) -> None:
    """A path is stated as a whole; "or" between two paths still parts them."""
    where = "Where is the file?"
    assert agreed(put, where, "It is in ~/.pump/keys.yaml", "~/.pump/keys.toml").reference == (False,)
    assert agreed(put, where, "It is in ~/.pump/keys.toml", "~/.pump/keys.toml").reference == (True,)
    assert agreed(put, where, "It is in /etc/b.toml", "~/.pump/a.toml or /etc/b.toml").reference == (True,)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("37 600 millones de dólares", "La empresa instalaba sistemas de iluminación en la ciudad."),
        ("phowa y el siddhi", "El grupo opera en el norte y en el sur."),
        ("सीमित दबाव", "देश भ्रष्टाचार सूचकांक में आगे बढ़ा।"),
        ("绿党", "保守党议员提议用卡支付福利。"),
    ],
)
def test_small_words_and_single_characters_name_no_part_of_a_reference(put: Put, reference: str, answer: str) -> None:
    """An answer that shares only these with a short reference does not maybe state it."""
    p = agreed(put, "?", answer, reference).reference_p[0]
    assert p is not None
    assert p < SHARED_P
