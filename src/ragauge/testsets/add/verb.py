"""Examples of a run added to a set: named ones, failed ones, or a sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, RagaugeError, UnknownName, UsageError
from ragauge.testsets.options import AddExamplesOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import ShownResult
from ragauge.verbs.sources import named, run_of, store_url

if TYPE_CHECKING:
    from ragauge.core.curation import Curation
    from ragauge.core.example import Example
    from ragauge.core.response import Run
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.results.scorecard import ExampleView
    from ragauge.store.store_access import Store
    from ragauge.testsets.add.compute import AddedExamples, TakenExample
    from ragauge.testsets.set_file import SetFile
    from ragauge.testsets.stratified_sample import StratumDraw

WITHOUT = "(none)"  # a stratum of examples that do not have the segment


class AddedSet(ShownResult):
    """What was added to a set, in every form.

    Attributes:
        found: the lines added, and what the set had already.
        path: the set's file.
    """

    def __init__(self, found: AddedExamples, path: Path) -> None:
        self.found, self.path = found, path

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.add.tables import added_value

        return added_value(self.found, str(self.path))

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.add.tables import added_sections

        return added_sections(self.found, str(self.path))


@keywords(AddExamplesOptions)
def add_examples(wanted: AddExamplesOptions) -> AddedSet:
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
    from ragauge.store.exclusive import changing
    from ragauge.store.store_access import open_store
    from ragauge.testsets.add.compute import TakenFrom, added
    from ragauge.testsets.set_file import append_lines
    from ragauge.verbs.files import make_folder

    path = Path(wanted.to)
    ids = _checked(wanted, path)
    with open_store(store_url(wanted.store)) as store:
        run = run_of(str(wanted.run), store)
        taken, strata = _taken(store, run, wanted, ids)
    known = _known(wanted.from_set, path, run, [one.example for one in taken])
    taken = [replace(one, known=known.get(one.example.query_id)) for one in taken]
    source = TakenFrom(run.run_id, run.name, frozenset(named(wanted.tag)), wanted.by_name)
    make_folder(path)
    with changing(path):
        found = replace(added(_read(path), taken, source), strata=strata)
        if found.lines:
            append_lines(path, found.lines)
    return AddedSet(found, path)


def of_question(example: Example, run: Run) -> Example:
    """An example without the segments that say what answered it: model, prompt, embedder, index, k and version.

    That is so of traffic; of an eval set segments are the set's own, and stay.
    """
    from ragauge.engine.request_stream import MADE_BY

    if run.kind != "traffic":
        return example
    return replace(
        example, segments={name: value for name, value in example.segments.items() if name.casefold() not in MADE_BY}
    )


def regression_set() -> str:
    """The set that `ui` of ragauge.yaml, in the working directory, names for examples that pages add; "" for none.

    Raises:
        ConfigError: a mistake in that section; those in others are told where these are used.
    """
    from ragauge.core.config.config_loader import DEFAULT, read_config
    from ragauge.core.errors import ConfigError

    if not Path(DEFAULT).is_file():
        return ""
    file = read_config()
    if mine := [one for one in file.problems if one.problem.startswith("ui")]:
        raise ConfigError(mine)
    return file.config.ui.regression_set if file.config.ui is not None else ""


@dataclass(frozen=True, slots=True)
class PlaceInSet:
    """An example of a run and a set that it may be added to.

    Attributes:
        line: the JSON line that would be added; "" where the set has the question already, or cannot take it.
        there: the query_id under which the set has it; "" where it has not.
        wrong: why it cannot be added; "" where it can.
    """

    line: str = ""
    there: str = ""
    wrong: str = ""


def place_in_set(to: str, view: ExampleView, run: Run, *, tag: str) -> PlaceInSet:
    """What adding an example of a run to a set would do; nothing is written.

    Args:
        to: path of the set; "" = a set without a line.
        view: the example.
        run: that it is of.
        tag: what it would be tagged with.
    """
    from ragauge.testsets.add.compute import TakenExample, TakenFrom, added
    from ragauge.testsets.set_file import SetFile

    told = "" if view.cause is None else _failed(view.cause.name)
    example = of_question(view.example, run)
    source = TakenFrom(run.run_id, run.name, frozenset(named(tag)))
    try:
        found = added(_read(Path(to)) if to else SetFile("", ()), [TakenExample(example, told)], source)
    except RagaugeError as error:
        return PlaceInSet(wrong=str(error))
    return PlaceInSet("".join(one.written for one in found.lines), "".join(found.there.values()))


def _failed(cause: str | None) -> str:
    """What a line says of an example that failed."""
    return f"failed, {cause or 'cause not decided'}"


def _checked(wanted: AddExamplesOptions, path: Path) -> tuple[str, ...]:
    """The query_ids that were named; () where failed or a sample is wanted."""
    from ragauge.testsets.set_file import ENDINGS

    ids = (wanted.ids,) if isinstance(wanted.ids, str) and wanted.ids else tuple(dict.fromkeys(map(str, wanted.ids)))
    if path.suffix not in ENDINGS:
        raise UsageError(f"testset add: --to {path}: expected a file that ends in .jsonl.")
    if bool(ids) + wanted.failed + (wanted.sample is not None) != 1:
        raise UsageError("testset add: say which examples: ids, --failed or --sample N, one of the three.")
    if wanted.by and wanted.sample is None:
        raise UsageError("testset add: --by SEGMENT says how a sample is drawn: it needs --sample N.")
    return ids


def _read(path: Path) -> SetFile:
    from ragauge.testsets.set_file import SetFile, read_set_file

    if not path.exists() or not path.read_bytes().strip():
        return SetFile(path.stem, ())
    return read_set_file(path)


def _known(given: Any, path: Path, run: Run, examples: Sequence[Example]) -> Mapping[str, Curation]:
    """query_id -> `meta` in the set that the run was over: in the one given, else in a file of its name."""
    from ragauge.testsets.add.compute import known_in
    from ragauge.testsets.set_file import set_lines

    if given is not None:
        return known_in(set_lines(given), examples)
    known: dict[str, Curation] = {}
    for file in (path.parent / f"{run.set_name}.jsonl", Path(f"{run.set_name}.jsonl")):
        if run.set_name and file.is_file() and not (path.exists() and file.samefile(path)):
            with suppress(DataError):  # nobody named it
                known |= known_in(set_lines(file, warn=lambda _: None), examples)
    return known


def _taken(
    store: Store, run: Run, wanted: AddExamplesOptions, ids: Sequence[str]
) -> tuple[list[TakenExample], Mapping[str, StratumDraw]]:
    """The examples wanted, in the order of the run; of a sample, what each stratum has and gave."""
    from ragauge.testsets.add.compute import TakenExample

    index = store.runs.index(run.run_id, store.runs.order(run.run_id).numbers)
    first: dict[str, int] = {}  # place of the first answer to each question
    for place, number in enumerate(index.query.tolist()):
        first.setdefault(index.query_ids[number], place)
    told = _told(store, run, wanted)
    weights: Mapping[str, float] = {}
    strata: Mapping[str, StratumDraw] = {}
    for query_id in ids:
        if query_id not in first:
            raise UnknownName("query_id in this run", query_id, first)
    if wanted.sample is not None:
        each = {name: 1.0 if index.weight is None else float(index.weight[place]) for name, place in first.items()}
        weights, strata = _sampled(store, run, wanted, each)
    chosen = set(told if wanted.failed else weights if wanted.sample is not None else ids)
    places = {name: int(index.number[place]) for name, place in first.items() if name in chosen}
    loaded = store.runs.load(list(places.values()))
    return [
        TakenExample(
            of_question(one.example, run), told.get(one.example.query_id, ""), weights.get(one.example.query_id)
        )
        for one in loaded
    ], strata


def _told(store: Store, run: Run, wanted: AddExamplesOptions) -> dict[str, str]:
    """query_id of each example that failed -> its cause; {} where nobody looked, unless that is what is asked for."""
    from ragauge.diagnosis.examples.example_views import ExamplePage, examples_of
    from ragauge.evaluation.scorecard.cards import judged

    if not (wanted.failed or wanted.judge is not None or store.scores.judges(run.run_id)):
        return {}
    judge_id = judged(store, run, wanted.judge)
    rows = examples_of(store, run, judge_id, ExamplePage(limit=None, filter={"status": "failed"}))
    told: dict[str, str] = {}
    for row in rows:
        told.setdefault(row.query_id, _failed(row.cause))
    return told


def _sampled(
    store: Store, run: Run, wanted: AddExamplesOptions, weights: Mapping[str, float]
) -> tuple[Mapping[str, float], Mapping[str, StratumDraw]]:
    """query_id -> how many answers it stands for, of those drawn; and the strata."""
    from ragauge.testsets.stratified_sample import draw_strata

    strata: dict[str, dict[str, float]] = {}
    groups = store.runs.segments(run.run_id)
    segments = [name for name in groups.columns if name != "query_id"]
    if wanted.by and wanted.by not in segments:
        raise UnknownName("segment of this run", wanted.by, segments)
    values = groups[wanted.by].to_list() if wanted.by else [""] * len(groups)
    for name, value in zip(groups["query_id"].to_list(), values, strict=True):
        strata.setdefault(WITHOUT if value is None else value, {})[name] = weights[name]
    found = draw_strata(strata, wanted.sample or 0, wanted.seed)
    return found.weights, found.strata if wanted.by else {}
