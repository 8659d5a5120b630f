"""What a call costs: a user's own table first, then the maintained one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ragauge.data.ask import ModelName, Usage
from ragauge.errors import UsageError

FILE = "RAGAUGE_PRICES"
KINDS = ("input", "output", "cached")
MILLION = 1_000_000


def price(name: ModelName, usage: Usage) -> float | None:
    """US dollars for a call; None when the price is unknown, which is never 0.

    The file that RAGAUGE_PRICES names (YAML or JSON) comes first:
    {"provider:model": {"input": 0.25, "output": 2.0, "cached": 0.025}}, US dollars for a million tokens. A model at a
    place of one's own has a price only there.
    """
    own = _table(os.environ.get(FILE, ""))
    found = own.get(str(name)) or own.get(f"{name.provider}:{name.model}")
    if found is not None:
        cached = found.get("cached", found["input"])
        fresh = usage.input_tokens - usage.cached_tokens
        return (fresh * found["input"] + usage.cached_tokens * cached + usage.output_tokens * found["output"]) / MILLION
    return None if name.endpoint else _maintained(name, usage)


def _maintained(name: ModelName, usage: Usage) -> float | None:
    rates = _rates(name)
    if rates is None:
        return None
    fresh = usage.input_tokens - usage.cached_tokens
    return fresh * rates[0] + usage.cached_tokens * rates[1] + usage.output_tokens * rates[2]


@cache
def _rates(name: ModelName) -> tuple[float, float, float] | None:
    """Dollars a token in the maintained table: fresh input, cached input, output; None where it has none."""
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    provider = "openai" if name.provider == "openai-chat" else name.provider
    try:
        parts = [
            float(calc_price(counted, model_ref=name.model, provider_id=provider).total_price) / 1_000
            for counted in (
                Counted(input_tokens=1_000),
                Counted(input_tokens=1_000, cache_read_tokens=1_000),
                Counted(input_tokens=0, output_tokens=1_000),
            )
        ]
    except LookupError:
        return None
    return parts[0], parts[1], parts[2]


@cache
def _table(path: str) -> Mapping[str, Mapping[str, float]]:
    """The user's table. UsageError where it cannot be read."""
    if not path:
        return {}
    import yaml

    try:
        read: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        table = {
            str(model): {kind: float(value) for kind, value in rates.items() if kind in KINDS}
            for model, rates in read.items()
        }
    except (OSError, ValueError, AttributeError, TypeError, yaml.YAMLError) as error:
        raise UsageError(
            f"{FILE}: {path} cannot be read as prices ({error}). Write provider:model: {{input: 0.25, output: 2.0}}, "
            "US dollars for a million tokens."
        ) from None
    for model, rates in table.items():
        if not {"input", "output"} <= set(rates) or min(rates.values()) < 0:
            raise UsageError(f"{FILE}: {path}: {model} needs input and output, at least 0, got {rates}.")
    return table
