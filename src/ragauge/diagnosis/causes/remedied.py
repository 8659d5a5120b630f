"""What would be right if a cause were mended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What would be right if a cause were mended: no other cause is looked for in it."""

    everything: bool = False  #: nothing else can be known, or the answer should not be there at all.
    documents: frozenset[tuple[str, ...]] = frozenset()  #: missed documents, each by the members of its group.
    #: what the passages lack: reference claims in none of them, spans cut through, a refusal for want of them, an
    #: answer in part.
    evidence: bool = False
    claims: frozenset[int] = frozenset()  #: numbers of the answer's claims that are wrong or without support.
    usage: bool = False  #: which passages the answer uses.
    answer: bool = False  #: what the answer leaves out.
    criteria: bool = False  #: that the answer does not meet a required criterion.


NOTHING = Counterfactual()
