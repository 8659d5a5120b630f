"""The table of groups, by which examples are filtered."""

from __future__ import annotations

from itertools import product

import pytest

from ragauge.core.errors import UnknownName
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.store.responses import parse_groups, select_by_groups, select_run_responses
from ragauge.store.schema import examples, responses
from ragauge.store.store_access import open_store


@pytest.mark.parametrize(
    "keep",
    [
        {"type": "a"},
        {"type": "b", "tag": "golden"},
        {"tag": "old"},
        {"tag": "own"},
        {"type": "a", "tag": "golden"},
        {"tpye": "a"},
        {"type": "c"},
        {"tag": "none"},
    ],
)
def test_groups_are_kept_as_they_are_read(sqlite_url: str, keep: dict[str, str]) -> None:
    """Filtering by the table of groups is filtering by what stands with each example, a segment named tag included."""
    segments_of: tuple[dict[str, str], ...] = ({}, {"type": "a"}, {"type": "b"}, {"tag": "own", "type": "a"})
    sets = product(segments_of, ((), ("golden",), ("old", "golden")))
    records = [
        (Example(f"q{n}", "?", segments=segments, tags=frozenset(tags)), Response(f"q{n}"))
        for n, (segments, tags) in enumerate(sets)
    ]
    with open_store(sqlite_url) as store:
        run = store.runs.import_run(Run("r", "r"), records)
        from sqlalchemy import select

        with store._database.read() as connection:
            query = select_run_responses(select(responses.c.response_no, examples.c.query_key, examples.c.groups), 1)
            every = [(number, key, parse_groups(groups)) for number, key, groups in connection.execute(query)]
        try:
            wanted = list(select_by_groups(every, keep))
        except UnknownName as error:
            with pytest.raises(UnknownName, match=str(error)[:20]):
                store.runs.load_order(run.run_id, keep)
            return
        assert list(store.runs.load_order(run.run_id, keep)) == wanted
