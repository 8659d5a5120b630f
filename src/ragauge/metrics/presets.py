"""Named selections of metrics."""

from collections.abc import Mapping

PRESETS: Mapping[str, tuple[str, ...]] = {
    "prototype": ("faithfulness", "answer_relevance"),
    "retrieval": (
        "recall@5", "precision@5", "mrr", "ndcg@10", "empty_result_rate", "context_recall", "context_precision",
    ),
    "prompt": (
        "faithfulness", "contradicted", "not_in_context", "fabricated_specifics", "answer_relevance",
        "refusal_correctness",
    ),
    "production": (
        "faithfulness", "answer_relevance", "context_precision", "fabricated_specifics", "ignored_top_ranked",
        "stale_passage_rate", "empty_result_rate", "context_tokens", "latency", "tokens", "cost",
    ),
    "triad": ("context_precision", "faithfulness", "answer_relevance"),
    "bootstrap": ("faithfulness", "answer_relevance", "context_utilization"),
    "default": (
        "recall@5", "precision@5", "mrr", "ndcg@10", "empty_result_rate", "context_recall", "context_precision",
        "faithfulness", "contradicted", "not_in_context", "fabricated_specifics", "ignored_top_ranked",
        "citation_precision", "citation_recall", "invented_citations", "answer_relevance", "answer_correctness",
        "answer_recall", "refusal_correctness", "token_f1", "latency", "tokens", "cost",
    ),
}     # fmt: skip
