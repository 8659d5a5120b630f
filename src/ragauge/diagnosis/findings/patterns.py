"""What metrics say together over a run: which patterns hold, and the numbers that they rest on.

The patterns of metrics over a run: a table, in the order in which they are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Levels = Mapping[str, Literal["low", "high"]]
NO_LEVELS: Levels = MappingProxyType({})


class Pattern(NamedTuple):
    """One pattern."""

    name: str  #: of the pattern, used where it names no cause.
    #: metric -> low or high, all at once. Against a baseline low = fell and high = did not, of metrics that should be
    #: low high = rose.
    when: Levels
    causes: tuple[str, ...]  #: which causes of single examples it goes with, the likeliest first.
    reading: str  #: what it means, in a plain sentence.
    changed: str  #: the same against a baseline.
    fix: str  #: what to try beyond the causes' own fixes.
    leave: str = ""  #: what not to touch yet.
    again: str = ""  #: what to look at after the fix.
    #: it speaks of answerable questions only, so that a correct refusal never counts towards it.
    answerable: bool = False
    absolute: bool = False  #: it is read against its starting point even where there is a baseline.
    change: bool = False  #: it is read against a baseline only.
    traffic: bool = False  #: of production traffic only.
    more: bool = False  #: it needs, too, that more is handed on than in the baseline: k, recall or the context grew.
    #: metric -> low or high on oracle passages; `when` is then this run held against that one.
    oracle: Levels = NO_LEVELS
    #: against a baseline it needs, too, that no less of the evidence is found, which would explain as much.
    needs_found: bool = False
    #: it needs, too, that something relevant was handed on: nobody can be blamed for passing over the rest.
    relevant: bool = False
    #: it needs, too, that not most failures are unclear: whoever declines may be right by the passages.
    decided: bool = False

    @property
    def subject(self) -> str:
        """What a finding about it alone is called: its likeliest cause, or its own name."""
        return self.name if self.oracle or not self.causes else self.causes[0]
