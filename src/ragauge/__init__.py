"""ragauge tells whether a retrieval-augmented generation system works, where it fails and what to fix.

    import ragauge as rg

    card = rg.evaluate("answers.jsonl")
    card["faithfulness"]

Importing does nothing: every name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ragauge.version import __version__ as __version__

if TYPE_CHECKING:
    from ragauge import aio as aio
    from ragauge.comparison.baselines.verb import baselines as baselines
    from ragauge.comparison.baselines.verb import remove_baseline as remove_baseline
    from ragauge.comparison.baselines.verb import set_baseline as set_baseline
    from ragauge.comparison.history.verb import EvaluationLog as EvaluationLog
    from ragauge.comparison.history.verb import log as log
    from ragauge.comparison.history.verb import note as note
    from ragauge.comparison.result import ComparisonResult as ComparisonResult
    from ragauge.comparison.verb import compare as compare
    from ragauge.core.errors import ConfigError as ConfigError
    from ragauge.core.errors import DataError as DataError
    from ragauge.core.errors import GateFailed as GateFailed
    from ragauge.core.errors import NotEnoughData as NotEnoughData
    from ragauge.core.errors import RagaugeError as RagaugeError
    from ragauge.core.errors import UnknownName as UnknownName
    from ragauge.core.errors import UsageError as UsageError
    from ragauge.core.example import EvalSet as EvalSet
    from ragauge.core.example import Example as Example
    from ragauge.core.example import Relevant as Relevant
    from ragauge.core.example import Span as Span
    from ragauge.core.response import Citation as Citation
    from ragauge.core.response import Passage as Passage
    from ragauge.core.response import Response as Response
    from ragauge.core.response import Run as Run
    from ragauge.dashboard.serve import Dashboard as Dashboard
    from ragauge.dashboard.serve import ui as ui
    from ragauge.diagnosis.confirm.verb import Confirmation as Confirmation
    from ragauge.diagnosis.confirm.verb import confirm as confirm
    from ragauge.evaluation.doctor.validate import validate as validate
    from ragauge.evaluation.run.verb import SystemRun as SystemRun
    from ragauge.evaluation.run.verb import run as run
    from ragauge.evaluation.runs.tags import tag_run as tag_run
    from ragauge.evaluation.runs.tags import untag_run as untag_run
    from ragauge.evaluation.runs.verb import OpenRun as OpenRun
    from ragauge.evaluation.runs.verb import open_run as open_run
    from ragauge.evaluation.runs.verb import runs as runs
    from ragauge.evaluation.scorecard.result import Scorecard as Scorecard
    from ragauge.evaluation.thresholds.verb import ThresholdsResult as ThresholdsResult
    from ragauge.evaluation.thresholds.verb import thresholds as thresholds
    from ragauge.evaluation.verbs import evaluate as evaluate
    from ragauge.evaluation.verbs import read_set as read_set
    from ragauge.gating.gate_result import GateResult as GateResult
    from ragauge.gating.verb import gate as gate
    from ragauge.labels.calibrate.verb import calibrate_judge as calibrate_judge
    from ragauge.labels.check.verb import check_judge as check_judge
    from ragauge.labels.grades.verb import GradesResult as GradesResult
    from ragauge.labels.grades.verb import check_grades as check_grades
    from ragauge.labels.judges.verb import JudgeHistory as JudgeHistory
    from ragauge.labels.judges.verb import judge_history as judge_history
    from ragauge.labels.label.label_draw import label_draw as label_draw
    from ragauge.labels.label.verb import label_import as label_import
    from ragauge.labels.label.verb import label_plan as label_plan
    from ragauge.labels.label.verb import label_transfer as label_transfer
    from ragauge.labels.probe.verb import ProbeResult as ProbeResult
    from ragauge.labels.probe.verb import probe_judge as probe_judge
    from ragauge.metrics.base import Metric as Metric
    from ragauge.metrics.own import metric as metric
    from ragauge.metrics.own_class import Value as Value
    from ragauge.monitoring.plan.verb import monitor_plan as monitor_plan
    from ragauge.monitoring.replay.verb import monitor_replay as monitor_replay
    from ragauge.studies.ann.verb import ann as ann
    from ragauge.studies.ann.verb import ann_check as ann_check
    from ragauge.studies.ann.verb import exact_neighbours as exact_neighbours
    from ragauge.studies.chunking.verb import chunking as chunking
    from ragauge.studies.embeddings.verb import embeddings as embeddings
    from ragauge.studies.result import StudyResult as StudyResult
    from ragauge.studies.sweep.verb import sweep as sweep
    from ragauge.studies.verb import open_study as open_study
    from ragauge.systems.capture import Capture as Capture
    from ragauge.systems.capture import capture as capture
    from ragauge.testsets.add.verb import add_examples as add_examples
    from ragauge.testsets.check.verb import check_set as check_set
    from ragauge.testsets.check.verb import freeze_set as freeze_set
    from ragauge.testsets.curate.verb import diff_sets as diff_sets
    from ragauge.testsets.curate.verb import export_set as export_set
    from ragauge.testsets.curate.verb import mark_set as mark_set
    from ragauge.testsets.generate.verb import generate_set as generate_set
    from ragauge.testsets.stats.verb import set_stats as set_stats
    from ragauge.testsets.vary.verb import vary_set as vary_set

    __all__: list[str]

_TYPES = {
    "EvaluationLog": "ragauge.comparison.history.verb",
    "ThresholdsResult": "ragauge.evaluation.thresholds.verb",
    "GradesResult": "ragauge.labels.grades.verb",
    "JudgeHistory": "ragauge.labels.judges.verb",
    "ProbeResult": "ragauge.labels.probe.verb",
    "StudyResult": "ragauge.studies.result",
    "Confirmation": "ragauge.diagnosis.confirm.verb",
    "GateResult": "ragauge.gating.gate_result",
    "ConfigError": "ragauge.core.errors",
    "GateFailed": "ragauge.core.errors",
    "NotEnoughData": "ragauge.core.errors",
    "ComparisonResult": "ragauge.comparison.result",
    "SystemRun": "ragauge.evaluation.run.verb",
    "OpenRun": "ragauge.evaluation.runs.verb",
    "Scorecard": "ragauge.evaluation.scorecard.result",
    "EvalSet": "ragauge.core.example",
    "Example": "ragauge.core.example",
    "Relevant": "ragauge.core.example",
    "Span": "ragauge.core.example",
    "Citation": "ragauge.core.response",
    "Passage": "ragauge.core.response",
    "Response": "ragauge.core.response",
    "Run": "ragauge.core.response",
    "DataError": "ragauge.core.errors",
    "RagaugeError": "ragauge.core.errors",
    "UnknownName": "ragauge.core.errors",
    "UsageError": "ragauge.core.errors",
    "Metric": "ragauge.metrics.base",
    "Value": "ragauge.metrics.own_class",
    "metric": "ragauge.metrics.own",
    "Capture": "ragauge.systems.capture",
    "capture": "ragauge.systems.capture",
    "Dashboard": "ragauge.dashboard.serve",
}


def __getattr__(name: str) -> object:
    from ragauge.verbs.registry import list_public_verbs, load

    verbs = list_public_verbs()
    if name == "__all__":
        return _list_names()
    if name == "aio":
        return import_module("ragauge.aio")
    if name in verbs:
        value = load(verbs[name].function)
    elif name in _TYPES:
        value = getattr(import_module(_TYPES[name]), name)
    else:
        raise AttributeError(f"module 'ragauge' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_list_names())


def _list_names() -> list[str]:
    from ragauge.verbs.registry import list_public_verbs

    return ["__version__", "aio", *sorted((*_TYPES, *list_public_verbs()))]
