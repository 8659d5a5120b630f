"""Parts of scorecards and charts as they were computed, each with what it was computed from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, func, null, or_, select

from ragauge.core.identity import to_canonical_json
from ragauge.store.database import Database, iter_matching_rows, split_batches
from ragauge.store.label_schema import draws, labels
from ragauge.store.names import NOBODY, find_judge_no, find_run_no
from ragauge.store.page_schema import cards, charts
from ragauge.store.schema import baselines, judges, run_judges, runs
from ragauge.store.text_codec import pack_bytes, pack_text, unpack_bytes, unpack_text
from ragauge.version import __version__

BODY_VERSION = 11  # of the bodies; another one is computed anew
NO_VERDICT = "none"  # of two runs that cannot be compared, or have no example in common
# what the run says alone, the segments of its examples, the runs before it, it beside a baseline, lists of its examples
Part = Literal["report", "segments", "history", "comparison", "examples"]
COUNTED: Mapping[Part, frozenset[str]] = {  # part -> what else decides it beside the writes of the two runs
    "report": frozenset({"judges", "labels", "related runs"}),
    "segments": frozenset({"judges", "labels", "related runs"}),
    "history": frozenset({"judges", "baselines", "earlier runs"}),
    "comparison": frozenset({"judges", "baselines", "labels", "related runs"}),
    "examples": frozenset(),
}
REFERENCE_VARIANTS = ("oracle", "closed_book")  # variants whose runs over the same set a scorecard reads


class CardKey(NamedTuple):
    """Which part of which scorecard."""

    run_id: str  #: of the run.
    judge_id: str | None  #: who judged; None = nobody.
    base_id: str = ""  #: id of the run that it is compared with; "" for none.
    part: Part = "comparison"  #: what it says.


class CardState(NamedTuple):
    """What a part is computed from, as counts of writes: where they are the same, so is the part."""

    writes: int  #: of the run; of lists of examples, the writes that those show.
    base_writes: int  #: of the baseline's run; 0 without one.
    stamp: str  #: everything else, as text: other runs, judges of these two, labels, baselines, this program's version.


class CachedPart(NamedTuple):
    """A part that is fresh: what it was computed from, and the part as it was saved."""

    state: CardState
    body: bytes


class Cards:
    """The last scorecard of a run by each judge, in parts. One that is not fresh is never given out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self, key: CardKey, versions: Sequence[str] = (), extra_state: str = "") -> CardState:
        """What the part would be computed from now.

        Args:
            key: which part.
            versions: content hashes of the sets whose earlier runs it shows.
            extra_state: what it says beyond what is counted here.
        """
        with self._database.read() as connection:
            return _compute_state(connection, key, versions, extra_state)

    def read(self, key: CardKey, extra_state: str = "") -> CachedPart | None:
        """The part that was kept; None where there is none, or it is not fresh."""
        with self._database.read() as connection:
            columns = (cards.c.writes, cards.c.base_writes, cards.c.stamp, cards.c.body)
            cached = connection.execute(select(*columns).where(_build_row_condition(key))).first()
            if cached is None:
                return None
            stamp_parts = json.loads(cached.stamp)
            if stamp_parts[:2] != [__version__, BODY_VERSION]:
                return None
            state = _compute_state(connection, key, stamp_parts[3], extra_state)
            fresh = state == (cached.writes, cached.base_writes, cached.stamp)
            body = unpack_bytes(cached.body) if fresh else b""
            return CachedPart(state, body) if body else None

    def verdicts(self, run_ids: Sequence[str]) -> dict[str, dict[tuple[str | None, str], str]]:
        """Run id -> (judge, id of the baseline) -> verdict, of scorecards whose numbers are as they were.

        What a scorecard says of other runs, or of what a baseline is called, may have changed since. A few statements,
        however many runs there are.
        """
        base = runs.alias()
        draw_condition = draws.c.run_no.in_((cards.c.run_no, cards.c.base_no))
        query = (
            select(
                runs.c.run_id,
                judges.c.judge_id,
                base.c.run_id,
                cards.c.verdict,
                cards.c.stamp,
                _count_judge_writes((cards.c.run_no, cards.c.base_no)).correlate(cards).scalar_subquery(),
                select(func.max(draws.c.draw_no)).where(draw_condition).correlate(cards).scalar_subquery(),
            )
            .join_from(cards, runs, runs.c.run_no == cards.c.run_no)
            .join(base, base.c.run_no == cards.c.base_no)
            .join(judges, judges.c.judge_no == cards.c.judge_no)
            .where(cards.c.part == "comparison", cards.c.verdict != "")
            .where(cards.c.writes == runs.c.writes, cards.c.base_writes == base.c.writes)
        )
        verdicts_by_run: dict[str, dict[tuple[str | None, str], str]] = {}
        with self._database.read() as connection:
            last_label = connection.execute(select(func.max(labels.c.label_no))).scalar()
            rows = iter_matching_rows(connection, query, runs.c.run_id, set(run_ids))
            for run_id, judge_id, base_id, verdict, stamp, judge_writes, draw in rows:
                version, body_version, _, _, *counts = json.loads(stamp)
                current = [__version__, BODY_VERSION, judge_writes, draw, None if draw is None else last_label]
                if [version, body_version, counts[0], *counts[2:4]] == current:
                    verdicts_by_run.setdefault(run_id, {})[judge_id or None, base_id] = verdict
        return verdicts_by_run

    def save(self, key: CardKey, state: CardState, body: bytes, verdict: str = "") -> None:
        """Stores a part in place of an earlier one, unless something was written since its state was asked for.

        A store that can only be read stays as it is.

        Args:
            key: which part.
            state: from before it was computed.
            body: the part; empty where there can be none.
            verdict: on the baseline, or NO_VERDICT; "" without one.
        """
        _, _, extra_state, versions, *_ = json.loads(state.stamp)
        with self._database.write_if_possible() as connection:
            if connection is None or _compute_state(connection, key, versions, extra_state) != state:
                return
            judge = find_judge_no(connection, key.judge_id)
            if judge is None:  # nothing was ever scored
                return
            values = {
                "run_no": find_run_no(connection, key.run_id),
                "judge_no": judge,
                "base_no": find_run_no(connection, key.base_id) if key.base_id else 0,
                "part": key.part,
                **state._asdict(),
                "verdict": verdict,
                "body": pack_bytes(body),
            }
            statement = self._database.insert(cards)
            update = {name: statement.excluded[name] for name in (*state._fields, "verdict", "body")}
            index = ["run_no", "judge_no", "base_no", "part"]
            connection.execute(statement.on_conflict_do_update(index_elements=index, set_=update), [values])


def _build_row_condition(key: CardKey) -> ColumnElement[bool]:
    """Condition: the row of a part."""
    run, base = (select(runs.c.run_no).where(runs.c.run_id == run_id) for run_id in (key.run_id, key.base_id))
    judge = select(judges.c.judge_no).where(judges.c.judge_id == (key.judge_id or NOBODY))
    return and_(
        cards.c.run_no == run.scalar_subquery(),
        cards.c.judge_no == judge.scalar_subquery(),
        cards.c.base_no == (base.scalar_subquery() if key.base_id else 0),
        cards.c.part == key.part,
    )


def _compute_state(connection: Connection, key: CardKey, versions: Sequence[str], extra_state: str) -> CardState:
    """One statement: a list of runs is read from an index alone. Judges of other runs are no part of a scorecard."""
    run_columns = runs.c
    writes_column = run_columns.example_writes if key.part == "examples" else run_columns.writes
    own_run = (
        select(run_columns.run_no, writes_column.label("writes"), run_columns.set_version)
        .where(run_columns.run_id == key.run_id)
        .cte("mine")
    )
    number, version = (select(own_run.c[name]).scalar_subquery() for name in ("run_no", "set_version"))
    base = select(run_columns.run_no, run_columns.writes).where(run_columns.run_id == key.base_id).cte("base")
    run_nos = select(own_run.c.run_no).union_all(select(base.c.run_no))
    draw_condition = draws.c.run_no.in_(run_nos)
    earlier = and_(run_columns.set_version.in_(versions), run_columns.run_no <= number)
    related = or_(
        and_(run_columns.set_version == version, run_columns.variant.in_(REFERENCE_VARIANTS)),
        run_columns.confirms == key.run_id,
    )
    aggregates = (func.count(), func.max(run_columns.run_no), func.sum(run_columns.writes))
    counts: list[tuple[str, Select[Any]]] = [
        ("judges", _count_judge_writes(run_nos)),
        ("baselines", select(func.max(baselines.c.baseline_no))),
        ("labels", select(func.max(draws.c.draw_no)).where(draw_condition)),
        ("labels", select(func.max(labels.c.label_no)).where(select(draws.c.draw_no).where(draw_condition).exists())),
        *(("earlier runs", select(aggregate).select_from(runs).where(earlier)) for aggregate in aggregates),
        *(("related runs", select(aggregate).select_from(runs).where(related)) for aggregate in aggregates),
    ]
    counted = [count.scalar_subquery() if name in COUNTED[key.part] else null() for name, count in counts]
    columns = [select(own_run.c.writes).scalar_subquery(), select(base.c.writes).scalar_subquery(), *counted]
    writes, base_writes, *other_values = connection.execute(select(*columns)).one()
    stamp = to_canonical_json([__version__, BODY_VERSION, extra_state, sorted(versions), *other_values])
    return CardState(writes or 0, base_writes or 0, stamp)


def _count_judge_writes(run_nos: Any) -> Select[Any]:
    """How often something was written of what is known about the judges of some runs."""
    judge_nos = select(run_judges.c.judge_no).where(run_judges.c.run_no.in_(run_nos))
    return select(func.sum(judges.c.writes)).where(judges.c.judge_no.in_(judge_nos))


class Charts:
    """Charts as they were drawn, by what they were drawn from. They belong to no run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, digests: Iterable[bytes]) -> dict[bytes, str]:
        """Digest -> SVG, of those that are there.

        Args:
            digests: 32 bytes each: SHA-256 of a specification and of all else that decides how it is drawn.
        """
        with self._database.read() as connection:
            rows = iter_matching_rows(connection, select(charts), charts.c.digest, set(digests))
            return {digest: unpack_text(svg) for digest, svg in rows}

    def save(self, svg_by_digest: Mapping[bytes, str]) -> None:
        """Stores charts; those that are there stay. A store that can only be read stays as it is."""
        if not svg_by_digest:
            return
        statement = self._database.insert(charts).on_conflict_do_nothing()
        with self._database.write_if_possible() as connection:
            for batch in split_batches(svg_by_digest.items()):
                if connection is None:
                    return
                connection.execute(statement, [{"digest": digest, "svg": pack_text(svg)} for digest, svg in batch])
