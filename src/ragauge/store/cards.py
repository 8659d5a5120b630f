"""Scorecards and charts as they were computed, each with what it was computed from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from ragauge.core.identity import canonical
from ragauge.store.database import Database, chunks, rows_among
from ragauge.store.label_schema import draws, labels
from ragauge.store.names import judge_no, run_no
from ragauge.store.page_schema import cards, charts
from ragauge.store.schema import baselines, judges, run_judges, runs
from ragauge.store.text_codec import pack, unpack
from ragauge.version import __version__

FORM = 10  # of the body; another one is computed anew
NO_VERDICT = "none"  # of two runs that cannot be compared, or have no example in common
BESIDE = ("oracle", "closed_book")  # variants whose runs over the same set a scorecard reads


class CardKey(NamedTuple):
    """Which scorecard.

    Attributes:
        run_id: of the run.
        judge_id: who judged; None = nobody.
        base_id: id of the run that it is held against; "" for none.
    """

    run_id: str
    judge_id: str | None
    base_id: str = ""


class CardState(NamedTuple):
    """What a scorecard is computed from, as counts of writes: where they are the same, so is the scorecard.

    Attributes:
        writes: of the run.
        base_writes: of the baseline's run; 0 without one.
        stamp: everything else, as text: other runs, judges of these two, labels, baselines, this program's version.
    """

    writes: int
    base_writes: int
    stamp: str


class KeptCard(NamedTuple):
    """A scorecard that is fresh: what it was computed from, and the scorecard as JSON."""

    state: CardState
    body: str


class Cards:
    """The last scorecard of a run by each judge and baseline. One that is not fresh is never given out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self, key: CardKey, versions: Sequence[str], beside: str = "") -> CardState:
        """What the scorecard would be computed from now.

        Args:
            key: which scorecard.
            versions: content hashes of the sets whose earlier runs it shows.
            beside: what it says beyond what is counted here.
        """
        with self._database.read() as connection:
            return _state(connection, key, versions, beside)

    def read(self, key: CardKey, beside: str = "") -> KeptCard | None:
        """The scorecard that was kept; None where there is none, or it is not fresh."""
        with self._database.read() as connection:
            mine = _mine(connection, key)
            kept = (
                None
                if mine is None
                else connection.execute(
                    select(cards.c.writes, cards.c.base_writes, cards.c.stamp, cards.c.body).where(mine)
                ).first()
            )
            if kept is None:
                return None
            known = json.loads(kept.stamp)
            if known[:2] != [__version__, FORM]:
                return None
            state = _state(connection, key, known[3], beside)
            body = unpack(kept.body) if state == (kept.writes, kept.base_writes, kept.stamp) else ""
            return KeptCard(state, body) if body else None

    def verdicts(self, run_ids: Sequence[str]) -> dict[str, dict[tuple[str | None, str], str]]:
        """Run id -> (judge, id of the baseline) -> verdict, of scorecards whose numbers are as they were.

        What a scorecard says of other runs, or of what a baseline is called, may have changed since. A few statements,
        however many runs there are.
        """
        base = runs.alias()
        drawn = draws.c.run_no.in_((cards.c.run_no, cards.c.base_no))
        query = (
            select(
                runs.c.run_id,
                judges.c.judge_id,
                base.c.run_id,
                cards.c.verdict,
                cards.c.stamp,
                _judge_writes((cards.c.run_no, cards.c.base_no)).correlate(cards).scalar_subquery(),
                select(func.max(draws.c.draw_no)).where(drawn).correlate(cards).scalar_subquery(),
            )
            .join_from(cards, runs, runs.c.run_no == cards.c.run_no)
            .join(base, base.c.run_no == cards.c.base_no)
            .join(judges, judges.c.judge_no == cards.c.judge_no)
            .where(cards.c.verdict != "", cards.c.writes == runs.c.writes, cards.c.base_writes == base.c.writes)
        )
        found: dict[str, dict[tuple[str | None, str], str]] = {}
        with self._database.read() as connection:
            labelled = connection.execute(select(func.max(labels.c.label_no))).scalar()
            rows = rows_among(connection, query, runs.c.run_id, set(run_ids))
            for run_id, judge_id, base_id, verdict, stamp, judged, draw in rows:
                version, form, _, _, *counts = json.loads(stamp)
                now = [__version__, FORM, judged, draw, None if draw is None else labelled]
                if [version, form, counts[0], *counts[2:4]] == now:
                    found.setdefault(run_id, {})[judge_id or None, base_id] = verdict
        return found

    def keep(self, key: CardKey, state: CardState, body: str, verdict: str = "") -> None:
        """Keeps a scorecard in place of an earlier one, unless something was written since its state was asked for.

        A store that can only be read stays as it is.

        Args:
            key: which scorecard.
            state: from before it was computed.
            body: the scorecard as JSON; "" where there can be none.
            verdict: on the baseline, or NO_VERDICT; "" without one.
        """
        _, _, beside, versions, *_ = json.loads(state.stamp)
        with self._database.keeping() as connection:
            if connection is None or _state(connection, key, versions, beside) != state:
                return
            base = run_no(connection, key.base_id) if key.base_id else 0
            values = {
                "run_no": run_no(connection, key.run_id),
                "judge_no": judge_no(connection, key.judge_id),
                "base_no": base,
                **state._asdict(),
                "verdict": verdict,
                "body": pack(body),
            }
            statement = self._database.insert(cards)
            update = {name: statement.excluded[name] for name in (*state._fields, "verdict", "body")}
            index = ["run_no", "judge_no", "base_no"]
            connection.execute(statement.on_conflict_do_update(index_elements=index, set_=update), [values])


def _mine(connection: Connection, key: CardKey) -> ColumnElement[bool] | None:
    """Condition: the row of a scorecard; None where its judge never judged here."""
    judge = judge_no(connection, key.judge_id)
    if judge is None:
        return None
    base = run_no(connection, key.base_id) if key.base_id else 0
    return and_(cards.c.run_no == run_no(connection, key.run_id), cards.c.judge_no == judge, cards.c.base_no == base)


def _state(connection: Connection, key: CardKey, versions: Sequence[str], beside: str) -> CardState:
    """One statement: a list of runs is read from an index alone. Judges of other runs are no part of a scorecard."""
    r = runs.c
    mine = select(r.run_no, r.writes, r.set_version).where(r.run_id == key.run_id).cte("mine")
    number, version = (select(mine.c[name]).scalar_subquery() for name in ("run_no", "set_version"))
    base = select(r.run_no, r.writes).where(r.run_id == key.base_id).cte("base")
    both = select(mine.c.run_no).union_all(select(base.c.run_no))
    drawn = draws.c.run_no.in_(both)
    before = and_(r.set_version.in_(versions), r.run_no <= number)
    others = or_(and_(r.set_version == version, r.variant.in_(BESIDE)), r.confirms == key.run_id)
    count, last, sum_of = func.count(), func.max(r.run_no), func.sum(r.writes)
    parts = [
        select(mine.c.writes),
        select(base.c.writes),
        _judge_writes(both),
        select(func.max(baselines.c.baseline_no)),
        select(func.max(draws.c.draw_no)).where(drawn),
        select(func.max(labels.c.label_no)).where(select(draws.c.draw_no).where(drawn).exists()),
        *(select(one).select_from(runs).where(before) for one in (count, last, sum_of)),
        *(select(one).select_from(runs).where(others) for one in (count, last, sum_of)),
    ]
    writes, base_writes, *rest = connection.execute(select(*(part.scalar_subquery() for part in parts))).one()
    stamp = canonical([__version__, FORM, beside, sorted(versions), *rest])
    return CardState(writes or 0, base_writes or 0, stamp)


def _judge_writes(run_nos: Any) -> Select[Any]:
    """How often something was written of what is known about the judges of some runs."""
    mine = select(run_judges.c.judge_no).where(run_judges.c.run_no.in_(run_nos))
    return select(func.sum(judges.c.writes)).where(judges.c.judge_no.in_(mine))


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
            rows = rows_among(connection, select(charts), charts.c.digest, set(digests))
            return {digest: unpack(svg) for digest, svg in rows}

    def keep(self, drawn: Mapping[bytes, str]) -> None:
        """Keeps charts; those that are there stay. A store that can only be read stays as it is."""
        if not drawn:
            return
        statement = self._database.insert(charts).on_conflict_do_nothing()
        with self._database.keeping() as connection:
            for part in chunks(drawn.items()):
                if connection is None:
                    return
                connection.execute(statement, [{"digest": digest, "svg": pack(svg)} for digest, svg in part])
