"""Verdicts and causes of the responses that people labeled: their labels as facts, and what is decided anew by them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ragauge.core.errors import RagaugeError
from ragauge.core.facts import NO_LABELS, JudgeFacts, LabelFacts
from ragauge.core.label import SCORE_PREFIX, Label
from ragauge.core.verdict import ExampleVerdict
from ragauge.engine.label_questions import build_key, resolve_question
from ragauge.engine.metric_values import decide_response
from ragauge.judges.inputs import build_inputs
from ragauge.judges.judge import answer_asks
from ragauge.judges.people import LABEL_QUESTIONS, PeopleJudge, collect_votes
from ragauge.metrics.facts import Facts
from ragauge.scores.results.scorecard import Cause
from ragauge.store.database import split_batches
from ragauge.store.responses import StoredResponse
from ragauge.store.store_access import Store

NEUTRAL_SCORE = 0.5  # of people's scores: above it they say yes, at it nothing
# metric whose scores by people say whether an answer is right, the first that they scored
CORRECTNESS_METRICS = (
    "answer_correctness",
    "answer_grade",
    "answer_recall",
    "answer_contains",
    "exact_match",
    "criteria_met",
)
# metric whose scores by people say whether the passages support an answer -> what a score above the middle says
SUPPORT_METRICS = {"faithfulness": ("not_supported", "supported"), "unsupported": ("supported", "not_supported")}
BATCH_SIZE_RESPONSES = 100  # responses with their texts and evidence in memory


def read_label_facts(store: Store, items: Sequence[StoredResponse]) -> dict[int, LabelFacts]:
    """Number of a response -> what people labeled of it, by the guideline that they labeled it by last.

    Responses of which nobody labeled anything that verdicts rest on are absent.
    """
    questions = [question for question in store.labels.questions() if affects_verdict(question)]
    keys = {item.response_no: _find_keys(item, questions) for item in items} if questions else {}
    every = {key for by_question in keys.values() for key in by_question.values()}
    by_key: dict[str, list[Label]] = {}
    for label in store.labels.of(every) if every else ():
        by_key.setdefault(label.key, []).append(label)
    facts_by_number = {}
    for item in items if by_key else ():
        labels = {question: by_key[key] for question, key in keys[item.response_no].items() if key in by_key}
        if labels:
            facts_by_number[item.response_no] = _build_facts(item, labels)
    return facts_by_number


def affects_verdict(question: str) -> bool:
    """Whether verdicts rest on labels of a question."""
    metric = question.removeprefix(SCORE_PREFIX)
    return metric == question or metric in CORRECTNESS_METRICS or metric in SUPPORT_METRICS


def _find_keys(item: StoredResponse, questions: Sequence[str]) -> dict[str, str]:
    """Question -> key of what it sees of a response."""
    keys = {}
    for question in questions:
        try:
            key = build_key(resolve_question(question), item)
        except RagaugeError:  # of a metric that there is no longer
            continue
        if key is not None:
            keys[question] = key
    return keys


def _build_facts(item: StoredResponse, labels: Mapping[str, Sequence[Label]]) -> LabelFacts:
    last = {
        question: [label for label in several if label.guideline == several[-1].guideline]
        for question, several in labels.items()
    }
    judge = PeopleJudge(
        [*(label for several in last.values() for label in several), *_build_support_label(item, last)], "", ""
    )
    facts: dict[str, JudgeFacts] = {}
    for question in LABEL_QUESTIONS:
        inputs = build_inputs(question, item.example, item.response, {})
        if inputs is not None and judge.has_labels(inputs):
            facts[question] = answer_asks(judge.ask(inputs), lambda _: [])
    scores = (_mean_score(last.get(SCORE_PREFIX + metric, ())) for metric in CORRECTNESS_METRICS)
    score = next((score for score in scores if score is not None), NEUTRAL_SCORE)
    return LabelFacts(facts, None if score == NEUTRAL_SCORE else score > NEUTRAL_SCORE)


def _build_support_label(item: StoredResponse, labels: Mapping[str, Sequence[Label]]) -> list[Label]:
    """Scores of support as a label of the whole answer, where nobody labeled its support itself."""
    key = build_key("support", item)
    if "support" in labels or key is None:
        return []
    for metric, values in SUPPORT_METRICS.items():
        score = _mean_score(labels.get(SCORE_PREFIX + metric, ()))
        if score is not None and score != NEUTRAL_SCORE:
            return [Label(key, None, "support", values[score > NEUTRAL_SCORE])]
    return []


def _mean_score(labels: Sequence[Label]) -> float | None:
    """The mean of what people said; None where nobody could tell."""
    scores = [float(vote) for vote in collect_votes(labels).get(None, ())]
    return sum(scores) / len(scores) if scores else None


def find_equal_texts(store: Store, numbers: Collection[int]) -> dict[str, set[int]]:
    """Run id -> numbers of its responses that the labels of some responses decide: these, and all of equal texts.

    They are those that an import of the same labels finds, in all runs but those of studies.
    """
    questions = [question for question in store.labels.questions() if affects_verdict(question)]
    numbers_by_run: dict[str, set[int]] = {}
    for batch in split_batches(sorted(numbers) if questions else (), BATCH_SIZE_RESPONSES):
        items = store.runs.load(batch)
        keys = {key for item in items for key in _find_keys(item, questions).values()}
        labeled = {label.key for label in store.labels.of(keys)}
        others = store.question_runs.find_responses({item.example.query for item in items}) if labeled else {}
        for run_id, same_question in others.items():
            for few in split_batches(same_question, BATCH_SIZE_RESPONSES):
                for item in store.runs.load(few):
                    if not labeled.isdisjoint(_find_keys(item, questions).values()):
                        numbers_by_run.setdefault(run_id, set()).add(item.response_no)
    return numbers_by_run


def decide_again(store: Store, run_id: str, numbers: Collection[int]) -> None:
    """Stores anew the verdicts and causes of responses that were decided before, by the labels that there are now.

    Nothing is asked: they rest on the evidence that each judge of the run left. Responses that nobody decided are left
    to the evaluation.
    """
    for batch in split_batches(sorted(numbers), BATCH_SIZE_RESPONSES):
        items = {item.response_no: item for item in store.runs.load(batch)}
        labels = read_label_facts(store, list(items.values()))
        for (judge_id, repeat, by), decided in store.verdicts.decided(run_id, [*labels]).items():
            with store.transaction():  # no evaluation changes the evidence meanwhile
                affected = [items[number] for number in decided]
                decisions = _decide_items(store, run_id, (judge_id, repeat), affected, labels)
                causes = {number: cause for number, (_, cause) in decisions.items()}
                store.causes.write(run_id, judge_id, causes, repeat)
                verdicts = {number: verdict for number, (verdict, _) in decisions.items()}
                store.verdicts.write(run_id, judge_id, verdicts, repeat, controls=by)


def decide_without_labels(
    store: Store, run_id: str, judge_id: str | None, numbers: Collection[int]
) -> dict[int, ExampleVerdict]:
    """Number of a response -> the verdict on it without people's labels, by the evidence that its judge left."""
    verdicts: dict[int, ExampleVerdict] = {}
    for batch in split_batches(sorted(numbers), BATCH_SIZE_RESPONSES):
        decided = _decide_items(store, run_id, (judge_id, 0), store.runs.load(batch), {})
        verdicts |= {number: verdict for number, (verdict, _) in decided.items()}
    return verdicts


def _decide_items(
    store: Store,
    run_id: str,
    judge: tuple[str | None, int],
    items: Sequence[StoredResponse],
    labels: Mapping[int, LabelFacts],
) -> dict[int, tuple[ExampleVerdict, Cause | None]]:
    """Number of a response -> verdict and cause, by the evidence that a judge, asked so many times before, left."""
    judge_id, repeat = judge
    numbers, listing = [item.response_no for item in items], store.listings.read(run_id)
    evidence = {} if judge_id is None else store.evidence.load_linked(numbers, judge_id, repeat)
    controls = None if judge_id is None else store.controls.read(run_id, judge_id, repeat)
    decisions = {}
    for item in items:
        evidence_by_question = {packed.question: packed.evidence() for packed in evidence.get(item.response_no, ())}
        readability = None if controls is None else controls.build_readability(item.example, item.response)
        label_facts = labels.get(item.response_no, NO_LABELS)
        facts = Facts(item.example, item.response, evidence_by_question, readability=readability, labels=label_facts)
        decisions[item.response_no] = decide_response(facts, {}, listing)
    return decisions
