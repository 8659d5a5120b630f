"""Krippendorff's alpha."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ragauge.core.errors import UsageError
from ragauge.stats.agreement import Scale, compute_krippendorff_alpha

META = Path(__file__).parents[3] / "shared/data/ragchecker_meta/human_labeled_data.json"
# four people, twelve units, six gaps
UNITS = [
    [1, 1, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [5, 5, 5],
    [1, 1],
    [3],
]


@pytest.mark.parametrize(
    ("scale", "wanted"), [("nominal", 0.743421052631579), ("ordinal", 0.8153875037548814), ("interval", 0.849107142857)]
)
def test_equals_another_implementation(scale: Scale, wanted: float) -> None:
    """The values of krippendorff 0.9.0, `alpha(reliability_data, level_of_measurement)`; the lone value is left out."""
    found = compute_krippendorff_alpha(UNITS, scale)
    assert found is not None
    assert found.value == pytest.approx(wanted)
    assert (found.units, found.values) == (11, 40)
    assert found.interval.low < found.value <= found.interval.high


@pytest.mark.realdata
@pytest.mark.skipif(not META.is_file(), reason="no public data sets here")
@pytest.mark.parametrize(("label", "wanted"), [("correctness", 0.5865), ("completeness", 0.6828), ("overall", 0.6836)])
def test_annotators_of_ragchecker(label: str, wanted: float) -> None:
    """Two people on 280 pairs of answers, on a scale of five: ordinal alpha to four decimals."""
    rows = json.loads(META.read_text(encoding="utf-8"))
    said = [[rows[n][f"{label}_label"], rows[n + 1][f"{label}_label"]] for n in range(0, len(rows), 2)]
    found = compute_krippendorff_alpha(said, "ordinal")
    assert found is not None
    assert round(found.value, 4) == wanted


@pytest.mark.parametrize("draws", [50, pytest.param(200, marks=pytest.mark.prove)])
def test_interval_covers(draws: int) -> None:
    """Over 200 draws of 150 units the 95 % interval holds the alpha of the population in 91 to 99 %, over 50 nearly."""
    generator = np.random.default_rng(8)
    held = 0
    # two people who see the truth, 1 in 60 %, each wrong in 15 %: they differ in 25.5 %, and each says 1 in 57 %
    truth = 1 - 0.255 / (2 * 0.57 * 0.43)
    for _ in range(draws):
        true = generator.random(150) < 0.6
        said = [np.where(generator.random(150) < 0.15, ~true, true).astype(int) for _ in range(2)]
        found = compute_krippendorff_alpha(np.stack(said, axis=1).tolist())
        assert found is not None
        held += found.interval.low <= truth <= found.interval.high
    assert abs(held / draws - 0.95) <= (0.04 if draws == 200 else 0.09)


def test_what_has_no_alpha() -> None:
    """One value a unit, or one value only, has none; a scale that does not exist is refused."""
    assert compute_krippendorff_alpha([[1], [2]]) is None
    assert compute_krippendorff_alpha([[1, 1], [1, 1]]) is None
    with pytest.raises(UsageError, match="nominal, ordinal or interval"):
        compute_krippendorff_alpha(UNITS, "ratio")  # type: ignore[arg-type] # the mistake
