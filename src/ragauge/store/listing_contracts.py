"""What every store does about listings of an index. `tests/store` runs it on every back end."""

from __future__ import annotations

from typing import Protocol

from ragauge.data.index_listing import IndexListing


class Listings(Protocol):
    """What is in the index of the system that gave a run."""

    def write(self, run_id: str, listing: IndexListing) -> None:
        """Keeps the listing of a run in place of an earlier one."""

    def read(self, run_id: str) -> IndexListing | None:
        """The listing kept last; None where there is none."""

    def labelled(self, run_id: str) -> set[str]:
        """Documents that the labels and gold spans of the run's examples name."""

    def outdated(self, run_id: str, judge_id: str | None, fingerprint: str, judge_repeat: int = 0) -> set[int]:
        """Numbers of the failed responses whose cause was found with another listing, or with none."""
