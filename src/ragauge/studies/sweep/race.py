"""Which trials of a race surely lose, at one look at the examples seen so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragauge.stats.families import Rivalry, compare_rivals

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DroppedTrial:
    """A trial that is out of the race."""

    trial: str  #: its name.
    look: int  #: number of the look, from 1.
    examples: int  #: seen then.
    rival: str  #: the trial that beats it.
    difference: float  #: mean of the rival less its own, at the best that its failed scores allow.
    margin: float = 0.0  #: it was dropped for not beating the leader by this; 0 = for losing.

    @property
    def reason(self) -> str:
        """One sentence."""
        text = f"look {self.look}, {self.examples} questions: {self.rival} is better by {self.difference:.3f}"
        return text if not self.margin else f"{text}; it cannot be better by {self.margin:g}"


def find_losers(
    bounds: Mapping[str, tuple[Floats, Floats]],
    look: int,
    alpha: float,
    *,
    clusters: npt.NDArray[Any] | None = None,
    margin: float = 0.0,
    span: float = 0.0,
    seed: int = 0,
) -> list[DroppedTrial]:
    """The trials to drop: those that another beats by the max-t test of the set that may be best, at level alpha.

    A failed score speaks against a trial by the most that it could have been, so that no trial falls because calls
    failed.

    Args:
        bounds: trial -> shapes (n,), the least and the most that each score may be, larger is better; NaN = undefined.
            One trial at least stays.
        look: its number, from 1.
        alpha: chance of an error at this look.
        clusters: shape (n,), labels of what examples depend on.
        margin: also drop what is surely not better than the leader by this.
        span: greatest less least possible score; 0 = not bounded.
        seed: of the test's draws.
    """
    import numpy as np

    names = list(bounds)
    low, high = (np.column_stack([pair[bound_index] for pair in bounds.values()]) for bound_index in (0, 1))
    results = compare_rivals(low, high, clusters=clusters, alpha=alpha, span=span, seed=seed)
    out = {n: _build_loser(names, n, rivalry, look, len(low)) for n, rivalry in enumerate(results) if rivalry.is_beaten}
    if margin > 0:
        with np.errstate(invalid="ignore"):
            middle = np.nan_to_num(np.nanmean((low + high) / 2, axis=0), nan=-np.inf) if len(low) else None
        leader = int(np.argmax(middle)) if middle is not None else 0
        for n in range(len(names)):
            if n != leader and n not in out:
                lower = np.column_stack([low[:, leader] + margin, low[:, n]])
                upper = np.column_stack([high[:, leader] + margin, high[:, n]])
                rivalry = compare_rivals(lower, upper, clusters=clusters, alpha=alpha, span=span, seed=seed)[1]
                if rivalry.is_beaten:
                    rivalry = replace(rivalry, rival=leader, difference=rivalry.difference - margin)
                    out[n] = replace(_build_loser(names, n, rivalry, look, len(low)), margin=margin)
    return [out[n] for n in sorted(out)]


def _build_loser(names: Sequence[str], n: int, rivalry: Rivalry, look: int, examples: int) -> DroppedTrial:
    return DroppedTrial(names[n], look, examples, names[rivalry.rival or 0], rivalry.difference)
