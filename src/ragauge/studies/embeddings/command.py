"""`ragauge component embeddings`: which embedder finds what is relevant."""

from __future__ import annotations

from dataclasses import replace

from ragauge.studies.command import print_to_stderr, show_study
from ragauge.studies.options import EmbeddingsOptions
from ragauge.verbs import command_options as options


@options.spread_options
def embeddings(
    command_options: EmbeddingsOptions, outputs: options.StudyOutputs = None, as_json: options.Json = False
) -> None:
    """Say which embedder finds what is relevant, at what size and price; BM25 always runs too.

    Every embedder, number of dimensions and precision is a trial of a study. Vectors are kept: the same command goes on
    with a study that was stopped, and embeds no text twice.
    """
    from ragauge.studies.embeddings import verb as api

    show_study(api.embeddings(**vars(replace(command_options, say=print_to_stderr))), outputs, as_json=as_json)
