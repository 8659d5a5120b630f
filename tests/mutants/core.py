"""Faults of the core, each with the test files of which one must fail on it."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One fault. The file is under src/ragauge, tests are under tests/ and end in .py."""

    path: str
    old: str
    new: str
    tests: str

    def __str__(self) -> str:
        return f"{self.path}: {self.old.strip()} -> {self.new.strip()}"


GOLDEN = "metrics/test_retrieval_golden metrics/test_retrieval_matrix"
CLAIMS = "metrics/test_evidence_by_hand metrics/test_evidence_cases metrics/test_ragchecker_arithmetic"
CAUSES = "analysis/test_attribute"
GATE = "gating/test_decide gating/test_checking gating/test_failed_scores"
COMPARED = "analysis/test_compare analysis/test_comparing analysis/test_moved"
RETRIEVAL, ANSWER, CAUSE = "metrics/retrieval/", "metrics/answer/", "diagnosis/causes/"
COMPARISON, CORRECTION = "comparison/", "comparison/correction.py"
TREC, LAX = "readers/trec.py", "            return False\n        limit = self.limit if self.lax"

MUTANTS = [
    # metrics
    Mutant(RETRIEVAL + "recall.py", "rank <= cutoff", "rank < cutoff", GOLDEN),
    Mutant(RETRIEVAL + "recall.py", "for rank in ranks), len(ranks))", "for rank in ranks), cutoff or 1)", GOLDEN),
    Mutant(RETRIEVAL + "precision.py", "for rank in ranks), cutoff)", "for rank in ranks), len(ranks))", GOLDEN),
    Mutant(RETRIEVAL + "gains.py", "log2(rank + 1) for gain, rank in", "log2(rank + 2) for gain, rank in", GOLDEN),
    Mutant(RETRIEVAL + "gains.py", "reverse=True)[:k]", "reverse=True)", GOLDEN),
    Mutant(RETRIEVAL + "mrr.py", "first = min(", "first = max(", GOLDEN),
    Mutant(RETRIEVAL + "map.py", "/ len(ranks)", "/ max(1, len(relevant))", GOLDEN),
    Mutant(RETRIEVAL + "hit.py", "float(any(", "float(all(", GOLDEN),
    Mutant(ANSWER + "faithfulness.py", 'claim.strength != "implied"', 'claim.strength == "implied"', CLAIMS),
    Mutant(ANSWER + "hallucination.py", "(1 - claim.chance) * (1 - r)", "(1 - claim.chance) * r", CLAIMS),
    Mutant(ANSWER + "over_refusal.py", "float(refuse) if", "float(not refuse) if", CLAIMS),
    Mutant(ANSWER + "citation_precision.py", "sum(not find_named", "sum(True or find_named", CLAIMS),
    # causes
    Mutant(CAUSE + "retrieval.py", "if rank > context.n > 0]", "if rank >= context.n > 0]", CAUSES),
    Mutant(
        CAUSE + "retrieval.py",
        "if rank <= context.n or not context.n]",
        "if rank < context.n or not context.n]",
        CAUSES,
    ),
    Mutant(CAUSE + "attribute.py", "CauseContext(context.facts, context.indexed, verdict.mends)", "context", CAUSES),
    Mutant(CAUSE + "verdicts.py", "answerable is False and context.is_refusal and", "answerable is False and", CAUSES),
    # gates
    Mutant("gating/compute/decision.py", "value < limit - TOLERANCE if", "value < limit + TOLERANCE if", GATE),
    Mutant(
        "gating/compute/decision.py",
        "highest if self.above else lowest, limit",
        "lowest if self.above else highest, limit",
        GATE,
    ),
    Mutant(
        "gating/compute/decision.py", "return interval.high if self.above", "return interval.low if self.above", GATE
    ),
    Mutant(
        "gating/compute/decision.py",
        "if self.same or not self.has_enough or self.sample.estimate is None:\n" + LAX,
        "if self.same or self.sample.estimate is None:\n" + LAX,
        GATE,
    ),
    Mutant("gating/compute/decision.py", "ALPHA = 0.05 ", "ALPHA = 0.1 ", GATE),
    Mutant(
        "gating/compute/decision.py", "self._get_interval(alpha, where)", "self._get_interval(2 * alpha, where)", GATE
    ),
    Mutant("gating/compute/sample.py", '"less" if worse_is_less else', '"less" if not worse_is_less else', GATE),
    Mutant(
        "gating/compute/decision.py", "halves / (segments if in_segment else n_whole)", "halves / len(segment)", GATE
    ),
    Mutant("gating/compute/decision.py", "alpha * weights[i] / total", "alpha * weights[i]", GATE),
    Mutant("gating/kinds/limits.py", "sign, point = -1.0 if self.above else 1.0,", "sign, point = 1.0,", GATE),
    # comparison and estimating
    Mutant(COMPARISON + "changes.py", 'if metric.direction == "lower" else (up', "if not metric else (up", COMPARED),
    Mutant(CORRECTION, "min(1.0, k * p_values[index])", "min(1.0, p_values[index])", COMPARED),
    Mutant(CORRECTION, "p is not None and p > alpha", "p is not None and p > 1", COMPARED),
    Mutant(COMPARISON + "pairs.py", "numbers.get(query_id, -1)", "numbers.get(query_id, 0)", COMPARED),
    Mutant(COMPARISON + "regressions.py", 'base - new if direction == "higher"', "new - base if direction", COMPARED),
    Mutant(
        "scores/estimation.py",
        "weights=sample.weights,\n        clusters=sample.clusters",
        "weights=sample.weights,\n        clusters=None",
        "analysis/test_estimating analysis/test_summarize",
    ),
    Mutant(
        "scores/estimation.py",
        "return widen_interval(interval, mean, error, values, weights)",
        "return interval",
        "analysis/test_judged_intervals",
    ),
    # resume
    Mutant(
        "engine/plan.py",
        "failed_too=not selection.retry_failed",
        "failed_too=selection.retry_failed",
        "engine/test_plan",
    ),
    Mutant("engine/plan.py", "return order[:limit]", "return order", "engine/test_plan"),
    # reply keys
    Mutant(
        "store/replies.py",
        'statement.excluded.failed == literal_column("0")',
        'statement.excluded.failed == literal_column("1")',
        "store/test_replies",
    ),
    Mutant("core/ask.py", "            ask.attempt,\n", "", "judging/test_reply_keys"),
    Mutant("core/ask.py", "            to_json_value(ask.params),\n", "", "judging/test_reply_keys"),
    # readers
    Mutant(TREC, "scores[1:] > scores[:-1]", "scores[1:] < scores[:-1]", "data/test_trec_readers"),
    Mutant(TREC, "order = np.argsort(-values)", "order = np.argsort(values)", "data/test_trec_readers"),
    # studies
    Mutant(
        "studies/front.py",
        "quality[n] > quality[front[-1]]",
        "quality[n] >= quality[front[-1]]",
        "analysis/test_study_front",
    ),
    Mutant("stats/families.py", "gaps = low - high[:, [i]]", "gaps = low - low[:, [i]]", "stats/test_races"),
    Mutant("stats/selection.py", "left_out = (draws == 0)", "left_out = (draws >= 0)", "stats/test_races"),
]
