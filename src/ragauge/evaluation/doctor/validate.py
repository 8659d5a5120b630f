"""Validate: what a configuration file asks for, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.config.config_loader import ConfigFile, read_config
from ragauge.core.errors import ConfigError, DataError, UnknownName
from ragauge.core.messages import format_count
from ragauge.monitoring import policy
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.options import ValidateOptions
from ragauge.verbs.sources import load_store_metrics, parse_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragauge.core.config.monitor import MonitorSection
    from ragauge.core.example import EvalSet, Example
    from ragauge.gating.rules import Condition, MustPass, Rules
    from ragauge.metrics.base import Metric

    Absent = Mapping[Metric, Mapping[str, str]]  # metric -> id of an example that it does not apply to -> why


@dataclass(frozen=True, slots=True)
class ValidatedConfig:
    """A configuration file without mistakes."""

    source: str  #: the file.
    rules: tuple[str, ...]  #: what each rule of the gate asks for, in words.
    monitor: tuple[str, ...]  #: what is asked of production, in words.
    notes: tuple[str, ...]  #: what is right but seldom meant.

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        lists = {"rules": list(self.rules), "monitor": list(self.monitor), "notes": list(self.notes)}
        return {"source": self.source, "valid": True, **lists}


@expand_options(ValidateOptions)
def validate(options: ValidateOptions) -> ValidatedConfig:
    """Reads a configuration file and says what it asks for.

    Refused are unknown keys, metrics and values, and gates that can never fail or never pass.

    Options:
        config: path of ragauge.yaml, or its content as a mapping.
        set: the eval set, as `read_set` takes it: then tags and segments that no example has are refused too, and
            metrics that apply to none; where they apply to too few for a rule, a note says so.
        columns: our field -> the set's column.
        segments: columns of the set to report by.

    Raises:
        ConfigError: mistakes; all of them are in the text, each with its line.
        DataError: there is no such file, or it is not YAML.
    """
    from ragauge.gating.examples import list_untagged_rules
    from ragauge.gating.rules import parse_rules
    from ragauge.metrics.configured import register_criteria
    from ragauge.monitoring.series.monitor_specs import read_monitor_specs

    file = read_config(options.config)
    load_store_metrics(None)
    watched, wrong = read_monitor_specs(file)
    monitor_lines, remarks = tuple[str, ...](), tuple[str, ...]()
    if (monitor := file.config.monitor) is not None:
        wrong = (*wrong, *policy.find_mistakes(file, monitor))
        monitor_lines = tuple(policy.describe_section(monitor, watched))
        remarks = tuple(policy.list_remarks(file, monitor, watched))
    if file.config.gate is None and file.config.model_fields_set:  # the file is about something else
        if problems := (*file.problems, *register_criteria(file)[1], *wrong):
            raise ConfigError(problems)
        return ValidatedConfig(file.name, (), monitor_lines, remarks)
    rules, problems = parse_rules(file)
    problems = (*problems, *wrong, *_check_schedules(file, rules, monitor))
    examples = () if options.set is None else tuple(_load_examples(options))
    absent = _find_absent(rules.metrics, examples)
    if options.set is not None:
        problems = (*problems, *find_misfits(file, rules, examples), *_find_inapplicable(file, rules, examples, absent))
    if problems:
        raise ConfigError(problems)
    notes = [*remarks, *_list_notes(rules)]
    if options.set is not None:
        notes += [
            *list_untagged_rules(rules, {tag for example in examples for tag in example.tags}),
            *_warn_unused(rules, examples),
        ]
        notes += [*_warn_too_few(rules, examples, absent), *_warn_undecided(rules, examples, absent)]
    return ValidatedConfig(file.name, tuple(_describe_rules(rules)), monitor_lines, tuple(notes))


def _warn_unused(rules: Rules, examples: Sequence[Example]) -> Iterator[str]:
    """Labels that no rule looks at."""
    from ragauge.gating.examples import describe_unused_labels

    if remark := describe_unused_labels(rules, sum(bool(example.relevant) for example in examples)):
        yield remark


def _check_schedules(file: ConfigFile, rules: Rules, monitor: MonitorSection | None) -> Iterator[DataError]:
    """The same of the sets that schedules hold to these rules; where users' reports join one, when it is asked."""
    from ragauge.readers.source import read_set

    needs_labels = any(rule.tag for rule in rules.every) or any(limit.segments for limit in rules.conditions)
    for schedule in monitor.schedules if monitor is not None and needs_labels else ():
        if (
            schedule.set
            and Path(schedule.set).is_file()
            and not (schedule.rules or schedule.reported or schedule.heartbeat)
        ):
            try:
                examples = read_set(schedule.set, warn=lambda _: None).examples
            except DataError as error:
                yield error
            else:
                yield from find_misfits(file, rules, examples, f" of {schedule.set}")


def find_misfits(file: ConfigFile, rules: Rules, examples: Sequence[Example], of: str = "") -> Iterator[DataError]:
    """Tags and segment columns that no example of a set has, but for tags whose examples are yet to come."""
    from ragauge.gating.examples import can_wait_for_tag

    tags = {tag for example in examples for tag in example.tags}
    columns = {column for example in examples for column in example.segments}
    reported: set[tuple[int, str]] = {(0, "")}
    for rule in rules.every:
        absent = bool(rule.tag) and rule.tag not in tags and not can_wait_for_tag(rule, tags)
        if absent and (rule.rule, "tag") not in reported:
            yield _build_problem(file, rule.rule, "tag", f"no example{of} has it: {UnknownName('tag', rule.tag, tags)}")
            reported.add((rule.rule, "tag"))
    for limit in rules.conditions:
        for name in limit.segments or ():
            if name not in columns and (limit.rule, name) not in reported:
                yield _build_problem(file, limit.rule, "segments", str(UnknownName("segment column", name, columns)))
                reported.add((limit.rule, name))


def _find_inapplicable(
    file: ConfigFile, rules: Rules, examples: Sequence[Example], absent: Absent
) -> Iterator[DataError]:
    """Metrics that apply to no example that their rule asks about."""
    for rule, metric, query_ids in _iter_rule_examples(rules, examples):
        reasons = [absent[metric][field] for field in query_ids if field in absent[metric]]
        if query_ids and len(reasons) == len(query_ids):
            none = f"{metric} applies to none of {_describe_examples(rule, query_ids)}: {reasons[0]}"
            yield _build_problem(file, rule.rule, "metric", f"{none}. Label the examples, or remove the rule.")


def _warn_too_few(rules: Rules, examples: Sequence[Example], absent: Absent) -> Iterator[str]:
    """Rules that no run over a set can meet as it is: more examples or labels would mend that."""
    for rule, metric, query_ids in _iter_rule_examples(rules, examples):
        lacking = [field for field in query_ids if field in absent[metric]]
        minimum = getattr(rule, "min_n", len(query_ids))  # a rule on single examples asks for all of them
        if len(query_ids) - len(lacking) >= minimum:
            continue
        needs = f"min_n is {minimum}" if hasattr(rule, "min_n") else "every one must pass"
        if not lacking:
            yield (
                f"rule {rule.rule}: {needs}, more than {_describe_examples(rule, query_ids)}: no run on this set "
                "can meet it."
            )
            continue
        applies = (
            f"{metric} applies to {len(query_ids) - len(lacking)} of {_describe_examples(rule, query_ids)}, but {needs}"
        )
        reason = f"It does not apply to {lacking[0]}: {absent[metric][lacking[0]]}."
        yield f"rule {rule.rule}: {applies}: no run on this set can meet it. {reason}"


def _warn_undecided(rules: Rules, examples: Sequence[Example], absent: Absent) -> Iterator[str]:
    """Rules that the set is too small to decide: mostly their verdict would be not enough data."""
    from ragauge.gating.decide import find_min_drop, find_n_examples, find_n_for_quantile

    for limit in rules.conditions:
        query_ids = [example.query_id for example in examples if not limit.tag or limit.tag in example.tags]
        n = sum(query_id not in absent[limit.metric] for query_id in query_ids)
        if limit.decide == "point" or n < limit.min_n:  # decided, or said already
            continue
        if limit.kind == "max_drop" and limit.metric.range == (0, 1) and 0 < limit.amount < find_min_drop(n):
            more = find_n_examples(limit.amount)
            those = "more than 10,000" if more is None else f"about {more:,}"
            yield (
                f"rule {limit.rule}: {format_count(n, 'example')} are often too few to decide a drop of {limit.text}: "
                f"if one score in ten differs, as often better as worse, the verdict is not enough data. {n} examples "
                f"can decide {100 * find_min_drop(n):g} points; {limit.text} need {those}. See ragauge docs gates."
            )
        if limit.kind == "max" and limit.statistic != "mean" and n < (needed := find_n_for_quantile(limit.statistic)):
            yield (
                f"rule {limit.rule}: {format_count(n, 'example')} of the set cannot show that {limit.statistic} of "
                f"{limit.metric} meets a limit: that needs {needed:,}. No run on this set can meet it."
            )


def _iter_rule_examples(
    rules: Rules, examples: Sequence[Example]
) -> Iterator[tuple[Condition | MustPass, Metric, Sequence[str]]]:
    """Every rule on a metric, once, with the examples that it asks about."""
    visited: set[int] = set()
    for rule in rules.every:
        if rule.metric is not None and rule.rule not in visited:
            visited.add(rule.rule)
            query_ids = [example.query_id for example in examples if not rule.tag or rule.tag in example.tags]
            yield rule, rule.metric, query_ids


def _describe_examples(rule: Condition | MustPass, query_ids: Sequence[str]) -> str:
    tagged = f" tagged {rule.tag}" if rule.tag else ""
    return f"the {format_count(len(query_ids), 'example')} of the set{tagged}"


def _find_absent(metrics: Sequence[Metric], examples: Sequence[Example]) -> Absent:
    """Which examples a metric does not apply to, whatever the response, and why."""
    from ragauge.core.response import Response
    from ragauge.metrics.facts import Facts
    from ragauge.metrics.measure import measure_all

    absent: dict[Metric, dict[str, str]] = {metric: {} for metric in metrics}
    for example in examples:
        unanswered = Response(example.query_id, error="not asked")  # a missing label comes before any failure
        for metric, measured in zip(metrics, measure_all(metrics, Facts(example, unanswered)), strict=True):
            if measured.status == "not_applicable":
                absent[metric][example.query_id] = measured.reason
    return absent


def _build_problem(file: ConfigFile, rule: int, key: str, text: str) -> DataError:
    return file.build_problem(f"gate.rules[{rule}].{key}", text, _find_line(file, rule, key))


def _find_line(file: ConfigFile, rule: int, key: str) -> int | None:
    gate = file.config.gate
    return (
        next((rule_section.line(key) for rule_section in gate.rules if rule_section.place == rule), None)
        if gate is not None
        else None
    )


def _load_examples(options: ValidateOptions) -> Iterable[Example]:
    from ragauge.readers import source as readers

    if hasattr(options.set, "examples"):
        eval_set: EvalSet = options.set
        return eval_set.examples
    return readers.read_set(options.set, columns=options.columns, segments=parse_names(options.segments)).examples


def _describe_rules(rules: Rules) -> Iterator[str]:
    from ragauge.gating.check_builder import compute_min_n, describe_condition
    from ragauge.gating.examples import describe_max_failed
    from ragauge.gating.examples import describe_rule as asks_of_examples

    yield describe_max_failed(rules.max_failed)
    for limit in rules.conditions:
        segments_text = (
            "every declared segment" if limit.segments is None else f"every value of {', '.join(limit.segments)}"
        )
        where = "the whole run" if limit.segments == () else f"the whole run and {segments_text}"
        how = "by the estimate alone" if limit.decide == "point" else "by its interval"
        warns = "; warns only" if limit.on_fail == "warn" else ""
        minimum_text = f"{compute_min_n(limit)} {'labeled ' if limit.rectified else ''}examples"
        yield f"{describe_condition(limit)}: {where}, {how}, with at least {minimum_text}{warns}"
    for must in rules.must_pass:
        yield asks_of_examples(must) + ("; warns only" if must.on_fail == "warn" else "")


def _list_notes(rules: Rules) -> Iterator[str]:
    for limit in rules.conditions:
        if limit.kind == "max_drop" and limit.amount == 0 and limit.decide == "interval":
            yield (
                f"rule {limit.rule}: max_drop: 0 passes only if {limit.metric} is shown to be better (or nothing "
                "changed at all); usually the verdict is not enough data. Allow a small drop, such as 2 points."
            )
