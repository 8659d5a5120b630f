"""A scorecard with everything in it, hostile strings included."""

from __future__ import annotations

import pytest

from ragauge.analysis.scorecard import Cause, ExampleView, Finding, JudgeNote, Scorecard, Summary
from ragauge.data.example import Example, Relevant
from ragauge.data.facts import AnswerFacts, Claim, Evidence, ReferenceClaim, ReferenceFacts, Window
from ragauge.data.response import Passage, Response
from ragauge.data.run import Run
from ragauge.data.score import Score
from ragauge.stats.result import Interval

HOSTILE = "<script>alert('x')</script> [red]a|b[/red] \x1b[31m *b* </td>"


def summary(metric: str, measures: str, mean: float | None, **more: object) -> Summary:
    facts: dict[str, object] = {
        "direction": "higher", "kind": "mean", "n": 120,
        "scored": 110, "undefined": 6, "not_applicable": 3, "failed": 1,
        "interval": None if mean is None else Interval(mean - 0.08, mean + 0.08, "t"), "low": mean, "high": mean,
    }  # fmt: skip
    return Summary(metric, measures, mean=mean, **{**facts, **more})  # type: ignore[arg-type]     # fields of any type, by name


@pytest.fixture
def card() -> Scorecard:
    summaries = (
        summary("recall@5", "retrieval", 0.41),
        summary("faithfulness", "generation", 0.8333, micro=0.85),
        summary("contradicted", "generation", 0.12, direction="lower"),
        summary("latency", "end_to_end", 1234.5, kind="amount", direction="lower",
                quantiles={0.5: 900.0, 0.95: 3210.0}),
        summary("completeness", "end_to_end", None, scored=0, undefined=0, not_applicable=120, failed=0,
                reasons={"no aspects prepared": 120}),
    )  # fmt: skip
    answer = f"Hub 3 accepts 60 devices. It weighs 90 kg. {HOSTILE}"
    claims = (
        Claim(1, "Hub 3 accepts 60 devices.", 0, 25, supporting=(1,), strength="direct", p=0.93),
        Claim(2, "It weighs 90 kg.", 26, 42, p=0.05, window=Window(1, 0, 5, ("90 kg",))),
    )
    view = ExampleView(
        Example("q1", f"How many? {HOSTILE}", references=("60 devices.",),
                relevant=(Relevant(("a",)), Relevant(("z",)))),
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
    )
    finding = Finding("retrieval_miss", f"retrieval misses {HOSTILE}", "why", "fix it", explains=62, failures=85)
    return Scorecard(
        Run("r1", f"demo {HOSTILE}", system="reference", config={"k": 5, "note": HOSTILE}),
        JudgeNote("local:1", "The local judge compares words.", ("It does not see negation.",), 0.31),
        120, 5, summaries, {"type": {HOSTILE: summaries[:2], "temporal": summaries[:2]}}, (finding,),
        {"retrieval_miss": 62, "hallucinated": 20, "": 3}, 85, (view,), (f"few examples {HOSTILE}",),
        {"recall@5": ("Share of the relevant documents.", "recall@k = #(top_k and L) / #L", "trec_eval")},
    )  # fmt: skip
