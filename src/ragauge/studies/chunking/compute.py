"""Studies of chunkers: what decides, and what trials show beside their means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.core.messages import number
from ragauge.core.study import Trial
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.figures import StudyFigures, StudyKind, StudyTable, Told
from ragauge.studies.means import trial_means

CUTOFF = "token_recall@5"
OVERLAPS = ("overlap", "chunk_overlap")


def _tells(found: StudyFigures) -> Iterable[Told]:
    """Where cutoff and budget disagree, what overlap buys, what recall lacks; IoU and recall as charts."""
    decides = parse(found.metric) if found.scored else None
    if decides is not None and len(found.scores) > 1:
        yield from _disagreement(found, decides)
        yield from _overlaps(found, decides)
    if (lost := _losses(found)) is not None:
        yield lost
    yield from _charts(found)


CHUNKING = StudyKind(
    "chunking",
    (
        *(f"token_recall:budget={n}{fill}" for n in (1024, 2048, 512, 4096) for fill in ("", ":fill=whole")),
        "token_recall:budget=*",
        CUTOFF,
        "token_recall@*",
    ),
    ("index_tokens",),
    ("embedding_price", "chunks", "chunk_tokens", "gold_spans_cut"),
    _tells,
    (CUTOFF, "token_precision:budget=1024", "token_iou:budget=1024", "precision_omega"),
)


def _disagreement(found: StudyFigures, decides: Metric) -> Iterator[str]:
    """Where equally many chunks prefer another trial than equally many tokens, neither by chance."""
    budget = getattr(decides, "budget", None)
    if budget is None or CUTOFF not in found.names:
        return
    tops = []
    for metric in (CUTOFF, found.metric):
        means = {trial: one.mean or 0.0 for trial in found.scores if (one := found.mean(trial, metric)) is not None}
        tops.append(max(means, key=means.__getitem__))
    by_k, by_budget = tops
    if by_k == by_budget:
        return
    pair = {name: found.scores[name] for name in tops}
    gained = [
        next(one for one in trial_means(pair, metric, base=by_budget) if one.trial == by_k)
        for metric in (parse(CUTOFF), decides)
    ]
    at_k, at_budget = (one.difference_interval for one in gained)
    if at_k is not None and at_budget is not None and at_k.low > 0 > at_budget.high:
        yield (
            f"5 chunks prefer {by_k} by {100 * (gained[0].difference or 0):.1f} points of recall, {budget:,} tokens "
            f"prefer {by_budget} by {-100 * (gained[1].difference or 0):.1f}: a fixed k rewards longer chunks, so the "
            "budget decides."
        )


def _overlaps(found: StudyFigures, decides: Metric) -> Iterator[str]:
    """What overlap adds to the same chunker without, and what it costs the index."""
    complete = [trial for trial in found.complete if trial.name in found.scores]
    for trial in complete:
        plain = next((one for one in complete if _same_without_overlap(one, trial)), None)
        before, after = (one.measured("index_tokens") if one else None for one in (plain, trial))
        if plain is None or not before or after is None:
            continue
        pair = {one.name: found.scores[one.name] for one in (plain, trial)}
        gain = next(one for one in trial_means(pair, decides, base=plain.name) if one.trial == trial.name)
        if gain.difference is not None and gain.difference_interval is not None:
            ends = gain.difference_interval
            told = " (may be chance)" if ends.low <= 0 <= ends.high else ""
            yield (
                f"overlap in {trial.name} adds {100 * gain.difference:+.1f} points "
                f"[{100 * ends.low:+.1f}, {100 * ends.high:+.1f}] of {found.metric} "
                f"for {after / before - 1:.0%} more index{told}."
            )


def _same_without_overlap(plain: Trial, trial: Trial) -> bool:
    def others(one: Trial) -> dict[str, object]:
        return {key: value for key, value in one.parameters.items() if key not in OVERLAPS}

    def overlap(one: Trial) -> float:
        return sum(value for key in OVERLAPS if isinstance(value := one.parameters.get(key, 0), int | float))

    return others(plain) == others(trial) and overlap(plain) == 0 < overlap(trial)


def _losses(found: StudyFigures) -> StudyTable | None:
    """What recall lacks to 1, split into what boundaries cost and what ranking costs."""
    most = found.metric.replace("token_recall", "attainable_recall")
    if not found.metric.startswith("token_recall") or most not in found.names:
        return None
    rows, marked = [], False
    for trial in found.complete:
        reached, recall = found.mean(trial.name, most), found.mean(trial.name)
        if reached is None or recall is None or reached.mean is None or recall.mean is None:
            continue
        greedy = bool(trial.measured("attainable_greedy"))
        marked = marked or greedy
        signs = ("≤ ", "≥ ") if greedy else ("", "")
        losses = (1 - reached.mean, reached.mean - recall.mean)
        split = (f"{sign}{number(loss)}" for sign, loss in zip(signs, losses, strict=True))
        rows.append((trial.name, number(recall.mean), *split))
    heads = ("trial", "recall", "lost to boundaries", "lost to ranking")
    note = "≤, ≥: more than 12 chunks touch the evidence of some questions; there the best choice was sought greedily."
    lead = f"{found.metric}: recall + lost to boundaries + lost to ranking = 1."
    return StudyTable("What recall lacks", heads, tuple(rows), heads[1:], (lead,), (note,) if marked else ())


def _charts(found: StudyFigures) -> Iterator[ReportChart]:
    iou = found.metric.replace("token_recall", "token_iou")
    if iou in found.names:
        yield ReportChart(f"{iou} by chunker", "bars", "", iou, tuple(_points(found, iou)))
    for over, title in (("budget", "tokens in the context"), ("k", "chunks in the context")):
        metrics = [one for name in found.names if name.startswith("token_recall") for one in [parse(name)]]
        known = [
            (at, str(one))
            for one in metrics
            if (at := getattr(one, over)) is not None and getattr(one, "unit", "") == "token"
        ]
        if len(known) > 1:
            points = [
                ChartPoint(float(at), one.mean, trial.name)
                for trial in found.complete
                for at, name in sorted(known)
                if (one := found.mean(trial.name, name)) is not None and one.mean is not None
            ]
            yield ReportChart(f"Recall by {over}", "lines", title, "token_recall", tuple(points), log=True)


def _points(found: StudyFigures, metric: str) -> Iterator[ChartPoint]:
    for trial in found.complete:
        one = found.mean(trial.name, metric)
        if one is not None and one.mean is not None:
            ends = (one.interval.low, one.interval.high) if one.interval else (None, None)
            yield ChartPoint(trial.name, one.mean, "", *ends)
