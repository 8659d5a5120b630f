"""`ragauge testset stats`: what a set is made of, whether it is like real questions, and what it can show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.testsets.options import SetStatsOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import named, run_of, store_url

if TYPE_CHECKING:
    from ragauge.core.document import Document
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.set_file import SetFile
    from ragauge.testsets.stats.detectable_difference import SetReach
    from ragauge.testsets.stats.set_profile import SetDescription
    from ragauge.testsets.stats.two_sample import TwoSampleTest

OF_A_RUN = ("detect", "baseline", "judge", "metrics")  # options that say nothing without a run


@dataclass(frozen=True, slots=True)
class SetStats:
    """What a set is and can.

    Attributes:
        made_of: states, types, origins, topics, overlap, likeness.
        reach: what a run tells of it; None without one.
    """

    made_of: SetDescription
    reach: SetReach | None


class SetStatsResult(PageResult):
    """What a set is and can, in every form.

    Attributes:
        found: every number as plain frozen values.
    """

    _what = "set"

    def __init__(self, found: SetStats) -> None:
        self.found = found

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.stats.tables import stats_value

        return stats_value(self.found.made_of, self.found.reach)

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.stats.tables import stats_sections

        return stats_sections(self.found.made_of, self.found.reach)


@keywords(SetStatsOptions)
def set_stats(wanted: SetStatsOptions) -> SetStatsResult:
    """What a set is made of and what it is fit to show.

    Counts by state, type, origin and variation, and how much of a question's words its gold holds. With a corpus:
    topics without a question. With real questions: whether a classifier tells the set's from them, and by what. With
    a run: by metric and segment the change that the set can show, and what other wordings of a question cost.

    Options:
        set: JSON lines, or any set that `read_set` reads.
        corpus: its documents; without it overlap rests on quoted evidence.
        like: questions of people: any set.
        run: a stored run on the set that was evaluated: id, name or "latest".
        baseline: another run, whose pairs with it tell how far differences spread, as in `compare`. Without it they are
            taken to spread as the run's own scores do: right where two runs correlate at one half.
        detect: the change that is to be seen in 80 of 100 comparisons: "3%" of the mean, "3 points".
        metrics: names and presets; all that the run has by default.
        judge: whose verdicts; the last judge by default.
        seed: of the folds of the classifier.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UsageError: an option of a run without one, or a run that was not evaluated.
        UnknownName: no such run, judge or metric.
        DataError: a set or corpus that cannot be read.
    """
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.set_file import set_lines
    from ragauge.testsets.stats.set_profile import described

    given = [name for name in OF_A_RUN if getattr(wanted, name)]
    if given and not wanted.run:
        raise UsageError(f"testset stats: {', '.join(given)} says something of a run. Add --run RUN.")
    lines = set_lines(wanted.set)
    real = None if wanted.like is None else set_lines(wanted.like)
    documents = None if wanted.corpus is None else _documents(wanted.corpus, lines, real)
    like = None if real is None else _like(lines, real, documents, wanted.seed)
    made_of = described(lines, None if documents is None else CorpusView(documents), like)
    return SetStatsResult(SetStats(made_of, reach_of(wanted, made_of.version) if wanted.run else None))


def _documents(corpus: Any, lines: SetFile, real: SetFile | None) -> tuple[Document, ...]:
    """The corpus, documents named as the labels name them."""
    from ragauge.readers.corpus import named_as_labels, read_corpus
    from ragauge.testsets.lock import gold_ids

    documents = read_corpus(corpus)
    every = (*lines.lines, *(real.lines if real is not None else ()))
    names = named_as_labels([one.doc_id for one in documents], (doc_id for one in every for doc_id in gold_ids(one)))
    return tuple(replace(one, doc_id=names.get(one.doc_id, one.doc_id)) for one in documents)


def _like(lines: SetFile, real: SetFile, documents: tuple[Document, ...] | None, seed: int) -> TwoSampleTest:
    from ragauge.testsets.stats.likeness import likeness

    return likeness(lines.lines, real.lines, {one.doc_id: one.text for one in documents or ()}, seed)


def reach_of(wanted: SetStatsOptions, version: str) -> SetReach:
    """What the run of the options tells of a version of its set.

    Raises:
        UsageError: the run was not evaluated.
        UnknownName: no such run, judge or metric.
    """
    from ragauge.comparison.baselines.baseline import baseline_run
    from ragauge.evaluation.scorecard.cards import judged
    from ragauge.metrics.catalogue import parse, select
    from ragauge.store.store_access import open_store
    from ragauge.testsets.stats.set_reach import MeasuredRun, set_reach

    with open_store(store_url(wanted.store or getattr(wanted.run, "url", None))) as store:
        run = run_of(wanted.run, store)
        judge_id = judged(store, run, wanted.judge)
        known = store.scores.metrics(run.run_id, judge_id)
        asked = select(named(wanted.metrics)) if wanted.metrics else [parse(name) for name in known]
        measured = MeasuredRun(run, judge_id, baseline_run(wanted.baseline, store))
        metrics = [one for one in asked if str(one) in known]

        def made() -> SetReach:
            return set_reach(store, measured, metrics, wanted.detect, version)

        if measured.base is not None:
            return made()
        what = ("reach", judge_id, *map(str, metrics), wanted.detect, version)
        return store.of_run(run.run_id, what, made)
