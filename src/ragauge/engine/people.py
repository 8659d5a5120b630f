"""People's labels and a run: which of its responses they tell of, and what they make of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.facts import AnswerFacts
from ragauge.core.human_labels import LABELS, Labelled, LabelledPart
from ragauge.core.label import SCORE, Label, Part, last_said, part_text
from ragauge.engine.judge_batch import Work, judge_batch
from ragauge.engine.label_questions import key_of
from ragauge.judges.inputs import VerifyAnswer, inputs_for
from ragauge.judges.people.judge import NO_GUIDELINE, PREFIX, QUESTIONS, PeopleJudge, unclear, votes
from ragauge.metrics.catalogue import parse, questions
from ragauge.readers.answers import answered_row
from ragauge.scores.estimation import LEAST_LABELS
from ragauge.store.labels import LabelDraw
from ragauge.store.responses import Loaded
from ragauge.store.store_access import Store
from ragauge.text.markup import blank_markup

DRAW = "Draw some with: ragauge label draw latest -o page.html"
AT_A_TIME = 100  # responses with their texts in memory


def is_people(judge: object) -> bool:
    """Whether a spec or a judge's id means people."""
    return isinstance(judge, str) and (judge == PREFIX.rstrip(":") or judge.startswith(PREFIX))


def people_judge(store: Store, spec: str, metrics: Sequence[str] = ()) -> PeopleJudge:
    """The judge that people's labels make: people:GUIDELINE, by the hash of the instructions or how it begins.

    Args:
        store: where the labels are.
        spec: of several guidelines that it may mean, the one whose labels tell of a metric asked for.
        metrics: printed names of what is asked for.

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
        judges = [_judge(store, names[name]) for name in found]
        telling = [one for one in judges if any(map(one.tells, metrics))]
        if len(telling) == 1:
            return telling[0]
        raise UsageError(f"--judge {spec}: labels by {len(found)} guidelines: {', '.join(found)}. Name one of them.")
    if not found:
        raise UnknownName("guideline of labels", wanted, names)
    return _judge(store, names[wanted if wanted in names else found[0]])


def _judge(store: Store, guideline: str) -> PeopleJudge:
    return PeopleJudge(store.labels.list(guideline), guideline, store.labels.digest(guideline))


def responses_of(store: Store, run_id: str, among: Collection[int] | None = None) -> Iterator[Loaded]:
    """The responses of a run with their examples, or some of them by number, read as a stream."""
    numbers = [n for n in store.runs.order(run_id).numbers if among is None or n in among]
    for start in range(0, len(numbers), AT_A_TIME):
        yield from store.runs.load(numbers[start : start + AT_A_TIME])


def drawn_name(item: Loaded) -> str:
    """What tells a response from others in any run over the same set: draws go by it."""
    return f"{item.response.query_id} {item.response.repeat}"


@dataclass(frozen=True, slots=True)
class LabeledTexts:
    """What runs have of the texts that some labels are of.

    Attributes:
        sizes: (question, key) of a label -> characters of the answer and number of passages.
        numbers: run id -> numbers of its responses with such texts.
    """

    sizes: Mapping[tuple[str, str], tuple[int, int]]
    numbers: Mapping[str, Collection[int]]


def find_labeled_texts(store: Store, wanted: Set[tuple[str, str]]) -> LabeledTexts:
    """The texts of some (question, key) of labels, in all runs but those of studies, which are read as a stream."""
    sizes: dict[tuple[str, str], tuple[int, int]] = {}
    numbers: dict[str, set[int]] = {}
    questions = {question for question, _ in wanted}
    for run in store.runs.list() if wanted else ():
        for item in responses_of(store, run.run_id):
            for question in questions:
                if (key := (question, key_of(question, item) or "")) in wanted:
                    sizes[key] = len(item.response.answer or ""), len(item.response.passages or ())
                    numbers.setdefault(run.run_id, set()).add(item.response_no)
    return LabeledTexts(sizes, numbers)


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
    scores = (SCORE + name for name in judge.told() if judge.scores(name))
    return any(inputs is not None and judge.knows(inputs) for inputs in asked) or any(
        judge.labels(key_of(score, item) or "") for score in scores
    )


def differing(labels: Sequence[Label]) -> dict[str, list[Part]]:
    """Key -> the parts, in order, on which most annotators do not agree and nobody adjudicated."""
    by_key: dict[str, list[Label]] = {}
    for label in labels:
        by_key.setdefault(label.key, []).append(label)
    found = {
        key: sorted((part for part, said in votes(mine).items() if len(set(said)) > 1), key=part_text)
        for key, mine in by_key.items()
    }
    return {key: parts for key, parts in found.items() if parts}


def guideline_of_run(store: Store, run_id: str) -> str:
    """The hash of the instructions that a run's labels of support follow: of its last draw, else the commonest."""
    draws = store.draws.of_run(run_id, "support")
    return draws[-1].guideline if draws else next(iter(store.labels.guidelines()), "")


def labelled_rows(store: Store, run_id: str, guideline: str) -> list[Labelled]:
    """What people labelled of a run by some instructions, as `judge check` reads it.

    Parts with nothing to check, and labels of who could not tell, are left out.

    Raises:
        UsageError: no label of support by these instructions is of a response of this run.
    """
    return list(labelled_responses(store, run_id, guideline).values())


def labelled_responses(store: Store, run_id: str, guideline: str) -> dict[int, Labelled]:
    """Number of a response -> what people labelled of it; see `labelled_rows`. Of equal texts one response stands."""
    numbers = store.of_run(run_id, "keys of support", lambda: _numbers_by_key(store, run_id))
    by_key: dict[str, list[Label]] = {}
    for label in last_said(store.labels.of(numbers.keys(), "support")):
        if label.guideline == guideline and label.value in LABELS:
            by_key.setdefault(label.key, []).append(label)
    if not by_key:
        by = f" by the guideline {guideline}" if guideline else ""
        raise UsageError(f"nobody labelled the support of an answer of this run{by}. {DRAW}")
    items = {one.response_no: one for one in responses_of(store, run_id, {numbers[key] for key in by_key})}
    wanted = [(number, key) for key, number in numbers.items() if key in by_key and number in items]
    return {number: _row(items[number], by_key[key]) for number, key in wanted}


def _numbers_by_key(store: Store, run_id: str) -> dict[str, int]:
    """Key of what a label of support sees -> number of the response; of equal texts the last, which stands for all."""
    keyed = ((key_of("support", one), one.response_no) for one in responses_of(store, run_id))
    return {key: number for key, number in keyed if key}


def answered_rows(store: Store, run_id: str) -> list[Labelled]:
    """The answers of a run with what they rest on: what people labelled in its parts, else sentences without labels.

    Responses without an answer or without the texts of their passages are left out.
    """
    try:
        labelled_here = labelled_rows(store, run_id, guideline_of_run(store, run_id))
    except UsageError:
        labelled_here = []  # nobody labelled any
    known = {(row.query, row.passages, row.answer): row for row in labelled_here}
    found = []
    for item in responses_of(store, run_id):
        inputs = inputs_for("verify_answer", item.example, item.response, {})
        if isinstance(inputs, VerifyAnswer) and inputs.passages and inputs.answer:
            plain = answered_row(item.example, inputs.passages, inputs.answer)
            found.append(known.get((plain.query, plain.passages, plain.answer), plain))
    return found


def _row(item: Loaded, labels: Sequence[Label]) -> Labelled:
    answer, parts = blank_markup(item.response.answer or ""), []
    for part in sorted({label.part for label in labels}, key=lambda one: one if isinstance(one, tuple) else (0, 0)):
        mine = sorted((one for one in labels if one.part == part), key=lambda one: one.annotator)
        said = tuple(one for label in mine for one in LABELS if one == label.value)
        start, end = part if isinstance(part, tuple) else (0, len(answer))
        parts.append(LabelledPart(start, end, said, tuple(label.annotator for label in mine)))
    texts = tuple(one.text or "" for one in item.response.passages or ())
    found, segments = item.example, dict(item.example.segments)
    return Labelled(
        found.query_id,
        found.query,
        texts,
        answer,
        tuple(parts),
        segments,
        weight=item.response.weight,
        history=found.history,
    )


@dataclass(frozen=True, slots=True)
class PeopleScores:
    """What people make of the responses that were drawn from a run and labelled.

    Attributes:
        question: that people answered.
        values: printed name of a metric -> number of a response -> its score by people; only what is scored.
        inclusion: number of a response -> the chance that it had of being drawn; empty where all had the same.
        drawn: how many responses were drawn.
        labelled: numbers of those of them that have labels.
        guideline: hash of their instructions.
        unclear: numbers of those whose labels say not_supported, and not whether contradicted or not in the passages.
    """

    question: str = "support"
    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    inclusion: Mapping[int, float] = field(default_factory=dict)
    drawn: int = 0
    labelled: frozenset[int] = frozenset()
    guideline: str = ""
    unclear: frozenset[int] = frozenset()


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
    judge = PeopleJudge(labels, guideline, "")
    values = _values(store, list(responses_of(store, run_id, numbers)), judge)
    vague = frozenset(number for number in numbers if unclear(judge.labels(keys[number])))
    return PeopleScores(question, values, _chances(draws, drawn), len(drawn), numbers, guideline, vague)


def _values(store: Store, items: Sequence[Loaded], judge: PeopleJudge) -> dict[str, dict[int, float]]:
    """Metric -> number of a response -> its score by people."""
    told = tuple(map(parse, judge.told()))
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
