"""`ragauge embeddings`: which embedder finds what is relevant."""

from __future__ import annotations

from dataclasses import replace

from ragauge.api.study_options import EmbeddingsOptions
from ragauge.cli import options
from ragauge.cli.study import show_study, tell


@options.grouped
def embeddings(wanted: EmbeddingsOptions, outputs: options.StudyOutputs = None, as_json: options.Json = False) -> None:
    """Say which embedder finds what is relevant, at what size and price; BM25 always runs too.

    Every embedder, number of dimensions and precision is a trial of a study. Vectors are kept: the same command goes on
    with a study that was stopped, and embeds no text twice.
    """
    from ragauge.api import embeddings as api

    show_study(api.embeddings(**vars(replace(wanted, say=tell))), outputs, as_json=as_json)
