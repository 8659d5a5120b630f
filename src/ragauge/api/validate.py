"""Validate: what a configuration file asks for, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.data.config.reading import DEFAULT, ConfigFile, read_config
from ragauge.errors import ConfigError, DataError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragauge.data.example import EvalSet, Example
    from ragauge.gating.rules import Rules


@dataclass(frozen=True, slots=True)
class Validated:
    """A configuration file without mistakes.

    Attributes:
        source: the file.
        rules: what each rule of the gate asks for, in words.
        notes: what is right but seldom meant.
    """

    source: str
    rules: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        return {"source": self.source, "valid": True, "rules": list(self.rules), "notes": list(self.notes)}


def validate(config: str | Path | Mapping[str, Any] = DEFAULT, *, set: Any = None) -> Validated:
    """Reads a configuration file and says what it asks for.

    Refused are unknown keys, metrics and values, and gates that can never fail or never pass.

    Args:
        config: path of ragauge.yaml, or its content as a mapping.
        set: the eval set, as `read_set` takes it: then tags and segments that no example has are refused too.

    Raises:
        ConfigError: mistakes; all of them are in the text, each with its line.
        DataError: there is no such file, or it is not YAML.
    """
    from ragauge.gating.rules import understood

    file = read_config(config)
    if file.config.gate is None and file.config.model_fields_set:     # the file is about something else
        file.checked()
        return Validated(file.name, (), ())
    rules, problems = understood(file)
    problems = (*problems, *_against(file, rules, set))
    if problems:
        raise ConfigError(problems)
    return Validated(file.name, tuple(_said(rules)), tuple(_notes(rules)))


def _against(file: ConfigFile, rules: Rules, source: Any) -> Iterator[DataError]:
    """Tags and segment columns that no example of a set has."""
    gate = file.config.gate
    if source is None or gate is None:
        return
    examples = _examples(source)
    tags = {tag for example in examples for tag in example.tags}
    columns = {column for example in examples for column in example.segments}
    seen: set[tuple[int, str]] = {(0, "")}
    for rule in rules.every:
        if (rule.rule, "tag") not in seen and rule.tag and rule.tag not in tags:
            yield _absent(file, rule.rule, "tag", f"no example has it: {UnknownName('tag', rule.tag, tags)}")
            seen.add((rule.rule, "tag"))
    for one in rules.conditions:
        for name in one.segments or ():
            if name not in columns and (one.rule, name) not in seen:
                yield _absent(file, one.rule, "segments", str(UnknownName("segment column", name, columns)))
                seen.add((one.rule, name))


def _absent(file: ConfigFile, rule: int, key: str, text: str) -> DataError:
    return file.problem(f"gate.rules[{rule}].{key}", text, _line(file, rule, key))


def _line(file: ConfigFile, rule: int, key: str) -> int | None:
    gate = file.config.gate
    return next((one.line(key) for one in gate.rules if one.place == rule), None) if gate is not None else None


def _examples(source: Any) -> Iterable[Example]:
    from ragauge.data.readers import source as readers

    found: EvalSet = source if hasattr(source, "examples") else readers.read_set(source)
    return found.examples


def _said(rules: Rules) -> Iterator[str]:
    from ragauge.gating.checking import asks
    from ragauge.gating.examples import asks as asks_of_examples

    yield f"at most {100 * rules.max_failed:g} % of the examples may have failed judge calls"
    for one in rules.conditions:
        parts = "every declared segment" if one.segments is None else f"every value of {', '.join(one.segments)}"
        where = "the whole run" if one.segments == () else f"the whole run and {parts}"
        how = "by the estimate alone" if one.decide == "point" else "by its interval"
        warns = "; warns only" if one.on_fail == "warn" else ""
        yield f"{asks(one)}: {where}, {how}, from {one.min_n} examples on{warns}"
    for must in rules.must_pass:
        yield asks_of_examples(must) + ("; warns only" if must.on_fail == "warn" else "")


def _notes(rules: Rules) -> Iterator[str]:
    for one in rules.conditions:
        if one.kind == "max_drop" and one.amount == 0 and one.decide == "interval":
            yield (
                f"rule {one.rule}: max_drop: 0 passes only where {one.metric} is shown to be better (or nothing "
                "changed at all); mostly it says not enough data. Usual is a small drop, such as 2 points."
            )
