"""exact_match, answer_contains and token_f1: answers against accepted references, by the SQuAD rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.building import example, response

import ragauge as rg
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric

XQUAD = Path(__file__).resolve().parents[2] / "../shared/data/xquad/xquad.en.json"


PEOPLE = (  # an accepted answer, an answer, and whether people call it right
    ("330 metres", "The tower is 330 metres tall.", True),
    ("330 metres", "320 metres", False),
    ("in 1889", "It was opened to the public in 1889.", True),
    ("in 1889", "in 1898", False),
    ("Ada Lovelace", "The first program was written by Ada Lovelace in London.", True),
    ("Ada Lovelace", "Ada", False),
    ("two years", "Hubs have a warranty of two years.", True),
    ("two years", "three years", False),
)


def test_recall_of_the_reference_tells_right_from_wrong_where_shared_words_do_not(tmp_path: Path) -> None:
    """Right answers in sentences stand above short ones with a wrong fact by answer_recall, and not by token F1."""
    rows = [
        {"query_id": str(n), "query": "What of it?", "references": [accepted], "answer": said}
        for n, (accepted, said, _) in enumerate(PEOPLE)
    ]
    store = f"sqlite:///{tmp_path}/store.db"
    card = rg.evaluate(rows, metrics="answer_recall,token_f1", judge="local", store=store, workers=1)
    scores = card.to_polars().pivot("metric", index="query_id", values="value").sort("query_id")
    told = {}
    for name in ("answer_recall", "token_f1"):
        by = {
            right: [value for value, (*_, one) in zip(scores[name], PEOPLE, strict=True) if one is right]
            for right in (True, False)
        }
        told[name] = min(by[True]) > max(by[False])
    assert told == {"answer_recall": True, "token_f1": False}


def values(answer: str, *references: str) -> tuple[float | None, ...]:
    facts = Facts(example(references=references), response(answer=answer))
    return tuple(
        measure_metric(parse_metric(name), facts).value for name in ("exact_match", "answer_contains", "token_f1")
    )


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        # equal after lower case, punctuation, articles
        ("The Eiffel Tower.", ("eiffel tower",), (1, 1, 1)),
        # answer "it is in paris france" (5 words), reference "paris" (1): common 1, P 1/5, R 1/1, F1 = 2·.2·1/1.2 = 1/3
        ("It is in Paris, France.", ("Paris",), (0, 1, 1 / 3)),
        # "red red fox" and "red fox fox": common red 1 + fox 1 = 2, P 2/3, R 2/3, F1 2/3
        ("red red fox", ("red fox fox",), (0, 0, 2 / 3)),
        # best reference: "denver broncos" (2) against "broncos" (1): P 1/2, R 1, F1 2·.5/1.5 = 2/3; exact on the second
        ("Denver Broncos", ("Broncos", "The Denver Broncos"), (1, 1, 1)),
        ("Denver Broncos", ("Broncos",), (0, 1, 2 / 3)),
        # no common word
        ("yes", ("no",), (0, 0, 0)),
        # SQuAD: where one has no word, 1 if neither has, else 0
        ("", ("no",), (0, 0, 0)),
        ("...", ("The!",), (1, 0, 1)),
        # whole words only
        ("Read the USAGE notes", ("US",), (0, 0, 0)),
        # characters: 東京都 (3) and 東京 (2): common 2, P 2/3, R 1, F1 2·(2/3)/(5/3) = 4/5
        ("東京都", ("東京",), (0, 1, 4 / 5)),
        ("ÜBER «uns»", ("über uns",), (1, 1, 1)),
    ],
)
def test_by_hand(answer: str, references: tuple[str, ...], expected: tuple[float, ...]) -> None:
    """The three values are those of the arithmetic beside each case."""
    assert values(answer, *references) == pytest.approx(expected, abs=1e-12)


def test_contained_is_at_least_exact() -> None:
    """What matches exactly, and has a word, is contained and has F1 1."""
    assert values("A blue boat", "blue boat") == (1, 1, 1)


def test_case_20_no_reference_text() -> None:
    """Without the text of a reference the three are not_applicable, even where reference claims are known."""
    facts = Facts(example("One.", references=()), response(answer="One."))
    for name in ("exact_match", "answer_contains", "token_f1"):
        result = measure_metric(parse_metric(name), facts)
        assert (result.status, result.reason) == ("not_applicable", "no reference answer")


@pytest.mark.realdata
@pytest.mark.skipif(not XQUAD.exists(), reason="the public data sets are not here")
def test_gold_answers_of_xquad() -> None:
    """Every gold answer matches itself, and is contained in its paragraph where it begins and ends at words."""
    data = json.loads(XQUAD.read_text())["data"]
    pairs = [
        (answer["text"], paragraph["context"], answer["answer_start"])
        for article in data
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
        for answer in question["answers"]
    ]
    assert len(pairs) == 1190
    for text, context, start in pairs:
        assert values(text, text)[0] == 1
        left, right = context[max(0, start - 1) : start], context[start + len(text) : start + len(text) + 1]
        if left in ' \n("' and right in ' \n,.;)"':
            assert values(context, text)[1] == 1
