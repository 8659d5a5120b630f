"""Occurrences of jobs: taken once, given back by the dead, their outcome kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragauge.store.jobs import LEASE_S
from ragauge.store.store_access import Store, open_store


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where a store is made."""
    return f"sqlite:///{tmp_path / 'store.db'}"


def opened(url: str) -> Store:
    return open_store(url)


def test_an_occurrence_is_taken_once_and_taken_from_the_dead(url: str) -> None:
    """Of two servers one has an occurrence until it gives no sign of life; what the other then ends is not kept."""
    with opened(url) as one, opened(url) as two:
        job = one.jobs.take_job("nightly", 100.0, "a", 100.0)
        assert job is not None
        assert two.jobs.take_job("nightly", 100.0, "b", 101.0) is None
        assert one.jobs.record_heartbeat(job, "a", 110.0)
        assert two.jobs.take_job("nightly", 100.0, "b", 110.0 + LEASE_S) is None
        again = two.jobs.take_job("nightly", 100.0, "b", 111.0 + LEASE_S)
        assert again is not None
        assert again.attempts == 2
        assert not one.jobs.record_heartbeat(job, "a", 400.0)
        assert not one.jobs.end(job, "a", 400.0, "pass")
        assert two.jobs.end(again, "b", 401.0, "fail", run_id="r1", message="lost")
    with opened(url) as store:
        kept = store.jobs.newest("nightly")
        assert kept is not None
        assert (kept.state, kept.run_id, kept.said, kept.ended) == ("fail", "r1", "lost", 401.0)
        assert store.jobs.take_job("nightly", 100.0, "c", 1e9) is None


def test_the_latest_of_each_job_are_listed(url: str) -> None:
    """So many of each, the newest first; a job that became known is listed and was not run."""
    with opened(url) as store:
        for due in (1.0, 2.0, 3.0):
            job = store.jobs.take_job("b", due, "a", due)
            assert job is not None
            store.jobs.end(job, "a", due, "pass")
        assert store.jobs.note("a", 5.0)
        assert not store.jobs.note("a", 5.0)
        assert [(job.name, job.due, job.state) for job in store.jobs.list_latest(2)] == [
            ("a", 5.0, "noted"),
            ("b", 3.0, "pass"),
            ("b", 2.0, "pass"),
        ]
        assert store.jobs.newest("c") is None
