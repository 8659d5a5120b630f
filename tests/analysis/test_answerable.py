"""What gold evidence, references and the label say of a question is the same in verdicts, causes and segments."""

import re
from pathlib import Path
from typing import Any

import pytest

import ragauge
from ragauge.core.example import Example, Relevant, Span
from ragauge.core.facts import AnswerFacts, Claim, Evidence, Rating, RelevanceFacts
from ragauge.core.response import Passage, Response
from ragauge.diagnosis.causes.attribution import attribute_failure, describe_missing
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.verdicts import decide_verdict
from ragauge.diagnosis.explain.causes import ExampleCase
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.scores.segments import derive_segments

SOURCE = Path(ragauge.__file__).parent
GOLD = (Relevant(("a",)),)
WHETHER = "whether the question is answerable"

# what the set says of a question -> whether it is answerable
LABELS: list[tuple[str, dict[str, Any], bool | None]] = [
    ("gold documents", {"relevant": GOLD}, True),
    ("gold chunks", {"relevant_chunks": (Relevant(("p1",)),)}, True),
    ("gold spans", {"gold_spans": (Span("a", 0, 3),)}, True),
    ("a reference", {"references": ("One.",)}, True),
    ("the label", {"answerable": True}, True),
    ("false beside a reference", {"answerable": False, "references": ("One.",)}, False),
    ("false beside a gold document", {"answerable": False, "relevant": GOLD}, False),
    ("documents judged not relevant", {"relevant": (Relevant(("b",), 0),)}, None),
    ("one of two references declines", {"references": ("One.", "I don't know."), "relevant": GOLD}, None),
    ("nothing", {}, None),
]
by_label = pytest.mark.parametrize(
    ("labels", "answerable"), [row[1:] for row in LABELS], ids=[row[0] for row in LABELS]
)


SUPPORTED = Claim(1, "one", 0, 4, supporting=(1,), strength="direct")


def facts_of(labels: dict[str, Any], refuse: bool, claim: Claim = SUPPORTED) -> Facts:
    """An example whose only passage holds the gold document and is rated relevant, refused or answered from it."""
    answer = AnswerFacts((), "no", True) if refuse else AnswerFacts((claim,), "fully", False)
    evidence = {
        "verify_answer": Evidence("k", "verify_answer", 1, "j", "ok", answer),
        "rate_passages": Evidence("k", "rate_passages", 1, "j", "ok", RelevanceFacts((Rating(1, True),))),
    }
    passage = Passage("p1", "a", "one", span=next(iter(labels.get("gold_spans", ())), None))
    answered = Response("q1", passages=(passage,), answer="I do not know." if refuse else "One.")
    return Facts(Example("q1", "Why?", **labels), answered, evidence)


@by_label
def test_a_refusal_fails_where_labels_say_that_the_question_is_answerable(
    labels: dict[str, Any], answerable: bool | None
) -> None:
    """It is right where the set says that there is no answer, shown by a label where one says that there is."""
    facts = facts_of(labels, refuse=True)
    verdict, cause = decide_verdict(CauseContext(facts)), attribute_failure(facts)
    if answerable is False:
        assert (verdict.verdict, cause) == ("passed", None)
        return
    assert verdict.verdict == "failed"
    assert cause is not None
    assert cause.shown_by == ("label and judge" if answerable else "judge")
    assert WHETHER not in cause.lacking
    if not labels.get("references"):  # of which nobody said whether the passage holds them
        known = "the question is answerable" if answerable else "nothing indicates that the question is unanswerable"
        assert (cause.name, cause.decided_by) == ("wrong_refusal", f"the system declined to answer, but {known}")
        assert cause.basis == ("labels" if answerable else "judge")


@by_label
def test_an_answer_fails_where_the_set_says_that_there_is_none(labels: dict[str, Any], answerable: bool | None) -> None:
    """Elsewhere nothing is wrong with it, and no label beats the one that the set gives."""
    facts = facts_of(labels, refuse=False)
    verdict, cause = decide_verdict(CauseContext(facts)), attribute_failure(facts)
    assert (verdict.verdict == "failed") is (answerable is False)
    assert (cause and cause.name) == ("missed_refusal" if answerable is False else None)


@by_label
def test_what_is_missing_names_the_label_only_where_nothing_implies_it(
    labels: dict[str, Any], answerable: bool | None
) -> None:
    """Of a made-up answer, `show` says that it is not known whether the question is answerable where it is not."""
    cause = attribute_failure(facts_of(labels, refuse=False, claim=Claim(1, "made up", 0, 4)))
    assert cause is not None
    assert (WHETHER in cause.lacking) is (answerable is None)
    assert (WHETHER in describe_missing(cause.lacking)) is (answerable is None)


@by_label
def test_segments_and_explanations_say_the_same(labels: dict[str, Any], answerable: bool | None) -> None:
    """The derived segment and the fact of an explanation are those that refusal_correctness counts by."""
    facts = facts_of(labels, refuse=True)
    word = {True: "yes", False: "no", None: None}[answerable]
    assert derive_segments([facts.example]).to_frame()["answerable"].to_list() == [word]
    measured = ExampleCase(facts).compute_result(parse_metric("refusal_correctness"))
    assert measured.status == ("not_applicable" if answerable is None else "scored")


def test_only_what_is_written_reads_the_label_alone() -> None:
    """Analysis and metrics ask `is_answerable`, so that a score, a verdict and a cause never disagree."""
    alone = re.compile(r"(?:example|case|asked)\.answerable\b")
    read = [
        f"{path.name}:{n}"
        for folder in ("diagnosis", "comparison", "scores", "evaluation", "metrics")
        for path in (SOURCE / folder).rglob("*.py")
        for n, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if alone.search(line)
    ]
    assert read == []
