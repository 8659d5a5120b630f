"""The main job on real questions: a real pipeline over real passages, and a real tool's file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import ragauge as rg
from ragauge.core.document import Document
from ragauge.core.example import Example, Relevant
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag
from ragauge.verbs.coroutines import run_coroutine
from ragauge.verbs.sources import AnsweredExamples, InputSource

DATA = Path(__file__).resolve().parents[3] / "shared/data"
absent = pytest.mark.skipif(not DATA.exists(), reason="the data sets are not beside the repository")
pytestmark = [pytest.mark.realdata, pytest.mark.prove, absent]


def evaluated(name: str, documents: Sequence[Document], examples: Sequence[Example], store: str) -> rg.Scorecard:
    """Retrieves, answers and evaluates: nothing of the labels reaches the system."""
    from ragauge.evaluation.evaluate.verb import evaluate_source as evaluated_source
    from ragauge.models.embedders.base import WordLlamaEmbedder
    from ragauge.verbs.evaluate_options import EvaluateOptions

    system = ReferenceRag(ReferenceConfig(), documents, WordLlamaEmbedder().embed)
    pairs = tuple((example, system.respond(example)) for example in examples)
    wanted = EvaluateOptions(AnsweredExamples(name, pairs), name=name, workers=1, store=store)
    return run_coroutine(lambda: evaluated_source(wanted))


def store_at(folder: Path) -> str:
    return f"sqlite:///{folder}/real.db"


def consistent(card: rg.Scorecard) -> None:
    """Counts sum to n, means lie in range, and nothing failed."""
    for summary in card.summaries.values():
        valued = summary.scored + summary.undefined + summary.not_applicable
        assert valued + summary.failed + summary.not_read == summary.n == card.card.n
        assert summary.not_read <= 0.02 * summary.n, summary.metric  # English all through
        assert summary.failed == 0, (summary.metric, summary.reasons)
        if summary.mean is not None and summary.kind != "amount":
            assert 0 <= summary.mean <= 1


def clapnq() -> tuple[list[Document], list[Example]]:
    documents: dict[str, Document] = {}
    examples = []
    for part, answerable in (("answerable", True), ("unanswerable", False)):
        for line in (DATA / f"clapnq/clapnq_dev_{part}.jsonl").read_text().splitlines():
            row = json.loads(line)
            (passage,) = row["passages"]
            doc_id = hashlib.sha256(passage["text"].encode()).hexdigest()[:12]
            documents[doc_id] = Document(doc_id, passage["title"], passage["text"])
            answers = tuple(found["answer"] for found in row["output"] if found["answer"]) if answerable else ()
            examples.append(
                Example(
                    row["id"],
                    row["input"],
                    references=answers,
                    answerable=answerable,
                    relevant=(Relevant((doc_id,)),) if answerable else None,
                    segments={"part": part},
                )
            )
    return list(documents.values()), examples


def test_clapnq_end_to_end(tmp_path: Path) -> None:
    """200 real questions, half of them unanswerable, come out per segment with labels kept apart from judgments."""
    documents, examples = clapnq()
    card = evaluated("clapnq", documents, examples[::3], store_at(tmp_path))
    consistent(card)
    assert card.card.n == 200
    assert card["recall@5"].scored == 100
    assert card["recall@5"].not_applicable == 100
    assert (card["recall@5"].mean or 0) > 0.6
    assert 0.6 < (card["mrr"].mean or 0) < 1  # over pooled passages only
    assert set(card.card.segments["part"]) == {"answerable", "unanswerable"}
    unanswerable = {s.metric: s for s in card.card.segments["part"]["unanswerable"]}
    assert unanswerable["answer_correctness"].not_applicable == 100
    assert unanswerable["refusal_correctness"].scored == 100
    assert card.causes["missed_refusal"] > 0  # an extractive system refuses too seldom on real questions
    assert card.save(tmp_path / "clapnq.html").stat().st_size < 5_000_000


def test_pubmedqa_end_to_end(tmp_path: Path) -> None:
    """100 medical questions over 1,000 abstracts: every example is accounted for, in domain text."""
    rows = json.loads((DATA / "pubmedqa/ori_pqal.json").read_text())
    documents = [Document(key, "", " ".join(row["CONTEXTS"])) for key, row in rows.items()]
    examples = [
        Example(
            key,
            row["QUESTION"],
            references=(row["LONG_ANSWER"],),
            relevant=(Relevant((key,)),),
            answerable=True,
            segments={"verdict": row["final_decision"]},
        )
        for key, row in rows.items()
    ]
    card = evaluated("pubmedqa", documents, examples[::10], store_at(tmp_path))
    consistent(card)
    assert card["recall@5"].scored == 100
    assert (card["recall@5"].mean or 0) > 0.8
    assert set(card.card.segments["verdict"]) == {"yes", "no", "maybe"}


def test_ragchecker_file_has_no_passages(tmp_path: Path) -> None:
    """RAGChecker's published answers come without passages: context metrics are not applicable, never 0."""
    path = DATA / "ragchecker_meta/baseline_ragchecker.json"
    card = run_coroutine(lambda: _imported(path, store_at(tmp_path)))
    consistent(card)
    for name in ("context_recall", "context_precision", "faithfulness", "contradicted", "ignored_top_ranked"):
        assert card[name].not_applicable == card.card.n, name
        assert card[name].mean is None
    for name in ("answer_correctness", "answer_recall", "answer_relevance", "token_f1"):
        assert card[name].scored > 0.9 * card.card.n, name


async def _imported(path: Path, store: str) -> rg.Scorecard:
    from ragauge.evaluation.evaluate.verb import evaluate_source as evaluated_source
    from ragauge.verbs.evaluate_options import EvaluateOptions

    source = InputSource((str(path),), system="model1")
    return await evaluated_source(EvaluateOptions(source, workers=1, store=store))
