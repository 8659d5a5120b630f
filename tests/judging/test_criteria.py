"""Criteria and aspects: what the local judge decides exactly, by what is mentioned, and not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.criteria_cases import KNOWN, UNSEEN, Case

import ragauge as rg
from ragauge.core.facts import CoverFacts, JudgeFacts
from ragauge.judges.inputs import CoverAspects, CoverCriteria, Inputs
from ragauge.judges.local.criteria import check_exactly
from ragauge.judges.local.judge import LocalJudge

Put = Callable[[Inputs], JudgeFacts]


def verdicts(put: Put, query: str, answer: str, *criteria: str) -> tuple[bool | None, ...]:
    """The verdict on each criterion."""
    facts = put(CoverCriteria(query, criteria, answer))
    assert isinstance(facts, CoverFacts)
    return facts.met


@pytest.mark.parametrize("case", KNOWN, ids=[f"{n}-{case[1][:40]}" for n, case in enumerate(KNOWN)])
def test_plain_criteria(put: Put, case: Case) -> None:
    """What can be checked has the verdict that a reader gives; what takes reading has none."""
    query, criterion, answer, wanted = case
    assert verdicts(put, query, answer, criterion) == (wanted,)


def test_criteria_that_were_not_looked_at(put: Put) -> None:
    """Of other criteria of these forms 85 in 100 have the reader's verdict, and none has another."""
    found = [(verdicts(put, query, answer, criterion)[0], wanted) for query, criterion, answer, wanted in UNSEEN]
    assert sum(met == wanted for met, wanted in found) >= 0.85 * len(found)
    assert all(met in (wanted, None) for met, wanted in found)


def test_negative_criteria_are_the_opposite(put: Put) -> None:
    """What is not met positively is met negatively; without a verdict there is none on the opposite either."""
    query, answer = "Is the pier open?", "The pier closes at six. A light is kept on, and dogs must be on a lead."
    for core in ("mention the light", "mention the tide", "contain a citation", "state the price"):
        (positive, negative) = verdicts(put, query, answer, f"must {core}", f"does not {core}")
        assert positive is not None
        assert negative is (not positive)
    assert verdicts(put, query, answer, "is friendly", "is not friendly") == (None, None)


def test_what_is_partly_there_is_left_open(put: Put) -> None:
    """A number that is missing decides; where some of the words to be mentioned are there, nothing is said."""
    answer = "Boats longer than 12 metres may not be moored at Kell Pier."
    names = verdicts(put, "May I moor here?", answer, "mentions Kell Pier", "mentions Kell Harbour", "mentions Orle")
    numbers = verdicts(put, "May I moor here?", answer, "mentions a limit of 12 metres", "mentions 14 metres")
    assert (names, numbers) == ((True, None, False), (True, False))


@pytest.mark.parametrize(
    ("criterion", "answer", "met"),
    [
        ("at most 3 words", "One two three.", True),
        ("at most 3 words", "One two three four.", False),
        ("less than 3 words", "One two three.", False),
        ("more than 3 words", "One two three.", False),
        ("3 words or more", "One two three.", True),
        ("exactly two sentences", "One. Two.", True),
        ("is a single paragraph", "One.\n\nTwo.", False),
        ("has 2 to 3 lines", "One.\nTwo.", True),
        ("is valid JSON", '{"a": 1}', True),
        ("is valid JSON", "{a: 1}", False),
        ('ends with "Goodbye"', "See you. Goodbye!", True),
        ("contains the word 'pier'", "The piers are open.", False),
        ("is in French", "Le quai est ouvert tous les jours et il est gratuit.", True),
        ("is in French", "42", None),
        ("has a good structure", "One.", None),
        ("contains 3 jokes", "One.", None),
    ],
)
def test_exact_criteria(criterion: str, answer: str, met: bool | None) -> None:
    """Limits include their ends as worded; what is not plainly recognised is left alone."""
    assert check_exactly(criterion, answer) is met


def test_any_criterion_has_a_place(put: Put, put_lexically: Put) -> None:
    """Every criterion comes back, however odd, with vectors and without; an empty answer meets no positive one."""
    odd = ("", "?", "and", "does not", "neither nor", "mentions " * 300, "says that", "\x00", "提到三十天的期限")
    for way in (put, put_lexically):
        facts = way(CoverCriteria("Which?", odd, "It is the pier of Kell. It opens at six."))
        assert isinstance(facts, CoverFacts)
        assert len(facts.met) == len(odd)
        assert way(CoverCriteria("", ("mentions the pier", "contains a link"), "")) == CoverFacts((False, False))


def test_criteria_cost_no_call() -> None:
    """Criteria are decided without vectors."""
    with pytest.raises(StopIteration) as done:
        next(LocalJudge().ask(CoverCriteria("Which?", ("mentions the pier", "explains the pier"), "The pier of Kell.")))
    assert done.value.value == CoverFacts((True, None))


@pytest.mark.parametrize(
    ("aspects", "answer", "met"),
    [
        (("common side effects", "serious side effects"), "Common side effects are headaches.", (True, False)),
        (("price of plan A", "price of plan B"), "Plan B costs 12 euros.", (False, True)),
        (("how long to hold it", "which button to press"), "Hold the back button.", (False, True)),
        (("date of birth",), "Ada Brown was born on 3 May 1912 in Leeds.", (True,)),
        (("date of birth",), "Ada Brown was born in Leeds as the youngest of six.", (False,)),
        (("price", "deadline"), "The price is not mentioned in the documents.", (False, False)),
    ],
)
def test_aspects_are_told_apart(put: Put, aspects: tuple[str, ...], answer: str, met: tuple[bool, ...]) -> None:
    """An aspect needs the kind of thing that it asks for, and is not met by what is said of its sibling."""
    assert put(CoverAspects("Tell me about it.", aspects, answer)) == CoverFacts(met)


RECORD: dict[str, Any] = {
    "query_id": "q1",
    "query": "Can I send the winch back?",
    "answer": "You can return the winch within 30 days. Send it to Leeds with form R-12 [1].",
    "criteria": ["mentions the 30-day limit", "contains a citation", "does not mention Leeds"],
    "aspects": ["return period", "price of the winch"],
    "passages": [{"doc_id": "d1", "text": "A winch can be returned within 30 days. The pier opens at six."}],
}


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_criteria_of_a_file_are_judged_and_shown(tmp_path: Path, form: str) -> None:
    """Criteria and aspects of every format give the scores, the evidence says which are met, and nothing is asked."""
    import polars as pl

    path = tmp_path / f"set.{form}"
    if form == "jsonl":
        path.write_text(json.dumps(RECORD) + "\n", encoding="utf-8")
    elif form == "csv":
        flat = {key: json.dumps(value) if isinstance(value, list) else value for key, value in RECORD.items()}
        pl.DataFrame([flat]).write_csv(path)
    else:
        pl.DataFrame([RECORD]).write_parquet(path)
    store = f"sqlite:///{tmp_path}/store.db"
    card = rg.evaluate(
        path, metrics="criteria_met,completeness,context_precision:unit=sentence", judge="local", store=store
    )
    assert card["criteria_met"].mean == pytest.approx(2 / 3)
    assert card["completeness"].mean == pytest.approx(1 / 2)
    assert card["context_precision:unit=sentence"].mean == pytest.approx(1 / 2, abs=0.1)  # of probabilities
    (view,) = card.examples()
    facts = view.evidence["cover_criteria"].facts
    assert facts == CoverFacts((True, True, False))
