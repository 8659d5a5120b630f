"""Monitor shadow: production's own questions put to a candidate, and whether it may take over."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from ragauge.comparison.verb import compare
from ragauge.core.errors import UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.evaluation.run.verb import run_system, set_of
from ragauge.evaluation.verbs import evaluate
from ragauge.monitoring.options import MonitorShadowOptions
from ragauge.monitoring.plan.verb import share_of_mean
from ragauge.monitoring.shadow.compute import retrieved_documents, shadow_verdict
from ragauge.verbs.coroutines import finish
from ragauge.verbs.evaluate_options import RunOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import run_of, store_url

if TYPE_CHECKING:
    from ragauge.comparison.result import ComparisonResult
    from ragauge.core.response import Response, Run
    from ragauge.monitoring.shadow.compute import RetrievedDocuments, ShadowVerdict
    from ragauge.rendering.sections import ReportSection
    from ragauge.store.store_access import Store


K = 10  # documents of a question that are looked at
GOLDEN = f"recall@{K}"


class ShadowResult(PageResult):
    """A candidate beside production, in every form.

    Attributes:
        verdict: cut over, ramp or stop, with the rule that decided.
        comparison: on production's requests.
        documents: what both retrieve; None where one of them records no passages.
        golden: on the golden set; None without one.
    """

    _what = "shadow of production"

    def __init__(
        self,
        verdict: ShadowVerdict,
        comparison: ComparisonResult,
        documents: RetrievedDocuments | None = None,
        golden: ComparisonResult | None = None,
    ) -> None:
        self.verdict, self.comparison = verdict, comparison
        self.documents, self.golden = documents, golden

    @property
    def _value(self) -> dict[str, object]:
        golden = None if self.golden is None else self.golden.compared
        return {
            "verdict": self.verdict,
            "documents": self.documents,
            "golden": golden,
            "comparison": self.comparison.compared,
        }

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.monitoring.shadow.tables import shadow_sections

        golden = None if self.golden is None else self.golden.metrics[GOLDEN]
        yield from shadow_sections(self.verdict, self.documents, golden)
        yield from self.comparison._sections()


@keywords(MonitorShadowOptions)
def monitor_shadow(wanted: MonitorShadowOptions) -> ShadowResult:
    """Puts sampled questions of a run of traffic to a candidate, judges both alike, and says whether it may take over.

    Options:
        system: the candidate, as `run` takes it.
        like: the run of traffic: its id or name.
        sample: how many of its questions, drawn at random, always the same.
        margin: how much of a metric's mean may be lost, such as 3%.
        metrics: names and presets; the preset production by default.
        judge: who judges the candidate's answers, and those of production where that judge has not.
        settings: YAML with the candidate's settings.
        golden: a labelled set that the candidate is asked too; its recall@10 decides as the metrics do.
        golden_base: production's run over that set; the newest stored one by default.
        store: URL of the store.

    Raises:
        UnknownName: no such run.
        UsageError: the run is not one of traffic, there is none over the golden set, or the candidate cannot be had.
    """
    from ragauge.store.store_access import open_store

    url, margin = store_url(wanted.store), share_of_mean("margin", wanted.margin)
    with open_store(url) as store:
        base = run_of(wanted.like, store)
        if base.kind != "traffic":
            raise UsageError(f"--like: {base.name} is a run of a set. Name a run of traffic: ragauge monitor status.")
        numbers = sorted(store.runs.order(base.run_id).numbers)
        drawn = random.Random(base.run_id).sample(numbers, min(wanted.sample, len(numbers)))  # noqa: S311 - a sample
        loaded = store.runs.load(sorted(drawn))
        golden = _golden_base(wanted, store)  # before the candidate's own run over the set
    examples = {one.example.query_id: Example(one.example.query_id, one.example.query) for one in loaded}
    asked = EvalSet(f"{base.name} sample", tuple(examples.values()))
    candidate = _run(wanted, asked, f"shadow of {base.name}", url)
    for run in (base.run_id, candidate):
        evaluate(run, metrics=wanted.metrics or "production", judge=wanted.judge, store=url)
    found = compare(base.run_id, candidate, store=url)
    recall = _golden(wanted, golden, url) if golden is not None else None
    with open_store(url) as store:
        documents = _documents({one.example.query_id: one.response for one in loaded}, store, candidate)
    changes = () if recall is None else (recall.metrics[GOLDEN],)
    return ShadowResult(
        shadow_verdict(tuple(found.metrics.values()), margin, changes, documents), found, documents, recall
    )


def _run(wanted: MonitorShadowOptions, asked: EvalSet, name: str, url: str) -> str:
    """The candidate's run over some questions, under a name that no other run has."""
    from ragauge.store.store_access import open_store

    with open_store(url) as store:
        taken = {run.name for run in store.runs.list()}
    names = (name if n == 1 else f"{name} {n}" for n in count(1))
    free = next(one for one in names if one not in taken)
    options = RunOptions(wanted.system, asked, name=free, settings=wanted.settings, store=url, fresh=True)
    return finish(lambda: run_system(options)).run.run_id


class _GoldenSet(NamedTuple):
    """A golden set, and production's run over it."""

    asked: EvalSet
    base: Run


def _golden_base(wanted: MonitorShadowOptions, store: Store) -> _GoldenSet | None:
    if wanted.golden is None:
        return None
    asked = set_of(wanted.golden, store)
    if not any(one.relevant for one in asked.examples):
        raise UsageError(f"--golden: no question of {asked.name} names relevant documents: there is no recall.")
    if wanted.golden_base:
        return _GoldenSet(asked, run_of(wanted.golden_base, store))
    known = store.runs.list(1, filter={"version": asked.version})
    if not known:
        hint = "Run production over it first: ragauge run SYSTEM SET, or name its run with --golden-base"
        raise UsageError(f"--golden: no run over this version of {asked.name} is stored. {hint}.")
    return _GoldenSet(asked, known[0])


def _golden(wanted: MonitorShadowOptions, golden: _GoldenSet, url: str) -> ComparisonResult:
    """Recall of the candidate on the golden set beside production's, which asks no judge."""
    candidate = _run(wanted, golden.asked, f"shadow of {golden.base.name}", url)
    for run in (golden.base.run_id, candidate):
        evaluate(run, metrics=GOLDEN, judge="none", store=url)
    return compare(golden.base.run_id, candidate, metrics=GOLDEN, store=url)


def _documents(before: dict[str, Response], store: Store, candidate: str) -> RetrievedDocuments | None:
    """What both retrieve for the same questions."""
    pairs = [
        (old.passages, new.passages)
        for example, new in store.runs.pairs(candidate)
        if (old := before.get(example.query_id)) is not None and old.passages is not None and new.passages is not None
    ]
    ids = [tuple([one.doc_id for one in side] for side in pair) for pair in pairs]
    return retrieved_documents([old for old, _ in ids], [new for _, new in ids], K) if ids else None
