"""What would be right if a cause were mended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What would be right if a cause were mended: no other cause is looked for in it.

    Attributes:
        everything: nothing else can be known, or the answer should not be there at all.
        documents: missed documents, each by the members of its group.
        evidence: what the passages lack: reference claims in none of them, spans cut through, a refusal for want of
            them, an answer in part.
        claims: numbers of the answer's claims that are wrong or without support.
        usage: which passages the answer uses.
        answer: what the answer leaves out.
        criteria: that the answer does not meet a required criterion.
    """

    everything: bool = False
    documents: frozenset[tuple[str, ...]] = frozenset()
    evidence: bool = False
    claims: frozenset[int] = frozenset()
    usage: bool = False
    answer: bool = False
    criteria: bool = False


NOTHING = Counterfactual()
