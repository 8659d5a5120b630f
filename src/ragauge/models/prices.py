"""What a call costs: a user's own table first, then the maintained one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ragauge.core.ask import ModelName, Usage
from ragauge.core.errors import UsageError

PRICES_VARIABLE = "RAGAUGE_PRICES"
KINDS = ("input", "output", "cached", "written")
MILLION = 1_000_000
PRICE_PROVIDERS = {  # as the maintained table calls providers
    "openai-chat": "openai",
    "azure-responses": "azure",
    "bedrock": "aws",
    "bedrock-mantle": "aws",
    "google-cloud": "google",
    "xai": "x-ai",
}
Rates = tuple[float, float, float, float]  # dollars for a million tokens: fresh, cached, written input; output


def compute_price(name: ModelName, usage: Usage) -> float | None:
    """US dollars for a call; None when the price is unknown, which is never 0.

    The file that RAGAUGE_PRICES names (YAML or JSON) comes first:
    {"provider:model": {"input": 0.25, "output": 2.0, "cached": 0.025, "written": 0.3}}, US dollars for a million
    tokens; cached and written cost what input does where they are left out. A model at a place of one's own has a price
    only there.
    """
    path = os.environ.get(PRICES_VARIABLE, "")
    own_table = _read_table(path, _read_mtime(path)) if path else {}
    own_rates = own_table.get(str(name)) or own_table.get(f"{name.provider}:{name.model}")
    if own_rates is not None:
        fresh_rate = own_rates["input"]
        rates: Rates | None = (
            fresh_rate,
            own_rates.get("cached", fresh_rate),
            own_rates.get("written", fresh_rate),
            own_rates["output"],
        )
    else:
        rates = None if name.endpoint else _find_rates(name)
    if rates is None:
        return None
    cached = min(usage.cached_tokens, usage.input_tokens)  # some servers count them beside the input, not in it
    written = min(usage.written_tokens, usage.input_tokens - cached)
    counts = (usage.input_tokens - cached - written, cached, written, usage.output_tokens)
    return sum(tokens * rate for tokens, rate in zip(counts, rates, strict=True)) / MILLION


def _read_mtime(path: str) -> int:
    """When the file was changed last: a table that is edited in the middle of a session counts from then on."""
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


@cache
def _find_rates(name: ModelName) -> Rates | None:
    """Dollars for a million tokens in the maintained table; None where it has none."""
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    provider = PRICE_PROVIDERS.get(name.provider, name.provider)
    try:
        rates = [
            float(calc_price(counted, model_ref=name.model, provider_id=provider).total_price) * MILLION / 1_000
            for counted in (
                Counted(input_tokens=1_000),
                Counted(input_tokens=1_000, cache_read_tokens=1_000),
                Counted(input_tokens=1_000, cache_write_tokens=1_000),
                Counted(input_tokens=0, output_tokens=1_000),
            )
        ]
    except LookupError:
        return None
    return rates[0], rates[1], rates[2], rates[3]


@lru_cache(maxsize=4)
def _read_table(path: str, changed: int) -> Mapping[str, Mapping[str, float]]:  # noqa: ARG001 - in the key of the cache
    """The user's table. UsageError where it cannot be read."""
    import yaml

    try:
        read: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        table = {
            str(model): {kind: float(value) for kind, value in rates.items() if kind in KINDS}
            for model, rates in read.items()
        }
    except (OSError, ValueError, AttributeError, TypeError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(
            f"{PRICES_VARIABLE}: {path} cannot be read as prices ({error}). Write provider:model: {{input: 0.25, "
            "output: 2.0}}, in US dollars per million tokens."
        ) from None
    for model, rates in table.items():
        if not {"input", "output"} <= set(rates) or min(rates.values()) < 0:
            raise UsageError(f"{PRICES_VARIABLE}: {path}: {model} needs input and output, at least 0, got {rates}.")
    return table
