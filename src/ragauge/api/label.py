"""People's labels: brought in, drawn from runs, planned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.api.inputs.sources import store_url
from ragauge.api.inputs.typed import keywords
from ragauge.api.label_options import LabelDrawOptions, LabelImportOptions, LabelPlanOptions, LabelTransferOptions
from ragauge.errors import DataError, UsageError

if TYPE_CHECKING:
    from ragauge.analysis.labels.planning import LabelPlan
    from ragauge.data.label import LabelTask
    from ragauge.data.response import Run
    from ragauge.stats.transferred import TransferredRate
    from ragauge.store.open import Store

QUESTIONS = ("support", "relevance")     # that a page asks
ENDINGS = (".html", ".jsonl")
WIDTH = 0.05     # to each side, where no goal is named
NAMED = 12     # hex digits of a guideline's hash


@dataclass(frozen=True, slots=True)
class ImportedLabels:
    """What an import brought.

    Attributes:
        read: labels in the file.
        new: those that the store did not have.
        guidelines: hash of instructions -> labels that the store has by them now; "" = instructions not known.
    """

    read: int
    new: int
    guidelines: dict[str, int]


def guideline_named(given: Any) -> tuple[str, str | None]:
    """(hash, text) of instructions; the text is None where a hash was given, both are empty where nothing was.

    Raises:
        DataError: neither a file nor a hash.
    """
    from ragauge.data.label import guideline_of

    if not given:
        return "", None
    path = Path(given)
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        return guideline_of(text), text
    name = str(given).lower()
    if len(name) == NAMED and set(name) <= set("0123456789abcdef"):
        return name, None
    raise DataError(f"no file of instructions {str(given)!r}.", hint="Give a text file, or the hash of known ones.")


@keywords(LabelImportOptions)
def label_import(wanted: LabelImportOptions) -> ImportedLabels:
    """Keeps people's labels, all of a file or none; the same file twice changes nothing.

    A label belongs to the texts that were seen, so it counts in every run where they recur.

    Options:
        source: labels.jsonl of the label page, a CSV of the same columns (key, part, question, value, annotator, at,
            guideline), what `check_judge` reads, or Label Studio's JSON; a path or a table.
        question: that they answer, where the file does not say: "support", "relevance", "address", "refuse",
            "score:METRIC".
        annotator: who gave them, where the file does not say.
        guideline: the instructions, where the file does not say: a text file or a hash. Labels by two are never pooled.
        columns: our field -> the source's column.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        DataError: a row that cannot be read, with its line; a value that is not known, with the nearest.
    """
    from ragauge.data.readers.labels import LabelSource, read_labels
    from ragauge.store.open import open_store

    hashed, _ = guideline_named(wanted.guideline)
    given = LabelSource(wanted.question, wanted.annotator, hashed, wanted.columns or {})
    read = 0

    def counted() -> Any:
        nonlocal read
        for label in read_labels(wanted.source, given):
            read += 1
            yield label

    with open_store(store_url(wanted.store)) as store:
        new = store.labels.add(counted())
        return ImportedLabels(read, new, store.labels.guidelines())


@dataclass(frozen=True, slots=True)
class DrawnLabels:
    """What was drawn.

    Attributes:
        run: name of the run.
        path: the page or the tasks.
        answers: that people are asked about.
        parts: of them that are to be labelled.
        of: answers that could have been drawn.
        scheme: how; "" where nothing was drawn.
        guideline: hash of the instructions.
    """

    run: str
    path: str
    answers: int
    parts: int
    of: int
    scheme: str
    guideline: str


@keywords(LabelDrawOptions)
def label_draw(wanted: LabelDrawOptions) -> DrawnLabels:
    """Draws answers of a run for people to label, and writes the page, or the tasks, on which they do.

    The draw is stored with the chance that each answer had, so that labels of it rectify the run's means. The same
    examples are drawn from each run on a set, so that two runs are labelled on the same ones. Drawing again at random
    draws others.

    Options:
        run: a stored run: id, name or "latest".
        output: the file to write: a page .html, which needs no server and asks for nothing, or tasks .jsonl.
        n: so many answers.
        scheme: "random"; "verdict": half from what the judge calls wrong; "uncertain": the more uncertain the likelier.
        question: "support" of an answer's sentences by its passages, or "relevance" of each passage.
        by: "sentence", or "answer": one label for the whole of it.
        guideline: the instructions: a text file; ours by default.
        disagreements: nothing is drawn: what annotators differ on is shown again, and settled by an adjudicator.
        judge: whose verdicts the schemes go by; the last judge by default.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no such run, question, scheme or judge.
        UsageError: a file of another ending, nothing to draw, or nothing that people differ on.
    """
    from ragauge.data.label import GUIDELINES, guideline_of
    from ragauge.errors import UnknownName
    from ragauge.store.open import open_store

    if wanted.output.suffix.lower() not in ENDINGS:
        raise UsageError(f"-o {wanted.output}: expected a file that ends in .html or .jsonl.")
    if wanted.question not in QUESTIONS:
        raise UnknownName("question of a page of labels", wanted.question, QUESTIONS)
    if wanted.by not in ("sentence", "answer"):
        raise UnknownName("unit of labels", wanted.by, ("sentence", "answer"))
    hashed, text = guideline_named(wanted.guideline)
    instructions = text or ("" if hashed else GUIDELINES[wanted.question])
    hashed = hashed or guideline_of(instructions)
    with open_store(store_url(wanted.store)) as store:
        run = store.runs.find(str(wanted.run))
        tasks, of = (_disputed if wanted.disagreements else _drawn)(store, run, wanted, hashed)
    _write(wanted, tasks, hashed, instructions)
    scheme = "" if wanted.disagreements else wanted.scheme
    parts = sum(len(one.parts) for one in tasks)
    return DrawnLabels(run.name, str(wanted.output), len(tasks), parts, of, scheme, hashed)


def _drawn(store: Store, run: Run, wanted: LabelDrawOptions, guideline: str) -> tuple[list[LabelTask], int]:
    """What people are asked now, and of how many answers it was drawn; the draw is stored."""
    from ragauge.analysis.labels.drawing import draw
    from ragauge.engine.people import key_of, responses_of, task_of
    from ragauge.store.labels import LabelDraw

    names = {
        one.response_no: f"{one.response.query_id} {one.response.repeat}"
        for one in responses_of(store, run.run_id)
        if key_of(wanted.question, one) is not None and (one.response.passages if wanted.question == "relevance"
                                                         else (one.response.answer or "").strip())
    }     # fmt: skip
    if not names:
        raise UsageError(f"run {run.name} has no response with an answer and the texts of its passages to label.")
    before = [one for one in store.draws.of_run(run.run_id, wanted.question)
              if (one.guideline, one.by) == (guideline, wanted.by)]     # fmt: skip
    gone: frozenset[int] = frozenset().union(*(one.drawn for one in before))
    random = wanted.scheme == "random"
    left = {number: name for number, name in names.items() if not (random and number in gone)}
    if not left:
        raise UsageError(f"all {len(names):,} answers of {run.name} were drawn already. Label or import them.")
    found = draw(left, wanted.n, wanted.scheme, None if random else _scores(store, run, wanted))
    chance = dict.fromkeys(names, next(iter(found.inclusion.values()))) if random else found.inclusion
    chosen = frozenset(found.drawn)
    store.draws.add(LabelDraw(run.run_id, wanted.question, guideline, wanted.scheme, wanted.by, chance, chosen))
    items = {one.response_no: one for one in responses_of(store, run.run_id, chosen)}
    tasks = [task_of(wanted.question, items[number], whole=wanted.by == "answer") for number in found.drawn]
    known = {one.key for one in store.labels.of({one.key for one in tasks}, wanted.question)
             if one.guideline == guideline}     # fmt: skip
    once = {one.key: one for one in tasks if one.key not in known}
    return list(once.values()), len(names)


def _scores(store: Store, run: Run, wanted: LabelDrawOptions) -> dict[int, float]:
    """Number of a response -> the judge's score that a scheme goes by."""
    from ragauge.api.cards import judged
    from ragauge.api.queries.columns import StoredColumns

    metric = {"support": "faithfulness", "relevance": "context_precision"}[wanted.question]
    index = store.runs.index(run.run_id, sorted(store.runs.order(run.run_id).numbers))
    found = StoredColumns(store, run.run_id, judged(store, run, wanted.judge), index, values_only=True).column(metric)
    if found is None:
        raise UsageError(f"--scheme {wanted.scheme} goes by {metric}, which run {run.name} has no scores of.")
    places = zip(found.place.tolist(), found.value.tolist(), strict=True)
    return {int(index.number[place]): value for place, value in places}


def _disputed(store: Store, run: Run, wanted: LabelDrawOptions, guideline: str) -> tuple[list[LabelTask], int]:
    """The parts on which annotators differ and nobody adjudicated; and how many answers the run has."""
    from dataclasses import replace

    from ragauge.data.label import last_said
    from ragauge.engine.people import differing, key_of, responses_of, task_of

    items = {key_of(wanted.question, one): one for one in responses_of(store, run.run_id)}
    items.pop(None, None)
    labels = store.labels.of({key for key in items if key}, wanted.question)
    disputed = differing(last_said([one for one in labels if one.guideline == guideline]))
    if not disputed:
        raise UsageError(f"annotators differ on nothing of {run.name} by guideline {guideline}.")
    tasks = [
        replace(task_of(wanted.question, item, whole=False), parts=tuple(disputed[key]))
        for key, item in items.items() if key in disputed
    ]  # fmt: skip
    return tasks, len(items)


def _write(wanted: LabelDrawOptions, tasks: list[LabelTask], guideline: str, instructions: str) -> None:
    from ragauge.api.results.files import make_folder
    from ragauge.reporting.label_page import label_page, task_lines

    make_folder(wanted.output)
    if wanted.output.suffix.lower() == ".jsonl":
        text = task_lines(tasks, wanted.question, guideline)
    else:
        text = label_page(tasks, wanted.question, guideline, instructions, adjudicating=wanted.disagreements)
    wanted.output.write_text(text, encoding="utf-8")


@keywords(LabelPlanOptions)
def label_plan(wanted: LabelPlanOptions) -> LabelPlan:
    """How many labels of a run it takes, by the spread of its scores and by the labels that there are.

    Options:
        run: a stored run that was evaluated: id, name or "latest".
        metric: one that labels tell of.
        width: how far the interval may reach to each side of the rectified mean; 0.05 where nothing else is asked.
        detect: a change between two runs that is to be seen in 80 of 100 comparisons: "3%" of the mean, "3 points".
        judge: whose scores; the last judge by default.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no such run, judge, or metric that labels tell of.
        UsageError: both goals at once, or a run without scores of the metric.
    """
    import numpy as np

    from ragauge.analysis.labels import planning
    from ragauge.api.cards import judged
    from ragauge.api.queries.columns import StoredColumns
    from ragauge.data.label import TOLD
    from ragauge.errors import UnknownName
    from ragauge.store.open import open_store

    if wanted.metric not in TOLD:
        raise UnknownName("metric that people's labels tell of", wanted.metric, TOLD)
    if wanted.width is not None and wanted.detect:
        raise UsageError("label plan: --width plans an interval and --detect a change. Give one of them.")
    with open_store(store_url(wanted.store)) as store:
        run = store.runs.find(str(wanted.run))
        index = store.runs.index(run.run_id, sorted(store.runs.order(run.run_id).numbers))
        judge_id = judged(store, run, wanted.judge)
        columns = StoredColumns(store, run.run_id, judge_id, index, values_only=True)
        found = columns.labelled().column(wanted.metric)
    if found is None:
        raise UsageError(f"run {run.name} has no scores of {wanted.metric}: evaluate it with -m {wanted.metric} first.")
    scored = np.isfinite(found.value)
    values, people = found.value[scored], None if found.people is None else found.people[scored]
    change = _change(wanted.detect, float(values.mean()) if values.size else 0.0) if wanted.detect else None
    width = wanted.width if wanted.width is not None or change is not None else WIDTH
    return planning.label_plan(wanted.metric, values, people, width=width, detect=change)


def _change(given: str, mean: float) -> float:
    """A change as a number: a share of a mean, or points.

    >>> _change("3 points", 0.8), round(_change("5%", 0.8), 3)
    (0.03, 0.04)
    """
    number, unit = given.strip().removesuffix("%").removesuffix("points").removesuffix("point").strip(), given.strip()
    try:
        amount = float(number) / 100
    except ValueError:
        amount = 0.0
    if amount <= 0 or not unit.endswith(("%", "point", "points")):
        raise UsageError(f'detect must be such as "3%" (of the mean) or "3 points" (0.03), got {given!r}.')
    return amount * mean if unit.endswith("%") else amount


@dataclass(frozen=True, slots=True)
class TransferredLabels:
    """The share of a run's answers that hold as a whole, by another run's labels.

    Attributes:
        run: name of the run.
        labelled: name of the run that people labelled.
        judge_id: whose verdicts are corrected.
        rate: with its interval, and the judge's sensitivity and specificity on the labelled run.
        judged: the judge's own share.
        labels: labelled answers with a verdict.
        n: answers of the run with one.
    """

    run: str
    labelled: str
    judge_id: str
    rate: TransferredRate
    judged: float
    labels: int
    n: int


@keywords(LabelTransferOptions)
def label_transfer(wanted: LabelTransferOptions) -> TransferredLabels:
    """The share of answers of which every claim is supported, in a run without labels, by labels of another run.

    By Rogan and Gladen, which takes for granted that the judge has the same sensitivity and specificity on both runs:
    nothing in the labels can show that. Labels drawn from the run itself need no such thing.

    Options:
        labelled: a run from which answers were drawn at random, and labelled for support.
        run: the run whose share is wanted, evaluated by the same judge.
        judge: whose verdicts; the last judge of `run` by default.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no such run or judge.
        UsageError: a draw that was not at random, one run twice, or too few labels of one kind to tell anything.
    """
    from ragauge.api.cards import judged
    from ragauge.engine.people import people_scores, supported_answers
    from ragauge.stats.transferred import transferred_rate
    from ragauge.store.open import open_store

    with open_store(store_url(wanted.store)) as store:
        base, run = (store.runs.find(str(one)) for one in (wanted.labelled, wanted.run))
        judge_id = judged(store, run, wanted.judge)
        people = next((one for one in people_scores(store, base.run_id) if "faithfulness" in one.values), None)
        known, others = (supported_answers(store, one.run_id, judge_id) for one in (base, run))
    if base.run_id == run.run_id:
        raise UsageError(f"{run.name} is labelled itself: its reports have the rectified mean.")
    if people is not None and people.inclusion:
        raise UsageError(f"the labels of {base.name} were not drawn at random, so they do not say how the judge errs.")
    scores = {} if people is None else people.values.get("faithfulness", {})
    both = [(float(score == 1.0), known[number]) for number, score in scores.items() if number in known]
    found = transferred_rate([people for people, _ in both], [judge for _, judge in both], list(others.values()))
    if found is None:
        wrong = sum(1 - said for said, _ in both)
        raise UsageError(
            f"{len(both)} labelled answers of {base.name} with a verdict by {judge_id}, {wrong:.0f} of them not "
            "supported as a whole: too few of one kind, or the judge cannot tell them apart. Label more, or evaluate "
            "both runs by one judge."
        )
    share = sum(others.values()) / len(others)
    return TransferredLabels(run.name, base.name, judge_id or "", found, share, len(both), len(others))
