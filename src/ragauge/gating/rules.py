"""The rules of a gate, understood: metrics found in the catalogue, every condition one that can fail and can pass.

From rules and scores to checks, with the correction for all of them together, and the verdict.

What is said of rules before a run is gated: labels that none uses, tags that no example has yet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.core.errors import ConfigError, DataError, find_nearest
from ragauge.gating.compute.decision import ALPHA, MIN_EXAMPLES, split_alpha, step_down, suggest_max_drop
from ragauge.gating.kinds.mean_rule import MeanRule, PlacedCheck, ScoreSource
from ragauge.gating.kinds.rule import KINDS, RuleEntry
from ragauge.gating.kinds.rule import Rule as Rule  # noqa: PLC0414 - for those who read rules
from ragauge.gating.kinds.single_examples import ExampleRule, describe_untagged
from ragauge.gating.result import FAIL, UNKNOWN, Check, Family, Verdict
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.configured import register_criteria
from ragauge.scores.arrays import NOT_APPLICABLE

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.gate import GateSection
    from ragauge.scores.arrays import Columns

USUAL_METRIC = "recall@5"
MIN_TAG_LIKENESS = 0.75  # how alike two tags are, for the one to be the other misspelt


@dataclass(frozen=True, slots=True)
class Rules:
    """What a gate asks of a run."""

    source: str  #: the file.
    every: tuple[Rule, ...]  #: what the gate's own keys ask first, then in the order of the file.

    @property
    def conditions(self) -> tuple[MeanRule, ...]:
        """Those on means."""
        return tuple(rule for rule in self.every if isinstance(rule, MeanRule))

    @property
    def on_examples(self) -> tuple[ExampleRule, ...]:
        """Those on single examples."""
        return tuple(rule for rule in self.every if isinstance(rule, ExampleRule))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Every metric that a rule names, each once, in order."""
        return tuple(dict.fromkeys(rule.metric for rule in self.every if rule.metric is not None))

    @property
    def differences(self) -> tuple[MeanRule, ...]:
        """Those that speak of a baseline."""
        return tuple(rule for rule in self.conditions if rule.is_difference)

    def describe(self) -> list[str]:
        """What each asks for, with where and how it is decided: of calls, of means, of single examples."""
        ordered = sorted(self.every, key=lambda rule: (rule.rule > 0, not rule.in_segments))
        return [rule.describe_fully() for rule in ordered]


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
            text = "is missing, so there are no rules. Add gate: with rules: below it."
            problems.append(file.build_problem("gate", text, 1))
        return Rules(file.name, ()), tuple(problems)
    rules = [rule for kind in KINDS.values() if (rule := kind.read_gate(gate)) is not None]
    for section in gate.rules:
        entry = RuleEntry(file, gate, section)
        rules += entry.read()
        problems += entry.problems
    if not problems:
        problems += _check_can_fail(file, gate)
    return Rules(file.name, tuple(rules)), tuple(problems)


def build_rule_problem(file: ConfigFile, rule: int, key: str, text: str) -> DataError:
    """A mistake at a key of a rule, by its place in the file."""
    sections = file.config.gate.rules if file.config.gate is not None else ()
    line = next((section.line(key) for section in sections if section.place == rule), None)
    return file.build_problem(f"gate.rules[{rule}].{key}", text, line)


def _check_can_fail(file: ConfigFile, gate: GateSection) -> Iterator[DataError]:
    if not gate.rules:
        yield file.build_problem("gate.rules", "there is no rule, so the gate can never fail.", gate.line("rules"))
    elif all(rule.on_fail == "warn" for rule in gate.rules):
        text = "every rule has on_fail: warn, so the gate can never fail. Remove it from at least one rule."
        yield file.build_problem("gate.rules", text, gate.line("rules"))


def uses_relevance_labels(metric: Metric) -> bool:
    """Whether a metric measures retrieval by relevance labels.

    >>> from ragauge.metrics.catalogue import parse_metric
    >>> (uses_relevance_labels(parse_metric("recall@5")), uses_relevance_labels(parse_metric("context_recall")),
    ...     uses_relevance_labels(parse_metric("empty_result_rate")))
    (True, False, False)
    """
    return metric.measures == "retrieval" and any(fact.startswith("labels.") for fact in metric.needs.values())


def describe_unused_labels(rules: Rules, labelled: int, metric: str = USUAL_METRIC) -> str:
    """What to say where examples are labelled and no rule looks at it, with the line to add; "" where one does.

    Args:
        rules: of the gate.
        labelled: examples with relevance labels; fewer than a rule can decide on are no reason to write one.
        metric: the one to look at.
    """
    if labelled < MIN_EXAMPLES or any(map(uses_relevance_labels, rules.metrics)):
        return ""
    return (
        f"{labelled:,} examples have relevance labels, but no rule uses them to check retrieval: a system "
        f"that retrieves less still passes. Add this line to gate.rules: - {{metric: {metric}, max_drop: "
        f"{suggest_max_drop(labelled)} points}}"
    )


def list_unused_labels(
    rules: Rules, measured: Iterable[str], get_columns: Callable[[Metric], Columns | None]
) -> list[str]:
    """What to say of relevance labels that no rule uses, as far as a metric that was measured shows them."""
    label_metrics = [metric for name in measured if uses_relevance_labels(metric := parse_metric(name))]
    metrics = sorted(label_metrics, key=lambda metric: str(metric) != USUAL_METRIC)
    column = get_columns(metrics[0]) if metrics else None
    if column is None:
        return []
    sentence = describe_unused_labels(rules, int((column.status != NOT_APPLICABLE).sum()), str(metrics[0]))
    return [sentence] if sentence else []


def can_wait_for_tag(rule: Rule, tags: Iterable[str]) -> bool:
    """Whether a rule may ask about a tag that no example has: nothing has to pass yet, and no tag is near to it.

    Of a rule on a mean it may not: that would have no value.

    Args:
        rule: with a tag.
        tags: that examples have.

    >>> from ragauge.gating.kinds.single_examples import MustPass
    >>> rule = MustPass(1, None, "regression", "block")
    >>> can_wait_for_tag(rule, []), can_wait_for_tag(rule, ["reported"]), can_wait_for_tag(rule, ["regresion"])
    (True, True, False)
    """
    return rule.may_wait and not find_nearest(rule.tag, tags, min_similarity=MIN_TAG_LIKENESS)


def list_untagged_rules(rules: Rules, tags: Collection[str]) -> Iterator[str]:
    """What to say of rules whose examples are yet to come; `tags` are those that examples have."""
    for rule in rules.every:
        if rule.may_wait and rule.tag not in tags:
            yield f"rule {rule.rule}: {describe_untagged(rule.tag)}: nothing to check."


def check_conditions(conditions: Sequence[MeanRule], source: ScoreSource) -> tuple[list[Check], list[Family]]:
    """Every condition on the whole run and in its segments, with the correction for all of them together."""
    placed = [check for condition in conditions for check in condition.place_checks(source)]
    levels, could, families = [ALPHA] * len(placed), set[int](), []
    for on_fail in ("block", "warn"):
        members = [n for n, entry in enumerate(placed) if entry.rule.on_fail == on_fail]
        family = _correct_family(placed, [n for n in members if placed[n].cell.tested], levels, could)
        could |= {n for n in members if not placed[n].cell.tested and placed[n].cell.could_fail()}
        if family is not None:
            families.append(family)
    return [entry.build_check(levels[n], could=n in could) for n, entry in enumerate(placed)], families


def _correct_family(
    placed: Sequence[PlacedCheck], members: Sequence[int], levels: list[float], could: set[int]
) -> Family | None:
    """Puts the level of each member in `levels`, and in `could` those that might have failed had nothing failed."""
    if not members:
        return None
    in_segment = [placed[n].segment is not None for n in members]
    weights = split_alpha(in_segment)
    _, reached = step_down(weights, lambda i, alpha: placed[members[i]].cell.fails(alpha))
    possible, _ = step_down(weights, lambda i, alpha: placed[members[i]].cell.could_fail(alpha))
    could |= {members[i] for i in possible}
    for n, level in zip(members, reached, strict=True):
        levels[n] = level
    return Family(placed[members[0]].rule.on_fail, len(members) - sum(in_segment), sum(in_segment), ALPHA)


def decide_verdict(checks: Sequence[Check]) -> Verdict:
    """The verdict of a gate: fail when a check that blocks fails, else not enough data when one stops it."""
    stopping = {check.verdict for check in checks if check.stops}
    return FAIL if FAIL in stopping else UNKNOWN if UNKNOWN in stopping else "pass"


def describe_unchecked_columns(conditions: Sequence[MeanRule], source: ScoreSource) -> list[str]:
    """The segment columns with too few or too many values to be checked, as a warning; [] where there are none."""
    checked = () if source.apart is None else source.apart.slices.columns
    few, left_out = source.slices.few, source.slices.left_out
    names = [name for name in left_out if name not in checked and len(few.get(name, ())) < 2]
    if not names or all(condition.segments is not None for condition in conditions):
        return []
    listed = ", ".join(names)
    return [f"Not checked, because they have one value or more than 50: {listed}. To check one, name it in segments."]
