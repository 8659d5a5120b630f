"""Whether a request names a topic, which relevance of passages takes."""

from __future__ import annotations

from ragauge.core.facts import Evidence, RelevanceFacts
from ragauge.core.response import Readability
from ragauge.metrics.base import NotApplicable
from ragauge.text.tokens import has_topic

RATED_QUESTIONS = ("rate_passages", "rate_sentences")
NO_TOPIC = "the request has no topic that passages could be relevant to"


def is_task(readability: Readability | None) -> bool:
    """Whether the run makes the same request of several documents: it is about whatever document is at hand."""
    return readability is not None and readability.is_task


def has_named_topic(query: str, readability: Readability | None) -> bool:
    """Whether a request names a topic, by the run's other requests and by its words."""
    return not is_task(readability) and has_topic(query)


def explain_no_relevance(evidence: Evidence, query: str, readability: Readability | None) -> NotApplicable | None:
    """Why a probability of relevance says nothing here: it is read from words, and the request has none of a topic.

    A verdict without a probability stays, since whoever gave it read the request.
    """
    rated = evidence.facts if evidence.question in RATED_QUESTIONS else None
    likely = isinstance(rated, RelevanceFacts) and any(rating.p is not None for rating in rated.ratings)
    return NotApplicable(NO_TOPIC) if likely and not has_named_topic(query, readability) else None
