"""What only names the sources of an answer is no claim and no invention, and cites where it names a passage."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.core.example import Example, Turn
from ragauge.core.facts import AnswerFacts, JudgeFacts
from ragauge.core.response import Passage, Response
from ragauge.judges.inputs import Inputs, VerifyAnswer
from ragauge.judges.local.statements import find_statements
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all
from ragauge.metrics.specifics import find_unfounded
from ragauge.text.citation_marks import add_citations_if_cited
from ragauge.text.source_notes import find_footer, remove_marks

Put = Callable[[Inputs], JudgeFacts]

BODY = "Olga Lind keeps the ferry"
ENDINGS = [
    " (2).",
    " <sup>3</sup>.",
    " (ferry.pdf).",
    " [log/ferry-2021.docx#page=14].",
    " (ferry.md, p. 12).",
    "¹.",
    " (https://harbour.example/ferry?id=12).",
    " (Quelle: Fährbuch, S. 33).",
    " [1].\n\nQuellen:\n[1] Fährbuch 1998, S. 33",
    ".\n\n### Références\n1. Le bac de Lund, 2020\n2. Horaires 2021",
    " [^1].\n\n[^1]: The ferry book, 1998.",
    ".\n\nFuente: manual_2020.pdf, página 4",
    ".\n---\nhttps://harbour.example/2021\nhttps://harbour.example/2022",
    ".\n\n**참고문헌**\n- 나루터 2020\n- 항구 2021",
    "。\n\n参考文献\n1. 渡し船 2020\n2. 港 2021",
    ".\n\nSource\n[ferry.pdf](https://x.example/ferry.pdf)",
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_sources_are_no_claims(ending: str) -> None:
    """Marks, footers and lists of sources of any shape and language add no claim, and no number, date or name."""
    answer = BODY + ending
    (claim,) = find_statements(answer).claims
    assert claim.text.startswith(BODY)
    assert remove_marks(claim.text).strip(" .。") == BODY
    assert find_unfounded(answer, "", [Passage("p", "d", BODY)], "any")[1] == ()


@pytest.mark.parametrize(
    "text",
    [
        "The yard has three partners.\n\nPartners:\n- Olga Lind\n- Per Berg",
        "The loss was (12).",
        "Call open(2).",
        "In May (1998) it sank.",
        "The hall has 12 m².",
        "See [the book](https://x.example/a).",
        "Sources of heat:\ncoal from the pit in the north, which the yard has bought by the ton since 1998",
        "The source of the river is near Ulm.",
        "Set it in settings.json",
        "1. Open the valve.\n2. Close the lid.",
    ],
)
def test_what_says_something_stays(text: str) -> None:
    """A list of members, an amount in parentheses, a call and a list of steps are no sources."""
    assert (find_footer(text), remove_marks(text)) == (len(text), text)


PASSAGES = [
    Passage("ferry.pdf#1", "ferry.pdf", f"{BODY}."),
    Passage("yard/hall.md#1", "yard/hall.md", "The hall is blue."),
]
CITING = [
    (" (1).", 1.0),
    (" (2).", 0.0),
    (" <sup>1</sup>.", 1.0),
    (" (ferry.pdf).", 1.0),
    (" [ferry.pdf#page=7].", 1.0),
    (" (ferry.pdf, p. 3).", 1.0),
    (" (hall.md).", 0.0),
    (" (7).", None),
    (" (other.pdf).", None),
    (".", None),
    (" [1].\n\nSources:\n[1] ferry.pdf\n[2] hall.md", 1.0),
]


@pytest.mark.parametrize(("ending", "precision"), CITING)
def test_marks_that_name_passages_cite(put: Put, ending: str, precision: float | None) -> None:
    """A mark by number or file is read as a citation where such a passage is there, and else as none."""
    response = add_citations_if_cited(Response("q", passages=tuple(PASSAGES), answer=BODY + ending))
    facts = put(VerifyAnswer("Who keeps the ferry?", tuple(passage.text or "" for passage in PASSAGES), BODY + ending))
    assert isinstance(facts, AnswerFacts)
    assert [claim.supporting for claim in facts.claims] == [(1,)]
    targets = {citation.target for citation in response.citations or ()}
    assert (precision is None) == (not targets)
    if precision is not None:
        assert (precision == 1.0) == ("ferry.pdf#1" in targets or "ferry.pdf" in targets)


SAID = [
    ("My booking is 8812.", "What does it cost?", "Booking 8812 costs 30 euros.", 0),
    ("Ich heiße Jutta Kern.", "Was kostet es?", "Für Jutta Kern kostet es 30 Euro.", 0),
    ("We leave on 3 May 2024.", "What does it cost?", "On 3 May 2024 it costs 30 euros.", 0),
    ("私の番号は8812です。", "いくらですか。", "番号8812は30ユーロです。", 0),
    ("J'ai 17 % de rabais.", "Quel prix ?", "Avec 17 % de rabais : 30 euros.", 0),
    ("My booking is 8812.", "What does it cost?", "Booking 9912 costs 30 euros.", 1),
]


@pytest.mark.parametrize(("turn", "query", "answer", "invented"), SAID)
def test_what_the_user_said_before_is_not_invented(turn: str, query: str, answer: str, invented: int) -> None:
    """Numbers, names and dates of the user's earlier turns count as given; those of the assistant's do not."""
    response = Response("q", passages=(Passage("p", "d", "It costs 30 euros, 30 Euro, 30ユーロ."),), answer=answer)
    metric = parse_metric("unverified_specifics")
    for said_by, missing in ((Turn("user", turn), invented), (Turn("assistant", turn), None)):
        example = Example("q", query, history=(said_by,))
        (score,) = measure_all([metric], Facts(example, response))
        assert score.value is not None
        assert (score.value == 0) == (missing == 0)
