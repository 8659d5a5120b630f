"""Every area of a store: the attribute of `Store`, and what makes it of a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ragauge.store.calls import Calls
from ragauge.store.cards import Cards, Charts
from ragauge.store.causes import Causes, Listings
from ragauge.store.check_log import CheckLog
from ragauge.store.database import Database
from ragauge.store.erasing import TraceEraser
from ragauge.store.evaluations import RunEvaluations
from ragauge.store.evidence import Evidences
from ragauge.store.example_index import ExampleIndexes
from ragauge.store.example_list import ExampleList
from ragauge.store.inbox import Inbox
from ragauge.store.integrity import Integrity
from ragauge.store.jobs import Jobs
from ragauge.store.judges import Checks, Judges
from ragauge.store.labels import Draws, Labels
from ragauge.store.ledger import Ledger
from ragauge.store.monitors import Monitors
from ragauge.store.own_metrics import OwnMetrics
from ragauge.store.periods import Periods
from ragauge.store.question_runs import QuestionRuns
from ragauge.store.replies import Replies
from ragauge.store.returns import Returns
from ragauge.store.run_collection import RunCollector
from ragauge.store.run_import import Imports
from ragauge.store.run_list import RunList
from ragauge.store.run_log import Baselines, RunLog, Summaries
from ragauge.store.runs import Runs
from ragauge.store.scores import Scores
from ragauge.store.sets import Sets, Texts
from ragauge.store.studies import Studies
from ragauge.store.vectors import Vectors
from ragauge.store.verdicts import StoredControls, Verdicts

AREAS: Mapping[str, Callable[[Database], Any]] = MappingProxyType(
    {
        "texts": Texts,
        "sets": Sets,
        "runs": Runs,
        "imports": Imports,
        "collecting": RunCollector,
        "evidence": Evidences,
        "scores": Scores,
        "causes": Causes,
        "verdicts": Verdicts,
        "controls": StoredControls,
        "cards": Cards,
        "charts": Charts,
        "summaries": Summaries,
        "replies": Replies,
        "calls": Calls,
        "judges": Judges,
        "checks": Checks,
        "check_log": CheckLog,
        "integrity": Integrity,
        "listings": Listings,
        "baselines": Baselines,
        "run_log": RunLog,
        "run_list": RunList,
        "evaluations": RunEvaluations,
        "question_runs": QuestionRuns,
        "example_list": ExampleList,
        "example_indexes": ExampleIndexes,
        "studies": Studies,
        "vectors": Vectors,
        "labels": Labels,
        "draws": Draws,
        "erasing": TraceEraser,
        "inbox": Inbox,
        "ledger": Ledger,
        "monitors": Monitors,
        "jobs": Jobs,
        "periods": Periods,
        "returns": Returns,
        "own_metrics": OwnMetrics,
    }
)
