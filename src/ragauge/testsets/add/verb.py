"""Examples of a run added to a set: named ones, failed ones, or a sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, RagaugeError, UnknownName, UsageError
from ragauge.testsets.options import AddExamplesOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import ShownResult
from ragauge.verbs.sources import find_run, parse_names, resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.curation import Curation
    from ragauge.core.example import Example
    from ragauge.core.response import Run
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.results.scorecard import ExampleView
    from ragauge.store.store_access import Store
    from ragauge.testsets.add.compute import AddedExamples, SelectedExample, StratumSample
    from ragauge.testsets.set_file import SetFile

NO_SEGMENT = "(none)"  # a stratum of examples that do not have the segment


class AddedSet(ShownResult):
    """What was added to a set, in every form.

    Attributes:
        data: the lines added, and what the set had already.
        path: the set's file.
    """

    def __init__(self, data: AddedExamples, path: Path) -> None:
        self.data, self.path = data, path

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.add.tables import encode_added

        return encode_added(self.data, str(self.path))

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.add.tables import build_added_sections

        return build_added_sections(self.data, str(self.path))


@expand_options(AddExamplesOptions)
def add_examples(options: AddExamplesOptions) -> AddedSet:
    """Adds examples of a run to a set, as drafts with their labels; everything else in the file keeps its bytes.

    A question that the set asks already is not added again, and is named. Segments that say what answered in traffic,
    such as model or version, are left out. Each line's meta says which run it comes from and why it failed there.

    Options:
        run: a stored run: id, name or "latest".
        ids: which, by query_id; instead of failed or sample.
        failed: all that the run's causes name as wrong.
        sample: so many, drawn in proportion to the weights of the answers; equal seeds draw equal examples.
        by: a segment: each of its values gets its share of the sample.
        to: the set, JSON lines; it is made where there is none.
        from_set: the set that the run was over, in whose `meta` stand the quotes of gold spans and who wrote what:
            the store keeps neither. By default the file of the set's name, here or beside `to`, where there is one.
        tag: what they are tagged with, such as regression; comma-separated or a list.
        by_name: who adds them.
        seed: of the sample.
        judge: whose verdicts; the last judge by default.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UsageError: not one of ids, failed and sample; by without sample; failed of a run that was not evaluated; a
            query_id that the set has for another question.
        UnknownName: no such run, query_id, segment or judge.
        DataError: a set that cannot be read.
    """
    from ragauge.store.exclusive import lock_for_change
    from ragauge.store.store_access import open_store
    from ragauge.testsets.add.compute import RunSource, find_additions
    from ragauge.testsets.set_file import append_lines
    from ragauge.verbs.files import make_folder

    path = Path(options.to)
    ids = _validate_selection(options, path)
    with open_store(resolve_store_url(options.store)) as store:
        run = find_run(str(options.run), store)
        taken, strata = _take_examples(store, run, options, ids)
    curation_by_id = _find_curation(options.from_set, path, run, [taken_example.example for taken_example in taken])
    taken = [
        replace(taken_example, known=curation_by_id.get(taken_example.example.query_id)) for taken_example in taken
    ]
    source = RunSource(run.run_id, run.name, frozenset(parse_names(options.tag)), options.by_name)
    make_folder(path)
    with lock_for_change(path):
        addition = replace(find_additions(_read_set(path), taken, source), strata=strata)
        if addition.lines:
            append_lines(path, addition.lines)
    return AddedSet(addition, path)


def strip_traffic_segments(example: Example, run: Run) -> Example:
    """An example without the segments that say what answered it: model, prompt, embedder, index, k and version.

    That is so of traffic; of an eval set segments are the set's own, and stay.
    """
    from ragauge.engine.request_stream import ORIGIN_FACTS

    if run.kind != "traffic":
        return example
    return replace(
        example,
        segments={name: value for name, value in example.segments.items() if name.casefold() not in ORIGIN_FACTS},
    )


def find_regression_set() -> str:
    """The set that `ui` of ragauge.yaml, in the working directory, names for examples that pages add; "" for none.

    Raises:
        ConfigError: a mistake in that section; those in others are told where these are used.
    """
    from ragauge.core.config.config_loader import DEFAULT_FILE, read_config
    from ragauge.core.errors import ConfigError

    if not Path(DEFAULT_FILE).is_file():
        return ""
    file = read_config()
    if ui_problems := [problem for problem in file.problems if problem.problem.startswith("ui")]:
        raise ConfigError(ui_problems)
    return file.config.ui.regression_set if file.config.ui is not None else ""


@dataclass(frozen=True, slots=True)
class SetPlacement:
    """An example of a run and a set that it may be added to."""

    line: str = ""  #: the JSON line that would be added; "" where the set has the question already, or cannot take it.
    there: str = ""  #: the query_id under which the set has it; "" where it has not.
    wrong: str = ""  #: why it cannot be added; "" where it can.


def preview_addition(to: str, view: ExampleView, run: Run, *, tag: str) -> SetPlacement:
    """What adding an example of a run to a set would do; nothing is written.

    Args:
        to: path of the set; "" = a set without a line.
        view: the example.
        run: that it is of.
        tag: what it would be tagged with.
    """
    from ragauge.testsets.add.compute import RunSource, SelectedExample, find_additions
    from ragauge.testsets.set_file import SetFile

    failure_note = "" if view.cause is None else _describe_failure(view.cause.name)
    example = strip_traffic_segments(view.example, run)
    source = RunSource(run.run_id, run.name, frozenset(parse_names(tag)))
    try:
        addition = find_additions(
            _read_set(Path(to)) if to else SetFile("", ()), [SelectedExample(example, failure_note)], source
        )
    except RagaugeError as error:
        return SetPlacement(wrong=str(error))
    return SetPlacement("".join(added_line.written for added_line in addition.lines), "".join(addition.there.values()))


def _describe_failure(cause: str | None) -> str:
    """What a line says of an example that failed."""
    return f"failed, {cause or 'cause not decided'}"


def _validate_selection(options: AddExamplesOptions, path: Path) -> tuple[str, ...]:
    """The query_ids that were named; () where failed or a sample is wanted."""
    from ragauge.testsets.set_file import ENDINGS

    ids = (
        (options.ids,) if isinstance(options.ids, str) and options.ids else tuple(dict.fromkeys(map(str, options.ids)))
    )
    if path.suffix not in ENDINGS:
        raise UsageError(f"testset add: --to {path}: expected a file that ends in .jsonl.")
    if bool(ids) + options.failed + (options.sample is not None) != 1:
        raise UsageError("testset add: select the examples with exactly one of ids, --failed and --sample N.")
    if options.by and options.sample is None:
        raise UsageError("testset add: --by SEGMENT needs --sample N.")
    return ids


def _read_set(path: Path) -> SetFile:
    from ragauge.testsets.set_file import SetFile, read_set_file

    if not path.exists() or not path.read_bytes().strip():
        return SetFile(path.stem, ())
    return read_set_file(path)


def _find_curation(raw: Any, path: Path, run: Run, examples: Sequence[Example]) -> Mapping[str, Curation]:
    """query_id -> `meta` in the set that the run was over: in the one given, else in a file of its name."""
    from ragauge.testsets.add.compute import find_curations
    from ragauge.testsets.set_file import read_set_lines

    if raw is not None:
        return find_curations(read_set_lines(raw), examples)
    curation: dict[str, Curation] = {}
    for file in (path.parent / f"{run.set_name}.jsonl", Path(f"{run.set_name}.jsonl")):
        if run.set_name and file.is_file() and not (path.exists() and file.samefile(path)):
            with suppress(DataError):  # nobody named it
                curation |= find_curations(read_set_lines(file, warn=lambda _: None), examples)
    return curation


def _take_examples(
    store: Store, run: Run, options: AddExamplesOptions, ids: Sequence[str]
) -> tuple[list[SelectedExample], Mapping[str, StratumSample]]:
    """The examples wanted, in the order of the run; of a sample, what each stratum has and gave."""
    from ragauge.testsets.add.compute import SelectedExample

    index = store.runs.index(run.run_id, store.runs.load_order(run.run_id).numbers)
    first: dict[str, int] = {}  # place of the first answer to each question
    for position, number in enumerate(index.query.tolist()):
        first.setdefault(index.query_ids[number], position)
    failure_notes = _load_failure_notes(store, run, options)
    weights: Mapping[str, float] = {}
    strata: Mapping[str, StratumSample] = {}
    for query_id in ids:
        if query_id not in first:
            raise UnknownName("query_id in this run", query_id, first)
    if options.sample is not None:
        weight_by_id = {
            name: 1.0 if index.weight is None else float(index.weight[position]) for name, position in first.items()
        }
        weights, strata = _sample_examples(store, run, options, weight_by_id)
    selected = set(failure_notes if options.failed else weights if options.sample is not None else ids)
    numbers = {name: int(index.number[position]) for name, position in first.items() if name in selected}
    loaded = store.runs.load(list(numbers.values()))
    return [
        SelectedExample(
            strip_traffic_segments(response.example, run),
            failure_notes.get(response.example.query_id, ""),
            weights.get(response.example.query_id),
        )
        for response in loaded
    ], strata


def _load_failure_notes(store: Store, run: Run, options: AddExamplesOptions) -> dict[str, str]:
    """query_id of each example that failed -> its cause; {} where nobody looked, unless that is what is asked for."""
    from ragauge.diagnosis.examples.example_views import ExamplePageOptions, list_examples
    from ragauge.evaluation.scorecard.cards import resolve_scored_judge

    if not (options.failed or options.judge is not None or store.scores.judges(run.run_id)):
        return {}
    judge_id = resolve_scored_judge(store, run, options.judge)
    rows = list_examples(store, run, judge_id, ExamplePageOptions(limit=None, filter={"status": "failed"}))
    notes: dict[str, str] = {}
    for row in rows:
        notes.setdefault(row.query_id, _describe_failure(row.cause))
    return notes


def _sample_examples(
    store: Store, run: Run, options: AddExamplesOptions, weights: Mapping[str, float]
) -> tuple[Mapping[str, float], Mapping[str, StratumSample]]:
    """query_id -> how many answers it stands for, of those drawn; and the strata."""
    from ragauge.testsets.add.compute import sample_strata

    strata: dict[str, dict[str, float]] = {}
    groups = store.runs.segments(run.run_id)
    segments = [name for name in groups.columns if name != "query_id"]
    if options.by and options.by not in segments:
        raise UnknownName("segment of this run", options.by, segments)
    values = groups[options.by].to_list() if options.by else [""] * len(groups)
    for name, value in zip(groups["query_id"].to_list(), values, strict=True):
        strata.setdefault(NO_SEGMENT if value is None else value, {})[name] = weights[name]
    sample = sample_strata(strata, options.sample or 0, options.seed)
    return sample.weights, sample.strata if options.by else {}
