"""What a run tells of its set: which changes it can show, and what other wordings cost."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.testsets.stats.robustness import VariationChange
from ragauge.testsets.stats.set_power import DetectableChange


@dataclass(frozen=True, slots=True)
class SetReach:
    """What a run tells of its set."""

    run: str  #: its name.
    judge_id: str  #: whose verdicts; "" = nobody's.
    baseline: str  #: the run that it is paired with; "" = none: the spread of differences is taken from its own scores.
    detect: str  #: the change that is to be seen, as it was typed; "" = none.
    changes: tuple[DetectableChange, ...]  #: by metric, all examples first, then segments.
    robustness: tuple[VariationChange, ...]  #: variants held against their originals, by kind and metric.
    #: kind of variation -> examples, of kinds that ask for something else than their originals.
    unpaired: tuple[tuple[str, int], ...]
    same_set: bool  #: whether the run answered this very version of the set.
