"""The faults of the demo's broken systems; `python -m tests.faults.demo_faults` writes what they do to its data."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from tests.faults.reference_faults import (
    ChangeNumber,
    DropGold,
    Fault,
    FaultySystem,
    FindNothing,
    IgnorePassages,
    InventNumber,
    PushGoldLow,
)

from ragauge.core.identity import to_json_value
from ragauge.evaluation.demo.demo_systems import DATA, SYSTEMS_FILE, read_documents, read_eval_set
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag

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
FAULTS: dict[str, tuple[Fault, ...]] = {
    "good": (),
    "broken-retrieval": (
        FindNothing(share=0.04, seed=21, segments=ANSWERABLE),
        DropGold(share=0.65, seed=22, segments=HARD),
        PushGoldLow(share=0.8, seed=23, segments=HARD),
        DropGold(share=0.18, seed=24, segments=EASY),
        PushGoldLow(share=0.2, seed=25, segments=EASY),
    ),
    "corrupted-generation": (
        IgnorePassages(share=0.2, seed=61, segments=ANSWERABLE, donors=DONORS),
        InventNumber(share=0.35, seed=62, segments=ANSWERABLE),
        ChangeNumber(share=0.33, seed=63, segments=ANSWERABLE),
    ),
}


def build_faulty_systems() -> dict[str, FaultySystem]:
    """The demo's systems with faults that are drawn anew, in place of those in the demo's data."""
    rag = ReferenceRag(ReferenceConfig(), read_documents(), WordLlamaEmbedder().embed)
    return {name: FaultySystem(rag, faults) for name, faults in FAULTS.items()}


def list_planted(system: FaultySystem) -> dict[str, dict[str, Any]]:
    """query_id -> the fault, and the answer where a generator's fault wrote one."""
    answers = {example.query_id: system.respond(example) for example in read_eval_set().examples}
    planted: dict[str, dict[str, Any]] = {}
    for query_id, fault in sorted(system.planted_faults.items()):
        planted[query_id] = {"fault": fault}
        if fault in ("ignore_passages", "invent_number", "change_number"):
            citations = [[c.start, c.end, c.target] for c in answers[query_id].citations or ()]
            planted[query_id] |= {"answer": answers[query_id].answer, "citations": citations}
    return planted


def main() -> None:
    """Writes faults and answers into the demo's data; names and descriptions stay."""
    path = Path(str(files(DATA) / SYSTEMS_FILE))
    systems = json.loads(path.read_text(encoding="utf-8"))
    for name, faulty in build_faulty_systems().items():
        systems[name] |= {"faults": to_json_value(FAULTS[name]), "planted": list_planted(faulty)}
    text = json.dumps(systems, ensure_ascii=False)
    text = re.sub(r'(?<=[{,]) ?(?="q\d+": |"[a-z-]+": \{"description")', "\n", text)  # a question a line
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
