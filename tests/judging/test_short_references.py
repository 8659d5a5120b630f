"""Evidence for a short reference: none where its name stands nowhere, some where it stands as written."""

from __future__ import annotations

import pytest

from ragauge.core.facts import ReferenceFacts
from ragauge.judges.inputs import VerifyReference
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.verify_reference import verify_reference


def there(query: str, claim: str, *passages: str) -> float:
    """The probability that the passages hold the evidence for the claim."""
    found = answer_asks(verify_reference(VerifyReference(query, (claim,), passages)), lambda _: [])
    assert isinstance(found, ReferenceFacts)
    (one,) = found.claims
    assert one.p is not None
    return one.p


@pytest.mark.parametrize(
    ("query", "claim", "passage"),
    [
        ("Who leads the chess club of Tarn?", "Ilse Moor", "Pavel Grund led the chess club of Tarn from 1998 to 2015."),
        ("Where does the ferry from Olm go?", "Vessby", "The ferry from Olm goes to Karden and back every hour."),
    ],
)
def test_a_name_that_stands_nowhere_is_not_there(query: str, claim: str, passage: str) -> None:
    """Passages on the topic that name others do not hold the evidence for a short reference that is another name."""
    assert there(query, claim, passage) < 0.1
    assert there(query, claim, passage, f"It is {claim} today, as the register says.") > 0.5


@pytest.mark.parametrize(
    ("query", "claim", "passage"),
    [
        ("电影《山河》的导演是谁？", "林夕云", "《山河》是由林夕云执导的电影，由张三、李四主演，于2021年上映。"),
        ("この塔を建てたのは誰ですか？", "田中", "この塔は田中が1910年に建てたもので、町の北にある。"),
        (
            "Wer hat die Brücke in Velm entworfen?",
            "Ada Brandt",
            "Die Brücke in Velm wurde 1910 von Ada Brandt entworfen.",
        ),
    ],
)
def test_what_stands_word_for_word_is_there(query: str, claim: str, passage: str) -> None:
    """A short reference that stands in a passage on the topic is there, in scripts without blanks too."""
    assert there(query, claim, passage) > 0.7


def test_a_part_of_a_word_does_not_stand_there() -> None:
    """In scripts with blanks a reference has to stand as words of its own."""
    passage = "Die Brücke in Velm wurde 1910 von einem Verein aus dem Nachbarort gebaut."
    whole = passage.replace("Verein", "Rein")
    assert there("Wer hat die Brücke in Velm gebaut?", "Rein", passage) < there(
        "Wer hat die Brücke gebaut?", "Rein", whole
    )
