"""How often an alert names the component that is broken: faults switched on in the traffic of a planted system.

    python bench/alert_causes.py                # the seeds that the naming was tuned on
    python bench/alert_causes.py --prove        # other seeds and two other systems; exit 1 below 90 %

Five days of good traffic, then two in which a fault strikes four of five requests that it can strike. Everything goes
the way that production's traffic goes: spans in OTLP, read into responses without labels or references, scored by the
local judge, watched by seven monitors with one false alarm in twenty months; then the account of every alert is made.
The component is right when it is where the causes belong that the fault's class names. A judge that is exchanged under
its name has a test of its own, tests/monitoring/test_canary_model.py, since a model must judge for that, and is
simulated by bench/judge_swaps.py.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is in no wheel
sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench.planted_system import faults
from tests.data.spans import attributes
from tests.faults.reference_faults import Fault

from ragauge.core.config.config_loader import read_config
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.response import Response
from ragauge.diagnosis.causes.attribution import ROWS_BY_NAME
from ragauge.evaluation.demo.demo_systems import read_documents, read_eval_set
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.verb import load_account
from ragauge.monitoring.intake.body_parser import BodyParser, SentBody
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.series.alert_details import AlertAccount
from ragauge.monitoring.series.monitor_specs import MonitorSpecs, read_monitor_specs
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.store.inbox import DAY_S
from ragauge.store.store_access import Store, open_store
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag

FIRST = datetime(2026, 3, 2, tzinfo=UTC).timestamp()
GOOD, BAD, RATE, SHARE = 5, 2, 100, 0.8  # days, days, requests a day, share of the requests that a fault strikes
LEAST = 0.90
TUNED, PROVED = (1, 2, 3), (11, 12, 13)
SYSTEM = ReferenceConfig()
OTHERS = (ReferenceConfig(retriever="bm25", k=3), ReferenceConfig(retriever="dense", k=8))
MONITORS = """
monitor:
  judge: {judge}
  metrics: [production]
  monitors:
    - {{metric: faithfulness, baseline: 28d, max_drop: 5%}}
    - {{metric: answer_relevance, baseline: 28d, max_drop: 10%}}
    - {{metric: context_precision, baseline: 28d, max_drop: 10%}}
    - {{metric: fabricated_specifics, max: 5%}}
    - {{metric: ignored_top_ranked, max: 25%}}
    - {{metric: stale_passage_rate, max: 25%}}
    - {{metric: empty_result_rate, max: 5%}}
"""


@dataclass(frozen=True, slots=True)
class Watched:
    """What is watched: the section of a configuration, and its monitors."""

    monitor: MonitorSection
    watches: MonitorSpecs

    @staticmethod
    def of(judge: str = "local") -> Watched:
        """What stands in MONITORS, under a judge."""
        import yaml

        file = read_config(yaml.safe_load(MONITORS.format(judge=judge)))
        monitor = file.checked().monitor
        assert monitor is not None
        return Watched(monitor, read_monitor_specs(file)[0])


@dataclass(slots=True)
class Told:
    """What the alerts of one fault said.

    Attributes:
        fault: what was planted; "" = nothing.
        expected: components that are right.
        accounts: of all alerts.
    """

    fault: str
    expected: frozenset[str]
    accounts: list[AlertAccount] = field(default_factory=list)

    def right(self) -> list[bool]:
        """Whether each alert names the right component."""
        return [one.blame.component in self.expected for one in self.accounts]


def component_of(cause: str) -> str:
    """Where a cause is to be mended; what the index holds is found by retrieval."""
    component = ROWS_BY_NAME[cause].component
    return "retrieval" if component == "data" else component


class Traffic:
    """A system with its questions, and the days of requests that are made of them."""

    def __init__(self, config: ReferenceConfig = SYSTEM) -> None:
        self.system = ReferenceRag(config, read_documents(), WordLlamaEmbedder().embed)
        self.examples = read_eval_set().examples
        self.honest = {one.query_id: self.system.respond(one) for one in self.examples}
        self._spoilt: dict[str, Mapping[str, Response]] = {}

    def spoilt(self, fault: Fault) -> Mapping[str, Response]:
        """Question -> its spoilt answer, of those that a fault can strike."""
        if fault.name not in self._spoilt:
            found = {
                one.query_id: fault.inject_fault(one, self.honest[one.query_id], self.system) for one in self.examples
            }
            self._spoilt[fault.name] = {name: one for name, one in found.items() if one is not None}
        return self._spoilt[fault.name]

    def day(self, day: int, seed: int, fault: Fault | None = None) -> Iterator[tuple[float, bytes]]:
        """When each request of a day comes, and its spans."""
        draw, spoilt = Random(f"{seed}/{day}"), self.spoilt(fault) if fault is not None else {}
        for place in range(RATE):
            example, struck = draw.choice(self.examples), draw.random() < SHARE
            response = spoilt.get(example.query_id) if struck else None
            trace = f"{seed:08x}{day:08x}{place:016x}"
            at = FIRST + day * DAY_S + 3 * 3600 + place * 60.0
            yield at, json.dumps(spans(trace, example.query, response or self.honest[example.query_id])).encode()


def spans(trace: str, query: str, response: Response) -> dict[str, Any]:
    """One request as OpenInference's instrumentation sends it."""
    found: dict[str, Any] = {"openinference.span.kind": "RETRIEVER", "input.value": query}
    for n, passage in enumerate(response.passages or ()):
        kept = {"superseded_by": passage.superseded_by, "updated_at": str(passage.updated_at or "")}
        found |= {
            f"retrieval.documents.{n}.document.id": passage.doc_id,
            f"retrieval.documents.{n}.document.content": passage.text or "",
            f"retrieval.documents.{n}.document.score": float(passage.score or 0.0),
            f"retrieval.documents.{n}.document.metadata": json.dumps({key: one for key, one in kept.items() if one}),
        }
    if not response.passages:
        found["output.value"] = json.dumps({"documents": []})
    asked = {"openinference.span.kind": "CHAIN", "input.value": query, "output.value": response.answer or ""}
    model = {"openinference.span.kind": "LLM", "llm.model_name": "m-1", "output.value": response.answer or ""}
    several = []
    for n, (named, took) in enumerate([(asked, 900), (found, 100), (model, 700)]):
        start = 10**18 + n * 10**6
        several.append(
            {
                "traceId": trace,
                "spanId": f"{n + 1:016x}",
                "parentSpanId": f"{1:016x}" if n else "",
                "name": f"step {n}",
                "kind": 1,
                "startTimeUnixNano": str(start),
                "endTimeUnixNano": str(start + took * 10**6),
                "attributes": attributes(named),
            }
        )
    resource = {"attributes": attributes({"service.name": "shop"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": several}]}]}


def served(store: Store, requests: Iterator[tuple[float, bytes]], policy: Policy) -> float:
    """Takes requests in, reads and scores them; returns when the last had been read."""
    taking, batches = BodyParser(), []
    for at, body in requests:
        batch = taking.parse_traces(SentBody("json", body, at, "")).batch
        assert batch is not None
        batches.append(batch)
    store.inbox.add(batches, policy.patience)
    now = batches[-1].at + 60
    while settle_traces(store, policy, now):
        pass
    TrafficScorer(store, policy, lambda _: None).score()
    return now


def told(store: Store, watched: Watched) -> list[AlertAccount]:
    """The accounts of all alerts that fired since the fault is switched on."""
    by_name = {str(one): one for one in watched.watches.metrics}
    return [
        load_account(store, one.alert, by_name[one.alert.monitor])
        for one in reversed(store.monitors.list_alerts())
        if one.alert.monitor in by_name and one.alert.fired_at.timestamp() >= FIRST + GOOD * DAY_S
    ]


def before(traffic: Traffic, seed: int, path: Path) -> None:
    """A store of the good days of a seed."""
    watched = Watched.of()
    with open_store(f"sqlite:///{path}") as store:
        for day in range(GOOD):
            now = served(store, traffic.day(day, seed), Policy())
            advance_monitors(store, watched.monitor, watched.watches, now)


def struck(traffic: Traffic, seed: int, good: Path, fault: Fault | None) -> Told:
    """What the alerts say once a fault is switched on."""
    expected = frozenset(map(component_of, fault.causes)) if fault is not None else frozenset[str]()
    watched, found = Watched.of(), Told(fault.name if fault is not None else "", expected)
    copy = good.with_name(f"{found.fault}.db")
    shutil.copy(good, copy)
    with open_store(f"sqlite:///{copy}") as store:
        for day in range(GOOD, GOOD + BAD):
            now = served(store, traffic.day(day, seed, fault), Policy())
            advance_monitors(store, watched.monitor, watched.watches, now)
        found.accounts = told(store, watched)
    copy.unlink()
    return found


def runs(systems: Sequence[ReferenceConfig], seeds: Sequence[int], only: Sequence[str] = ()) -> Iterator[Told]:
    """What the alerts of every fault say, system by system and seed by seed."""
    for config in systems:
        traffic = Traffic(config)
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                good = Path(folder) / "good.db"
                before(traffic, seed, good)
                for fault in (None, *faults()):
                    if not only or (fault is not None and fault.name in only):
                        yield struck(traffic, seed, good, fault)


def line(name: str, several: Sequence[Told]) -> str:
    """A row of the table."""
    right = [one for told in several for one in told.right()]
    share = f"{sum(right) / len(right):.0%}" if right else "–"
    expected = ", ".join(sorted(several[0].expected)) or "–"
    return (
        f"{name or 'nothing'} | {expected} | {sum(bool(one.accounts) for one in several)} of {len(several)} | "
        f"{len(right)} | {share}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 1 where less is right than has to be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--prove", action="store_true", help="other seeds and systems than those it was tuned on")
    parser.add_argument("--seeds", type=int, nargs="+", help="other seeds")
    parser.add_argument("--only", nargs="+", default=[], help="these faults")
    parser.add_argument("--misses", action="store_true", help="print every alert that names another component")
    asked = parser.parse_args(arguments)
    found: dict[str, list[Told]] = {}
    seeds = asked.seeds or (PROVED if asked.prove else TUNED)
    for one in runs((SYSTEM, *OTHERS) if asked.prove else (SYSTEM,), seeds, asked.only):
        found.setdefault(one.fault, []).append(one)
        if asked.misses:
            for account, right in zip(one.accounts, one.right(), strict=True):
                print(
                    "" if right else "MISS",
                    one.fault,
                    account.alert.monitor,
                    *account.blame,
                    [(c.name, round(c.before, 2), round(c.now, 2)) for c in account.causes],
                    flush=True,
                )
    print("fault | right | traffic with an alert | alerts | component right\n---|---|---:|---:|---:")
    for name, several in found.items():
        print(line(name, several))
    every = [right for name, several in found.items() if name for one in several for right in one.right()]
    print(f"all |  |  | {len(every)} | {sum(every) / max(1, len(every)):.1%}")
    return int(sum(every) < LEAST * len(every))


if __name__ == "__main__":
    raise SystemExit(main())
