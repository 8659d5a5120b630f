"""Two scorecards: a small one of hostile strings, and one with everything in it that a report can show."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.building import agreement_facts, evidence, metric_change, reference_facts, relevance_facts

from ragauge.core.example import Example, Relevant, Span, Turn
from ragauge.core.facts import AnswerFacts, Claim, Evidence, ReferenceClaim, ReferenceFacts, Window
from ragauge.core.response import Citation, Passage, Response, Run
from ragauge.core.score import Score
from ragauge.core.verdict import ExampleVerdict
from ragauge.scores.results.comparison import ExampleDelta, Failures, Matched, RunComparison, SegmentDrop
from ragauge.scores.results.overview import (
    Alignment,
    Bin,
    Distribution,
    LengthBand,
    ListedResponse,
    MeanEstimate,
    Overview,
    RankUse,
    Spending,
    Stage,
    Timing,
)
from ragauge.scores.results.scorecard import Cause, ExampleView, Finding, JudgeNote, Reading, ScorecardData, Summary
from ragauge.stats.weighted import Interval

HOSTILE = "<script>alert('x')</script> [red]a|b[/red] \x1b[31m *b* </td>"


def summary(metric: str, measures: str, mean: float | None, **more: object) -> Summary:
    facts: dict[str, object] = {
        "direction": "higher",
        "kind": "mean",
        "n": 120,
        "scored": 110,
        "undefined": 6,
        "not_applicable": 3,
        "failed": 1,
        "interval": None if mean is None else Interval(mean - 0.08, mean + 0.08, "t"),
        "low": mean,
        "high": mean,
    }
    return Summary(metric, measures, mean=mean, **{**facts, **more})  # type: ignore[arg-type]     # fields of any type, by name


@pytest.fixture
def card() -> ScorecardData:
    summaries = (
        summary("recall@5", "retrieval", 0.41),
        summary("faithfulness", "generation", 0.8333, micro=0.85),
        summary("contradicted", "generation", 0.12, direction="lower"),
        summary(
            "latency", "end_to_end", 1234.5, kind="amount", direction="lower", quantiles={0.5: 900.0, 0.95: 3210.0}
        ),
        summary(
            "completeness",
            "end_to_end",
            None,
            scored=0,
            undefined=0,
            not_applicable=120,
            failed=0,
            reasons={"no aspects prepared": 120},
        ),
    )
    answer = f"Hub 3 accepts 60 devices. It weighs 90 kg. {HOSTILE}"
    claims = (
        Claim(1, "Hub 3 accepts 60 devices.", 0, 25, supporting=(1,), strength="direct", p=0.93),
        Claim(2, "It weighs 90 kg.", 26, 42, p=0.05, window=Window(1, 0, 5, ("90 kg",))),
    )
    view = ExampleView(
        Example(
            "q1", f"How many? {HOSTILE}", references=("60 devices.",), relevant=(Relevant(("a",)), Relevant(("z",)))
        ),
        Response("q1", passages=(Passage("a#1", "a", f"60 devices {HOSTILE}", 0.5),), answer=answer),
        {
            "verify_answer": Evidence(
                "k1", "verify_answer", 1, "local", "ok", AnswerFacts(claims, "fully", refuse=False)
            ),
            "verify_reference": Evidence(
                "k2", "verify_reference", 1, "local", "ok", ReferenceFacts((ReferenceClaim(1, "60 devices.", ()),))
            ),
        },
        {"faithfulness": Score("r1", "q1", 0, "faithfulness", 1, "local", 0, "scored", 0.5)},
        Cause("hallucinated", "claim 2 is in no passage", "answer only from the context", "generation"),
        ExampleVerdict("failed", "failed", "unclear"),
    )
    finding = Finding("retrieval_miss", f"retrieval misses {HOSTILE}", "why", "fix it", explains=62, failures=85)
    return ScorecardData(
        Run("r1", f"demo {HOSTILE}", system="reference", config={"k": 5, "note": HOSTILE}),
        JudgeNote("local:1", "The local judge compares words.", ("It does not see negation.",), 0.31),
        120,
        5,
        summaries,
        {"type": {HOSTILE: summaries[:2], "temporal": summaries[:2]}},
        (finding,),
        {"retrieval_miss": 62, "hallucinated": 20, "": 3},
        85,
        (view,),
        (f"few examples {HOSTILE}",),
        {"recall@5": ("Share of the relevant documents.", "recall@k = #(top_k and L) / #L", "trec_eval")},
    )


METRICS: Mapping[str, tuple[str, str, str, float]] = {  # name -> layer, direction, kind, mean
    "recall@5": ("retrieval", "higher", "mean", 0.62),
    "mrr": ("retrieval", "higher", "mean", 0.55),
    "ndcg@10": ("retrieval", "higher", "mean", 0.58),
    "context_recall": ("retrieval", "higher", "mean", 0.6),
    "context_precision": ("retrieval", "higher", "mean", 0.48),
    "empty_result_rate": ("retrieval", "lower", "rate", 0.02),
    "faithfulness": ("generation", "higher", "mean", 0.81),
    "contradicted": ("generation", "lower", "mean", 0.07),
    "not_in_context": ("generation", "lower", "mean", 0.12),
    "ignored_top_ranked": ("generation", "lower", "rate", 0.36),
    "citation_precision": ("generation", "higher", "mean", 0.9),
    "answer_relevance": ("generation", "higher", "mean", 0.86),
    "answer_correctness": ("end_to_end", "higher", "mean", 0.52),
    "answer_recall": ("end_to_end", "higher", "mean", 0.5),
    "token_f1": ("end_to_end", "higher", "mean", 0.44),
    "context_tokens": ("end_to_end", "neither", "amount", 900.0),
    "latency": ("end_to_end", "lower", "amount", 840.0),
}
CAUSES = {
    "retrieval_miss": 24,
    "ranked_low": 14,
    "hallucinated": 12,
    "incomplete": 9,
    "contradicted": 6,
    "ignored": 5,
    "span_cut": 4,
    "noise": 3,
    "wrong_refusal": 2,
    "": 1,
}
TYPES = ("single_hop", "multi_hop", "comparison", "temporal", "unanswerable")
TENANTS = ("acme", "northwind", "contoso")
STAGES = ("candidates", "top n of the candidates", "handed on", "used")
SUBJECTS = ("the nightly backup", "a restore of one mailbox", "the retention of deleted files", "the second appliance")


def estimate(mean: float, half: float, n: int) -> MeanEstimate:
    return MeanEstimate(mean, Interval(mean - half, mean + half, "t"), n)


def summaries(n: int, shift: float = 0.0) -> tuple[Summary, ...]:
    half = 0.9 / max(n, 2) ** 0.5
    found = []
    for name, (layer, direction, kind, mean) in METRICS.items():
        amount = kind == "amount"
        middle = mean if amount else min(1.0, max(0.0, mean + shift))
        ends = (
            Interval(middle * 0.95, middle * 1.06, "t")
            if amount
            else Interval(max(0.0, middle - half), min(1.0, middle + half), "t")
        )
        micro = middle + 0.01 if layer == "generation" and kind == "mean" else None
        quantiles = {0.5: middle * 0.9, 0.95: middle * 2.1, 0.99: middle * 3.3} if amount else {}
        undefined = n // 20
        found.append(
            Summary(
                name,
                layer,
                direction,
                kind,
                n,
                n - undefined - 1,
                undefined,
                0,
                1,
                middle,
                ends,
                micro,
                middle - 0.01,
                middle + 0.01,
                quantiles,
            )
        )
    return tuple(found)


def kept(random_: random.Random) -> dict[str, float]:
    """Shares of two labelled documents still there, ever fewer of them."""
    left = sorted((random_.choice((0.0, 0.5, 1.0)) for _ in STAGES), reverse=True)
    return dict(zip(STAGES, left, strict=True))


def listed(n: int, random_: random.Random, text: Callable[[str], str]) -> list[ListedResponse]:
    names = list(CAUSES)
    found = []
    for place in range(n):
        failed = random_.random() < 0.62
        cause = random_.choices(names, list(CAUSES.values()))[0] if failed else ""
        kind = random_.choice(TYPES)
        values = {}
        for name, (_, direction, scale, mean) in METRICS.items():
            if scale == "amount":
                values[name] = mean * random_.lognormvariate(0, 0.4)
            elif scale == "rate":
                values[name] = float(random_.random() < mean)
            else:
                centre = mean + (-0.2 if failed == (direction == "higher") else 0.15)
                values[name] = round(min(1.0, max(0.0, random_.gauss(centre, 0.22))) * 6) / 6
        query = text(f"How long does {random_.choice(SUBJECTS)} take when the {kind} plan {place} is over its quota?")
        why = text(f"gold document guide-{place % 40} is not among the candidates") if failed else ""
        found.append(
            ListedResponse(
                f"q{place:04d}",
                0,
                query,
                "failed" if failed else "passed",
                cause,
                why,
                round(random_.random() * (0.6 if failed else 1), 3),
                values,
                {"type": kind, "tenant": random_.choice(TENANTS)},
                tuple(sorted(random_.sample(range(1, 6), 2))),
                tuple(sorted(random_.sample(range(1, 6), 2))),
                5,
                kept(random_),
                {
                    "total": values["latency"],
                    "retrieval": 0.1 * values["latency"],
                    "generation": 0.9 * values["latency"],
                },
            )
        )
    return sorted(found, key=lambda row: (not row.failed, row.quality or 0.0))


def distribution(name: str, rows: Sequence[ListedResponse]) -> Distribution:
    kind = METRICS[name][2]
    values = [row.values[name] for row in rows]
    if kind == "rate":
        return Distribution(name, kind, tuple(Bin(v, v, values.count(v)) for v in (0.0, 1.0)), exact=True)
    top, count = (max(values), 20) if kind == "amount" else (1.0, 10)
    edges = [top * i / count for i in range(count + 1)]
    counts = [sum(edges[i] <= v < edges[i + 1] or (i == count - 1 and v == top) for v in values) for i in range(count)]
    return Distribution(name, kind, tuple(Bin(edges[i], edges[i + 1], counts[i]) for i in range(count)))


def overview(rows: Sequence[ListedResponse], n: int) -> Overview:
    by_segment: dict[str, dict[str, dict[str, int]]] = {}
    for row in rows:
        for column, value in row.segments.items():
            counts = by_segment.setdefault(column, {}).setdefault(value, {})
            if row.failed:
                counts[row.cause] = counts.get(row.cause, 0) + 1
    ranks = tuple(
        RankUse(rank, n, max(1, n * (9 - rank) // 12), n // (rank + 2), n // (rank + 1), n // (rank + 2))
        for rank in range(1, 6)
    )
    tokens = sorted(row.values["context_tokens"] for row in rows)
    quarters = [tokens[len(tokens) * i // 4] for i in range(4)] + [tokens[-1]]
    lengths = tuple(
        LengthBand(
            int(quarters[i]),
            int(quarters[i + 1]),
            n // 4,
            {
                "faithfulness": estimate(0.9 - 0.07 * i, 0.06, n // 4),
                "answer_correctness": estimate(0.6 - 0.05 * i, 0.08, n // 4),
            },
            "tokens",
        )
        for i in range(4)
    )
    total = distribution("latency", rows).bins
    return Overview(
        tuple(rows),
        n,
        by_segment,
        tuple(distribution(name, rows) for name in METRICS),
        Alignment(
            ranks,
            n,
            n * 2 // 5,
            estimate(0.4, 0.06, n),
            True,
            n // 9,
            -0.21,
            Interval(-0.3, -0.12, "bootstrap"),
            {"first": estimate(0.71, 0.07, 80), "middle": estimate(0.44, 0.08, 74), "last": estimate(0.58, 0.08, 69)},
        ),
        lengths,
        tuple(
            Stage(name, estimate(mean, 0.06, n))
            for name, mean in (
                ("candidates", 0.81),
                ("top n of the candidates", 0.66),
                ("handed on", 0.62),
                ("used", 0.41),
            )
        ),
        (
            Timing("total", n, 760.0, 1900.0, 2700.0, total),
            Timing("retrieval", n, 41.0, 120.0, 260.0),
            Timing("generation", n, 710.0, 1800.0, 2500.0),
        ),
        Spending({"input": 912.0 * n, "output": 64.0 * n}, n, 0.00042 * n, n),
    )


def view(place: int, row: ListedResponse, text: Callable[[str], str]) -> ExampleView:
    filler = " ".join(f"Step {i} of the guide says what to press and how long the light is green." for i in range(22))
    held = "The nightly backup takes 40 minutes on the second appliance."
    first = text(f"{filler} {held} {filler}")
    second = text("Restores of one mailbox need an administrator. They cost nothing.")
    said = "The nightly backup takes 40 minutes. Restores cost 12 euros. The light turns blue afterwards."
    answer = text(f"{said} [{place}]")
    stop = [answer.find(part) + len(part) for part in ("40 minutes.", "12 euros.", "afterwards.")]
    starts = [0, stop[0] + 1, stop[1] + 1]
    at = first.find(held)
    free = second.find("They cost nothing.")
    claims = (
        Claim(
            1,
            answer[starts[0] : stop[0]],
            starts[0],
            stop[0],
            supporting=(1,),
            strength="direct",
            p=0.94,
            window=Window(1, at, at + len(held)),
        ),
        Claim(
            2,
            text("A restore costs 12 euros."),
            starts[1],
            stop[1],
            contradicting=(2,),
            p=0.08,
            window=Window(2, free, free + 18, ("12 euros",)),
            reason=text("passage 2 says 'nothing'"),
        ),
        Claim(3, answer[starts[2] : stop[2]], starts[2], stop[2], p=0.2, window=Window(1, 0, 70, ("blue",))),
        Claim(4, None, stop[2] + 1, len(answer), status="failed", reason="the reply was cut off"),
    )
    span = Span("guide-1", 0, len(first))
    passages = (
        Passage("guide-1#3", "guide-1", first, 0.82, span),
        Passage("policy-7#1", "policy-7", second, 0.61),
        Passage("old-2#1", "old-2", text("An outdated page."), 0.4, superseded_by="guide-1"),
    )
    found = evidence(
        AnswerFacts(claims, "partly", refuse=False),
        reference_facts([1], []),
        relevance_facts(True, None, False),
        agreement_facts(("agrees", "contradicts", "absent", None), (True, False)),
    )
    scores = {
        "faithfulness": Score("r1", row.query_id, 0, "faithfulness", 1, "local", 0, "scored", 1 / 3),
        "completeness": Score("r1", row.query_id, 0, "completeness", 1, None, 0, "not_applicable", reason="no aspects"),
    }
    example = Example(
        row.query_id,
        row.query,
        (Turn("user", text("Earlier, I asked about plans.")),),
        (text("It takes 40 minutes. Restores are free."),),
        (text("It takes 40 minutes."), text("Restores are free.")),
        relevant=(Relevant(("guide-1",)), Relevant(("missing-9", "missing-10"))),
        gold_spans=(Span("guide-1", at, at + len(held)),),
        segments=row.segments,
    )
    response = Response(
        row.query_id,
        row.repeat,
        passages,
        (*passages, Passage("m#1", "missing-9", "…")),
        answer,
        (Citation(starts[0], stop[0], "guide-1#3"), Citation(starts[1], stop[1], text("nowhere"))),
    )
    cause = Cause(
        row.cause,
        text("passages 1 and 2 lack the reference claim 2"),
        text("hybrid search, query rewriting"),
        "retrieval",
        "hallucinated",
        ("index listing",),
        "labels",
    )
    return ExampleView(example, response, found, scores, cause, ExampleVerdict("failed", "failed", "unclear"))


def findings(failed: int, text: Callable[[str], str]) -> tuple[Finding, ...]:
    return (
        Finding(
            "retrieval_miss",
            text("retrieval misses evidence for multi_hop questions (recall@5 0.41 [0.33, 0.49])"),
            text("24 of 80 failures. Less of the evidence is found than before."),
            text("Hybrid search, metadata filters, query rewriting."),
            text("the prompt, until recall improves"),
            text("recall and faithfulness"),
            failed // 3,
            failed,
            "type=multi_hop",
            "high",
            "baseline",
            (
                Reading(
                    "recall@5", "low", 0.62, 0.72, Interval(-0.165, -0.035, "t"), text("main"), "baseline", -0.1, 60
                ),
                Reading("faithfulness", "high", 0.81, 0.8, Interval(-0.01, 0.03, "t"), text("main"), "baseline", 0.01),
            ),
        ),
        Finding(
            "hallucinated",
            text("answers make claims that no passage supports (not_in_context 0.12 [0.08, 0.16])"),
            text("12 of 80 failures."),
            text("Write 'answer only from the context' into the prompt."),
            "retrieval",
            "not_in_context and faithfulness",
            failed // 8,
            failed,
            "",
            "medium",
            "starting points",
            tuple(
                Reading(name, level, value, point, Interval(low, high, how), "BEE-30050", "starting points", n=60)
                for name, level, value, point, low, high, how in (
                    ("faithfulness", "low", 0.7, 0.85, 0.63, 0.77, "t"),
                    ("ignored_top_ranked", "high", 0.36, 0.3, 0.31, 0.42, "wilson"),
                )
            ),
        ),
        Finding(
            "ignored_top_ranked",
            text("ranking and generator disagree"),
            "36 %",
            "Smaller chunks.",
            failures=failed,
            confidence="low",
        ),
    )


def baseline(n: int, text: Callable[[str], str]) -> RunComparison:
    changes = []
    for name, (_, direction, kind, mean) in METRICS.items():
        gap = {"recall@5": -0.1, "context_recall": -0.08, "answer_relevance": 0.06}.get(name, 0.01) * (
            mean if kind == "amount" else 1
        )
        half = abs(gap) / 2 + 0.015
        found = estimate(gap, half, n) if name != "token_f1" else MeanEstimate(gap, None, 1)
        verdict = "worse" if gap < -0.05 else "better" if 0.05 < gap < 1 else "no change seen"
        if found.interval is None:
            verdict = "not enough data"
        moved = tuple(ExampleDelta(text(f"q{place:04d}"), 1.0, 0.0) for place in range(3)) if verdict == "worse" else ()
        where = (
            SegmentDrop(f"{text('type')}={text('temporal')}", 2 * gap, gap / 2, n // 5) if name == "recall@5" else None
        )
        more: dict[str, Any] = {"direction": direction, "kind": kind, "moved": moved, "where": where}
        changes.append(metric_change(name, mean - gap, mean, found, verdict, **more))
    causes = {"retrieval_miss": 11, "hallucinated": 14, "incomplete": 12}
    matched, failed = Matched(n, 2, 3), Failures(causes, {}, 37)
    return RunComparison(Run("b1", text("main")), Run("r1", "new"), matched, tuple(changes), failures=failed)


def whole_card(n: int = 120, seed: int = 7, text: Callable[[str], str] = str, worst: int = 20) -> ScorecardData:
    """A scorecard of n examples with every part filled; `text` is put around every string that data would bring."""
    random_ = random.Random(seed)
    rows = [
        replace(
            row,
            query_id=text(row.query_id) if text is not str else row.query_id,
            segments={text(column): text(value) for column, value in row.segments.items()},
        )
        for row in listed(n, random_, text)
    ]
    failed = [row for row in rows if row.failed]
    causes = Counter(row.cause for row in failed)
    segments = {
        column: {value: summaries(max(2, n // 5), shift) for shift, value in sorted(zip(shifts, values, strict=True))}
        for column, values, shifts in (
            (text("type"), [text(value) for value in TYPES], (0.1, -0.25, 0.0, -0.3, 0.05)),
            (text("tenant"), [text(value) for value in TENANTS], (0.0, -0.1, 0.1)),
        )
    }
    return ScorecardData(
        Run(
            "r1",
            text("k=8, new chunks"),
            set_name=text("golden"),
            set_version="9f31",
            system=text("reference RAG"),
            config={"k": 8, text("note"): text("a setting")},
            git="4f2c91a, uncommitted changes",
            created_at="2026-03-04T10:11:12+00:00",
        ),
        JudgeNote(
            "local:1",
            text("The local judge compares words."),
            (text("It does not see irony."),),
            0.31,
            text("AUROC 0.86 on sources it was not trained on."),
        ),
        n,
        5,
        summaries(n),
        segments,
        findings(len(failed), text),
        dict(causes.most_common()),
        len(failed),
        tuple(view(place, row, text) for place, row in enumerate(rows[:worst], 1)),
        (text("More than 2 % of the examples failed on faithfulness."),),
        {
            name: (text(f"What {name} says, in a plain sentence."), f"{name} = a / b\n\na  something", "trec_eval")
            for name in METRICS
        },
        took={"seconds": 12.5, "asked": 340},
        overview=overview(rows, n),
        baseline=baseline(n, text),
    )


@pytest.fixture
def whole() -> Callable[..., ScorecardData]:
    """The maker of scorecards with every part filled."""
    return whole_card
