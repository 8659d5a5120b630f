"""Answers of a run are drawn for people to label."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UsageError
from ragauge.labels.label.options import LabelDrawOptions
from ragauge.labels.label.verb import resolve_guideline, resolve_label_judge
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.label import LabelTask
    from ragauge.core.response import Run
    from ragauge.labels.label.page import LabelQuestion
    from ragauge.store.labels import LabelDraw
    from ragauge.store.store_access import Store

# question of a page -> the metric of a judge that schemes go by; of score:METRIC that metric
SCHEME_METRIC = {
    "support": "faithfulness",
    "relevance": "context_precision",
    "address": "answer_relevance",
    "refuse": "refusal_correctness",
}
OUTPUT_SUFFIXES = (".html", ".jsonl")
SEEN_WORDS = {"answer": "an answer", "passages": "the texts of its passages", "references": "an accepted answer"}


@dataclass(frozen=True, slots=True)
class DrawnLabels:
    """What was drawn."""

    run: str  #: name of the run.
    paths: tuple[str, ...]  #: the page, the tasks, or both; () where none was written.
    answers: int  #: that people are asked about.
    parts: int  #: of them that are to be labelled.
    of: int  #: answers that could have been drawn.
    scheme: str  #: how; "" where nothing was drawn.
    guideline: str  #: hash of the instructions.
    draw: int = 0  #: its number in the store, which the dashboard labels it by; 0 where nothing was drawn.
    #: answers that were drawn before by the same question and guideline, and of which this draw has none.
    before: int = 0
    again: bool = False  #: it is a draw that is stored already: labels of it count once.

    @property
    def written_files(self) -> tuple[str, ...]:
        """The page, the tasks, or both."""
        return self.paths


@expand_options(LabelDrawOptions)
def label_draw(options: LabelDrawOptions) -> DrawnLabels:
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
    from ragauge.store.store_access import open_store

    paths = _validate_paths(options)
    options, asking = _resolve_options(options)
    with open_store(resolve_store_url(options.store)) as store:
        run = store.runs.find(str(options.run))
        drawn = (_find_disputed if options.disagreements else _repeat_draw if options.again else _draw_tasks)(
            store, run, options, asking
        )
    for path in paths:
        _write_tasks(path, drawn.tasks, asking, options.disagreements)
    n_parts = sum(len(task.parts) for task in drawn.tasks)
    return DrawnLabels(
        run.name,
        tuple(map(str, paths)),
        len(drawn.tasks),
        n_parts,
        drawn.of,
        drawn.scheme,
        asking.guideline,
        drawn.draw_no,
        drawn.before,
        drawn.again,
    )


def _resolve_options(options: LabelDrawOptions) -> tuple[LabelDrawOptions, LabelQuestion]:
    """The options with question and unit of labels resolved, and what people are asked."""
    from ragauge.core.errors import UnknownName
    from ragauge.core.label import hash_guideline
    from ragauge.engine.label_questions import build_instructions, is_about_whole_answer, list_choices, resolve_question
    from ragauge.labels.label.page import LabelQuestion

    question = resolve_question(options.question)
    if options.by not in ("sentence", "answer"):
        raise UnknownName("unit of labels", options.by, ("sentence", "answer"))
    hashed, text = resolve_guideline(options.guideline)
    instructions = text or ("" if hashed else build_instructions(question))
    asking = LabelQuestion(question, list_choices(question), hashed or hash_guideline(instructions), instructions)
    by = "answer" if is_about_whole_answer(question) else options.by
    return replace(options, question=question, by=by), asking


def _validate_paths(options: LabelDrawOptions) -> list[Path]:
    """The files to write.

    Raises:
        UsageError: one of another ending; disagreements that nothing would show; two ways to choose what is asked.
    """
    outputs = options.output if options.output is not None else ()
    paths = [Path(output) for output in ((outputs,) if isinstance(outputs, str | os.PathLike) else outputs)]
    for path in paths:
        if path.suffix.lower() not in OUTPUT_SUFFIXES:
            raise UsageError(f"-o {path}: expected a file that ends in .html or .jsonl.")
    if not paths and options.disagreements:
        raise UsageError("label draw --disagreements: name the page to write: -o page.html.")
    if options.again and options.disagreements:
        raise UsageError("label draw: --again and --disagreements cannot be combined. Give only one.")
    return paths


class _LabelRequest(NamedTuple):
    """What people are asked now, of how many answers it was drawn and how; see `DrawnLabels`."""

    tasks: list[LabelTask]
    of: int
    scheme: str = ""
    draw_no: int = 0
    before: int = 0
    again: bool = False


def _draw_tasks(store: Store, run: Run, options: LabelDrawOptions, asking: LabelQuestion) -> _LabelRequest:
    """What people are asked now; the draw is stored, unless the same one is there."""
    from ragauge.engine.label_questions import build_key, list_seen_inputs
    from ragauge.engine.people import format_response_name, iter_responses
    from ragauge.scores.label_sample import sample_answers
    from ragauge.store.labels import LabelDraw

    names = {
        item.response_no: format_response_name(item)
        for item in iter_responses(store, run.run_id)
        if build_key(options.question, item) is not None
        and (item.response.passages if options.question == "relevance" else (item.response.answer or "").strip())
    }
    if not names:
        lacks = " and ".join(SEEN_WORDS[item] for item in list_seen_inputs(options.question) if item in SEEN_WORDS)
        raise UsageError(f"run {run.name} has no response with {lacks}, which labeling {options.question} needs.")
    names = _select_scored(store, run, options, names)
    earlier_draws = _list_earlier_draws(store, run, options, asking)
    gone: frozenset[int] = frozenset().union(*(item.drawn for item in earlier_draws))
    random = options.scheme == "random"
    remaining = {number: name for number, name in names.items() if not (random and number in gone)}
    if not remaining:
        raise UsageError(
            f"all {len(names):,} answers of {run.name} have been drawn already. Label or import them; --again "
            "writes the last draw again."
        )
    sample = sample_answers(remaining, options.n, options.scheme, None if random else _load_scores(store, run, options))
    chance = dict.fromkeys(names, next(iter(sample.inclusion.values()))) if random else sample.inclusion
    new = LabelDraw(
        run.run_id,
        options.question,
        asking.guideline,
        options.scheme,
        options.by,
        chance,
        frozenset(sample.drawn),
        instructions=asking.instructions,
    )
    drawn = (new.scheme, new.drawn, new.inclusion)  # the same answers with the same chances
    same = next((item for item in earlier_draws if (item.scheme, item.drawn, item.inclusion) == drawn), None)
    tasks = _build_tasks(store, run, options, asking, sample.drawn)
    number = store.draws.add(new) if same is None else same.number
    return _LabelRequest(
        tasks, len(names), options.scheme, number, len(gone & names.keys()) if random else 0, same is not None
    )


def _repeat_draw(store: Store, run: Run, options: LabelDrawOptions, asking: LabelQuestion) -> _LabelRequest:
    """What the last draw asks, but for what is labelled by now; nothing is stored."""
    from ragauge.engine.people import format_response_name, iter_responses
    from ragauge.scores.label_sample import shuffle_by_hash

    earlier_draws = _list_earlier_draws(store, run, options, asking)
    if not earlier_draws:
        by = f"for {options.question} by guideline {asking.guideline}"
        raise UsageError(f"nothing has been drawn from {run.name} {by} yet: omit --again.")
    last = earlier_draws[-1]
    names = {item.response_no: format_response_name(item) for item in iter_responses(store, run.run_id, last.drawn)}
    tasks = _build_tasks(store, run, options, asking, shuffle_by_hash(names))
    return _LabelRequest(tasks, len(last.inclusion), last.scheme, last.number, again=True)


def _list_earlier_draws(store: Store, run: Run, options: LabelDrawOptions, asking: LabelQuestion) -> list[LabelDraw]:
    """The draws from a run for the same question, by the same instructions, of the same unit."""
    return [
        earlier_draw
        for earlier_draw in store.draws.list_for_run(run.run_id, options.question)
        if (earlier_draw.guideline, earlier_draw.by) == (asking.guideline, options.by)
    ]


def _build_tasks(
    store: Store, run: Run, options: LabelDrawOptions, asking: LabelQuestion, numbers: Sequence[int]
) -> list[LabelTask]:
    """What people see of some responses, each text once, those that are labelled left out."""
    from ragauge.engine.label_questions import build_label_task
    from ragauge.engine.people import iter_responses

    items = {item.response_no: item for item in iter_responses(store, run.run_id, frozenset(numbers))}
    tasks = [build_label_task(options.question, items[number], is_whole=options.by == "answer") for number in numbers]
    labeled = {
        item.key
        for item in store.labels.of({item.key for item in tasks}, options.question)
        if item.guideline == asking.guideline
    }
    return list({item.key: item for item in tasks if item.key not in labeled}.values())


def _select_scored(store: Store, run: Run, options: LabelDrawOptions, names: dict[int, str]) -> dict[int, str]:
    """Those of some answers that the judge has scored, where it scored a part of them; all where it scored none."""
    from ragauge.evaluation.scorecard.cards import resolve_scored_judge

    metric = SCHEME_METRIC.get(options.question) or options.question.partition(":")[2]
    scored = set(store.scores.evaluated(run.run_id, resolve_scored_judge(store, run, options.judge), [metric]))
    return {number: name for number, name in names.items() if number in scored} or names


def _load_scores(store: Store, run: Run, options: LabelDrawOptions) -> dict[int, float]:
    """Number of a response -> the judge's score that a scheme goes by, as a share of the metric's range."""
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.verbs.columns import StoredColumns

    metric = SCHEME_METRIC.get(options.question) or options.question.partition(":")[2]
    index = store.runs.index(run.run_id, sorted(store.runs.load_order(run.run_id).numbers))
    columns = StoredColumns(
        store, run.run_id, resolve_label_judge(store, run, options.judge), index, values_only=True
    ).column(metric)
    if columns is None:
        raise UsageError(f"--scheme {options.scheme} uses {metric}, but run {run.name} has no scores of it.")
    low, high = parse_metric(metric).range
    pairs = zip(columns.place.tolist(), ((columns.value - low) / (high - low)).tolist(), strict=True)
    return {int(index.number[position]): value for position, value in pairs}


def _find_disputed(store: Store, run: Run, options: LabelDrawOptions, asking: LabelQuestion) -> _LabelRequest:
    """The parts on which annotators differ and nobody adjudicated, and how many answers the run has."""
    from ragauge.core.label import select_latest_labels
    from ragauge.engine.label_questions import build_key, build_label_task
    from ragauge.engine.people import find_disagreements, iter_responses

    items = {build_key(options.question, entry): entry for entry in iter_responses(store, run.run_id)}
    items.pop(None, None)
    labels = store.labels.of({key for key in items if key}, options.question)
    disputed = find_disagreements(
        select_latest_labels([entry for entry in labels if entry.guideline == asking.guideline])
    )
    if not disputed:
        raise UsageError(f"annotators disagree on no part of {run.name} under guideline {asking.guideline}.")
    tasks = [
        replace(build_label_task(options.question, item, is_whole=False), parts=tuple(disputed[key]))
        for key, item in items.items()
        if key in disputed
    ]
    return _LabelRequest(tasks, len(items))


def _write_tasks(output: Path, tasks: list[LabelTask], asking: LabelQuestion, adjudicating: bool) -> None:
    from ragauge.labels.label.page import format_task_lines, render_label_page
    from ragauge.verbs.files import make_folder

    make_folder(output)
    page = output.suffix.lower() != ".jsonl"
    text = render_label_page(tasks, asking, adjudicating=adjudicating) if page else format_task_lines(tasks, asking)
    output.write_text(text, encoding="utf-8")
