"""Whether the evidence for a reference claim is among the passages: by the claim's words, and by the question's.

A claim in other words than its evidence shares few with it. That passages speak of what was asked, then, says that the
evidence is likelier there than the words alone tell; that none does says that it is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from ragauge.judging.local.index import Mode
from ragauge.judging.local.relevance import Asked, chosen
from ragauge.judging.local.weights import Scorer, evidence_weights

FEATURES = ("stated", "on_topic")     # log odds, see `there`
CLIP = 0.001                          # log odds end here


def on_topic(query: str, passages: Sequence[str], mode: Mode) -> float:
    """Probability that the passage most likely to be relevant to the question is, by shared words alone.

    0 without passages or without a word in the question. A passage that joins never lowers it.
    """
    asked, judge = Asked(query, mode), chosen("relevance", None)
    if not asked.distinct:
        return 0.0
    return max((judge.p(asked.features(text, None)) for text in passages if text.strip()), default=0.0)


def there(stated: float, topic: float) -> float:
    """Probability that the passages hold the evidence for a claim.

    Args:
        stated: probability that the words of some passages state it.
        topic: as `on_topic`.

    It rises with both, and is no lower than `stated` where that is nearly certain.
    """
    found = scorer().p((log_odds(stated), log_odds(topic)))
    return max(found, stated) if stated >= SURE else found


SURE = 0.9     # words that state a claim so surely need no topic


def log_odds(p: float) -> float:
    """log(p / (1 - p)), within bounds."""
    kept = min(1 - CLIP, max(CLIP, p))
    return log(kept / (1 - kept))


def scorer() -> Scorer:
    """Written by bench/train_evidence.py."""
    return Scorer.read(evidence_weights()["scorer"], FEATURES)
