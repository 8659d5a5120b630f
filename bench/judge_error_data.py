"""What the local judge says of texts whose truth people have told, or that is known by how they were put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from evidence_data import SETS, Asked, asked, beside_hardest, tatqa, xquad
from judge_data import SYSTEMS, accepted_answers, claims, questions_and_references

from ragauge.core.ask import Ask, Reply
from ragauge.core.example import Example
from ragauge.core.facts import Evidence, JudgeFacts
from ragauge.core.response import Passage, Response
from ragauge.engine.judge_error import detect_layout_and_language
from ragauge.judges.inputs import build_inputs
from ragauge.judges.judge import answer_asks
from ragauge.judges.known_texts import KnownText, list_languages, read_known_texts
from ragauge.judges.local.judge import LocalJudge
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.text.table_rows import LAYOUTS, Layout

SEED = 20_261_123
QUESTIONS = 100  # of each set with gold passages: the mean over them is known to a few points
ANSWERED = 150  # questions of EVOUNA, each with five answers
TRANSLATED = 60  # questions of every other language
TRANSLATIONS = ("ar", "de", "el", "es", "hi", "ru", "th", "tr", "vi", "zh")  # of XQuAD
FEWEST_WORDS = 4  # of a sentence; fewer where a script writes no spaces
CHUNK = 4  # characters that stand for a word there
PAIRS = 250  # questions of AttributionBench beside a reference, by source


class Item(NamedTuple):
    """One text that was judged.

    Attributes:
        metric: printed name.
        source: the data set, or the part of it that was made by another system, is in another language or layout.
        layout: of its passages, or of the text where there are none.
        language: of it and its question.
        question: what the items of one question share.
        truth: what people say, or what is so by construction: 0 or 1.
        value: the metric by the judge.
        length: of the text in characters, which systems differ in.
    """

    metric: str
    source: str
    layout: Layout
    language: str
    question: str
    truth: float
    value: float
    length: int


class Case(NamedTuple):
    """An example to judge, with the truth of some metrics."""

    source: str
    example: Example
    response: Response
    truth: Mapping[str, float]
    length: int


class Judged:
    """Asks the local judge as an evaluation does, with the embedded embedder."""

    def __init__(self) -> None:
        self.judge = LocalJudge()
        self.embedder = WordLlamaEmbedder()

    def items(self, case: Case) -> Iterator[Item]:
        """The metrics of a case; one without a value is left out, as it is out of a mean."""
        metrics = [parse_metric(name) for name in case.truth]
        found = self._evidence(case, metrics)
        facts = Facts(case.example, case.response, found)
        layout, language = detect_layout_and_language(case.example, case.response)
        for metric, measured in zip(metrics, measure_all(metrics, facts), strict=True):
            if measured.value is not None and measured.status == "scored":
                name = str(metric)
                yield Item(
                    name,
                    case.source,
                    layout,
                    language,
                    case.example.query_id,
                    case.truth[name],
                    measured.value,
                    case.length,
                )

    def _evidence(self, case: Case, metrics: Sequence[Metric]) -> dict[str, Evidence]:
        wanted = {need.partition(".")[0] for metric in metrics for need in metric.needs.values()}
        wanted |= {"verify_answer"} if "agree" in wanted else set()
        known: dict[str, JudgeFacts] = {}
        for question in ("verify_answer", "verify_reference", "rate_passages", "agree"):
            inputs = build_inputs(question, case.example, case.response, known) if question in wanted else None
            if inputs is not None:
                known[question] = answer_asks(self.judge.ask(inputs), self._answer)
        return {
            name: Evidence(name, name, self.judge.version(name), self.judge.judge_id, "ok", facts)
            for name, facts in known.items()
        }

    def _answer(self, asks: Sequence[Ask]) -> list[Reply]:
        return [Reply("ok", vectors=self.embedder.embed([text for _, text in ask.messages])) for ask in asks]


def items() -> list[Item]:
    """Everything that was judged, in a fixed order."""
    judged = Judged()
    return [item for cases in CASES for case in cases() for item in judged.items(case)]


def build_case(
    source: str,
    query_id: str,
    query: str,
    passages: Sequence[str],
    answer: str | None,
    reference: Sequence[str],
    truth: Mapping[str, float],
) -> Case:
    """A case whose passages are documents of their own."""
    texts = tuple(Passage(f"p{n}", f"d{n}", text) for n, text in enumerate(passages))
    length = len(answer) if answer is not None else sum(map(len, reference or passages))
    return Case(
        source,
        Example(query_id, query, references=tuple(reference)),
        Response(query_id, passages=texts, answer=answer),
        truth,
        length,
    )


def labelled_claims() -> Iterator[Case]:
    """Claims that people called supported or not: as the answer, and as what a reference asks for."""
    for n, row in enumerate(claims()):
        truth = float(row.supported)
        yield build_case(
            row.source,
            f"c{n}",
            row.claim,
            row.passages,
            row.claim,
            (row.claim,),
            {"faithfulness": truth, "context_recall": truth},
        )


def with_gold() -> Iterator[Case]:
    """Right answers beside their evidence, and beside passages that rank high for the question without holding it.

    XQuAD stands in every language, and TAT-QA also as a reader of PDF files leaves its tables: one cell a line.
    """
    for source in SETS:
        yield from beside_evidence(asked(source, QUESTIONS))
    for language in TRANSLATIONS:
        yield from beside_evidence(beside_hardest(f"XQuAD {language}", list(xquad(language)), TRANSLATED))
    cells = [(*row, tuple(text.replace("\t", "\n") for text in gold)) for *row, gold in tatqa()]
    yield from beside_evidence(beside_hardest("TAT-QA cells", cells, QUESTIONS))


def beside_evidence(every: Sequence[Asked]) -> Iterator[Case]:
    """Each question with its gold passages among others, and with the others alone."""
    draw = Random(SEED)
    for n, one in enumerate(every):
        given = [*one.gold, *one.others]
        draw.shuffle(given)
        # conclusions of abstracts say more than the abstracts without them, so nobody has told what bears them out
        borne = {} if one.source == "PubMedQA" else {"faithfulness": 1.0}
        yield _gold(one, given, one.answer, {**borne, "context_recall": 1.0, "answer_relevance": 1.0})
        other = every[(n + 1) % len(every)].answer
        yield _gold(one, one.others, one.answer, {"faithfulness": 0.0, "context_recall": 0.0})
        yield _gold(one, one.gold, other, {"answer_relevance": 0.0})
        yield _gold(one, one.gold, None, {"context_precision": 1.0})
        yield _gold(one, one.others, None, {"context_precision": 0.0})


def shipped() -> Iterator[Case]:
    """Half the words of a part of each shipped document, beside that document and beside the other one of its topic."""
    for language in list_languages():
        for layout in LAYOUTS:
            documents = read_known_texts(language, layout)
            by_id = {document.doc_id: document for document in documents}
            for document in documents:
                yield from _half(document, by_id[document.near_doc_id], f"shipped {layout} {language}")


def _half(document: KnownText, near: KnownText, source: str) -> Iterator[Case]:
    words = max(document.parts, key=len).replace("|", " ").split()
    if len(words) < FEWEST_WORDS:
        text = "".join(words)
        words = [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]
    half = " ".join(words[::2])
    for passage, truth in ((document.text, 1.0), (near.text, 0.0)):
        told = dict.fromkeys(("faithfulness", "context_recall", "context_precision"), truth)
        yield build_case(source, document.doc_id, half, (passage,), half, (half,), told)


def _gold(one: Asked, passages: Sequence[str], answer: str | None, truth: Mapping[str, float]) -> Case:
    return build_case(one.source, one.query_id, one.query, passages, answer, (one.reference,), truth)


def references_of_questions() -> Iterator[Case]:
    """A question's own references, and those of other questions that rank highest for it."""
    taken: dict[str, int] = {}
    for n, pair in enumerate(questions_and_references()):
        taken[pair.source] = taken.get(pair.source, 0) + 1
        if taken[pair.source] <= PAIRS:
            yield build_case(
                pair.source, f"{pair.query}", pair.query, (pair.text,), None, (), {"context_precision": float(pair.own)}
            )
        del n


def answered() -> Iterator[Case]:
    """Answers of five systems that people called right or wrong, and the answers beside another question."""
    rows = Random(SEED).sample(accepted_answers(), ANSWERED)
    for n, row in enumerate(rows):
        other = rows[(n + 1) % len(rows)]
        for system in SYSTEMS:
            truth = float(row.right[system])
            graded = dict.fromkeys(("answer_recall", "answer_precision", "answer_correctness"), truth)
            yield build_case(
                f"EVOUNA {system}",
                f"e{n}",
                row.query,
                (),
                row.answers[system],
                row.accepted,
                {**graded, "answer_relevance": 1.0},
            )
            yield build_case(
                f"EVOUNA {system}", f"e{n}", row.query, (), other.answers[system], (), {"answer_relevance": 0.0}
            )


CASES: tuple[Callable[[], Iterator[Case]], ...] = (
    labelled_claims,
    with_gold,
    shipped,
    references_of_questions,
    answered,
)
