"""Amounts of claims are held against the tables of the passages."""

from __future__ import annotations

import pytest

from ragauge.core.facts import AnswerFacts, ReferenceFacts
from ragauge.judges.inputs import VerifyAnswer, VerifyReference
from ragauge.judges.local.measures import find_amounts
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.judges.local.verify_reference import verify_reference

HARBOUR = """\
(in thousands)\t2022\t2021\t2020
Ferry tickets\t$4,120\t$3,980\t$3,500
Harbour dues\t1,030\t990\t1,010
Crane hire\t515\t530\t490
Net loss on dredging\t(310)\t(250)\t—
Total revenue\t$5,665\t$5,500\t$5,000
Load factor\t61.5%\t58.0%\t55.0%"""
QUAYS = """\
\tNorth quay\tSouth quay
Berths at 1 May 2022\t14\t9
Moorings at 1 May 2022\t120\t75"""


def reference(query: str, claim: str, *passages: str) -> float:
    """P of a reference claim."""
    try:
        next(verify_reference(VerifyReference(query, (claim,), passages or (HARBOUR,))))
    except StopIteration as end:
        facts = end.value
        assert isinstance(facts, ReferenceFacts)
        return facts.claims[0].p or 0.0
    raise AssertionError


def answer(text: str, *passages: str) -> AnswerFacts:
    """Facts of an answer; with a question it would need a vector."""
    asking = verify_answer(VerifyAnswer("", passages or (HARBOUR,), text))
    try:
        next(asking)
    except StopIteration as end:
        facts = end.value
        assert isinstance(facts, AnswerFacts)
        return facts
    raise AssertionError


ASKED = [
    ("What were the harbour dues in 2021?", "990", "1,030"),
    ("What were the harbour dues in 2021?", "$990 thousand", "$990 million"),
    ("What were the ferry tickets in 2020?", "$3.5 million", "$3.5 billion"),
    ("How much was crane hire in 2022?", "515", "530"),
    ("What was the net loss on dredging in 2022?", "(310)", "(250)"),
    ("What were ferry tickets in 2022 and 2021, respectively?", "4,120, 3,980", "3,980, 4,120"),
    ("What was the load factor in 2021?", "58%", "61.5%"),
    ("What was the change in harbour dues from 2021 to 2022?", "40", "1,030"),
    ("What was the change in crane hire from 2021 to 2022?", "-15 thousand", "15 thousand"),
    ("What was the percentage change in ferry tickets from 2020 to 2021?", "13.71%", "12.06%"),
    ("What was the average of harbour dues in 2020 to 2022?", "1,010", "1,110"),
    ("What were total harbour dues for 2021 and 2022 together?", "2,020", "1,030"),
    ("What is the ratio of harbour dues to crane hire in 2022?", "2", "0.5"),
    ("What were harbour dues as a percentage of total revenue in 2021?", "18%", "555.6%"),
    ("What is the difference between harbour dues and crane hire in 2022?", "515", "1,545"),
    ("What was the change in load factor between 2021 and 2022?", "3.5%", "61.5%"),
    ("In which year was crane hire highest?", "2021", "2022"),
    ("In how many years? How many years did harbour dues exceed $1,000 thousand?", "2", "3"),
]


@pytest.mark.parametrize(("query", "right", "wrong"), ASKED)
def test_a_bare_amount_is_held_against_the_cell_that_the_question_names(query: str, right: str, wrong: str) -> None:
    """What the cell holds, or what follows by the operation asked for, is supported; what another cell holds is not."""
    assert reference(query, right) >= 0.5
    assert reference(query, wrong) < 0.5


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Harbour dues were $1,030 thousand in 2022.", "Harbour dues were $990 thousand in 2022."),
        ("In 2020 ferry tickets brought in $3.5 million.", "In 2020 ferry tickets brought in $4.12 million."),
        ("Crane hire fell by 15 thousand from 2021 to 2022.", "Crane hire fell by 45 thousand from 2021 to 2022."),
        ("Harbour dues rose by 4.04% from 2021 to 2022.", "Harbour dues rose by 14.04% from 2021 to 2022."),
        ("The ratio of harbour dues to crane hire was 2 in 2022.", "Crane hire to harbour dues had a ratio of 2."),
    ],
)
def test_a_statement_is_held_against_the_cell_that_it_names(right: str, wrong: str) -> None:
    """A sentence names its cell by its own words and year."""
    assert reference("How did the harbour do?", right) >= 0.5
    assert reference("How did the harbour do?", wrong) < 0.5


def test_columns_may_be_what_is_measured() -> None:
    """A column's header names a cell as a row's label does."""
    query = "How many moorings were there at the south quay at 1 May 2022?"
    assert reference(query, "75", QUAYS) >= 0.5
    assert reference(query, "120", QUAYS) < 0.5


def test_the_scale_may_stand_in_another_passage() -> None:
    """A table without a scale takes the one that a passage names; before that no multiplier is borne out.

    A reference is right by agreement, so of one with the wrong multiplier only how sure its evidence is falls.
    """
    table, told = HARBOUR.replace("(in thousands)", ""), "Figures are shown below (in thousands)."
    right, wrong = "Harbour dues were $990 thousand in 2021.", "Harbour dues were $990 million in 2021."
    for claim, passages in ((wrong, (table, told)), (right, (table,)), (wrong, (table,))):
        assert not answer(claim, *passages).claims[0].supporting, (claim, passages)
    assert answer(right, table, told).claims[0].supporting == (1,)
    query = "What were the harbour dues in 2021?"
    assert reference(query, "$990 million", table, told) < 0.8 < 0.9 < reference(query, "$990 thousand", table, told)


def test_an_amount_beside_the_table_is_left_to_its_words() -> None:
    """A number that a passage says in prose is not denied by a table."""
    claim = prose = "Harbour dues in 2021 would have been 975 thousand without the storm."
    query = "How did the harbour do?"
    assert reference(query, claim, HARBOUR, prose) == reference(query, claim, prose)


def test_what_follows_is_implied_and_says_how() -> None:
    """An answer that follows by one operation has strength "implied", the passage of the table, and the operation."""
    facts = answer("Harbour dues rose by 40 thousand from 2021 to 2022.", "The harbour is old.", HARBOUR)
    (claim,) = facts.claims
    assert (claim.strength, claim.supporting, claim.label) == ("implied", (2,), "supported")
    assert claim.reason == "1,030 − 990 = 40 thousand, passage 2"
    assert claim.window is not None
    assert HARBOUR[claim.window.start : claim.window.end] == "1,030\t990"


def test_what_is_stated_is_direct() -> None:
    """An amount that stands in its cell is supported directly."""
    (claim,) = answer("Harbour dues were $1,030 thousand in 2022.").claims
    assert (claim.strength, claim.supporting) == ("direct", (1,))


def test_a_wrong_cell_says_what_the_table_has() -> None:
    """The reason of an amount that is not the table's names the passage and what stands there."""
    (claim,) = answer("Harbour dues were $515 thousand in 2022.").claims
    assert claim.label != "supported"
    assert "1,030" in claim.reason or "passage 1" in claim.reason


def test_no_table_changes_nothing() -> None:
    """Passages of prose are weighed as ever."""
    prose = "Harbour dues were 1,030 thousand in 2022."
    assert reference("", "Harbour dues were 1,030 thousand in 2022.", prose) > 0.8


def test_amounts_are_read_as_accounts_write_them() -> None:
    """Brackets and dashes are signs, words behind a bracket are multipliers, and dates are no amounts."""
    text = "From (1,212) million to -5.5% and ($3) bn in May 2021."
    assert [(one.written, one.shift, one.percent) for one in find_amounts(text)] == [
        (-1212.0, 6, False),
        (-5.5, 0, True),
        (-3.0, 9, False),
    ]


SPOKEN = "The ferry line spent $0.9 million on fuel in 2022 and $0.6 million in 2021."


def test_nothing_follows_where_no_operation_is_named() -> None:
    """A sum that nobody asked for is not implied."""
    assert reference("What did the ferry line spend on fuel in 2022?", "$1.5 million", SPOKEN) < 0.5


RANKED = """\
| Rank | Port | Berths | Cranes | Total |
|---|---|---|---|---|
| 1 | Havel | 13 | 9 | 22 |
| 2 | North Lune | 1 | 0 | 1 |
| 3 | South Lune | 0 | 4 | 4 |"""


def test_a_rank_before_the_name_hides_no_row() -> None:
    """Where a rank leads the row, the name beside it tells which row is meant; another row's number is not support."""
    said = {"The Total of North Lune is 1.": True, "The Total of North Lune is 4.": False}
    for claim, right in {**said, "The Berths of Havel is 13.": True, "The Berths of South Lune is 13.": False}.items():
        assert bool(answer(claim, RANKED).claims[0].supporting) == right, claim


def test_any_accepted_answer_may_be_in_the_passages() -> None:
    """A reference of one claim is there where another accepted answer is; of several claims each has to be there."""
    passages = ("Crane hire at Havel was taken over by Lena Ortiz in 1998.",)
    query, other = "Who took over crane hire at Havel?", "Magdalena O. Perez"
    alone = VerifyReference(query, (other,), passages)
    either = VerifyReference(query, (other,), passages, accepted=("Lena Ortiz",))
    found = []
    for inputs in (alone, either):
        with pytest.raises(StopIteration) as end:
            next(verify_reference(inputs))
        found.append(end.value.value.claims)
    assert [len(claims) for claims in found] == [1, 1]
    assert found[0][0].supporting == ()
    assert (found[1][0].text, found[1][0].supporting) == (other, (1,))
    assert found[1][0].p > found[0][0].p


QUARTERS = """\
\tMarch 31, 2020\tJune 30, 2020\tSeptember 30, 2020
Ferry tickets\t120\t155\t171
Harbour dues\t14\t22\t31"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Ferry tickets were 155 at June 30, 2020.", "Ferry tickets were 120 at June 30, 2020."),
        ("Ferry tickets were 171 at September 30, 2020.", "Ferry tickets were 155 at September 30, 2020."),
        ("Harbour dues were 14 at March 31, 2020.", "Harbour dues were 31 at March 31, 2020."),
    ],
)
def test_the_month_of_a_column_counts(right: str, wrong: str) -> None:
    """Of columns of one year, an amount under another month does not pass."""
    assert (answer(right, QUARTERS).claims[0].p or 0) >= 0.9
    assert (answer(wrong, QUARTERS).claims[0].p or 0) <= 0.2
