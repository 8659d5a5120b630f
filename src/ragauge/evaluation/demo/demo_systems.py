"""The demo: a corpus, an eval set, and three systems over it, of which two are broken on purpose."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from ragauge.core.document import Document
from ragauge.core.example import EvalSet
from ragauge.readers.corpus import read_corpus
from ragauge.readers.source import read_set
from ragauge.systems.reference.faults import (
    ChangeNumber,
    DropGold,
    Fault,
    FaultySystem,
    FindNothing,
    IgnorePassages,
    InventNumber,
    PushGoldLow,
)
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag

if TYPE_CHECKING:
    from ragauge.systems.reference.retrievers import Embed

DATA = "ragauge.evaluation.demo"
HARD = {"type": ("multi_hop", "retrieval_boundary")}
EASY = {"type": ("single_document", "temporal", "comparison")}
ANSWERABLE = {"type": HARD["type"] + EASY["type"]}
DONORS = (
    "How long are audit log exports kept?",
    "How is a conflict copy named?",
    "What did shipping cost in 2023?",
    "Who may create webhooks?",
    "In which languages does support answer?",
    "How long does a pairing code stay valid?",
    "What happened in console release 2024.03?",
)


@dataclass(frozen=True, slots=True)
class DemoSystem:
    """One of the demo's systems.

    Attributes:
        name: what its run is called.
        description: what it is, for people.
        config: of the reference system underneath; the same for all three, so that only the faults differ.
        faults: tried in this order for each question; the first that strikes and can spoil the answer wins.
    """

    name: str
    description: str
    config: ReferenceConfig = ReferenceConfig()  # noqa: RUF009 - frozen
    faults: tuple[Fault, ...] = ()


SYSTEMS = (
    DemoSystem(
        "good",
        "Hybrid retrieval (BM25 and vectors). Answers with sentences of the five best passages, or says that the "
        "documents do not say.",
    ),
    DemoSystem(
        "broken-retrieval",
        "The same generator over a retriever that misses the right pages, or ranks them too low, for almost half of "
        "the questions: most of those that need two pages or come in unusual words, and some of the others.",
        faults=(
            FindNothing(share=0.04, seed=21, segments=ANSWERABLE),
            DropGold(share=0.65, seed=22, segments=HARD),
            PushGoldLow(share=0.8, seed=23, segments=HARD),
            DropGold(share=0.18, seed=24, segments=EASY),
            PushGoldLow(share=0.2, seed=25, segments=EASY),
        ),
    ),
    DemoSystem(
        "corrupted-generation",
        "The same retriever under a generator that puts an invented or a changed number into two of five answers and "
        "ignores the passages for one question in seven.",
        faults=(
            IgnorePassages(share=0.2, seed=61, segments=ANSWERABLE, donors=DONORS),
            InventNumber(share=0.35, seed=62, segments=ANSWERABLE),
            ChangeNumber(share=0.33, seed=63, segments=ANSWERABLE),
        ),
    ),
)


def read_documents() -> tuple[Document, ...]:
    """The demo's corpus: 56 pages about a backup appliance that does not exist."""
    return read_corpus(files(DATA) / "corpus")


def read_eval_set() -> EvalSet:
    """The demo's eval set: 113 questions about the corpus with references, labels, spans and segments."""
    with as_file(files(DATA) / "golden.jsonl") as path:
        return read_set(path, name="demo")


def build_systems(embed: Embed) -> dict[str, FaultySystem]:
    """The demo's systems by name, over one index.

    Args:
        embed: texts to an array of shape (texts, dimensions), rows of length 1.
    """
    pages = read_documents()
    honest = {config: ReferenceRag(config, pages, embed) for config in {system.config: None for system in SYSTEMS}}
    return {system.name: FaultySystem(honest[system.config], system.faults) for system in SYSTEMS}
