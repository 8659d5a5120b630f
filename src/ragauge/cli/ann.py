"""`ragauge ann`: what an index of vectors misses, and how fast it is."""

from __future__ import annotations

from dataclasses import replace

from ragauge.api.options import AnnOptions
from ragauge.cli import options
from ragauge.cli.study import show_study, tell


@options.grouped
def ann(wanted: AnnOptions, outputs: options.StudyOutputs = None, as_json: options.Json = False) -> None:
    """Say what an approximate index of vectors misses, and how fast it is at what recall.

    Every setting is a trial of a study. The same command goes on with a study that was stopped.
    """
    from ragauge.api import ann as api

    show_study(api.ann(**vars(replace(wanted, say=tell))), outputs, as_json=as_json)
