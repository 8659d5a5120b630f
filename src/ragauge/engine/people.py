"""People's labels and a run: which of its responses they tell of, and what they make of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.analysis.estimating import LEAST_LABELS
from ragauge.data.facts import AnswerFacts
from ragauge.data.label import TOLD, Label, LabelTask, Part, label_key, last_said, part_text
from ragauge.data.labelled import LABELS, Labelled, LabelledPart
from ragauge.engine.judge_batch import Work, judge_batch
from ragauge.errors import UnknownName, UsageError
from ragauge.judging.inputs import inputs_for
from ragauge.judging.people.judge import NO_GUIDELINE, PREFIX, QUESTIONS, PeopleJudge, votes
from ragauge.metrics.catalogue import parse, questions
from ragauge.store.labels import LabelDraw
from ragauge.store.open import Store
from ragauge.store.responses import Loaded
from ragauge.text.sentences import split

DRAW = "Draw some with: ragauge label draw RUN -o page.html"
AT_A_TIME = 100     # responses with their texts in memory
ASKED_OF: Mapping[str, str] = {label: question for question, label in QUESTIONS.items()}


def is_people(judge: object) -> bool:
    """Whether a spec or a judge's id means people."""
    return isinstance(judge, str) and (judge == PREFIX.rstrip(":") or judge.startswith(PREFIX))


def people_judge(store: Store, spec: str) -> PeopleJudge:
    """The judge that people's labels make: people:GUIDELINE, by the hash of the instructions or how it begins.

    Raises:
        UsageError: there are no labels, or by several instructions and none is named.
        UnknownName: nobody labelled by these.
    """
    there = store.labels.guidelines()
    if not there:
        raise UsageError(f"--judge {spec}: nobody has labelled anything. {DRAW}")
    wanted = spec.partition(":")[2].partition("#")[0]
    names = {name or NO_GUIDELINE: name for name in there}
    found = [name for name in names if name.startswith(wanted)]
    if len(found) > 1 and wanted not in names:
        raise UsageError(f"--judge {spec}: labels by {len(found)} guidelines: {', '.join(found)}. Name one of them.")
    if not found:
        raise UnknownName("guideline of labels", wanted, names)
    guideline = names[wanted if wanted in names else found[0]]
    return PeopleJudge(store.labels.list(guideline), guideline, store.labels.digest(guideline))


def responses_of(store: Store, run_id: str, among: Collection[int] | None = None) -> Iterator[Loaded]:
    """The responses of a run with their examples, or some of them by number, read as a stream."""
    numbers = [n for n in store.runs.order(run_id).numbers if among is None or n in among]
    for start in range(0, len(numbers), AT_A_TIME):
        yield from store.runs.load(numbers[start : start + AT_A_TIME])


def labelled(store: Store, run_id: str, judge: PeopleJudge) -> frozenset[int]:
    """Numbers of the responses of a run that people labelled.

    Raises:
        UsageError: none is.
    """
    found = frozenset(one.response_no for one in responses_of(store, run_id) if _knows(judge, one))
    if not found:
        raise UsageError(
            f"no label by {judge.judge_id.partition('#')[0]} is of a response of this run: a label counts where "
            f"question, passages and answer are the same. {DRAW}"
        )
    return found


def _knows(judge: PeopleJudge, item: Loaded) -> bool:
    asked = (inputs_for(question, item.example, item.response, {}) for question in QUESTIONS)
    return any(inputs is not None and judge.knows(inputs) for inputs in asked)


def key_of(question: str, item: Loaded) -> str | None:
    """The key of what a label's question sees of a response; None where it does not apply."""
    inputs = inputs_for(ASKED_OF.get(question, "verify_answer"), item.example, item.response, {})
    if inputs is None or item.response.passages is None:
        return None
    texts = [one.text or "" for one in item.response.passages]
    return label_key(question, item.example.query, texts, item.response.answer or "")


def task_of(question: str, item: Loaded, *, whole: bool) -> LabelTask:
    """What people see of a response; its sentences, its passages, or the whole of its answer are labelled."""
    texts = tuple(one.text or "" for one in item.response.passages or ())
    answer = item.response.answer or ""
    parts: tuple[Part, ...] = (None,)
    if question == "relevance":
        parts = tuple(range(1, len(texts) + 1))
    elif not whole:
        parts = tuple((one.start, one.end) for one in split(answer)) or (None,)
    return LabelTask(key_of(question, item) or "", item.example.query, texts, answer, parts)


def differing(labels: Sequence[Label]) -> dict[str, list[Part]]:
    """Key -> the parts, in order, on which most annotators do not agree and nobody adjudicated."""
    by_key: dict[str, list[Label]] = {}
    for label in labels:
        by_key.setdefault(label.key, []).append(label)
    found = {
        key: sorted((part for part, said in votes(mine).items() if len(set(said)) > 1), key=part_text)
        for key, mine in by_key.items()
    }  # fmt: skip
    return {key: parts for key, parts in found.items() if parts}


def labelled_rows(store: Store, run_id: str) -> list[Labelled]:
    """What people labelled of a run, as `judge check` reads it: by the guideline of its last draw, else the commonest.

    Parts with nothing to check, and labels of who could not tell, are left out.

    Raises:
        UsageError: no label of support is of a response of this run.
    """
    draws, there = store.draws.of_run(run_id, "support"), store.labels.guidelines()
    guideline = draws[-1].guideline if draws else next(iter(there), "")
    items = {key_of("support", one): one for one in responses_of(store, run_id)}
    by_key: dict[str, list[Label]] = {}
    for label in last_said(store.labels.of({key for key in items if key}, "support")):
        if label.guideline == guideline and label.value in LABELS:
            by_key.setdefault(label.key, []).append(label)
    if not by_key:
        raise UsageError(f"nobody labelled the support of an answer of this run. {DRAW}")
    return [_row(item, by_key[key]) for key, item in items.items() if key in by_key]


def _row(item: Loaded, labels: Sequence[Label]) -> Labelled:
    answer, parts = item.response.answer or "", []
    for part in sorted({label.part for label in labels}, key=lambda one: one if isinstance(one, tuple) else (0, 0)):
        mine = sorted((one for one in labels if one.part == part), key=lambda one: one.annotator)
        said = tuple(one for label in mine for one in LABELS if one == label.value)
        start, end = part if isinstance(part, tuple) else (0, len(answer))
        parts.append(LabelledPart(start, end, said, tuple(label.annotator for label in mine)))
    texts = tuple(one.text or "" for one in item.response.passages or ())
    found, segments = item.example, dict(item.example.segments)
    return Labelled(found.query_id, found.query, texts, answer, tuple(parts), segments)


@dataclass(frozen=True, slots=True)
class PeopleScores:
    """What people make of the responses that were drawn from a run and labelled.

    Attributes:
        values: printed name of a metric -> number of a response -> its score by people; only what is scored.
        inclusion: number of a response -> the chance that it had of being drawn; empty where all had the same.
        drawn: how many responses were drawn.
        labelled: numbers of those of them that have labels.
        guideline: hash of their instructions.
    """

    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    inclusion: Mapping[int, float] = field(default_factory=dict)
    drawn: int = 0
    labelled: frozenset[int] = frozenset()
    guideline: str = ""


def people_scores(store: Store, run_id: str) -> tuple[PeopleScores, ...]:
    """Scores by people of what was drawn from a run, for each question that was asked of it; () where nothing was.

    Draws by one guideline, of sentences or of whole answers, belong together; of several such the last with labels
    enough to rectify counts, else the last. By the same code as every judge's: labels fill the evidence, metrics are
    computed from it. Nothing is stored.

    Args:
        store: where run, draws and labels are.
        run_id: the run.
    """
    together: dict[str, dict[tuple[str, str], list[LabelDraw]]] = {}
    for draw in store.draws.of_run(run_id):
        mine = together.setdefault(draw.question, {})
        mine[draw.guideline, draw.by] = [*mine.pop((draw.guideline, draw.by), []), draw]
    found = []
    for groups in together.values():
        scores = [_of_draws(store, run_id, draws) for draws in reversed(groups.values())]
        found.append(next((one for one in scores if len(one.labelled) >= LEAST_LABELS), scores[0]))
    return tuple(found)


def _of_draws(store: Store, run_id: str, draws: Sequence[LabelDraw]) -> PeopleScores:
    question, guideline = draws[0].question, draws[0].guideline
    drawn: frozenset[int] = frozenset().union(*(one.drawn for one in draws))
    keys = {one.response_no: key_of(question, one) or "" for one in responses_of(store, run_id, drawn)}
    there = store.labels.of({key for key in keys.values() if key}, question)
    labels = [one for one in there if one.guideline == guideline]
    known = {one.key for one in labels}
    numbers = frozenset(number for number, key in keys.items() if key in known)
    values = _values(store, list(responses_of(store, run_id, numbers)), PeopleJudge(labels, guideline, ""))
    return PeopleScores(values, _chances(draws, drawn), len(drawn), numbers, guideline)


def _values(store: Store, items: Sequence[Loaded], judge: PeopleJudge) -> dict[str, dict[int, float]]:
    """Metric -> number of a response -> its score by people."""
    told = tuple(parse(name) for name in TOLD if judge.tells(name))
    asked = tuple(question for question in questions(told) if judge.answers(question))
    values: dict[str, dict[int, float]] = {str(metric): {} for metric in told}
    for one in judge_batch(items, Work(told, asked, judge), store.evidence).judged if items and told else ():
        for metric, measured in zip(told, one.measured, strict=True):
            if measured.value is not None:
                values[str(metric)][one.response_no] = measured.value
    return values


def _chances(draws: Sequence[LabelDraw], drawn: frozenset[int]) -> dict[int, float]:
    """The chance that each response had in all draws together; empty where all had the same."""
    found = {}
    for number in drawn:
        missed = 1.0
        for draw in draws:
            missed *= 1 - draw.inclusion.get(number, 0.0)
        found[number] = 1 - missed
    return {} if len({round(one, 12) for one in found.values()}) < 2 else found


def supported_answers(store: Store, run_id: str, judge_id: str | None) -> dict[int, float]:
    """Number of a response -> 1 where a judge finds every claim of its answer supported, else 0.

    What claims nothing, and what a verdict is lacking of, is left out.
    """
    found: dict[int, float] = {}
    numbers = store.runs.order(run_id).numbers
    for number, mine in (store.evidence.linked(numbers, judge_id) if judge_id is not None else {}).items():
        for packed in mine:
            facts = packed.evidence().facts if packed.question == "verify_answer" else None
            if isinstance(facts, AnswerFacts) and facts.claims and all(one.label for one in facts.claims):
                found[number] = float(all(one.supporting for one in facts.claims))
    return found
