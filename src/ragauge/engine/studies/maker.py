"""What a kind of study has to offer, so that one engine carries out all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ragauge.data.example import Example
from ragauge.data.response import Response
from ragauge.data.study import Measurement
from ragauge.metrics.base import Measured, Metric


class OpenTrial(Protocol):
    """A trial that is made ready: chunks are cut, vectors computed, an index built.

    Attributes:
        config: the settings for the record of its run.
        metrics: what it scores; every answer has one result for each, in this order.
    """

    config: Mapping[str, Any]
    metrics: Sequence[Metric]

    def answers(self, examples: Sequence[Example]) -> Iterable[tuple[Response, Sequence[Measured]]]:
        """A response to every example, with its scores.

        Scores come with the responses, and not from the engine, since a component is scored by what no response holds:
        the tokens of whole documents, the true distances of all vectors. For metrics of ordinary facts call
        `ragauge.metrics.measure.measure_all`. Ids alone will do for passages.
        """

    def measurements(self) -> Sequence[Measurement]:
        """What was measured of the trial as a whole; asked for after the answers."""

    def close(self) -> None:
        """Gives back what the trial holds; called once, whatever became of it."""


class TrialMaker(Protocol):
    """Makes the trials of one kind of study.

    Attributes:
        kind: such as chunking; two studies of one name must be of one kind.
        fixed: the settings that all trials share, as JSON types. They identify the study: with other ones a study of
            the same name is not continued.
    """

    kind: str
    fixed: Mapping[str, Any]

    def name(self, parameters: Mapping[str, Any]) -> str:
        """What a trial is called: unique for its parameters, such as token:overlap=0:size=400."""

    def open(self, parameters: Mapping[str, Any]) -> OpenTrial:
        """Makes a trial ready. What it raises is kept as the reason why the trial failed; the study goes on."""
