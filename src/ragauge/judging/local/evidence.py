"""Whether the evidence for a reference claim is among the passages: by the claim's words, and by the question's.

A claim in other words than its evidence shares few with it. That passages speak of what was asked, then, says that the
evidence is likelier there than the words alone tell; that none does says that it is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import get_args

from ragauge.judging.local.index import Mode, mode_of
from ragauge.judging.local.relevance import PreparedQuestion, chosen
from ragauge.judging.local.weights import Scorer, evidence_weights

FEATURES = ("stated", "on_topic")     # log odds, see `there`
CLIP = 0.001                          # log odds end here
SURE = 0.9                            # words that state a claim so surely need no topic


def topics(query: str, passages: Sequence[str]) -> tuple[float, ...]:
    """Per passage the probability that it is relevant to the question, by shared words alone.

    0 of a blank passage, and of a question without a word. It depends on the passage and the question, not on others.
    """
    asked = {mode: PreparedQuestion(query, mode) for mode in get_args(Mode)}
    return tuple(_topic(asked[mode_of((query, text))], text) for text in passages)


def _topic(asked: PreparedQuestion, text: str) -> float:
    judge = chosen("relevance", None, asked.mode)
    return judge.p(asked.features(text, None)) if asked.distinct and text.strip() else 0.0


def there(stated: float, topic: float) -> float:
    """Probability that the passages hold the evidence for a claim.

    Args:
        stated: probability that the words of some passages state it.
        topic: of the passage that is likeliest to be relevant, see `topics`; 0 where there is none.

    It rises with both, and is no lower than `stated` where that is nearly certain.
    """
    chance = scorer().p((log_odds(stated), log_odds(topic)))
    return max(chance, stated) if stated >= SURE else chance


def log_odds(p: float) -> float:
    """log(p / (1 - p)), within bounds."""
    kept = min(1 - CLIP, max(CLIP, p))
    return log(kept / (1 - kept))


def scorer() -> Scorer:
    """Written by bench/train_evidence.py."""
    return Scorer.read(evidence_weights()["scorer"], FEATURES)
