"""What every store does about checks of judges against people. `tests/store` runs it on every back end."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LabelFile:
    """A judge that was held against a file of labels.

    Attributes:
        judge_id: whose verdicts.
        question: that it was asked, such as verify_answer.
        version: of the question.
        digest: 32 bytes: a hash of what people said in the file, whatever it is called.
        name: of the file.
        at: when it was last checked, ISO 8601; filled in by the store.
    """

    judge_id: str
    question: str
    version: int
    digest: bytes
    name: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class TextScore:
    """What people and a judge make of one labelled text.

    Attributes:
        metric: printed name of what both are a score of.
        item: 32 bytes: a hash of the text and of all that the question sees; the same text counts once.
        example: 32 bytes: a hash of what texts share that are not independent.
        people: their score, in [0, 1].
        judge: its score, in [0, 1].
        labels: on how many labelled parts it rests.
        file: the digest of the file that said so last; filled in by the store.
    """

    metric: str
    item: bytes
    example: bytes
    people: float
    judge: float
    labels: int
    file: bytes = b""


class Checks(Protocol):
    """What people and judges said of the same texts. It belongs to no run, and stays when runs are deleted."""

    def keep(self, file: LabelFile, scores: Sequence[TextScore]) -> None:
        """Keeps scores of some texts of a file, together or not at all, as checked now.

        What was known of the same texts by this judge, from this file or another, is replaced: labels that were
        mended count as they are now. Of a text that is given twice the last counts. Other texts stay.
        """

    def files(self, judge_id: str | None = None) -> builtins.list[LabelFile]:
        """The files that a judge, or any, was held against, in the order of their first check."""

    def scores(self, judge_id: str) -> builtins.list[TextScore]:
        """Every text that a judge was held against, once each, by the newest version of each question."""

    def forget(self, digest: bytes) -> int:
        """Removes a file with the texts that it was the last to label; returns how many checks of it there were."""
