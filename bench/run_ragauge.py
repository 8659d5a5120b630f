"""One evaluation by ragauge, as a script of a user: FILE URL CONCURRENCY STORE METRICS NAME; prints what it took."""

from __future__ import annotations

import json
import resource
import sys
import time

import ragauge as rg


def main() -> None:
    """Evaluates and prints seconds, and the scored of each metric."""
    file, url, concurrency, store, metrics, name = sys.argv[1:]
    began = time.perf_counter()
    card = rg.evaluate(
        file, judge=f"openai-chat:gpt-4o-mini@{url}", metrics=metrics, store=store, name=name,
        concurrency=int(concurrency), max_concurrency=int(concurrency),
    )  # fmt: skip
    took = time.perf_counter() - began
    scored = {metric: card[metric].scored for metric in metrics.split(",")}
    print(json.dumps({"seconds": took, "n": card.card.n, "scored": scored, "cpu": _cpu()}))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
