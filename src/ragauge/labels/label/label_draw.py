"""Answers of a run are drawn for people to label."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.labels.label.options import LabelDrawOptions
from ragauge.labels.label.verb import guideline_named, judge_of
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.core.label import LabelTask
    from ragauge.core.response import Run
    from ragauge.labels.label.page_parts import LabelAsking
    from ragauge.store.labels import LabelDraw
    from ragauge.store.store_access import Store

# question of a page -> the metric of a judge that schemes go by; of score:METRIC that metric
SCHEME_METRIC = {
    "support": "faithfulness",
    "relevance": "context_precision",
    "address": "answer_relevance",
    "refuse": "refusal_correctness",
}
ENDINGS = (".html", ".jsonl")
SEEN_WORDS = {"answer": "an answer", "passages": "the texts of its passages", "references": "an accepted answer"}


@dataclass(frozen=True, slots=True)
class DrawnLabels:
    """What was drawn.

    Attributes:
        run: name of the run.
        paths: the page, the tasks, or both; () where none was written.
        answers: that people are asked about.
        parts: of them that are to be labelled.
        of: answers that could have been drawn.
        scheme: how; "" where nothing was drawn.
        guideline: hash of the instructions.
        draw: its number in the store, which the dashboard labels it by; 0 where nothing was drawn.
        before: answers that were drawn before by the same question and guideline, and of which this draw has none.
        again: it is a draw that is stored already: labels of it count once.
    """

    run: str
    paths: tuple[str, ...]
    answers: int
    parts: int
    of: int
    scheme: str
    guideline: str
    draw: int = 0
    before: int = 0
    again: bool = False


@keywords(LabelDrawOptions)
def label_draw(wanted: LabelDrawOptions) -> DrawnLabels:
    """Draws answers of a run for people to label, and writes the page, or the tasks, on which they do.

    The draw is stored with the chance that each answer had, so that labels of it rectify the run's means. The same
    examples are drawn from each run on a set, so that two runs are labelled on the same ones. Drawing again at random
    draws others; `again` writes the last draw once more, in another form or to another place.

    Options:
        run: a stored run: id, name or "latest".
        output: the file to write, or several of one draw: a page .html, which needs no server and asks for nothing, or
            tasks .jsonl; without one they are labelled in the dashboard, which keeps each label as it is given.
        n: so many answers.
        scheme: "random"; "verdict": half from what the judge calls wrong; "uncertain": the more uncertain the likelier.
        question: "support" of an answer's sentences by its passages, "relevance" of each passage, or of an answer as a
            whole "address", "refuse" and "score:METRIC": people see of it what the metric reads.
        by: "sentence", or "answer": one label for the whole of it, as every other question of an answer has.
        guideline: the instructions: a text file; ours by default.
        again: nothing is drawn: the last draw for this question and these instructions is written once more.
        disagreements: nothing is drawn: what annotators differ on is shown again, and settled by an adjudicator.
        judge: whose verdicts the schemes go by; the last that is not people by default.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no such run, question, scheme or judge.
        UsageError: a file of another ending, nothing to draw, or nothing that people differ on.
    """
    from ragauge.core.errors import UnknownName
    from ragauge.core.label import guideline_of
    from ragauge.engine.label_questions import choices_of, instructions_of, of_whole, question_named
    from ragauge.labels.label.page_parts import LabelAsking
    from ragauge.store.store_access import open_store

    paths = _paths(wanted)
    question = question_named(wanted.question)
    if wanted.by not in ("sentence", "answer"):
        raise UnknownName("unit of labels", wanted.by, ("sentence", "answer"))
    wanted = replace(wanted, question=question, by="answer" if of_whole(question) else wanted.by)
    hashed, text = guideline_named(wanted.guideline)
    instructions = text or ("" if hashed else instructions_of(question))
    asking = LabelAsking(question, choices_of(question), hashed or guideline_of(instructions), instructions)
    with open_store(store_url(wanted.store)) as store:
        run = store.runs.find(str(wanted.run))
        found = (_disputed if wanted.disagreements else _again if wanted.again else _drawn)(store, run, wanted, asking)
    for path in paths:
        _write(path, found.tasks, asking, wanted.disagreements)
    parts = sum(len(one.parts) for one in found.tasks)
    return DrawnLabels(
        run.name,
        tuple(map(str, paths)),
        len(found.tasks),
        parts,
        found.of,
        found.scheme,
        asking.guideline,
        found.draw_no,
        found.before,
        found.again,
    )


def _paths(wanted: LabelDrawOptions) -> list[Path]:
    """The files to write.

    Raises:
        UsageError: one of another ending; disagreements that nothing would show; two ways to choose what is asked.
    """
    given = wanted.output if wanted.output is not None else ()
    paths = [Path(one) for one in ((given,) if isinstance(given, str | os.PathLike) else given)]
    for path in paths:
        if path.suffix.lower() not in ENDINGS:
            raise UsageError(f"-o {path}: expected a file that ends in .html or .jsonl.")
    if not paths and wanted.disagreements:
        raise UsageError("label draw --disagreements: name the page to write: -o page.html.")
    if wanted.again and wanted.disagreements:
        raise UsageError("label draw: --again writes the last draw, --disagreements what people differ on. Give one.")
    return paths


class _Asked(NamedTuple):
    """What people are asked now, of how many answers it was drawn and how; see `DrawnLabels`."""

    tasks: list[LabelTask]
    of: int
    scheme: str = ""
    draw_no: int = 0
    before: int = 0
    again: bool = False


def _drawn(store: Store, run: Run, wanted: LabelDrawOptions, asking: LabelAsking) -> _Asked:
    """What people are asked now; the draw is stored, unless the same one is there."""
    from ragauge.engine.label_questions import key_of, seen_by
    from ragauge.engine.people import drawn_name, responses_of
    from ragauge.scores.label_sample import draw
    from ragauge.store.labels import LabelDraw

    names = {
        one.response_no: drawn_name(one)
        for one in responses_of(store, run.run_id)
        if key_of(wanted.question, one) is not None
        and (one.response.passages if wanted.question == "relevance" else (one.response.answer or "").strip())
    }
    if not names:
        lacks = " and ".join(SEEN_WORDS[one] for one in seen_by(wanted.question) if one in SEEN_WORDS)
        raise UsageError(f"run {run.name} has no response with {lacks}, which people see to label {wanted.question}.")
    names = _evaluated(store, run, wanted, names)
    before = _before(store, run, wanted, asking)
    gone: frozenset[int] = frozenset().union(*(one.drawn for one in before))
    random = wanted.scheme == "random"
    left = {number: name for number, name in names.items() if not (random and number in gone)}
    if not left:
        raise UsageError(
            f"all {len(names):,} answers of {run.name} were drawn already. Label or import them; --again writes the "
            "last draw once more."
        )
    found = draw(left, wanted.n, wanted.scheme, None if random else _scores(store, run, wanted))
    chance = dict.fromkeys(names, next(iter(found.inclusion.values()))) if random else found.inclusion
    new = LabelDraw(
        run.run_id,
        wanted.question,
        asking.guideline,
        wanted.scheme,
        wanted.by,
        chance,
        frozenset(found.drawn),
        instructions=asking.instructions,
    )
    same = next((one for one in before if _alike(one, new)), None)
    tasks = _tasks(store, run, wanted, asking, found.drawn)
    number = store.draws.add(new) if same is None else same.number
    return _Asked(tasks, len(names), wanted.scheme, number, len(gone & names.keys()) if random else 0, same is not None)


def _again(store: Store, run: Run, wanted: LabelDrawOptions, asking: LabelAsking) -> _Asked:
    """What the last draw asks, but for what is labelled by now; nothing is stored."""
    from ragauge.engine.people import drawn_name, responses_of
    from ragauge.scores.label_sample import in_random_order

    before = _before(store, run, wanted, asking)
    if not before:
        by = f"for {wanted.question} by guideline {asking.guideline}"
        raise UsageError(f"nothing was drawn from {run.name} {by} yet: leave out --again.")
    last = before[-1]
    names = {one.response_no: drawn_name(one) for one in responses_of(store, run.run_id, last.drawn)}
    tasks = _tasks(store, run, wanted, asking, in_random_order(names))
    return _Asked(tasks, len(last.inclusion), last.scheme, last.number, again=True)


def _alike(one: LabelDraw, other: LabelDraw) -> bool:
    """Whether two draws by one question and guideline are of the same answers with the same chances."""
    return (one.scheme, one.drawn, one.inclusion) == (other.scheme, other.drawn, other.inclusion)


def _before(store: Store, run: Run, wanted: LabelDrawOptions, asking: LabelAsking) -> list[LabelDraw]:
    """The draws from a run for the same question, by the same instructions, of the same unit."""
    return [
        one
        for one in store.draws.of_run(run.run_id, wanted.question)
        if (one.guideline, one.by) == (asking.guideline, wanted.by)
    ]


def _tasks(
    store: Store, run: Run, wanted: LabelDrawOptions, asking: LabelAsking, drawn: Sequence[int]
) -> list[LabelTask]:
    """What people see of some responses, each text once, those that are labelled left out."""
    from ragauge.engine.label_questions import task_of
    from ragauge.engine.people import responses_of

    items = {one.response_no: one for one in responses_of(store, run.run_id, frozenset(drawn))}
    tasks = [task_of(wanted.question, items[number], whole=wanted.by == "answer") for number in drawn]
    known = {
        one.key
        for one in store.labels.of({one.key for one in tasks}, wanted.question)
        if one.guideline == asking.guideline
    }
    return list({one.key: one for one in tasks if one.key not in known}.values())


def _evaluated(store: Store, run: Run, wanted: LabelDrawOptions, names: dict[int, str]) -> dict[int, str]:
    """Those of some answers that the judge has scored, where it scored a part of them; all where it scored none."""
    from ragauge.evaluation.scorecard.cards import judged

    metric = SCHEME_METRIC.get(wanted.question) or wanted.question.partition(":")[2]
    known = set(store.scores.evaluated(run.run_id, judged(store, run, wanted.judge), [metric]))
    return {number: name for number, name in names.items() if number in known} or names


def _scores(store: Store, run: Run, wanted: LabelDrawOptions) -> dict[int, float]:
    """Number of a response -> the judge's score that a scheme goes by, as a share of the metric's range."""
    from ragauge.metrics.catalogue import parse
    from ragauge.verbs.columns import StoredColumns

    metric = SCHEME_METRIC.get(wanted.question) or wanted.question.partition(":")[2]
    index = store.runs.index(run.run_id, sorted(store.runs.order(run.run_id).numbers))
    found = StoredColumns(store, run.run_id, judge_of(store, run, wanted.judge), index, values_only=True).column(metric)
    if found is None:
        raise UsageError(f"--scheme {wanted.scheme} goes by {metric}, which run {run.name} has no scores of.")
    low, high = parse(metric).range
    places = zip(found.place.tolist(), ((found.value - low) / (high - low)).tolist(), strict=True)
    return {int(index.number[place]): value for place, value in places}


def _disputed(store: Store, run: Run, wanted: LabelDrawOptions, asking: LabelAsking) -> _Asked:
    """The parts on which annotators differ and nobody adjudicated, and how many answers the run has."""
    from ragauge.core.label import last_said
    from ragauge.engine.label_questions import key_of, task_of
    from ragauge.engine.people import differing, responses_of

    items = {key_of(wanted.question, one): one for one in responses_of(store, run.run_id)}
    items.pop(None, None)
    labels = store.labels.of({key for key in items if key}, wanted.question)
    disputed = differing(last_said([one for one in labels if one.guideline == asking.guideline]))
    if not disputed:
        raise UsageError(f"annotators differ on nothing of {run.name} by guideline {asking.guideline}.")
    tasks = [
        replace(task_of(wanted.question, item, whole=False), parts=tuple(disputed[key]))
        for key, item in items.items()
        if key in disputed
    ]
    return _Asked(tasks, len(items))


def _write(output: Path, tasks: list[LabelTask], asking: LabelAsking, adjudicating: bool) -> None:
    from ragauge.labels.label.page_parts import label_page, task_lines
    from ragauge.verbs.files import make_folder

    make_folder(output)
    page = output.suffix.lower() != ".jsonl"
    text = label_page(tasks, asking, adjudicating=adjudicating) if page else task_lines(tasks, asking)
    output.write_text(text, encoding="utf-8")
