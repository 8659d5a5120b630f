"""Sentences: where they end, and that nothing of the text is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.text.sentences import Sentence, split_sentences

# what real texts and broken ones are made of: stops, citations, list marks, controls, surrogates, every script
PIECES = st.sampled_from(
    [
        *("A", "a", "3", ".", "!", "?", "…", " ", "\n", "\t", "\r\n", "\x00", "\x0b", "\x1c", "\x85", "\u2028"),
        *("[1]", " [2, 3]", "- ", "1. ", "# ", "| ", "|---|", '"', "”", ")", "。", "」", "『", "؟", "۔", "।", "ก"),
        *("Dr. ", "z.B. ", "e.g. ", "\ud800", "\udfff", "😀", "\u200b", "\u0301", "https://a.b/c?d=e.f", "¹", "_"),
    ]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=40).map("".join))


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


@given(TEXTS)
@settings(derandomize=True, deadline=None)
def test_nothing_is_lost_or_doubled(text: str) -> None:
    """Sentences are slices in order, without white space at their ends, that hold every other character once."""
    sentences = split_sentences(text)
    assert [sentence.n for sentence in sentences] == list(range(1, len(sentences) + 1))
    end = 0
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text
        assert sentence.text == sentence.text.strip()
        assert not text[end : sentence.start].strip()
        end = sentence.end
    assert not text[end:].strip()


@given(TEXTS)
@settings(derandomize=True, deadline=None)
def test_no_sentence_without_a_word_beside_others(text: str) -> None:
    """A sentence without letter or digit stands alone: otherwise it is part of its neighbour."""
    sentences = texts(text)
    assert len(sentences) <= 1 or all(any(char.isalnum() for char in sentence) for sentence in sentences)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Lee met Mr. Roe on Jan. 5 at noon. It rained.", ["Dr. Lee met Mr. Roe on Jan. 5 at noon.", "It rained."]),
        ("It was May 5. It rained.", ["It was May 5.", "It rained."]),
        (
            "It treats cancer. Roe said so. Then it closes. Nobody came.",
            ["It treats cancer.", "Roe said so.", "Then it closes.", "Nobody came."],
        ),
        ("It grew 3.5 percent. Then it fell!", ["It grew 3.5 percent.", "Then it fell!"]),
        ("Is it so? Yes! Well…", ["Is it so?", "Yes!", "Well…"]),
        ('She said "Stop." Then she left.', ['She said "Stop."', "Then she left."]),
        ("Use v1.2.3 of a.b.c. It works.", ["Use v1.2.3 of a.b.c.", "It works."]),
        ("Do it: 1. Open the box. 2. Close the box.", ["Do it: 1. Open the box.", "2. Close the box."]),
    ],
)
def test_english(text: str, expected: list[str]) -> None:
    """English sentences end at full stops that are neither of abbreviations, decimals nor list numbers."""
    assert texts(text) == expected


def test_citations_belong_to_the_sentence_before() -> None:
    """A bracketed or raised citation behind the full stop is part of the sentence that it credits."""
    assert texts("It fell. [1] It rose.[2][3] It stood. [4, 5] End.") == [
        "It fell. [1]",
        "It rose.[2][3]",
        "It stood. [4, 5]",
        "End.",
    ]
    assert texts("It fell.¹ It rose.【3†a】 End.") == ["It fell.¹", "It rose.【3†a】", "End."]
    assert texts("It fell. [Source: a.md] It rose. [doc 2] End.") == [
        "It fell. [Source: a.md]",
        "It rose. [doc 2]",
        "End.",
    ]


def test_citation_that_opens_a_sentence_stays_there() -> None:
    """A bracketed number that is the subject of the next sentence opens that sentence."""
    assert texts("It fell. [1] shows why.") == ["It fell.", "[1] shows why."]


def test_lines_items_headings_and_rows_split() -> None:
    """Headings, list items and table rows are sentences of their own; a row of dashes joins its neighbour."""
    assert texts("# Costs\n\n- rent\n- food and\n1. heat\n| a | b |\n|---|---|\n| 1 | 2 |") == [
        "# Costs",
        "- rent",
        "- food and",
        "1. heat",
        "| a | b |\n|---|---|",
        "| 1 | 2 |",
    ]


def test_fixed_width_lines_are_joined() -> None:
    """Line breaks that only keep a paragraph narrow do not end a sentence; those of short lines do."""
    wrapped = (
        "The pump draws water from the old well behind the barn\n"
        "and fills the upper tank within an hour. The valve then\n"
        "closes. Nobody has to stand by."
    )
    assert [text.replace("\n", " ") for text in texts(wrapped)] == [
        "The pump draws water from the old well behind the barn and fills the upper tank within an hour.",
        "The valve then closes.",
        "Nobody has to stand by.",
    ]
    assert texts("apples\npears\nplums") == ["apples", "pears", "plums"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他来了。她走了！为什么？", ["他来了。", "她走了！", "为什么？"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("好!你来。", ["好!", "你来。"]),
        ("「来た。」と言った。帰った。", ["「来た。」と言った。", "帰った。"]),
        ("هل جاء؟ نعم۔ ذهب. عاد.", ["هل جاء؟", "نعم۔", "ذهب.", "عاد."]),
        ("वह आया। वह गया।", ["वह आया।", "वह गया।"]),
        ("ฉันไปโรงเรียนแล้ว เขาไม่ไปโรงเรียน", ["ฉันไปโรงเรียนแล้ว", "เขาไม่ไปโรงเรียน"]),
        ("Das ist z.B. gut. Am 3. Januar kam Dr. Roth.", ["Das ist z.B. gut.", "Am 3. Januar kam Dr. Roth."]),
        ("El Sr. Roca llegó. ¿Quién es? ¡Hola!", ["El Sr. Roca llegó.", "¿Quién es?", "¡Hola!"]),
        ("Он приехал в 2020 г. на юг. Потом уехал.", ["Он приехал в 2020 г. на юг.", "Потом уехал."]),
    ],
)
def test_case_39_other_scripts_and_languages(text: str, expected: list[str]) -> None:
    """Chinese, Japanese, Arabic, Urdu, Hindi, Thai, German, Spanish and Russian texts split by their own rules."""
    assert texts(text) == expected


def test_empty_and_signs_only() -> None:
    """White space gives no sentence, signs alone give one."""
    assert split_sentences(" \n\t ") == ()
    assert texts("...\n!!") == ["...\n!!"]


def test_result_is_frozen_and_numbered_from_one() -> None:
    """A sentence carries its number, text and offsets."""
    assert split_sentences("  One. Two.") == (Sentence(1, "One.", 2, 6), Sentence(2, "Two.", 7, 11))


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        ".",
        *(
            pytest.param(unit, marks=pytest.mark.prove)
            for unit in ("a", " ", '."', "(", "[1]", "。", "\ud800", "a\u0301", "”")
        ),
    ],
)
def test_ten_megabytes_of_one_thing(unit: str) -> None:
    """Ten million characters of one kind take seconds, not hours."""
    begin = time.perf_counter()
    sentences = split_sentences((unit * 10_000_000)[:10_000_000])
    assert len(sentences) <= 1
    assert time.perf_counter() - begin < 60
