"""The rules of a gate, understood: metrics found in the catalogue, every condition one that can fail and can pass.

Which examples of a run a rule looks at: all, those with a tag, and the values of its segments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import ConfigError, DataError, UsageError
from ragauge.core.messages import UNITS
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import has_own_units
from ragauge.metrics.configured import register_criteria
from ragauge.scores.segments import MIN_SEGMENT_EXAMPLES, NONE, Segments, tidy_segments

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.gate import Drop, GateSection, RuleSection

    Mask = npt.NDArray[np.bool_]


Kind = Literal["max_drop", "min", "max"]
Statistic = Literal["mean", "p50", "p95", "p99"]
OnFail = Literal["block", "warn"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that a mean has to meet."""

    rule: int  #: place of the rule in the file, from 1.
    line: int | None  #: of the rule; None outside a file.
    metric: Metric  #: whose mean.
    kind: Kind  #: max_drop, min or max.
    amount: float  #: the limit; of max_drop a share of the baseline's mean where `relative`, else in the metric's unit.
    relative: bool  #: see `amount`.
    text: str  #: the limit in words: a drop as written, a level with its unit.
    statistic: Statistic  #: of what the limit is: mean, or a quantile.
    decide: Literal["interval", "point"]  #: by the whole interval or by the estimate alone.
    on_fail: OnFail  #: block or warn.
    segments: tuple[str, ...] | None  #: columns to look into; None = all that are declared.
    segments_need_data: bool  #: whether a segment without enough data holds the gate up.
    tag: str  #: only examples with it; "" = all.
    min_n: int  #: fewest examples to decide on.
    rectified: bool | None = None  #: whether the label-corrected mean decides; None = where there are labels enough.


@dataclass(frozen=True, slots=True)
class MustPass:
    """Every example with a tag must pass: it did not fail, or its score of a metric reaches a level."""

    rule: int  #: place of the rule in the file, from 1.
    line: int | None  #: of the rule; None outside a file.
    tag: str  #: of the examples.
    on_fail: OnFail  #: block or warn.
    metric: Metric | None = None  #: whose score decides; None = whether the example failed.
    min: float | None = None  #: least score.
    max: float | None = None  #: greatest score.


@dataclass(frozen=True, slots=True)
class Rules:
    """What a gate asks of a run."""

    source: str  #: the file.
    conditions: tuple[Condition, ...]  #: on means, in the order of the file.
    must_pass: tuple[MustPass, ...]  #: on single examples.
    max_failed: float  #: greatest share of examples with failed calls, of the system or of a judge.
    max_failed_line: int | None  #: where that stands; None where it is the default.

    @property
    def every(self) -> tuple[Condition | MustPass, ...]:
        """All rules, in the order of the file."""
        both: list[Condition | MustPass] = [*self.conditions, *self.must_pass]
        return tuple(sorted(both, key=lambda rule: rule.rule))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Every metric that a rule names, each once, in order."""
        return tuple(dict.fromkeys(rule.metric for rule in self.every if rule.metric is not None))

    @property
    def needs_baseline(self) -> bool:
        """Whether a rule speaks of a baseline."""
        return any(condition.kind == "max_drop" for condition in self.conditions)


def read_rules(file: ConfigFile) -> Rules:
    """The rules of a configuration file.

    Raises:
        ConfigError: mistakes, all of them: those of the file, and metrics, limits and rules that make no sense.
    """
    rules, problems = parse_rules(file)
    if problems:
        raise ConfigError(problems)
    return rules


def parse_rules(file: ConfigFile) -> tuple[Rules, tuple[DataError, ...]]:
    """The rules of a configuration file as far as they make sense, and every mistake."""
    gate = file.config.gate
    problems = [*file.problems, *register_criteria(file)[1]]
    if gate is None:
        if not problems:
            problems.append(
                file.build_problem("gate", "is missing, so there are no rules. Add gate: with rules: below it.", 1)
            )
        return Rules(file.name, (), (), 0.0, None), tuple(problems)
    conditions, must_pass = list[Condition](), list[MustPass]()
    for section in gate.rules:
        reader = _RuleReader(file, gate, section)
        reader.read(conditions, must_pass)
        problems += reader.problems
    if not problems:
        problems += _check_can_fail(file, gate)
    line = gate.line("max_failed") if gate.has_key("max_failed") else None
    return Rules(file.name, tuple(conditions), tuple(must_pass), gate.max_failed, line), tuple(problems)


def _check_can_fail(file: ConfigFile, gate: GateSection) -> Iterator[DataError]:
    if not gate.rules:
        yield file.build_problem("gate.rules", "there is no rule, so the gate can never fail.", gate.line("rules"))
    elif all(rule.on_fail == "warn" for rule in gate.rules):
        text = "every rule has on_fail: warn, so the gate can never fail. Remove it from at least one rule."
        yield file.build_problem("gate.rules", text, gate.line("rules"))


def format_limit(metric: Metric, amount: float) -> str:
    """A limit of a metric in full, with its unit: 0.85, 900 ms, $0.00004."""
    prefix, suffix = UNITS.get(metric.name(), ("", ""))
    return f"{prefix}{Decimal(str(amount)).normalize():,f}{suffix}"


class _RuleReader:
    """Reads one rule and collects what is wrong with it."""

    def __init__(self, file: ConfigFile, gate: GateSection, section: RuleSection) -> None:
        self.problems: list[DataError] = []
        self._file, self._gate, self._rule, self._place = file, gate, section, section.place

    def read(self, conditions: list[Condition], must_pass: list[MustPass]) -> None:
        """Adds what the rule asks for to one of the lists; nothing where it makes no sense."""
        metric = self._parse_metric()
        of_means = [] if self._rule.must_pass else self._build_conditions(metric)
        of_examples = self._build_must_pass(metric) if self._rule.must_pass else []
        conditions += [] if self.problems else of_means
        must_pass += [] if self.problems else of_examples

    def _add_problem(self, key: str, text: str) -> None:
        name = f"gate.rules[{self._place}]{f'.{key}' if key else ''}"
        self.problems.append(self._file.build_problem(name, text, self._rule.line(key)))

    def _parse_metric(self) -> Metric | None:
        from ragauge.metrics.catalogue import parse_metric

        if self._rule.metric is None:
            return None
        try:
            metric = parse_metric(self._rule.metric)
            metric.check()
        except UsageError as error:
            self._add_problem("metric", str(error))
            return None
        return metric

    def _build_must_pass(self, metric: Metric | None) -> list[MustPass]:
        from ragauge.core.config.gate import MEAN_RULE_KEYS

        rule = self._rule
        if rule.tag is None:
            self._add_problem("must_pass", "needs a tag: {tag: regression, must_pass: true}.")
        for key in MEAN_RULE_KEYS:
            if rule.has_key(key):
                self._add_problem(key, "cannot be combined with must_pass, which checks each example on its own.")
        if rule.metric is None and (rule.min is not None or rule.max is not None):
            self._add_problem("min" if rule.min is not None else "max", "needs a metric.")
        if metric is not None:
            if rule.min is None and rule.max is None:
                self._add_problem("metric", "needs min or max: the score at which an example passes.")
            for key, level in (("min", rule.min), ("max", rule.max)):
                if level is not None:
                    self._check_level(metric, key, level, point=True)
        return [MustPass(self._place, rule.line(), rule.tag or "", rule.on_fail, metric, rule.min, rule.max)]

    def _build_conditions(self, metric: Metric | None) -> list[Condition]:
        rule = self._rule
        limits = [key for key in ("max_drop", "min", "max") if getattr(rule, key) is not None]
        if rule.metric is None:
            hint = "add must_pass: true, or a metric with max_drop, min or max."
            self._add_problem("tag" if rule.tag else "", f"the rule checks nothing: {hint}")
        elif not limits:
            self._add_problem("", f"the rule sets no limit for {rule.metric}: add max_drop, min or max.")
        if rule.segments == () and rule.segments_need_data:
            self._add_problem("segments_need_data", "has no effect with segments: none.")
        if rule.min is not None and rule.max is not None and rule.min > rule.max:
            self._add_problem("min", f"is above max ({rule.min:g} > {rule.max:g}): no run can pass.")
        if metric is None:
            return []
        return [condition for key in limits if (condition := self._build_condition(metric, key)) is not None]

    def _build_condition(self, metric: Metric, key: str) -> Condition | None:
        rule, gate = self._rule, self._gate
        statistic = self._choose_statistic(metric, key)
        if key == "max_drop":
            assert rule.max_drop is not None  # noqa: S101 - `limits` holds what is given
            self._check_drop(metric, rule.max_drop)
            kind: Kind = "max_drop"
            amount, relative, text = rule.max_drop.amount, rule.max_drop.relative, rule.max_drop.text
            amount *= 100 if has_own_units(metric) and not relative else 1
        else:
            kind = "min" if key == "min" else "max"
            relative, text = False, format_limit(metric, amount := float(getattr(rule, key)))
            self._check_level(metric, key, amount, point=rule.decide == "point")
        if rule.rectified:
            self._check_rectifiable(metric, relative=relative)
        need = gate.segments_need_data if rule.segments_need_data is None else rule.segments_need_data
        return Condition(
            self._place,
            rule.line(),
            metric,
            kind,
            amount,
            relative,
            text,
            statistic,
            rule.decide,
            rule.on_fail,
            rule.segments,
            need,
            rule.tag or "",
            gate.min_n if rule.min_n is None else rule.min_n,
            rule.rectified,
        )

    def _check_rectifiable(self, metric: Metric, *, relative: bool) -> None:
        """Refuses what labels of people cannot rectify."""
        if metric.scale == "amount" or not all(map(isfinite, metric.range)):
            self._add_problem(
                "rectified", f"human labels cannot correct {metric}, which has no minimum and maximum value."
            )
        if relative:
            self._add_problem(
                "rectified", "cannot be used with a drop relative to the baseline. Give the drop in points: 3 points."
            )

    def _choose_statistic(self, metric: Metric, key: str) -> Statistic:
        requested = self._rule.statistic
        if metric.scale != "amount" or key == "max_drop":
            if requested not in (None, "mean"):
                reason = "max_drop compares means" if key == "max_drop" else f"{metric} is summarized by its mean"
                self._add_problem("statistic", f"{requested} is not available: {reason}.")
            return "mean"
        return requested or ("p95" if metric.name() == "latency" else "mean")

    def _check_drop(self, metric: Metric, drop: Drop) -> None:
        low, high = metric.range
        if metric.direction == "neither":
            self._add_problem("max_drop", f"neither direction of {metric} is better. Use min or max instead.")
        elif not drop.relative and drop.amount and not (isfinite(high - low) or has_own_units(metric)):
            self._add_problem(
                "max_drop", f"points are hundredths of a score, but {metric} is an amount. Give a percentage: 10%."
            )
        elif drop.relative and metric.direction == "higher" and low >= 0 and drop.amount >= 1:
            self._add_problem("max_drop", f"a drop of {drop.text} is impossible: the rule can never fail.")
        elif drop.relative and low < 0:
            self._add_problem("max_drop", f"{metric} may be negative: a percentage is meaningless. Write 3 points.")
        elif not drop.relative and drop.amount >= high - low:
            width = f"{100 * (high - low):g} points"
            self._add_problem(
                "max_drop", f"{drop.text} is the whole range of {metric} ({width}): the rule can never fail."
            )

    def _check_level(self, metric: Metric, key: str, level: float, *, point: bool) -> None:
        """Refuses a level that every run, or no run, can meet."""
        low, high = metric.range
        is_min = key == "min"
        if metric.direction == ("lower" if is_min else "higher"):
            other = "max" if is_min else "min"
            self._add_problem(key, f"{metric} is better when {metric.direction}. Write {other}: {level:g}.")
        elif level <= low if is_min else level >= high:
            end = low if is_min else high
            self._add_problem(
                key, f"{metric} is never {'below' if is_min else 'above'} {end:g}: the rule can never fail."
            )
        elif level > high if is_min else level < low:
            end = high if is_min else low
            self._add_problem(key, f"{metric} is never {'above' if is_min else 'below'} {end:g}: no run can pass.")
        elif not point and (level == high if is_min else level == low):
            how = "no interval lies entirely there, so no run can pass. Write decide: point, or choose another level."
            self._add_problem(key, f"{level:g} is the end of the range of {metric}: {how}")


class Slices:
    """Masks over the examples of one index.

    Args:
        query_ids: the examples, by number.
        segments: query_id and a column a declared segment, null where an example has none; it may hold more examples.
        tagged: tag -> ids of the examples that have it.

    Attributes:
        query_ids: the examples, by number.
        every: the declared segments as they were given.
        tagged: tag -> ids of the examples that have it.
        few: column -> value -> its examples, of values with fewer than 5 in columns that are looked into unnamed.
        columns: the segments that a rule looks into when it names none: two values or more, and at most 50.
        left_out: declared columns that are not among these.
    """

    def __init__(self, query_ids: Sequence[str], segments: pl.DataFrame, tagged: Mapping[str, Collection[str]]) -> None:
        self.query_ids, self.tagged = tuple(query_ids), tagged
        self.every = segments
        self._tidy = tidy_segments(segments, among=query_ids)
        self.few = _list_small_values(Segments.of(segments).select_examples(self.query_ids))
        self.columns = tuple(self._tidy.columns[1:])
        self.left_out = tuple(name for name in segments.columns[1:] if name not in self.columns)

    def whole(self, tag: str = "") -> Mask:
        """All examples, or those with a tag."""
        import numpy as np

        if not tag:
            return np.ones(len(self.query_ids), dtype=bool)
        having = self.tagged[tag]
        return np.array([query_id in having for query_id in self.query_ids], dtype=bool)

    def parts(self, columns: Sequence[str] | None, tag: str = "") -> Iterator[tuple[str, str, Mask]]:
        """(column, value, its examples) of some columns in alphabetical order of values; None = all worth looking at.

        Of columns that are not named, small values are together in "(other)"; a named one is looked into as it is.
        """
        import numpy as np
        import polars as pl

        tag_mask = self.whole(tag)
        ids = pl.DataFrame({"query_id": self.query_ids}, schema={"query_id": pl.String})
        source = self._tidy if columns is None else self.every
        joined = ids.join(source, on="query_id", how="left", maintain_order="left")
        for column in self.columns if columns is None else columns:
            values = np.array(joined[column].cast(pl.String).fill_null(NONE).to_list(), dtype=object)
            for value in sorted(set(values)):
                yield column, value, tag_mask & (values == value)


def _list_small_values(segments: Segments) -> dict[str, dict[str, int]]:
    few = {}
    for column, values in segments.named(segments.columns).items():
        if small := {value: n for value, n in values.items() if n < MIN_SEGMENT_EXAMPLES}:
            few[column] = small
    return few


def combine_slices(new: Slices, base: Slices, named_columns: Collection[str] = ()) -> Slices:
    """The examples of two runs, all different, the first run's before the second's.

    Ids are this run's with "new " before them and the baseline's with "base ". Segments are those that both declare
    and those that are named: a value that one run lacks has no example there.
    """
    import polars as pl

    shared_columns = [name for name in new.every.columns[1:] if name in base.every.columns or name in named_columns]
    prefixed = [
        _prefix_slices(run_slices, which, shared_columns) for run_slices, which in ((new, "new"), (base, "base"))
    ]
    (ids, frame, tags), (base_ids, base_frame, base_tags) = prefixed
    tagged = {tag: tags[tag] | base_tags.get(tag, frozenset()) for tag in tags}
    return Slices((*ids, *base_ids), pl.concat([frame, base_frame], how="diagonal"), tagged)


def _prefix_slices(
    slices: Slices, which: str, shared_columns: Sequence[str]
) -> tuple[tuple[str, ...], pl.DataFrame, dict[str, frozenset[str]]]:
    import polars as pl

    column_names = ["query_id", *(name for name in shared_columns if name in slices.every.columns)]
    frame = slices.every.select(pl.col(column_names).cast(pl.String))
    frame = frame.with_columns(query_id=f"{which} " + pl.col("query_id"))
    tagged = {tag: frozenset(f"{which} {query_id}" for query_id in ids) for tag, ids in slices.tagged.items()}
    return tuple(f"{which} {query_id}" for query_id in slices.query_ids), frame, tagged
