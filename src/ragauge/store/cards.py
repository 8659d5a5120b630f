"""Parts of scorecards and charts as they were computed, each with what it was computed from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select

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
_RELATED = ("related runs", "last related run", "writes of related runs")
COUNTED: Mapping[Part, tuple[str, ...]] = {  # part -> what decides it beside the writes of the two runs
    "report": ("judges", "draws", "labels", *_RELATED),
    "segments": ("judges", "draws", "labels", *_RELATED),
    "history": ("judges", "baselines", "earlier runs", "last earlier run", "writes of earlier runs"),
    "comparison": ("judges of both", "draws of both", "labels of both", "baselines", *_RELATED),
    "examples": (),
}
REFERENCE_VARIANTS = ("oracle", "closed_book")  # variants whose runs over the same set a scorecard reads


class CardKey(NamedTuple):
    """Which scorecard."""

    run_id: str  #: of the run.
    judge_id: str | None  #: who judged; None = nobody.
    base_id: str = ""  #: id of the run that it is compared with; "" for none.


class CardState(NamedTuple):
    """What a part is computed from, as counts of writes: where they are the same, so is the part."""

    writes: int  #: of the run; of lists of examples, the writes that those show.
    base_writes: int  #: of the baseline's run; 0 without one.
    stamp: str  #: everything else, as text: other runs, judges of these two, labels, baselines, this program's version.


class CachedPart(NamedTuple):
    """A part: what it would be computed from now, and what was saved of it."""

    state: CardState
    body: bytes | None  #: None where nothing was saved, or it is not fresh.


class Cards:
    """The last scorecard of a run by each judge, in parts. One that is not fresh is never given out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self, key: CardKey, part: Part, versions: Sequence[str] = (), extra_state: str = "") -> CardState:
        """What a part would be computed from now.

        Args:
            key: of which scorecard.
            part: which.
            versions: content hashes of the sets whose earlier runs it shows.
            extra_state: what a comparison says beyond what is counted here.
        """
        with self._database.read() as connection:
            return _compute_states(connection, key, (part,), versions, extra_state)[part]

    def read(self, key: CardKey, parts: Sequence[Part], extra_state: str = "") -> dict[Part, CachedPart]:
        """Parts of a scorecard, in two statements; a history that was never saved has the state of no version."""
        with self._database.read() as connection:
            query = select(cards.c.part, cards.c.writes, cards.c.base_writes, cards.c.stamp, cards.c.body)
            rows = connection.execute(query.where(_build_row_condition(key), cards.c.part.in_(parts))).all()
            saved = {
                row.part: row for row in rows if json.loads(row.stamp)[:2] == [__version__, BODY_VERSION] and row.body
            }
            versions = json.loads(saved["history"].stamp)[3] if "history" in saved else ()
            states = _compute_states(connection, key, parts, versions, extra_state)
        cached: dict[Part, CachedPart] = {}
        for part, state in states.items():
            row = saved.get(part)
            fresh = row is not None and state == (row.writes, row.base_writes, row.stamp)
            body = unpack_bytes(row.body) if row is not None and fresh else b""
            cached[part] = CachedPart(state, body or None)
        return cached

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

    def save(self, key: CardKey, part: Part, state: CardState, body: bytes, verdict: str = "") -> None:
        """Stores a part in place of an earlier one, unless something was written since its state was asked for.

        A store that can only be read stays as it is.

        Args:
            key: of which scorecard.
            part: which.
            state: from before it was computed.
            body: the part; empty where there can be none.
            verdict: on the baseline, or NO_VERDICT; "" without one.
        """
        _, _, extra_state, versions, *_ = json.loads(state.stamp)
        with self._database.write_if_possible() as connection:
            if connection is None or state != _compute_states(connection, key, (part,), versions, extra_state)[part]:
                return
            judge = find_judge_no(connection, key.judge_id)
            if judge is None:  # nothing was ever scored
                return
            values = {
                "run_no": find_run_no(connection, key.run_id),
                "judge_no": judge,
                "base_no": find_run_no(connection, key.base_id) if part == "comparison" else 0,
                "part": part,
                **state._asdict(),
                "verdict": verdict,
                "body": pack_bytes(body),
            }
            statement = self._database.insert(cards)
            update = {name: statement.excluded[name] for name in (*state._fields, "verdict", "body")}
            index = ["run_no", "judge_no", "base_no", "part"]
            connection.execute(statement.on_conflict_do_update(index_elements=index, set_=update), [values])


def _build_row_condition(key: CardKey) -> ColumnElement[bool]:
    """Condition: the rows of a scorecard's parts."""
    run, base = (select(runs.c.run_no).where(runs.c.run_id == run_id) for run_id in (key.run_id, key.base_id))
    judge = select(judges.c.judge_no).where(judges.c.judge_id == (key.judge_id or NOBODY))
    base_no = case((cards.c.part == "comparison", base.scalar_subquery()), else_=0)
    own_row = and_(cards.c.run_no == run.scalar_subquery(), cards.c.judge_no == judge.scalar_subquery())
    return and_(own_row, cards.c.base_no == base_no)


def _compute_states(
    connection: Connection, key: CardKey, parts: Sequence[Part], versions: Sequence[str], extra_state: str
) -> dict[Part, CardState]:
    """One statement: a list of runs is read from an index alone. Judges of other runs are no part of a scorecard."""
    own_run = select(runs).where(runs.c.run_id == key.run_id).cte("mine")
    base = select(runs.c.run_no, runs.c.writes).where(runs.c.run_id == key.base_id).cte("base")
    counts: dict[str, Select[Any]] = {
        "writes": select(own_run.c.writes),
        "example writes": select(own_run.c.example_writes),
        "base writes": select(base.c.writes),
        "baselines": select(func.max(baselines.c.baseline_no)),
    }
    own_no = select(own_run.c.run_no)
    for suffix, run_nos in (("", own_no), (" of both", own_no.union_all(select(base.c.run_no)))):
        drawn = draws.c.run_no.in_(run_nos)
        counts[f"judges{suffix}"] = _count_judge_writes(run_nos)
        counts[f"draws{suffix}"] = select(func.max(draws.c.draw_no)).where(drawn)
        counts[f"labels{suffix}"] = select(func.max(labels.c.label_no)).where(
            select(draws.c.draw_no).where(drawn).exists()
        )
    number, version = (select(own_run.c[name]).scalar_subquery() for name in ("run_no", "set_version"))
    references = and_(runs.c.set_version == version, runs.c.variant.in_(REFERENCE_VARIANTS))
    for kind, condition in (
        ("earlier", and_(runs.c.set_version.in_(versions), runs.c.run_no <= number)),
        ("related", or_(references, runs.c.confirms == key.run_id)),
    ):
        counts[f"{kind} runs"] = select(func.count()).select_from(runs).where(condition)
        counts[f"last {kind} run"] = select(func.max(runs.c.run_no)).where(condition)
        counts[f"writes of {kind} runs"] = select(func.sum(runs.c.writes)).where(condition)
    names = list(
        dict.fromkeys(("writes", "example writes", "base writes", *(n for part in parts for n in COUNTED[part])))
    )
    row = connection.execute(select(*(counts[name].scalar_subquery() for name in names))).one()
    values = dict(zip(names, row, strict=True))
    states: dict[Part, CardState] = {}
    for part in parts:
        writes = values["example writes" if part == "examples" else "writes"]
        extra, base_writes = (extra_state, values["base writes"]) if part == "comparison" else ("", 0)
        shown_versions = sorted(versions) if part == "history" else []
        counted = [values[name] for name in COUNTED[part]]
        stamp = to_canonical_json([__version__, BODY_VERSION, extra, shown_versions, *counted])
        states[part] = CardState(writes or 0, base_writes or 0, stamp)
    return states


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
