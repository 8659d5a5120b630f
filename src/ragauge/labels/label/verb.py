"""People's labels: brought in, planned, taken to another run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, UsageError
from ragauge.core.label import format_part
from ragauge.labels.label.options import LabelImportOptions, LabelPlanOptions, LabelTransferOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.label import Label
    from ragauge.core.response import Run
    from ragauge.labels.label.compute import LabelPlan
    from ragauge.stats.rate_transfer import TransferredRate
    from ragauge.store.store_access import Store

DEFAULT_WIDTH = 0.05  # to each side, where no goal is named
GUIDELINE_HASH_DIGITS = 12  # hex digits of a guideline's hash


@dataclass(frozen=True, slots=True)
class ImportedLabels:
    """What an import brought."""

    read: int  #: labels in the file.
    new: int  #: those that the store did not have.
    #: hash of instructions -> labels that the store has by them now; "" = instructions not known.
    guidelines: dict[str, int]
    keys: int  #: of what was labelled; without_text: those of them that fit no text of a stored run.
    without_text: int


def resolve_guideline(raw: Any) -> tuple[str, str | None]:
    """(hash, text) of instructions; the text is None where a hash was given, both are empty where nothing was.

    Raises:
        DataError: neither a file nor a hash.
    """
    from ragauge.core.label import hash_guideline

    if not raw:
        return "", None
    path = Path(raw)
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        return hash_guideline(text), text
    name = str(raw).lower()
    if len(name) == GUIDELINE_HASH_DIGITS and set(name) <= set("0123456789abcdef"):
        return name, None
    raise DataError(f"no instructions file {str(raw)!r}.", hint="Give a text file, or the hash of known instructions.")


@expand_options(LabelImportOptions)
def label_import(options: LabelImportOptions) -> ImportedLabels:
    """Keeps people's labels, all of a file or none; the same file twice changes nothing.

    A label belongs to the texts that were seen, so it counts in every run where they recur: verdicts and causes of the
    responses that it is of are decided anew by it.

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
        DataError: a row that cannot be read, with its line; a value that is not known, with the nearest; a part that
            lies beyond its text.
    """
    from ragauge.engine.label_facts import decide_again
    from ragauge.engine.label_questions import build_scale, resolve_question
    from ragauge.engine.people import find_labeled_texts
    from ragauge.readers.labels import LabelSource, read_labels
    from ragauge.store.store_access import open_store

    hashed, _ = resolve_guideline(options.guideline)
    question = resolve_question(options.question)
    label_source = LabelSource(question, options.annotator, hashed, options.columns or {}, build_scale)
    labels = list(read_labels(options.source, label_source))
    keys = {(label.question, label.key) for label in labels}
    source_name = Path(options.source).name if isinstance(options.source, str | Path) else "a table"
    with open_store(resolve_store_url(options.store)) as store:
        texts = find_labeled_texts(store, keys)
        for n, label in enumerate(labels, 1):
            _validate_part(label, texts.sizes.get((label.question, label.key)), f"{source_name}, label {n}")
        with store.transaction():  # an import that is killed after it is completed by the next
            if new := store.labels.add(labels):
                store.labels.queue_decisions(number for numbers in texts.numbers.values() for number in numbers)
        for run_id, queued in store.labels.load_queued_decisions().items():
            numbers = set(texts.numbers.get(run_id, ())) & set(queued)
            decide_again(store, run_id, numbers)
            store.labels.end_decisions(numbers)
        return ImportedLabels(
            len(labels), new, store.labels.count_by_guideline(), len(keys), len(keys) - len(texts.sizes)
        )


def _validate_part(label: Label, sizes: tuple[int, int] | None, where: str) -> None:
    """Refuses a label of a part that its text does not have.

    Raises:
        DataError: characters after the end of the answer, or a passage after the last.
    """
    if sizes is None or label.part is None:
        return
    characters, passages = sizes
    if isinstance(label.part, int) and label.part > passages:
        problem = f"expected a passage from 1 to {passages:,}" if passages else "the answer has no passages"
    elif isinstance(label.part, tuple) and label.part[1] > characters:
        problem = f"expected characters within 0-{characters:,}, the length of the answer"
    else:
        return
    raise DataError(
        f"part: {problem}, got {format_part(label.part)} (key {label.key[:GUIDELINE_HASH_DIGITS]}…). Nothing was "
        "imported.",
        source=where,
        hint="Labels may be for another version of the text: label it again.",
    )


def resolve_label_judge(store: Store, run: Run, judge: str | None) -> str | None:
    """The judge that labels are held against: the one that is named, else the last that is not people; None = nobody.

    Raises:
        UnknownName: no judge of this run has such an id.
    """
    from ragauge.engine.people import is_people_judge
    from ragauge.evaluation.scorecard.cards import resolve_scored_judge

    if judge is not None:
        return resolve_scored_judge(store, run, judge)
    return next((judge_id for judge_id in store.scores.judges(run.run_id) if not is_people_judge(judge_id)), None)


@expand_options(LabelPlanOptions)
def label_plan(options: LabelPlanOptions) -> LabelPlan:
    """How many labels of a run it takes, by the spread of its scores and by the labels that there are.

    Options:
        run: a stored run that was evaluated: id, name or "latest".
        metric: one that people can score: it has a least and a greatest value, and reads answer or passages.
        width: how far the interval may reach to each side of the label-corrected mean; 0.05 by default.
        detect: a change between two runs that is to be seen in 80 of 100 comparisons: "3%" of the mean, "3 points".
        judge: whose scores; the last that is not people by default.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no such run, judge, or metric that labels tell of.
        UsageError: both goals at once, or a run without scores of the metric.
    """
    import numpy as np

    from ragauge.engine.label_questions import build_scale
    from ragauge.labels.label import compute as planning
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.scores.target_difference import TargetDifference
    from ragauge.store.store_access import open_store
    from ragauge.verbs.columns import StoredColumns

    metric = build_scale(f"score:{options.metric}").question.partition(":")[2]
    if options.width is not None and options.detect:
        raise UsageError("label plan: --width plans an interval and --detect a difference. Give only one.")
    with open_store(resolve_store_url(options.store)) as store:
        run = store.runs.find(str(options.run))
        index = store.runs.index(run.run_id, sorted(store.runs.load_order(run.run_id).numbers))
        judge_id = resolve_label_judge(store, run, options.judge)
        columns = StoredColumns(store, run.run_id, judge_id, index, values_only=True)
        scores = columns.labelled().column(metric)
    if scores is None:
        raise UsageError(f"run {run.name} has no scores of {metric}: evaluate it with -m {metric} first.")
    scored = np.isfinite(scores.value)
    values, people = scores.value[scored], None if scores.people is None else scores.people[scored]
    change = (
        TargetDifference.from_text(options.detect).of(values.mean() if values.size else 0.0) if options.detect else None
    )
    width = options.width if options.width is not None or change is not None else DEFAULT_WIDTH
    clusters = None if scores.cluster is None else scores.cluster[scored]
    return planning.label_plan(
        metric, values, people, width=width, detect=change, bounds=parse_metric(metric).range, clusters=clusters
    )


@dataclass(frozen=True, slots=True)
class TransferredLabels:
    """The share of a run's answers that hold as a whole, by another run's labels."""

    run: str  #: name of the run.
    labelled: str  #: name of the run that people labelled.
    judge_id: str  #: whose verdicts are corrected.
    rate: TransferredRate  #: with its interval, and the judge's sensitivity and specificity on the labelled run.
    judged: float  #: the judge's own share.
    labels: int  #: labelled answers with a verdict.
    n: int  #: answers of the run with one.


@expand_options(LabelTransferOptions)
def label_transfer(options: LabelTransferOptions) -> TransferredLabels:
    """The share of answers of which every claim is supported, in a run without labels, by labels of another run.

    By Rogan and Gladen, which takes for granted that the judge has the same sensitivity and specificity on both runs:
    nothing in the labels can show that. Labels drawn from the run itself need no such thing.

    Options:
        labelled: a run from which answers were drawn at random, and labelled for support.
        run: the run whose share is wanted, evaluated by the same judge.
        judge: whose verdicts; the last of `run` that is not people by default.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no such run or judge.
        UsageError: a draw that was not at random, one run twice, or too few labels of one kind to tell anything.
    """
    from ragauge.engine.people import load_people_scores, load_supported_answers
    from ragauge.stats.rate_transfer import transferred_rate
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(options.store)) as store:
        base, run = (store.runs.find(str(entry)) for entry in (options.labelled, options.run))
        judge_id = resolve_label_judge(store, run, options.judge)
        people = next((entry for entry in load_people_scores(store, base.run_id) if entry.question == "support"), None)
        base_supported, others = (load_supported_answers(store, entry.run_id, judge_id) for entry in (base, run))
    if base.run_id == run.run_id:
        raise UsageError(f"{run.name} is itself the labeled run: its reports show the label-corrected mean.")
    if people is not None and people.inclusion:
        raise UsageError(f"labels of {base.name} were not sampled at random: they cannot show how the judge errs.")
    scores = {} if people is None else people.values.get("faithfulness", {})
    both = [
        (float(score == 1.0), base_supported[number]) for number, score in scores.items() if number in base_supported
    ]
    transferred = transferred_rate([people for people, _ in both], [judge for _, judge in both], list(others.values()))
    if transferred is None:
        wrong = sum(1 - verdict for verdict, _ in both)
        raise UsageError(
            f"{len(both)} labeled answers of {base.name} have a verdict by {judge_id}, and {wrong:.0f} of "
            "them are not supported as a whole: too few of one kind, or the judge cannot distinguish them. "
            "Label more, or evaluate both runs with one judge."
        )
    share = sum(others.values()) / len(others)
    return TransferredLabels(run.name, base.name, judge_id or "", transferred, share, len(both), len(others))
