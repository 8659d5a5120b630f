"""What every store does about files that were read before. `tests/store` runs it on every back end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ragauge.data.run import Run


class Imported(NamedTuple):
    """A run that some files became, and what reading them told."""

    run: Run
    told: tuple[str, ...]


class Imports(Protocol):
    """Which run the content of some files became, so that equal files need not be read again."""

    def keep(self, digest: bytes, run_id: str, told: Sequence[str] = ()) -> None:
        """Keeps that files of this digest are this run; an earlier entry of the digest is replaced.

        Args:
            digest: 32 bytes: a hash of the files and of everything that decides how they are read.
            run_id: the run.
            told: warnings that came of reading them.

        Raises:
            UnknownName: there is no such run.
        """

    def find(self, digest: bytes, name: str = "") -> Imported | None:
        """The run of files of this digest, moved to now and called by this name too; None where there is none."""
