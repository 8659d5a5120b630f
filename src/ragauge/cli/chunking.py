"""`ragauge chunking`: which way of cutting documents serves."""

from __future__ import annotations

from dataclasses import replace

from ragauge.api.study_options import ChunkingOptions
from ragauge.cli import options
from ragauge.cli.study import show_study, tell


@options.grouped
def chunking(wanted: ChunkingOptions, outputs: options.StudyOutputs = None, as_json: options.Json = False) -> None:
    """Say which way of cutting documents brings most of the evidence into the context.

    Every chunker is a trial of a study. The same command goes on with a study that was stopped.
    """
    from ragauge.api import chunking as api

    show_study(api.chunking(**vars(replace(wanted, say=tell))), outputs, as_json=as_json)
