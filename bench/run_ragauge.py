"""One evaluation by ragauge, as a script of a user: FILE URL CONCURRENCY STORE METRICS NAME [ready].

Prints what it took. With `ready`, modules are imported before the clock starts, as they are in the peers' scripts.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib import import_module

import ragauge as rg

READY = (
    "alembic.command",
    "openai.types.chat",
    "polars",
    "pydantic_ai.models.openai",
    "sqlalchemy.dialects.sqlite",
    "ragauge.evaluation.scorecard.cards",
    "ragauge.engine.execute",
    "ragauge.store.migrations.upgrade",
)


def main() -> None:
    """Evaluates and prints seconds, and the scored of each metric."""
    file, url, concurrency, store, metrics, name, *ready = sys.argv[1:]
    for module in READY if ready else ():  # the peers' scripts import what they use before their clocks start
        import_module(module)
    began, used = time.perf_counter(), _cpu()
    card = rg.evaluate(
        file,
        judge=f"openai-chat:gpt-4o-mini@{url}",
        metrics=metrics,
        store=store,
        name=name,
        concurrency=int(concurrency),
        max_concurrency=int(concurrency),
    )
    took = time.perf_counter() - began
    scored = {metric: card[metric].scored for metric in metrics.split(",")}
    print(json.dumps({"seconds": took, "n": card.card.n, "scored": scored, "cpu": _cpu() - used}))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
