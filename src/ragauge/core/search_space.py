"""The configurations that a sweep tries: what may vary, over which values, and from where."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Literal

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.identity import to_canonical_json, to_json_value

Design = Literal["one_factor", "grid", "random", "staged"]
DESIGNS: tuple[Design, ...] = ("grid", "one_factor", "random", "staged")
PRESETS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "chunk_size": {"chunk_tokens": [256, 512, 1024, 2048]},
    "top_k": {"k": [1, 3, 5, 10, 15, 20]},
}
MAX_CONFIGURATIONS = 100_000  # configurations of a grid
Parameters = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Parameters with the values that each may take.

    Raises:
        UsageError: no parameter, a parameter without values or with one of them twice, a value that JSON cannot hold,
            or a base that is outside.
        UnknownName: base or leave_out name a parameter that there is not.
    """

    parameters: Mapping[str, Sequence[Any]]  #: name -> values, in the order written; JSON types, or numpy's numbers.
    #: one value of each: what is used today. Empty = the first value of each.
    base: Parameters = field(default_factory=dict)
    leave_out: Sequence[Parameters] = ()  #: parts of configurations that are not tried.

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "parameters", {name: to_json_value(values) for name, values in self.parameters.items()}
        )
        object.__setattr__(self, "base", to_json_value(self.base))
        if not self.parameters:
            raise UsageError("sweep: there is no parameter to vary. Write parameters: {k: [5, 10]}.")
        for name, values in self.parameters.items():
            _check_values(name, values)
        start = {name: self.base.get(name, values[0]) for name, values in self.parameters.items()}
        for name, value in self.base.items():
            if name not in self.parameters:
                raise UnknownName("parameter of base", name, self.parameters)
            if not _is_among(value, self.parameters[name]):
                message = f"sweep: base has {name}: {value!r}, not among its values {list(self.parameters[name])}"
                raise UsageError(f"{message}. Add the value, or choose another base.")
        for excluded in self.leave_out:
            for name in excluded:
                if name not in self.parameters:
                    raise UnknownName("parameter of except", name, self.parameters)
        object.__setattr__(self, "base", start)
        if self._is_left_out(start):
            raise UsageError("sweep: except excludes the base, which all others are compared with. Keep it.")

    @property
    def size(self) -> int:
        """How many configurations the grid has, those left out counted."""
        return prod(len(values) for values in self.parameters.values())

    def list_grid(self) -> list[dict[str, Any]]:
        """Every configuration, the base first.

        Raises:
            UsageError: more than 100,000.
        """
        if self.size > MAX_CONFIGURATIONS:
            raise UsageError(f"sweep: a grid of {self.size:,} configurations. Write --design random --trials 100.")
        return self._prepend_base(
            dict(zip(self.parameters, row, strict=True)) for row in product(*self.parameters.values())
        )

    def list_one_factor(self) -> list[dict[str, Any]]:
        """The base, and each other value alone."""
        return self._prepend_base(
            {**self.base, name: value} for name in self.parameters for value in self.parameters[name]
        )

    def sample_random(self, n: int, seed: int = 0) -> list[dict[str, Any]]:
        """The base and n − 1 others, drawn from the grid without repetition; all of it where it has no more.

        Raises:
            UsageError: n below 2.
        """
        if n < 2:
            raise UsageError(f"sweep: trials must be at least 2, got {n}.")
        if self.size <= MAX_CONFIGURATIONS:
            base, *others = self.list_grid()
            return [base, *random.Random(seed).sample(others, min(n - 1, len(others)))]  # noqa: S311 - no secret
        rng, distinct = random.Random(seed), {to_canonical_json(dict(self.base)): dict(self.base)}  # noqa: S311 - no secret
        for _ in range(100 * n):
            parameters = {name: rng.choice(list(values)) for name, values in self.parameters.items()}
            if len(distinct) < n and not self._is_left_out(parameters):
                distinct.setdefault(to_canonical_json(parameters), parameters)
        return list(distinct.values())

    def stage(self, name: str, current: Parameters) -> list[dict[str, Any]]:
        """Each value of one parameter, the others as they are in `current`, which comes first."""
        configurations = ({**current, name: value} for value in self.parameters[name])
        return _select_distinct(
            [dict(current), *(parameters for parameters in configurations if not self._is_left_out(parameters))]
        )

    def _prepend_base(self, rows: Any) -> list[dict[str, Any]]:
        return _select_distinct([dict(self.base), *(row for row in rows if not self._is_left_out(row))])

    def _is_left_out(self, parameters: Parameters) -> bool:
        return any(
            all(_is_same_value(parameters[name], value) for name, value in excluded.items())
            for excluded in self.leave_out
        )


def format_parameters(parameters: Parameters) -> str:
    """What a configuration is called: name=value, in the order of the names, such as k=5,retriever=bm25.

    >>> format_parameters({"retriever": "bm25", "k": 5})
    'k=5,retriever=bm25'
    """
    return ",".join(
        f"{name}={value if isinstance(value, str) else to_canonical_json(value)}"
        for name, value in sorted(parameters.items())
    )


def _check_values(name: str, values: Any) -> None:
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise UsageError(f"sweep: {name} needs a list of values such as [5, 10], got {values!r}.")
    values_by_key: dict[str, Any] = {}
    for value in values:
        try:
            key = to_canonical_json(value)
        except (TypeError, ValueError):
            hint = "Use a name instead, and let build create the object it stands for."
            raise UsageError(f"sweep: {name} has a value that JSON cannot hold: {value!r}. {hint}") from None
        if key in values_by_key:
            raise UsageError(f"sweep: {name} has {value!r} twice, so two configurations would be identical.")
        values_by_key[key] = value


def _is_same_value(value: Any, other: Any) -> bool:
    return to_canonical_json(value) == to_canonical_json(other)


def _is_among(value: Any, values: Sequence[Any]) -> bool:
    return any(_is_same_value(value, candidate) for candidate in values)


def _select_distinct(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({to_canonical_json(row): row for row in rows}.values())
