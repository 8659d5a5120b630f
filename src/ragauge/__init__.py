"""ragauge tells whether a retrieval-augmented generation system works, where it fails and what to fix.

    import ragauge as rg

    card = rg.evaluate("answers.jsonl")
    card["faithfulness"]

Importing does nothing: every name below is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.version import __version__

if TYPE_CHECKING:
    from ragauge import aio as aio
    from ragauge.api.ann import ann as ann
    from ragauge.api.ann import ann_check as ann_check
    from ragauge.api.ann import exact_neighbours as exact_neighbours
    from ragauge.api.baselines import baselines as baselines
    from ragauge.api.baselines import remove_baseline as remove_baseline
    from ragauge.api.baselines import set_baseline as set_baseline
    from ragauge.api.chunking import chunking as chunking
    from ragauge.api.compare import compare as compare
    from ragauge.api.confirm import Confirmation as Confirmation
    from ragauge.api.confirm import confirm as confirm
    from ragauge.api.embeddings import embeddings as embeddings
    from ragauge.api.gate import gate as gate
    from ragauge.api.history import EvaluationLog as EvaluationLog
    from ragauge.api.history import log as log
    from ragauge.api.history import note as note
    from ragauge.api.judge_calibrate import calibrate_judge as calibrate_judge
    from ragauge.api.judge_check import check_judge as check_judge
    from ragauge.api.judge_grades import GradesResult as GradesResult
    from ragauge.api.judge_grades import check_grades as check_grades
    from ragauge.api.judge_history import JudgeHistory as JudgeHistory
    from ragauge.api.judge_history import judge_history as judge_history
    from ragauge.api.judge_probe import ProbeResult as ProbeResult
    from ragauge.api.judge_probe import probe_judge as probe_judge
    from ragauge.api.label import label_import as label_import
    from ragauge.api.label import label_plan as label_plan
    from ragauge.api.label import label_transfer as label_transfer
    from ragauge.api.label_drawing import label_draw as label_draw
    from ragauge.api.monitor_plan import monitor_plan as monitor_plan
    from ragauge.api.monitor_replay import monitor_replay as monitor_replay
    from ragauge.api.results.comparison import ComparisonResult as ComparisonResult
    from ragauge.api.results.gate_result import GateResult as GateResult
    from ragauge.api.results.scorecard import Scorecard as Scorecard
    from ragauge.api.results.study import StudyResult as StudyResult
    from ragauge.api.run import SystemRun as SystemRun
    from ragauge.api.run import run as run
    from ragauge.api.runs import OpenRun as OpenRun
    from ragauge.api.runs import open_run as open_run
    from ragauge.api.runs import runs as runs
    from ragauge.api.set_adding import add_examples as add_examples
    from ragauge.api.set_check import check_set as check_set
    from ragauge.api.set_check import freeze_set as freeze_set
    from ragauge.api.set_generating import generate_set as generate_set
    from ragauge.api.set_stats import set_stats as set_stats
    from ragauge.api.set_variation import vary_set as vary_set
    from ragauge.api.sets import diff_sets as diff_sets
    from ragauge.api.sets import export_set as export_set
    from ragauge.api.sets import mark_set as mark_set
    from ragauge.api.studies import open_study as open_study
    from ragauge.api.sweep import sweep as sweep
    from ragauge.api.tags import tag_run as tag_run
    from ragauge.api.tags import untag_run as untag_run
    from ragauge.api.thresholds import ThresholdsResult as ThresholdsResult
    from ragauge.api.thresholds import thresholds as thresholds
    from ragauge.api.validate import validate as validate
    from ragauge.api.verbs import evaluate as evaluate
    from ragauge.api.verbs import read_set as read_set
    from ragauge.data.example import EvalSet as EvalSet
    from ragauge.data.example import Example as Example
    from ragauge.data.example import Relevant as Relevant
    from ragauge.data.example import Span as Span
    from ragauge.data.response import Citation as Citation
    from ragauge.data.response import Passage as Passage
    from ragauge.data.response import Response as Response
    from ragauge.data.response import Run as Run
    from ragauge.errors import ConfigError as ConfigError
    from ragauge.errors import DataError as DataError
    from ragauge.errors import GateFailed as GateFailed
    from ragauge.errors import NotEnoughData as NotEnoughData
    from ragauge.errors import RagaugeError as RagaugeError
    from ragauge.errors import UnknownName as UnknownName
    from ragauge.errors import UsageError as UsageError
    from ragauge.metrics.base import Metric as Metric
    from ragauge.metrics.own import metric as metric
    from ragauge.metrics.own_class import Value as Value
    from ragauge.systems.capture import Capture as Capture
    from ragauge.systems.capture import capture as capture
    from ragauge.web.background import Dashboard as Dashboard
    from ragauge.web.background import ui as ui

_FROM = {
    "ann": "ragauge.api.ann",
    "ann_check": "ragauge.api.ann",
    "exact_neighbours": "ragauge.api.ann",
    "baselines": "ragauge.api.baselines",
    "remove_baseline": "ragauge.api.baselines",
    "set_baseline": "ragauge.api.baselines",
    "EvaluationLog": "ragauge.api.history",
    "log": "ragauge.api.history",
    "ThresholdsResult": "ragauge.api.thresholds",
    "thresholds": "ragauge.api.thresholds",
    "note": "ragauge.api.history",
    "calibrate_judge": "ragauge.api.judge_calibrate",
    "check_judge": "ragauge.api.judge_check",
    "GradesResult": "ragauge.api.judge_grades",
    "check_grades": "ragauge.api.judge_grades",
    "JudgeHistory": "ragauge.api.judge_history",
    "judge_history": "ragauge.api.judge_history",
    "ProbeResult": "ragauge.api.judge_probe",
    "probe_judge": "ragauge.api.judge_probe",
    "label_draw": "ragauge.api.label_drawing",
    "label_import": "ragauge.api.label",
    "label_plan": "ragauge.api.label",
    "label_transfer": "ragauge.api.label",
    "monitor_plan": "ragauge.api.monitor_plan",
    "monitor_replay": "ragauge.api.monitor_replay",
    "chunking": "ragauge.api.chunking",
    "add_examples": "ragauge.api.set_adding",
    "check_set": "ragauge.api.set_check",
    "diff_sets": "ragauge.api.sets",
    "export_set": "ragauge.api.sets",
    "freeze_set": "ragauge.api.set_check",
    "generate_set": "ragauge.api.set_generating",
    "mark_set": "ragauge.api.sets",
    "set_stats": "ragauge.api.set_stats",
    "vary_set": "ragauge.api.set_variation",
    "embeddings": "ragauge.api.embeddings",
    "sweep": "ragauge.api.sweep",
    "StudyResult": "ragauge.api.results.study",
    "open_study": "ragauge.api.studies",
    "compare": "ragauge.api.compare",
    "Confirmation": "ragauge.api.confirm",
    "confirm": "ragauge.api.confirm",
    "gate": "ragauge.api.gate",
    "GateResult": "ragauge.api.results.gate_result",
    "validate": "ragauge.api.validate",
    "ConfigError": "ragauge.errors",
    "GateFailed": "ragauge.errors",
    "NotEnoughData": "ragauge.errors",
    "ComparisonResult": "ragauge.api.results.comparison",
    "SystemRun": "ragauge.api.run",
    "run": "ragauge.api.run",
    "OpenRun": "ragauge.api.runs",
    "open_run": "ragauge.api.runs",
    "runs": "ragauge.api.runs",
    "tag_run": "ragauge.api.tags",
    "untag_run": "ragauge.api.tags",
    "Scorecard": "ragauge.api.results.scorecard",
    "evaluate": "ragauge.api.verbs",
    "read_set": "ragauge.api.verbs",
    "EvalSet": "ragauge.data.example",
    "Example": "ragauge.data.example",
    "Relevant": "ragauge.data.example",
    "Span": "ragauge.data.example",
    "Citation": "ragauge.data.response",
    "Passage": "ragauge.data.response",
    "Response": "ragauge.data.response",
    "Run": "ragauge.data.response",
    "DataError": "ragauge.errors",
    "RagaugeError": "ragauge.errors",
    "UnknownName": "ragauge.errors",
    "UsageError": "ragauge.errors",
    "Metric": "ragauge.metrics.base",
    "Value": "ragauge.metrics.own_class",
    "metric": "ragauge.metrics.own",
    "Capture": "ragauge.systems.capture",
    "capture": "ragauge.systems.capture",
    "Dashboard": "ragauge.web.background",
    "ui": "ragauge.web.background",
}

__all__ = ["__version__", "aio", *sorted(_FROM)]  # noqa: PLE0604 - strings, all of them


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "aio":
        return import_module("ragauge.aio")
    if name not in _FROM:
        raise AttributeError(f"module 'ragauge' has no attribute {name!r}")
    value = getattr(import_module(_FROM[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
