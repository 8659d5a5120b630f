"""Whether a specific stands in other texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import OwnTime

from ragauge.text.specifics import ALL_KINDS, EXACT_KINDS, Haystack, find_specifics, is_found_in

CLAPNQ = Path(__file__).resolve().parents[2] / "../shared/data/clapnq/clapnq_dev_answerable.jsonl"
PIECES = st.sampled_from(
    [
        *("1,000", "20%", "3 Jan 2024", "March 2024", "in 2019", "$5.2 million", "Acme Corp.", "the U.S.", "X-200"),
        *("twenty-one", "Jane Roe", "J. K. Rowling", "“we will not give up”", "《红楼梦》", "2024年3月5日", "3億"),
        *("and", "saw", ".", ",", "3–5 May 2020", "10:30", "São Paulo", "https://a.b/c", "O'Neil", "the 1990s", "AT&T"),
        *("1.234", "-5"),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=20).map(" ".join))


def stands(text: str, *texts: str) -> list[bool]:
    return [is_found_in(one, Haystack.of(texts)) for one in find_specifics(text)]


@given(TEXTS, st.text(max_size=20), st.text(max_size=20))
@settings(derandomize=True, deadline=None)
def test_a_text_holds_its_own_specifics(text: str, before: str, after: str) -> None:
    """What is found in a text stands in that text, whatever other texts lie beside it."""
    haystack = Haystack.of([before, text, after])
    assert all(is_found_in(one, haystack) for one in find_specifics(text))


@given(TEXTS)
@settings(derandomize=True, deadline=None)
def test_nothing_stands_in_nothing(text: str) -> None:
    """No specific is found in no text."""
    assert not any(is_found_in(one, Haystack.of([])) for one in find_specifics(text))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("1,000 trains", "about 1000 trains"),
        ("20% more", "20 percent more"),
        ("On 3 Jan 2024", "dated 2024-01-03"),
        ("$5.2 million", "a sum of 5,200,000"),
        ("two of 21 boats", "2 of twenty-one boats"),
    ],
)
def test_case_21_same_specific_in_other_spelling(said: str, text: str) -> None:
    """A number, percentage or date in another spelling is the same, so it is not fabricated."""
    assert stands(said, text)
    assert all(stands(said, text))


def test_case_22_names_are_folded_whole_words() -> None:
    """A name is found whatever its case, dots and accents, but not inside a longer word."""
    assert stands("It was Acme Corp that paid.", "ACME Corp. paid.") == [True]
    assert stands("It was ACME Corp. that paid.", "the acme corp paid") == [True]
    assert stands("It went to the US then.", "Read the USAGE notes.") == [False]
    assert stands("It went to the US then.", "They told us so.") == [False]
    assert stands("It went to the US then.", "The U.S. agreed.") == [True]
    assert stands("We saw Sao Paulo there.", "em São Paulo") == [True]


@pytest.mark.parametrize(
    ("said", "text", "found"),
    [
        ("in 2024", "on January 3, 2024", True),
        ("in January 2024", "on 2024-01-03", True),
        ("on January 3, 2024", "in January 2024", False),
        ("on January 3, 2024", "On January 3 it rained. In 2024 it snowed.", True),
        ("on January 3, 2024", "On January 4, 2024 it rained.", False),
        ("on 4 January 2024", "3–5 January 2024", False),
        ("on 5 January 2024", "3–5 January 2024", True),
        ("from 10 to 20 percent", "from 10% to 20%", True),
        ("20% more", "20 more", False),
        ("exactly 3 apples", "on January 3, 2024", True),
        ("exactly 1 apple", "on January 3, 2024", False),
        ("1.234 Euro", "1234 Euro", True),
        ("1.234 Euro", "1,234 Euro", True),
        ("on 03/04/2024", "on 3 April 2024", True),
        ("on 03/04/2024", "on 4 March 2024", True),
        ("-5 degrees", "5 degrees", False),
        ("in the year 1500", "1,500 sheep", True),
        ("three boats", "Both boats and a third one", True),
    ],
)
def test_values_and_dates(said: str, text: str, found: bool) -> None:
    """Numbers match by value, dates by what they contain, percentages only as percentages."""
    assert set(stands(said, text)) == {found}


@pytest.mark.parametrize(
    ("said", "text", "found"),
    [
        ("It is John Kennedy there", "John F. Kennedy spoke", True),
        ("It is John Kennedy there", "Kennedy, John", True),
        ("It is New Delhi there", "a new office in Delhi", False),
        ("It is John Smith there", "John and Mary Smith", False),
        ("the Acme CFO Ada Byron", "Ada Byron, who is CFO of Acme", True),
        ("the University of Oxford", "Oxford University", True),
        ("the University of Oxford", "the University of Bern", False),
        ("the X200 printer", "the X-200 printer", True),
        ("the PlayStation3 box", "a PlayStation 3", True),
        ("see https://a.org/x/y", "see https://a.org/x", False),
        ("see https://a.org/x", "at https://a.org/x.", True),
    ],
)
def test_names_in_parts(said: str, text: str, found: bool) -> None:
    """A name stands where its words do, or where only capitalised words lie between; an address stands whole."""
    assert stands(said, text) == [found]


def test_quotation_is_found_word_for_word() -> None:
    """A quotation is found whatever its marks and case, across a cut, and not when a word differs."""
    text = "She said: We will NOT, ever, give up the ship today."
    assert stands('"we will not ever give up"', text) == [True]
    assert stands('"we will not … give up the ship"', text) == [True]
    assert stands('"we will now give up"', text) == [False]


def test_case_39_other_scripts() -> None:
    """Chinese, Japanese, Arabic and German specifics are found by value and whole word."""
    assert stands("2024年3月5日卖出1.5万台", "5 March 2024: 15,000 units") == [True, True]
    assert stands("利益は300億円", "300億円の利益") == [True]
    assert stands("ارتفع ٢٠٪", "rose 20%") == [True]
    german = "Er sah Angela Merkel und zahlte 1.234,50 Euro an der Kasse."
    assert stands(german, "Merkel, Angela: 1,234.50") == [True, True]


def test_case_27_one_text_or_a_list_of_it() -> None:
    """One string is one text, not a list of its characters."""
    text = "ACME Corp. paid 1,000 dollars."
    assert Haystack.of(text) == Haystack.of([text])
    assert all(is_found_in(one, Haystack.of(text)) for one in find_specifics(text))


def test_words_of_two_texts_are_no_name() -> None:
    """A name does not stand across the border of two texts."""
    assert stands("It is Acme Corp there", "We saw Acme", "Corp stands alone") == [False]


@pytest.mark.prove
def test_many_look_ups_in_a_long_text(own_time: OwnTime) -> None:
    """Ten thousand look-ups in a megabyte take seconds: the texts are read once."""
    haystack = Haystack.of([f"Jane Roe met John Doe {n} times in Acme Corp. " for n in range(20_000)])
    said = " ".join(f"Then Jane Roe{n % 7} saw {n} of Acme Corp{n % 5} and John Doe." for n in range(2_500))
    found: list[bool] = []
    own_time.within(20, lambda: found.extend(is_found_in(one, haystack) for one in find_specifics(said)), times=1)
    assert sum(found) >= 5_000


@pytest.mark.realdata
@pytest.mark.skipif(not CLAPNQ.exists(), reason="the public data sets are not here")
def test_human_answers_stand_in_their_gold_passages() -> None:
    """Of the specifics that people wrote from a gold passage, at least 98 % are found in it, and few in another."""
    rows = [json.loads(line) for line in CLAPNQ.read_text().splitlines()]
    texts = [[row["input"], *(f"{p['title']} {p['text']}" for p in row["passages"])] for row in rows]
    own = other = every = 0
    for n, row in enumerate(rows):
        for one in find_specifics(row["output"][0]["answer"], ALL_KINDS):
            every += 1
            own += is_found_in(one, Haystack.of(texts[n]))
            other += is_found_in(one, Haystack.of(texts[n - 1]))
    assert every > 1_000
    assert own / every > 0.98
    assert other / every < 0.2


FISCAL_FOUND = [
    ("Sales rose in FY2018.", "Sales of the yard in 2018"),
    ("Sales rose in FY 2018.", "Sales of the yard in 2018"),
    ("Sales rose in FY18.", "Sales of the yard in 2018"),
    ("Sales rose in FY'18.", "Sales of the yard on 3 May 2018"),
    ("Sales rose in 2018.", "Sales of the yard, FY18"),
    ("Sales rose in FY2018.", "Sales of the yard, FY 18"),
]
FISCAL_LACKING = [
    ("Sales rose in FY2018.", "Sales of the yard in 2019"),
    ("Sales rose in FY18.", "Sales of the yard in 2019"),
    ("Sales rose in 2019.", "Sales of the yard, FY18"),
    ("Sales rose in FY2018.", "Sales of 20.18"),
    ("Sales rose by 18 boats.", "Sales of the yard, FY18"),
    ("Sales rose in FY18.", "Sales of 18 boats"),
]


@pytest.mark.parametrize(("claim", "text"), FISCAL_FOUND)
def test_a_fiscal_year_is_its_year(claim: str, text: str) -> None:
    """FY2018, FY 2018 and FY18 are the year 2018, in the claim and in the text that is searched."""
    assert all(is_found_in(one, Haystack.of([text])) for one in find_specifics(claim, EXACT_KINDS))


@pytest.mark.parametrize(("claim", "text"), FISCAL_LACKING)
def test_a_fiscal_year_is_no_other_number(claim: str, text: str) -> None:
    """FY18 is neither another year nor the number 18."""
    found = find_specifics(claim, EXACT_KINDS)
    assert found
    assert not any(is_found_in(one, Haystack.of([text])) for one in found)
