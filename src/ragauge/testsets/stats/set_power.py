"""What a set can show: detectable differences, the cost of other wordings, and a two-sample test on real questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.comparison.changes import compute_change
from ragauge.comparison.correction import correct_family
from ragauge.comparison.pairs import Join, pair_scores
from ragauge.core.json_keys import Key, json_keys
from ragauge.core.variation import parse_original_id
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import SCORED, Columns
from ragauge.scores.estimation import ScoreSample, estimate_examples_to_detect, find_detectable_difference
from ragauge.scores.results.comparison import MetricChange
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.target_difference import TargetDifference
from ragauge.stats.auroc import CROSS_FIT_FACTOR, compute_auroc
from ragauge.stats.distributions import normal_quantile, t_quantile
from ragauge.stats.logistic import assign_balanced_folds, cross_fit
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.scores.categories import CategoryColumn

    Floats = npt.NDArray[np.float64]


MIN_SEGMENT_EXAMPLES = 5  # examples of a segment; smaller ones are left out


@json_keys("metric segment value n mean detectable wanted needed more", more="n_missing")
@dataclass(frozen=True, slots=True)
class DetectableChange:
    """What a set can show of a metric, in all or in one segment."""

    metric: str  #: printed name.
    segment: str  #: column; "" = all examples.
    value: str  #: of the column.
    n: int  #: scored examples, or pairs.
    mean: float  #: of the run.
    #: the least true change that 80 of 100 comparisons see; None where nothing tells how scores vary.
    detectable: float | None
    wanted: float | None = None  #: the change that is to be seen; None = none is.
    needed: int | None = None  #: examples that it takes in all; None where that is not known.

    @property
    def n_missing(self) -> int | None:
        """Examples still needed, 0 where the set has enough."""
        return None if self.needed is None else max(0, self.needed - self.n)


SamplePair = tuple[ScoreSample, ScoreSample]


def build_run_samples(metric: Metric, examples: Columns, rows: npt.NDArray[np.bool_] | None = None) -> SamplePair:
    """The scores of a run in place of the differences of two: these spread alike where two runs correlate at one half.

    Args:
        metric: whose scores.
        examples: one entry an example.
        rows: shape (examples,), which of them; None = all.
    """
    import numpy as np

    scored = examples.status == SCORED
    if rows is not None:
        scored = scored & rows[examples.query]
    values = examples.value[scored]
    weight = None if examples.weight is None else examples.weight[scored]
    middle = np.full(values.size, np.average(values, weights=weight) if values.size else 0.0)
    cluster = None if examples.cluster is None else examples.cluster[scored]
    return ScoreSample.from_pairs(metric, values, middle, weight, cluster)


def build_pair_samples(pairs: Pairs, rows: npt.NDArray[np.bool_] | None = None) -> SamplePair:
    """Two runs' scores, as `compare` holds them against each other; `rows` as of `build_run_samples`."""
    selected = pairs if rows is None else pairs.select_examples(rows)
    return ScoreSample.from_pairs(selected.metric, selected.new, selected.base, selected.weight, selected.cluster)


def iterate_segments(
    columns: Mapping[str, CategoryColumn[str | None]],
) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    """(column, value, which examples are in it) of every value of tidy segments."""
    for name, column in columns.items():
        for code, value in enumerate(column.values):
            if value is not None:
                yield name, value, column.codes == code


def compute_detectable_change(
    metric: Metric, samples: SamplePair, target: TargetDifference | None = None, segment: tuple[str, str] = ("", "")
) -> DetectableChange | None:
    """What such samples can show; None of fewer than 5 examples.

    Args:
        metric: whose scores.
        samples: of two runs (`build_pair_samples`), or of one (`build_run_samples`).
        target: the change that is to be seen.
        segment: column and value that the samples are of.
    """
    import numpy as np

    new, base = samples
    values = np.asarray(new.values)
    if values.size < MIN_SEGMENT_EXAMPLES:
        return None
    mean = float(np.average(values, weights=new.weights))
    effect = target.of(mean) if target is not None else 0.0
    return DetectableChange(
        str(metric),
        *segment,
        int(values.size),
        mean,
        find_detectable_difference(new, base),
        effect if target is not None else None,
        estimate_examples_to_detect(effect, new, base) if effect > 0 else None,
    )


LEVEL = 0.95
MIN_QUESTIONS = 20  # questions of either kind, below which no classifier is asked
PENALTY = 3.0  # of features scaled to deviation 1


@dataclass(frozen=True, slots=True)
class FeatureSignal:
    """How far one kind of feature tells a set's questions from real ones."""

    name: str  #: the features: length, first word and so on.
    auroc: float  #: of a classifier that sees these alone; 0.5 = alike.
    interval: Interval | None  #: of it.
    here: str = ""  #: what they are like in the set, in words; "" = nothing to say.
    real: str = ""  #: likewise among real questions.


@dataclass(frozen=True, slots=True)
class TwoSampleTest:
    """A classifier's try to tell the set's questions from real ones."""

    n: int  #: questions of the set that it saw.
    real: int  #: real ones.
    left_out: int = 0  #: questions of both that lack a feature.
    #: with all features; 0.5 = alike, 1 = told apart without error. None where either has fewer than 20.
    auroc: float | None = None
    interval: Interval | None = None  #: of it.
    tells: tuple[FeatureSignal, ...] = ()  #: each kind of feature alone, the most telling first.
    without: tuple[str, ...] = ()  #: features that were not used, and why.

    @property
    def apart(self) -> bool | None:
        """Whether the interval lies above 0.5; None where there is none."""
        return None if self.interval is None else self.interval.low > 0.5


def classify_questions(
    features: Mapping[str, Floats], here: Sequence[bool], clusters: Sequence[str], seed: int = 7
) -> tuple[tuple[float, Interval | None], dict[str, tuple[float, Interval | None]]]:
    """The AUROC of a classifier by all features, and by each kind alone; each with its interval.

    A logistic regression is fitted on four fifths of the clusters and scores the rest, five times; the AUROC is over
    the pairs of a fifth, as of `stats.auroc`, its error widened by √2, since folds learn from each other, with the
    quantile of t for as many degrees of freedom as the kind of fewer clusters has, less one.

    Args:
        features: name -> shape (n, p), finite.
        here: shape (n,), True for the set's questions, False for real ones; at least one of either.
        clusters: shape (n,), what questions depend on; a cluster is never on both sides of a fit.
        seed: of the folds.

    Source: Lopez-Paz and Oquab, "Revisiting classifier two-sample tests" (2017), with the AUROC for the accuracy.
    """
    import numpy as np

    positive = np.asarray(here, dtype=bool)
    numbers = np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64)
    fold = assign_balanced_folds(numbers, positive, seed=seed)
    fewer = min(np.unique(numbers[positive]).size, np.unique(numbers[~positive]).size)
    widened = CROSS_FIT_FACTOR * t_quantile(max(1, fewer - 1), LEVEL) / normal_quantile(LEVEL)

    def told(table: Floats) -> tuple[float, Interval | None]:
        scores = cross_fit(table, positive, fold, PENALTY)
        estimate = compute_auroc(positive, scores, numbers, LEVEL, within=fold, widened=widened)
        return estimate if estimate is not None else (0.5, None)

    return told(np.column_stack(list(features.values()))), {name: told(table) for name, table in features.items()}


NO_ORIGINAL = "\0"  # no query_id has this character


@json_keys(
    "kind metric n original variant difference interval p_value corrected verdict",
    metric=Key("change", at="metric"),
    n=Key("difference", at="n"),
    original=Key("change", at="base"),
    variant=Key("change", at="new"),
    difference=Key(at="mean"),
    interval=Key("difference", at="interval"),
    p_value=Key("change", at="p_value"),
    corrected=Key("change", at="corrected"),
    verdict=Key("change", at="verdict"),
)
@dataclass(frozen=True, slots=True)
class VariationChange:
    """A metric of the variants of one kind and of their originals."""

    kind: str  #: of variation.
    #: variants (new) held against originals (base), paired; its verdict is corrected over all of them.
    change: MetricChange

    @property
    def difference(self) -> MeanEstimate:
        """Of the variants from their originals."""
        return self.change.difference


def compare_variations(
    read: Sequence[tuple[Metric, Columns]], query_ids: Sequence[str], kinds: Mapping[str, str], level: float = 0.95
) -> tuple[VariationChange, ...]:
    """The paired differences of variants and originals, by kind and metric; p-values corrected as one family.

    Args:
        read: metrics with their scores in one run, one entry an example.
        query_ids: of the examples, by number.
        kinds: query_id -> kind of variation, of the variants whose labels are their originals'.
        level: of the intervals.
    """
    changes: list[tuple[str, MetricChange]] = []
    for kind in dict.fromkeys(kinds.values()):
        originals = [
            (parse_original_id(query_id, kind) or NO_ORIGINAL) if kinds.get(query_id) == kind else NO_ORIGINAL
            for query_id in query_ids
        ]
        join = Join(originals, query_ids)
        for metric, examples in read:
            pairs = pair_scores(metric, examples, examples, join)
            if len(pairs):
                changes.append((kind, compute_change(pairs, level)))
    corrected, _ = correct_family([change for _, change in changes], level)
    return tuple(VariationChange(kind, change) for (kind, _), change in zip(changes, corrected, strict=True))


@json_keys("run judge_id baseline detect same_set changes robustness unpaired", unpaired="unpaired_counts")
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

    @property
    def unpaired_counts(self) -> dict[str, int]:
        """The same as a mapping."""
        return dict(self.unpaired)
