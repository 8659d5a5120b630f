"""`ragauge component chunking`: which way of cutting documents serves."""

from __future__ import annotations

from dataclasses import replace

from ragauge.studies.command import print_to_stderr, show_study
from ragauge.studies.options import ChunkingOptions
from ragauge.verbs import command_options as options


@options.spread_options
def chunking(
    command_options: ChunkingOptions, outputs: options.StudyOutputs = None, as_json: options.Json = False
) -> None:
    """Say which way of cutting documents brings most of the evidence into the context.

    Every chunker is a trial of a study. The same command goes on with a study that was stopped.
    """
    from ragauge.studies.chunking import verb as api

    show_study(api.chunking(**vars(replace(command_options, say=print_to_stderr))), outputs, as_json=as_json)
