"""What a kind of gate rule says of itself, the table of kinds, and how an entry of ragauge.yaml becomes rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from ragauge.core.errors import DataError, UsageError
from ragauge.core.messages import UNITS
from ragauge.gating.result import Because, Check, OnFail, Verdict
from ragauge.gating.tables.phrases import format_example_count
from ragauge.metrics.base import Metric

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.gate import GateSection, RuleSection


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a gate. Its class is its kind: the key in ragauge.yaml, how it is decided, and what is said of it.

    A kind is a subclass under `rule_kind`: of `MeanRule` (decided by a sample, in segments too) or of `ExampleRule`
    (decided by single examples). Its key is a field of `core.config.gate.RuleSection`. Parsing, checks, JSON, terminal,
    JUnit, annotations and schemas read the table of kinds.
    """

    key: ClassVar[str]  #: in ragauge.yaml, and the `kind` of its checks.
    alone: ClassVar[bool] = False  #: whether it takes the whole entry; else an entry may set several limits.
    may_wait: ClassVar[bool] = False  #: whether its examples may be yet to come: no example needs to have its tag.
    in_segments: ClassVar[bool] = False  #: whether it is checked in segments too.
    names_examples: ClassVar[bool] = False  #: whether its explanation names the examples that decide.

    rule: int  #: place of the rule in the file, from 1; 0 = a key of the gate itself.
    line: int | None  #: of the rule; None outside a file.
    tag: str  #: only examples with it; "" = all.
    on_fail: OnFail  #: block or warn.
    metric: Metric | None = None  #: whose scores decide; None = no metric's.

    @classmethod
    def read(cls, entry: RuleEntry) -> Self | None:
        """The rule of an entry that has the key; None where it makes no sense, which the entry is told."""
        raise NotImplementedError

    @classmethod
    def read_gate(cls, gate: GateSection) -> Self | None:
        """The rule that the gate's own keys set; None where the kind is a key of entries."""
        return None

    def describe(self) -> str:
        """What the rule asks for, in words."""
        raise NotImplementedError

    def describe_fully(self) -> str:
        """The same with where and how it is decided."""
        return self.describe() + ("; warns only" if self.on_fail == "warn" else "")

    def build_check(self, verdict: Verdict, because: Because, **facts: Any) -> Check:
        """A check of the rule; `facts` are the other fields."""
        own: dict[str, Any] = {"rule": self.rule, "line": self.line, "on_fail": self.on_fail, "tag": self.tag}
        metric, asks = "" if self.metric is None else str(self.metric), self.describe()
        return Check(kind=self.key, metric=metric, asks=asks, verdict=verdict, because=because, **own, **facts)

    def list_notes(self) -> Iterator[str]:
        """What is right but seldom meant."""
        yield from ()

    @classmethod
    def explain(cls, check: Check) -> str:
        """Why the verdict of a check is what it is, in a sentence."""
        raise NotImplementedError

    @classmethod
    def list_steps(cls, check: Check) -> Iterator[tuple[str, str]]:
        """The arithmetic of the estimate: (what, value). None = the explanation says it all."""
        yield from ()

    @classmethod
    def format_limit(cls, check: Check) -> str:
        """What the estimate is held against: at least −0.024, at most 2,000."""
        raise NotImplementedError

    @classmethod
    def format_estimate(cls, check: Check) -> str:
        """The estimate, with its interval where it has one."""
        raise NotImplementedError

    @classmethod
    def format_n(cls, check: Check) -> str:
        """How many examples."""
        return format_example_count(check) if cls.in_segments else f"{check.n:,}"

    @classmethod
    def name_subject(cls, check: Check) -> str:
        """What the check is about: a metric, a tag, failed calls."""
        return check.metric

    @classmethod
    def advise(cls, check: Check) -> str:
        """What helps a check that has not enough data, where that is special to the kind; "" where it is not."""
        return ""


Kind = TypeVar("Kind", bound=type[Rule])
KINDS: dict[str, type[Rule]] = {}  # key -> kind


def rule_kind(kind: Kind) -> Kind:
    """Makes a kind of rule known by its key."""
    KINDS[kind.key] = kind
    return kind


class RuleEntry:
    """One entry of `rules` in the file, and what is wrong with it."""

    def __init__(self, file: ConfigFile, gate: GateSection, section: RuleSection) -> None:
        self.problems: list[DataError] = []
        self.gate, self.section, self._file = gate, section, file

    def read(self) -> list[Rule]:
        """What the entry asks for; nothing where it makes no sense."""
        metric, section = self.metric, self.section
        values = {key: getattr(section, key, None) for key in KINDS}
        kinds = [KINDS[key] for key, value in values.items() if value is not None and value is not False]
        kinds = [kind for kind in kinds if kind.alone][:1] or kinds
        if not any(kind.alone for kind in kinds):
            self._check_limits(has_limit=bool(kinds))
        rules = [rule for kind in kinds if kind.alone or metric is not None if (rule := kind.read(self)) is not None]
        return [] if self.problems else rules

    def add_problem(self, key: str, text: str) -> None:
        """Adds a mistake at a key of the entry; "" = the entry itself."""
        name = f"gate.rules[{self.section.place}]{f'.{key}' if key else ''}"
        self.problems.append(self._file.build_problem(name, text, self.section.line(key)))

    @cached_property
    def metric(self) -> Metric | None:
        """The metric that is named; None where none is, or none that there is."""
        from ragauge.metrics.catalogue import parse_metric

        if self.section.metric is None:
            return None
        try:
            metric = parse_metric(self.section.metric)
            metric.check()
        except UsageError as error:
            self.add_problem("metric", str(error))
            return None
        return metric

    def _check_limits(self, *, has_limit: bool) -> None:
        section = self.section
        *others, last = (kind.key for kind in KINDS.values() if kind.in_segments)
        keys = f"{', '.join(others)} or {last}"
        if section.metric is None:
            hint = f"add must_pass: true, or a metric with {keys}."
            self.add_problem("tag" if section.tag else "", f"the rule checks nothing: {hint}")
        elif not has_limit:
            self.add_problem("", f"the rule sets no limit for {section.metric}: add {keys}.")
        if section.segments == () and section.segments_need_data:
            self.add_problem("segments_need_data", "has no effect with segments: none.")
        if section.min is not None and section.max is not None and section.min > section.max:
            self.add_problem("min", f"is above max ({section.min:g} > {section.max:g}): no run can pass.")

    def check_level(self, key: str, level: float, *, point: bool) -> None:
        """Refuses a level of the metric that every run, or no run, can meet."""
        metric = self.metric
        if metric is None:
            return
        is_min = key == "min"
        sign, easiest, hardest = (1, *metric.range) if is_min else (-1, *metric.range[::-1])
        under, over = ("below", "above") if is_min else ("above", "below")
        if metric.direction == ("lower" if is_min else "higher"):
            text = f"{metric} is better when {metric.direction}. Write {'max' if is_min else 'min'}: {level:g}."
        elif sign * level <= sign * easiest:
            text = f"{metric} is never {under} {easiest:g}: the rule can never fail."
        elif sign * level > sign * hardest:
            text = f"{metric} is never {over} {hardest:g}: no run can pass."
        elif not point and level == hardest:
            how = "no interval lies entirely there, so no run can pass. Write decide: point, or choose another level."
            text = f"{level:g} is the end of the range of {metric}: {how}"
        else:
            return
        self.add_problem(key, text)


def format_level(metric: Metric, amount: float) -> str:
    """A limit of a metric in full, with its unit: 0.85, 900 ms, $0.00004."""
    prefix, suffix = UNITS.get(metric.name(), ("", ""))
    return f"{prefix}{Decimal(str(amount)).normalize():,f}{suffix}"
