"""Monitor shadow: production's own questions put to a candidate, and whether it may take over."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from ragauge.comparison.verb import compare
from ragauge.core.errors import UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.messages import format_count, format_value
from ragauge.evaluation.run.verb import load_set, run_system
from ragauge.evaluation.verbs import evaluate
from ragauge.monitoring.options import MonitorShadowOptions
from ragauge.monitoring.plan.verb import parse_share_of_mean
from ragauge.monitoring.shadow.compute import compare_retrieved_documents, decide_shadow
from ragauge.rendering.sections import Phrase, ReportSection, Tone, Wording
from ragauge.verbs.coroutines import run_coroutine
from ragauge.verbs.evaluate_options import RunOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import find_run, resolve_store_url

if TYPE_CHECKING:
    from ragauge.comparison.result import ComparisonResult
    from ragauge.core.response import Response, Run
    from ragauge.monitoring.shadow.compute import RetrievedDocuments, ShadowVerdict
    from ragauge.scores.results.comparison import MetricChange
    from ragauge.store.store_access import Store


CUTOFF_DOCUMENTS = 10  # documents of a question that are looked at
GOLDEN_METRIC = f"recall@{CUTOFF_DOCUMENTS}"


class ShadowResult(PageResult):
    """A candidate beside production, in every form.

    Attributes:
        verdict: cut over, ramp or stop, with the rule that decided.
        comparison: on production's requests.
        documents: what both retrieve; None where one of them records no passages.
        golden: on the golden set; None without one.
    """

    _what = "shadow comparison"

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

    def _build_sections(self) -> Iterable[ReportSection]:
        golden = None if self.golden is None else self.golden.metrics[GOLDEN_METRIC]
        yield from build_shadow_sections(self.verdict, self.documents, golden)
        yield from self.comparison._build_sections()


@expand_options(MonitorShadowOptions)
def monitor_shadow(options: MonitorShadowOptions) -> ShadowResult:
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

    url, margin = resolve_store_url(options.store), parse_share_of_mean("margin", options.margin)
    with open_store(url) as store:
        base = find_run(options.like, store)
        if base.kind != "traffic":
            raise UsageError(
                f"--like: {base.name} is not a traffic run. List the traffic runs with ragauge monitor status."
            )
        numbers = sorted(store.runs.load_order(base.run_id).numbers)
        sampled = random.Random(base.run_id).sample(numbers, min(options.sample, len(numbers)))  # noqa: S311 - a sample
        loaded = store.runs.load(sorted(sampled))
        golden = _find_golden_base(options, store)  # before the candidate's own run over the set
    examples = {stored.example.query_id: Example(stored.example.query_id, stored.example.query) for stored in loaded}
    eval_set = EvalSet(f"{base.name} sample", tuple(examples.values()))
    candidate = _run_candidate(options, eval_set, f"shadow of {base.name}", url)
    for run in (base.run_id, candidate):
        evaluate(run, metrics=options.metrics or "production", judge=options.judge, store=url)
    comparison = compare(base.run_id, candidate, store=url)
    recall = _compare_golden(options, golden, url) if golden is not None else None
    with open_store(url) as store:
        documents = _compare_documents(
            {stored.example.query_id: stored.response for stored in loaded}, store, candidate
        )
    changes = () if recall is None else (recall.metrics[GOLDEN_METRIC],)
    return ShadowResult(
        decide_shadow(tuple(comparison.metrics.values()), margin, changes, documents), comparison, documents, recall
    )


def _run_candidate(shadow_options: MonitorShadowOptions, eval_set: EvalSet, name: str, url: str) -> str:
    """The candidate's run over some questions, under a name that no other run has."""
    from ragauge.store.store_access import open_store

    with open_store(url) as store:
        taken = {run.name for run in store.runs.list()}
    names = (name if n == 1 else f"{name} {n}" for n in count(1))
    free = next(candidate_name for candidate_name in names if candidate_name not in taken)
    options = RunOptions(
        shadow_options.system, eval_set, name=free, settings=shadow_options.settings, store=url, fresh=True
    )
    return run_coroutine(lambda: run_system(options)).run.run_id


class _GoldenSet(NamedTuple):
    """A golden set, and production's run over it."""

    eval_set: EvalSet
    base: Run


def _find_golden_base(options: MonitorShadowOptions, store: Store) -> _GoldenSet | None:
    if options.golden is None:
        return None
    eval_set = load_set(options.golden, store)
    if not any(example.relevant for example in eval_set.examples):
        raise UsageError(f"--golden: no question in {eval_set.name} has relevant documents, so there is no recall.")
    if options.golden_base:
        return _GoldenSet(eval_set, find_run(options.golden_base, store))
    stored_runs = store.runs.list(1, filter={"version": eval_set.version})
    if not stored_runs:
        hint = "Run production on it first: ragauge run SYSTEM SET, or name its run with --golden-base"
        raise UsageError(f"--golden: no stored run uses this version of {eval_set.name}. {hint}.")
    return _GoldenSet(eval_set, stored_runs[0])


def _compare_golden(options: MonitorShadowOptions, golden: _GoldenSet, url: str) -> ComparisonResult:
    """Recall of the candidate on the golden set beside production's, which asks no judge."""
    candidate = _run_candidate(options, golden.eval_set, f"shadow of {golden.base.name}", url)
    for run in (golden.base.run_id, candidate):
        evaluate(run, metrics=GOLDEN_METRIC, judge="none", store=url)
    return compare(golden.base.run_id, candidate, metrics=GOLDEN_METRIC, store=url)


def _compare_documents(previous: dict[str, Response], store: Store, candidate: str) -> RetrievedDocuments | None:
    """What both retrieve for the same questions."""
    pairs = [
        (old.passages, new.passages)
        for example, new in store.runs.pairs(candidate)
        if (old := previous.get(example.query_id)) is not None and old.passages is not None and new.passages is not None
    ]
    ids = [tuple([passage.doc_id for passage in side] for side in pair) for pair in pairs]
    return (
        compare_retrieved_documents([old for old, _ in ids], [new for _, new in ids], CUTOFF_DOCUMENTS) if ids else None
    )


RAMP_SHARES = (0.05, 0.25, 0.5, 1.0)  # shares of the requests that a candidate has one after another

TONES: dict[str, Tone] = {"cut over": "good", "ramp": "unsure", "stop": "bad"}


def build_shadow_sections(
    verdict: ShadowVerdict, documents: RetrievedDocuments | None = None, golden: MetricChange | None = None
) -> Iterator[ReportSection]:
    """The verdict and the rule that decided; what is retrieved, and what golden questions say of it."""
    move = f"ramp: send it {verdict.share:.0%} of the requests" if verdict.move == "ramp" else verdict.move
    steps = " and ".join(f"{share:.0%}" for share in RAMP_SHARES if share > verdict.share)
    nexts = f"Then {steps}, as long as its own traffic is no worse." if verdict.move == "ramp" else ""
    lead: list[Wording] = [Phrase(f"{move[0].upper()}{move[1:]}.", TONES[verdict.move]), f"{verdict.rule}."]
    lead += [nexts] if nexts else []
    if documents is not None:
        many, divergence_text = format_count(documents.n, "question"), format_value(documents.divergence)
        lead.append(
            f"{documents.overlap:.0%} of the top {documents.k} documents for {many} are the same; the JS divergence of "
            f"how often each document is retrieved is {divergence_text} (maximum 1)."
        )
    if golden is not None:
        reach = golden.difference.widest_interval
        within = f" [{reach.low:+.3f}, {reach.high:+.3f}]" if reach is not None else ""
        moved = "unknown" if golden.difference.mean is None else f"{golden.difference.mean:+.3f}"
        lead.append(f"{golden.metric} on {format_count(golden.difference.n, 'golden question')}: {moved}{within}.")
    yield ReportSection("Shadow", lead=tuple(lead))
