"""The contract of evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragauge.core.errors import UnknownName
from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Claim, CoverFacts, Evidence, Rating, RelevanceFacts, Window
from ragauge.core.identity import hash_json
from ragauge.core.response import Response, Run
from ragauge.store.evidence import PackedEvidence
from ragauge.store.spool import Record
from ragauge.store.store_access import Store, open_store

CLAIM = Claim(
    1, "a claim", 0, 8, supporting=(1, 3), joint=True, strength="implied", p=0.75, window=Window(1, 2, 9, ("x",))
)
FACTS = AnswerFacts((CLAIM, Claim(2, None, status="failed", reason="cut off")), "partly", None)
FOUND = Evidence(hash_json("a"), "verify_answer", 2, "judge@1", "ok", FACTS, reply_keys=("r1", "r2"))
OTHER = replace(FOUND, facts=AnswerFacts((), "no", True), reply_keys=())
FAILED = replace(FOUND, status="failed", facts=None, reason="ValueError: no \ud800 sense", reply_keys=())
RATED = Evidence(hash_json("b"), "rate_passages", 1, "judge@1", "ok", RelevanceFacts((Rating(1, True),)))


def with_run(store: Store, n: int = 3) -> tuple[str, list[int]]:
    """A run of n responses: its id and their numbers."""
    pairs: list[Record] = [(Example(f"q{i}", f"{i}?"), Response(f"q{i}", passages=(), answer="a")) for i in range(n)]
    run = store.runs.import_run(Run("", "r"), pairs)
    return run.run_id, [number for number, _ in store.runs.load_order(run.run_id)]


class EvidenceContract:
    """What every store of evidence does. A back end supplies `store`."""

    @pytest.mark.parametrize("evidence", [FOUND, OTHER, FAILED, RATED])
    def test_evidence_survives(self, store: Store, evidence: Evidence) -> None:
        """Evidence is read back equal, failed evidence with its reason."""
        assert store.evidence.put(evidence) == evidence
        assert store.evidence.get(evidence.key) == evidence

    def test_first_insert_wins(self, store: Store) -> None:
        """A second evidence under one key is dropped, and its writer is handed the first."""
        store.evidence.put(FOUND)
        assert store.evidence.put(OTHER) == FOUND
        assert store.evidence.get(FOUND.key) == FOUND

    def test_failure_never_takes_the_place_of_a_finding(self, store: Store) -> None:
        """A failure is replaced by a later finding, never the other way round."""
        assert store.evidence.put(FAILED) == FAILED
        assert store.evidence.put(FOUND) == FOUND
        assert store.evidence.put(FAILED) == FOUND

    def test_known_leaves_failures_out(self, store: Store) -> None:
        """Known is what need not be asked again: of many keys, those found and not failed."""
        store.evidence.put(FAILED)
        store.evidence.put(RATED)
        keys = [hash_json(i) for i in range(2_000)]
        assert set(store.evidence.load_known([*keys, FAILED.key, RATED.key])) == {RATED.key}
        assert store.evidence.load_known([RATED.key])[RATED.key].evidence() == RATED
        assert store.evidence.get(hash_json("nobody")) is None

    def test_versions_of_questions(self, store: Store) -> None:
        """In which versions one judge was asked each question about one run: no other run's, no other judge's."""
        run_id, numbers = with_run(store)
        newer = replace(FOUND, key=hash_json("n"), question_version=3)
        others = replace(RATED, key=hash_json("c"), judge_id="judge@2", question_version=7)
        found = [(numbers[0], FOUND), (numbers[1], newer), (numbers[1], RATED), (numbers[1], others)]
        store.evidence.add([(n, PackedEvidence.of(one)) for n, one in found])
        assert store.evidence.list_versions(run_id, "judge@1") == {"verify_answer": (2, 3), "rate_passages": (1,)}
        assert store.evidence.list_versions(run_id, "judge@2") == {"rate_passages": (7,)}
        assert store.evidence.list_versions(run_id, "nobody") == {}
        other = store.runs.import_run(Run("", "other", system="x"), [(Example("z", "z?"), Response("z", answer="a"))])
        assert store.evidence.list_versions(other.run_id, "judge@1") == {}

    def test_evidence_of_a_response(self, store: Store) -> None:
        """Linked evidence is read by response and by run, one judge's only; a response without any has none."""
        run_id, numbers = with_run(store)
        mine = [(numbers[0], FOUND), (numbers[0], RATED), (numbers[1], RATED)]
        others = replace(RATED, key=hash_json("c"), judge_id="judge@2")
        again = replace(RATED, key=hash_json("d"), judge_repeat=1)
        found = [*mine, (numbers[0], others), (numbers[0], again)]
        assert store.evidence.add([(n, PackedEvidence.of(one)) for n, one in found]) == set()
        both = {"verify_answer": FOUND, "rate_passages": RATED}
        assert store.evidence.load_for_response(run_id, "q0", 0, "judge@1") == both
        assert store.evidence.load_for_response(run_id, "q2", 0, "judge@1") == {}
        assert store.evidence.load_for_response(run_id, "q0", 0, "judge@1", 1) == {"rate_passages": again}
        assert store.evidence.load_for_response(run_id, "q0", 0, "nobody") == {}
        read = list(store.evidence.iter_for_run(run_id, "judge@1", batch=2))
        assert read == [("q0", 0, both), ("q1", 0, {"rate_passages": RATED}), ("q2", 0, {})]

    def test_newer_evidence_takes_the_link(self, store: Store) -> None:
        """A question asked in a new version stands for the response in place of the old one."""
        run_id, numbers = with_run(store)
        newer = replace(RATED, key=hash_json("v2"), question_version=2)
        for one in (RATED, newer):
            store.evidence.add([(numbers[0], PackedEvidence.of(one))])
        assert store.evidence.load_for_response(run_id, "q0", 0, "judge@1") == {"rate_passages": newer}

    def test_loser_is_told(self, store: Store) -> None:
        """Who adds learns which keys held something else; equal evidence or a second failure loses nothing."""
        run_id, numbers = with_run(store)
        store.evidence.put(FOUND)
        store.evidence.put(RATED)
        assert store.evidence.add([(numbers[0], PackedEvidence.of(RATED))]) == set()
        assert store.evidence.add([(numbers[0], PackedEvidence.of(OTHER))]) == {FOUND.key}
        assert store.evidence.add([(numbers[0], PackedEvidence.of(FAILED))]) == {FOUND.key}
        assert store.evidence.load_for_response(run_id, "q0", 0, "judge@1")["verify_answer"] == FOUND
        failed = replace(FAILED, key=hash_json("f"))
        store.evidence.put(failed)
        later = PackedEvidence.of(replace(failed, reason="another reason"))
        assert store.evidence.add([(numbers[1], later)]) == set()

    def test_shared_evidence_outlives_a_run(self, store: Store) -> None:
        """Evidence that another run refers to stays when a run is deleted; what nobody refers to goes."""
        first, numbers = with_run(store)
        cover = Evidence(hash_json("e"), "cover_aspects", 1, "judge@1", "ok", CoverFacts((True, None)))
        store.evidence.add([(numbers[0], PackedEvidence.of(RATED)), (numbers[1], PackedEvidence.of(cover))])
        second, others = with_run(store, 2)
        store.evidence.add([(others[0], PackedEvidence.of(RATED))])
        store.runs.delete(first)
        assert store.evidence.load_for_response(second, "q0", 0, "judge@1") == {"rate_passages": RATED}
        assert store.evidence.get(cover.key) is None

    def test_transaction_is_all_or_nothing(self, store: Store) -> None:
        """Writes of several areas in one transaction are kept together, or not at all when the block raises."""
        run_id, numbers = with_run(store)

        def write(run: str) -> None:
            store.evidence.add([(numbers[0], PackedEvidence.of(FOUND))])
            store.causes.write(run, "judge@1", {})

        with pytest.raises(UnknownName), store.transaction():
            write("nobody's run")
        assert store.evidence.get(FOUND.key) is None
        with store.transaction():
            write(run_id)
        assert store.evidence.get(FOUND.key) == FOUND


class TestSqliteEvidence(EvidenceContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store


def test_evidence_survives_reopening(sqlite_url: str) -> None:
    """Evidence written before a process ended is read by the next."""
    with open_store(sqlite_url) as store:
        store.evidence.put(FOUND)
    with open_store(sqlite_url) as store:
        assert store.evidence.get(FOUND.key) == FOUND
