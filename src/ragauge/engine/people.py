"""People's labels and a run: which of its responses they tell of, and what they make of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.facts import AnswerFacts
from ragauge.core.human_labels import LABELS, LabeledAnswer, LabeledPart
from ragauge.core.label import SCORE_PREFIX, Label, Part, format_part, select_latest_labels
from ragauge.engine.judge_batch import Work, judge_batch
from ragauge.engine.label_questions import build_key
from ragauge.judges.inputs import VerifyAnswer, build_inputs
from ragauge.judges.people import LABEL_QUESTIONS, NO_GUIDELINE, PREFIX, PeopleJudge, collect_votes, is_unclear
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.readers.answers import build_unlabeled_row
from ragauge.scores.estimation import MIN_LABELS
from ragauge.store.labels import LabelDraw
from ragauge.store.responses import StoredResponse
from ragauge.store.store_access import Store
from ragauge.text.markup import blank_markup

DRAW_HINT = "Draw some with: ragauge label draw latest -o page.html"
BATCH_SIZE_RESPONSES = 100  # responses with their texts in memory


def is_people_judge(judge: object) -> bool:
    """Whether a spec or a judge's id means people."""
    return isinstance(judge, str) and (judge == PREFIX.rstrip(":") or judge.startswith(PREFIX))


def find_people_judge(store: Store, spec: str, metrics: Sequence[str] = ()) -> PeopleJudge:
    """The judge that people's labels make: people:GUIDELINE, by the hash of the instructions or how it begins.

    Args:
        store: where the labels are.
        spec: of several guidelines that it may mean, the one whose labels tell of a metric asked for.
        metrics: printed names of what is asked for.

    Raises:
        UsageError: there are no labels, or by several instructions and none is named.
        UnknownName: nobody labelled by these.
    """
    guidelines = store.labels.count_by_guideline()
    if not guidelines:
        raise UsageError(f"--judge {spec}: there are no labels. {DRAW_HINT}")
    requested = spec.partition(":")[2].partition("#")[0]
    names = {name or NO_GUIDELINE: name for name in guidelines}
    matches = [name for name in names if name.startswith(requested)]
    if len(matches) > 1 and requested not in names:
        judges = [_build_judge(store, names[name]) for name in matches]
        telling = [judge for judge in judges if any(map(judge.has_metric, metrics))]
        if len(telling) == 1:
            return telling[0]
        raise UsageError(
            f"--judge {spec}: there are labels from {len(matches)} guidelines: {', '.join(matches)}. Choose one."
        )
    if not matches:
        raise UnknownName("guideline of labels", requested, names)
    return _build_judge(store, names[requested if requested in names else matches[0]])


def _build_judge(store: Store, guideline: str) -> PeopleJudge:
    return PeopleJudge(store.labels.list(guideline), guideline, store.labels.compute_digest(guideline))


def iter_responses(store: Store, run_id: str, only: Collection[int] | None = None) -> Iterator[StoredResponse]:
    """The responses of a run with their examples, or some of them by number, read as a stream."""
    numbers = [n for n in store.runs.load_order(run_id).numbers if only is None or n in only]
    for start in range(0, len(numbers), BATCH_SIZE_RESPONSES):
        yield from store.runs.load(numbers[start : start + BATCH_SIZE_RESPONSES])


def format_response_name(item: StoredResponse) -> str:
    """What tells a response from others in any run over the same set: draws go by it."""
    return f"{item.response.query_id} {item.response.repeat}"


@dataclass(frozen=True, slots=True)
class LabeledTexts:
    """What runs have of the texts that some labels are of."""

    #: (question, key) of a label -> characters of the answer and number of passages.
    sizes: Mapping[tuple[str, str], tuple[int, int]]
    numbers: Mapping[str, Collection[int]]  #: run id -> numbers of its responses with such texts.


def find_labeled_texts(store: Store, label_keys: Set[tuple[str, str]]) -> LabeledTexts:
    """The texts of some (question, key) of labels, in all runs but those of studies, which are read as a stream."""
    sizes: dict[tuple[str, str], tuple[int, int]] = {}
    numbers: dict[str, set[int]] = {}
    questions = {question for question, _ in label_keys}
    for run in store.runs.list() if label_keys else ():
        for item in iter_responses(store, run.run_id):
            for question in questions:
                if (key := (question, build_key(question, item) or "")) in label_keys:
                    sizes[key] = len(item.response.answer or ""), len(item.response.passages or ())
                    numbers.setdefault(run.run_id, set()).add(item.response_no)
    return LabeledTexts(sizes, numbers)


def find_labeled_responses(store: Store, run_id: str, judge: PeopleJudge) -> frozenset[int]:
    """Numbers of the responses of a run that people labelled.

    Raises:
        UsageError: none is.
    """
    numbers = frozenset(item.response_no for item in iter_responses(store, run_id) if _has_labels(judge, item))
    if not numbers:
        raise UsageError(
            f"no label of {judge.judge_id.partition('#')[0]} matches a response of this run. A label "
            f"counts only for the same question, passages and answer. {DRAW_HINT}"
        )
    return numbers


def _has_labels(judge: PeopleJudge, item: StoredResponse) -> bool:
    judge_inputs = (build_inputs(question, item.example, item.response, {}) for question in LABEL_QUESTIONS)
    scores = (SCORE_PREFIX + name for name in judge.list_metrics() if judge.scores(name))
    return any(inputs is not None and judge.has_labels(inputs) for inputs in judge_inputs) or any(
        judge.labels(build_key(score, item) or "") for score in scores
    )


def find_disagreements(labels: Sequence[Label]) -> dict[str, list[Part]]:
    """Key -> the parts, in order, on which most annotators do not agree and nobody adjudicated."""
    by_key: dict[str, list[Label]] = {}
    for label in labels:
        by_key.setdefault(label.key, []).append(label)
    parts_by_key = {
        key: sorted(
            (label_part for label_part, values in collect_votes(key_labels).items() if len(set(values)) > 1),
            key=format_part,
        )
        for key, key_labels in by_key.items()
    }
    return {key: label_parts for key, label_parts in parts_by_key.items() if label_parts}


def find_run_guideline(store: Store, run_id: str) -> str:
    """The hash of the instructions that a run's labels of support follow: of its last draw, else the commonest."""
    draws = store.draws.list_for_run(run_id, "support")
    return draws[-1].guideline if draws else next(iter(store.labels.count_by_guideline()), "")


def list_labeled_rows(store: Store, run_id: str, guideline: str) -> list[LabeledAnswer]:
    """What people labelled of a run by some instructions, as `judge check` reads it.

    Parts with nothing to check, and labels of who could not tell, are left out.

    Raises:
        UsageError: no label of support by these instructions is of a response of this run.
    """
    return list(load_labeled_responses(store, run_id, guideline).values())


def load_labeled_responses(store: Store, run_id: str, guideline: str) -> dict[int, LabeledAnswer]:
    """Number of a response -> what people labelled of it; see `list_labeled_rows`.

    Of equal texts one response stands.
    """
    numbers = store.cache_for_run(run_id, "keys of support", lambda: _map_numbers_by_key(store, run_id))
    by_key: dict[str, list[Label]] = {}
    for label in select_latest_labels(store.labels.of(numbers.keys(), "support")):
        if label.guideline == guideline and label.value in LABELS:
            by_key.setdefault(label.key, []).append(label)
    if not by_key:
        by = f" from the guideline {guideline}" if guideline else ""
        raise UsageError(f"no answer of this run has support labels{by}. {DRAW_HINT}")
    items = {item.response_no: item for item in iter_responses(store, run_id, {numbers[key] for key in by_key})}
    matches = [(number, key) for key, number in numbers.items() if key in by_key and number in items]
    return {number: _build_row(items[number], by_key[key]) for number, key in matches}


def _map_numbers_by_key(store: Store, run_id: str) -> dict[str, int]:
    """Key of what a label of support sees -> number of the response; of equal texts the last, which stands for all."""
    keyed = ((build_key("support", item), item.response_no) for item in iter_responses(store, run_id))
    return {key: number for key, number in keyed if key}


def list_answered_rows(store: Store, run_id: str) -> list[LabeledAnswer]:
    """The answers of a run with what they rest on: what people labelled in its parts, else sentences without labels.

    Responses without an answer or without the texts of their passages are left out.
    """
    try:
        labeled_rows = list_labeled_rows(store, run_id, find_run_guideline(store, run_id))
    except UsageError:
        labeled_rows = []  # nobody labelled any
    rows_by_text = {(row.query, row.passages, row.answer): row for row in labeled_rows}
    rows = []
    for item in iter_responses(store, run_id):
        inputs = build_inputs("verify_answer", item.example, item.response, {})
        if isinstance(inputs, VerifyAnswer) and inputs.passages and inputs.answer:
            unlabeled_row = build_unlabeled_row(item.example, inputs.passages, inputs.answer)
            rows.append(
                rows_by_text.get((unlabeled_row.query, unlabeled_row.passages, unlabeled_row.answer), unlabeled_row)
            )
    return rows


def _build_row(item: StoredResponse, labels: Sequence[Label]) -> LabeledAnswer:
    answer, labeled_parts = blank_markup(item.response.answer or ""), []
    for label_part in sorted(
        {label.part for label in labels},
        key=lambda label_or_value: label_or_value if isinstance(label_or_value, tuple) else (0, 0),
    ):
        part_labels = sorted(
            (label_or_value for label_or_value in labels if label_or_value.part == label_part),
            key=lambda label_or_value: label_or_value.annotator,
        )
        values = tuple(
            label_or_value for label in part_labels for label_or_value in LABELS if label_or_value == label.value
        )
        start, end = label_part if isinstance(label_part, tuple) else (0, len(answer))
        labeled_parts.append(LabeledPart(start, end, values, tuple(label.annotator for label in part_labels)))
    texts = tuple(label_or_value.text or "" for label_or_value in item.response.passages or ())
    example, segments = item.example, dict(item.example.segments)
    return LabeledAnswer(
        example.query_id,
        example.query,
        texts,
        answer,
        tuple(labeled_parts),
        segments,
        weight=item.response.weight,
        history=example.history,
    )


@dataclass(frozen=True, slots=True)
class PeopleScores:
    """What people make of the responses that were drawn from a run and labelled."""

    question: str = "support"  #: that people answered.
    #: printed name of a metric -> number of a response -> its score by people; only what is scored.
    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    #: number of a response -> the chance that it had of being drawn; empty where all had the same.
    inclusion: Mapping[int, float] = field(default_factory=dict)
    drawn: int = 0  #: how many responses were drawn.
    labelled: frozenset[int] = frozenset()  #: numbers of those of them that have labels.
    guideline: str = ""  #: hash of their instructions.
    #: numbers of those whose labels say not_supported, and not whether contradicted or not in the passages.
    unclear: frozenset[int] = frozenset()


def load_people_scores(store: Store, run_id: str) -> tuple[PeopleScores, ...]:
    """Scores by people of what was drawn from a run, for each question that was asked of it; () where nothing was.

    Draws by one guideline, of sentences or of whole answers, belong together; of several such the last with labels
    enough to rectify counts, else the last. By the same code as every judge's: labels fill the evidence, metrics are
    computed from it. Nothing is stored.

    Args:
        store: where run, draws and labels are.
        run_id: the run.
    """
    draws_by_question: dict[str, dict[tuple[str, str], list[LabelDraw]]] = {}
    for draw in store.draws.list_for_run(run_id):
        groups_by_guideline = draws_by_question.setdefault(draw.question, {})
        groups_by_guideline[draw.guideline, draw.by] = [*groups_by_guideline.pop((draw.guideline, draw.by), []), draw]
    scores_by_question = []
    for groups in draws_by_question.values():
        scores = [_score_draws(store, run_id, draws) for draws in reversed(groups.values())]
        scores_by_question.append(
            next((draw_scores for draw_scores in scores if len(draw_scores.labelled) >= MIN_LABELS), scores[0])
        )
    return tuple(scores_by_question)


def _score_draws(store: Store, run_id: str, draws: Sequence[LabelDraw]) -> PeopleScores:
    question, guideline = draws[0].question, draws[0].guideline
    sampled_numbers: frozenset[int] = frozenset().union(*(item.drawn for item in draws))
    keys = {
        item.response_no: build_key(question, item) or "" for item in iter_responses(store, run_id, sampled_numbers)
    }
    stored_labels = store.labels.of({key for key in keys.values() if key}, question)
    labels = [item for item in stored_labels if item.guideline == guideline]
    labeled_keys = {item.key for item in labels}
    numbers = frozenset(number for number, key in keys.items() if key in labeled_keys)
    judge = PeopleJudge(labels, guideline, "")
    values = _compute_values(store, list(iter_responses(store, run_id, numbers)), judge)
    unclear_numbers = frozenset(number for number in numbers if is_unclear(judge.labels(keys[number])))
    return PeopleScores(
        question,
        values,
        _compute_inclusion(draws, sampled_numbers),
        len(sampled_numbers),
        numbers,
        guideline,
        unclear_numbers,
    )


def _compute_values(store: Store, items: Sequence[StoredResponse], judge: PeopleJudge) -> dict[str, dict[int, float]]:
    """Metric -> number of a response -> its score by people."""
    metrics = tuple(map(parse_metric, judge.list_metrics()))
    answerable = tuple(question for question in list_questions(metrics) if judge.answers(question))
    values: dict[str, dict[int, float]] = {str(metric): {} for metric in metrics}
    for response in (
        judge_batch(items, Work(metrics, answerable, judge), store.evidence).judged if items and metrics else ()
    ):
        for metric, measured in zip(metrics, response.measured, strict=True):
            if measured.value is not None:
                values[str(metric)][response.response_no] = measured.value
    return values


def _compute_inclusion(draws: Sequence[LabelDraw], sampled_numbers: frozenset[int]) -> dict[int, float]:
    """The chance that each response had in all draws together; empty where all had the same."""
    inclusion = {}
    for number in sampled_numbers:
        not_sampled = 1.0
        for draw in draws:
            not_sampled *= 1 - draw.inclusion.get(number, 0.0)
        inclusion[number] = 1 - not_sampled
    return {} if len({round(chance, 12) for chance in inclusion.values()}) < 2 else inclusion


def load_supported_answers(store: Store, run_id: str, judge_id: str | None) -> dict[int, float]:
    """Number of a response -> 1 where a judge finds every claim of its answer supported, else 0.

    What claims nothing, and what a verdict is lacking of, is left out.
    """
    scores_by_number: dict[int, float] = {}
    numbers = store.runs.load_order(run_id).numbers
    for number, packed_evidence in (
        store.evidence.load_linked(numbers, judge_id) if judge_id is not None else {}
    ).items():
        for packed in packed_evidence:
            facts = packed.evidence().facts if packed.question == "verify_answer" else None
            if isinstance(facts, AnswerFacts) and facts.claims and all(claim.label for claim in facts.claims):
                scores_by_number[number] = float(all(claim.supporting for claim in facts.claims))
    return scores_by_number
