"""Which trials of a race surely lose, at one look at the examples seen so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragauge.stats.families import Rivalry, rivalries

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Loser:
    """A trial that is out of the race.

    Attributes:
        trial: its name.
        look: number of the look, from 1.
        examples: seen then.
        rival: the trial that beats it.
        difference: mean of the rival less its own, at the best that its failed scores allow.
        margin: it was dropped for not beating the leader by this; 0 = for losing.
    """

    trial: str
    look: int
    examples: int
    rival: str
    difference: float
    margin: float = 0.0

    @property
    def reason(self) -> str:
        """One sentence."""
        told = f"look {self.look}, {self.examples} questions: {self.rival} is better by {self.difference:.3f}"
        return told if not self.margin else f"{told}; it cannot be better by {self.margin:g}"


def losers(
    bounds: Mapping[str, tuple[Floats, Floats]],
    look: int,
    alpha: float,
    *,
    clusters: npt.NDArray[Any] | None = None,
    margin: float = 0.0,
    span: float = 0.0,
    seed: int = 0,
) -> list[Loser]:
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
    low, high = (np.column_stack([pair[side] for pair in bounds.values()]) for side in (0, 1))
    found = rivalries(low, high, clusters=clusters, alpha=alpha, span=span, seed=seed)
    out = {n: _loser(names, n, one, look, len(low)) for n, one in enumerate(found) if one.beaten}
    if margin > 0:
        with np.errstate(invalid="ignore"):
            middle = np.nan_to_num(np.nanmean((low + high) / 2, axis=0), nan=-np.inf) if len(low) else None
        leader = int(np.argmax(middle)) if middle is not None else 0
        for n in range(len(names)):
            if n != leader and n not in out:
                two = np.column_stack([low[:, leader] + margin, low[:, n]])
                most = np.column_stack([high[:, leader] + margin, high[:, n]])
                one = rivalries(two, most, clusters=clusters, alpha=alpha, span=span, seed=seed)[1]
                if one.beaten:
                    one = replace(one, rival=leader, difference=one.difference - margin)
                    out[n] = replace(_loser(names, n, one, look, len(low)), margin=margin)
    return [out[n] for n in sorted(out)]


def _loser(names: Sequence[str], n: int, found: Rivalry, look: int, examples: int) -> Loser:
    return Loser(names[n], look, examples, names[found.rival or 0], found.difference)
