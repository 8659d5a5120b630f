"""The tables. `migrations/versions/v2_first.py` makes them; a golden file of the tests holds them fixed.

Everything is joined by integers: a score's row is about 35 bytes, a seventh of one keyed by texts. `…_no` is an
integer of this store, `…_id` is the identity that the outside knows.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator

from ragauge.store.text_codec import escape_text, unescape_text

metadata = MetaData()
Key = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself only under this name


class ShortText(TypeDecorator[str]):
    """Short user text: `escape_text` on the way in, `unescape_text` on the way out."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: object) -> str | None:  # noqa: ARG002 - SQLAlchemy's form
        """What is stored."""
        return None if value is None else escape_text(value)

    def process_result_value(self, value: str | None, dialect: object) -> str | None:  # noqa: ARG002
        """What is read back."""
        return None if value is None else unescape_text(value)


def _build_foreign_key(column: str) -> ForeignKey:
    return ForeignKey(column, ondelete="CASCADE")


texts = Table(
    "texts",
    metadata,
    Column("text_no", Key, primary_key=True),
    Column("sha", LargeBinary(32), nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
)

sets = Table(
    "sets",
    metadata,
    Column("set_no", Key, primary_key=True),
    Column("name", ShortText, nullable=False),
    Column("version", Text, nullable=False),
    Column("corpus", ShortText),
    Column("kept", SmallInteger, nullable=False),  # 1: added for itself; 0: came with a run and goes with the last
    Column("created_at", Text, nullable=False),
    UniqueConstraint("name", "version"),
)

examples = Table(
    "examples",
    metadata,
    Column("example_no", Key, primary_key=True),
    Column("sha", LargeBinary(32), nullable=False, unique=True),
    Column("query_key", BigInteger, nullable=False),  # hash of the question: what shares it is judged together
    Column("groups", LargeBinary),  # packed JSON of segments, cluster, tags: reports group by them
    Column("body", LargeBinary, nullable=False),
    Index("examples_by_question", "query_key"),
)

set_examples = Table(
    "set_examples",
    metadata,
    Column("set_no", Key, _build_foreign_key("sets.set_no"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("example_no", Key, ForeignKey("examples.example_no"), nullable=False),
    Index("set_examples_by_example", "example_no"),
    sqlite_with_rowid=False,
)

runs = Table(
    "runs",
    metadata,
    Column("run_no", Key, primary_key=True),
    Column("run_id", ShortText, nullable=False, unique=True),
    Column("name", ShortText, nullable=False),
    Column("kind", Text, nullable=False),
    Column("set_no", Key, ForeignKey("sets.set_no")),
    Column("set_name", ShortText, nullable=False),
    Column("set_version", Text, nullable=False),
    Column("system", ShortText, nullable=False),
    Column("config", LargeBinary, nullable=False),
    Column("variant", Text, nullable=False),
    Column("git", ShortText, nullable=False),
    Column("state", Text, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("absent", Integer, nullable=False),
    Column("heartbeat", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("content", LargeBinary(32), nullable=False, unique=True),
    Column("writes", Integer, nullable=False, server_default="0"),  # goes up with all that is written of it
    Column("confirms", ShortText, nullable=False, server_default=""),  # id of the run whose causes it tests; "" = none
    Column("example_writes", Integer, nullable=False, server_default="0"),  # with what lists of its examples show
    Index("runs_by_set", "set_name", "run_no"),
    Index("runs_by_version", "set_version", "run_no", "writes"),
    Index("runs_by_name", "name", "run_no"),
    Index("runs_by_confirms", "confirms", "run_no"),
    Index("runs_by_heartbeat", "heartbeat"),
    sqlite_autoincrement=True,  # "latest" must not fall back to a deleted run's number
)

run_names = Table(
    "run_names",
    metadata,
    Column("name", ShortText, primary_key=True),
    Column("run_no", Key, _build_foreign_key("runs.run_no"), primary_key=True),
    Index("run_names_by_run", "run_no"),
    sqlite_with_rowid=False,
)

responses = Table(
    "responses",
    metadata,
    Column("response_no", Key, primary_key=True),  # ascending in the order of the run's file
    Column("run_no", Key, _build_foreign_key("runs.run_no"), nullable=False),
    Column("query_id", ShortText, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("example_no", Key, ForeignKey("examples.example_no"), nullable=False),
    Column("weight", Float, nullable=False),
    Column("absent", SmallInteger, nullable=False),  # 1: the run holds no response to this example
    Column("body", LargeBinary, nullable=False),
    Column("text_nos", LargeBinary),  # of passages, then candidates: 8 bytes each, 0 = no text
    Column("chance", Float, server_default="1"),  # that it was drawn for the judge; NULL = it was not
    UniqueConstraint("run_no", "query_id", "repeat"),
    Index("responses_by_example", "example_no"),
    Index("responses_by_query", "query_id", "run_no"),
)

run_texts = Table(
    "run_texts",
    metadata,
    Column("run_no", Key, _build_foreign_key("runs.run_no"), primary_key=True),
    Column("text_no", Key, ForeignKey("texts.text_no"), primary_key=True),
    Index("run_texts_by_text", "text_no"),
    sqlite_with_rowid=False,
)

judges = Table(
    "judges",
    metadata,
    Column("judge_no", Key, primary_key=True),
    Column("judge_id", ShortText, nullable=False, unique=True),  # "" for scores that no judge was asked for
    Column("spec", ShortText),  # the text that the judge is built from, where it has one
    Column("writes", Integer, nullable=False, server_default="0"),  # goes up with all that is written of it
)

metrics = Table(
    "metrics",
    metadata,
    Column("metric_no", Key, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    UniqueConstraint("name", "version"),
)

own_metrics = Table(  # of the user's own: what reads their scores where their code is not loaded
    "own_metrics",
    metadata,
    Column("metric_no", Key, _build_foreign_key("metrics.metric_no"), primary_key=True),
    Column("place", Integer, nullable=False, unique=True),  # ascending: of a name, the version that was named last
    Column("body", LargeBinary, nullable=False),  # packed JSON of the declaration
)

reasons = Table(
    "reasons",
    metadata,
    Column("reason_no", Key, primary_key=True),
    Column("sha", LargeBinary(32), nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
)

evidence = Table(
    "evidence",
    metadata,
    Column("evidence_no", Key, primary_key=True),
    Column("key", LargeBinary(32), nullable=False, unique=True),
    Column("question", Text, nullable=False),
    Column("question_version", Integer, nullable=False),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), nullable=False),
    Column("judge_repeat", Integer, nullable=False),
    Column("status", SmallInteger, nullable=False),  # 0 ok, 1 failed, 2 partial
    Column("body", LargeBinary),  # packed JSON of the facts; of the reason where it failed
    Column("replies", LargeBinary),  # packed JSON of the reply keys, where there are any
)

run_evidence = Table(
    "run_evidence",
    metadata,
    Column("response_no", Key, _build_foreign_key("responses.response_no"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("question", Text, primary_key=True),
    Column("evidence_no", Key, ForeignKey("evidence.evidence_no"), nullable=False),
    Index("run_evidence_by_evidence", "evidence_no"),
    sqlite_with_rowid=False,
)

# Ordered by run and response: one run is one stretch of the table, so a frame, the count of what is done and the scores
# of one example are range reads without another index.
scores = Table(
    "scores",
    metadata,
    Column("run_no", Key, _build_foreign_key("runs.run_no"), primary_key=True),
    Column("response_no", Key, primary_key=True),
    Column("judge_no", Key, primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("metric_no", Key, primary_key=True),
    Column("status", SmallInteger, nullable=False),  # place in STATUSES
    Column("value", Float),
    Column("numerator", Float),
    Column("denominator", Float),
    Column("low", Float),  # NULL where it equals value
    Column("high", Float),
    Column("reason_no", Integer),
    sqlite_with_rowid=False,
)

run_judges = Table(
    "run_judges",
    metadata,
    Column("run_no", Key, _build_foreign_key("runs.run_no"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("at", Text, nullable=False),  # when it last judged here
    sqlite_with_rowid=False,
)

causes = Table(
    "causes",
    metadata,
    Column("run_no", Key, _build_foreign_key("runs.run_no"), primary_key=True),
    Column("response_no", Key, primary_key=True),
    Column("judge_no", Key, primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("name", Text, nullable=False, server_default=""),
    sqlite_with_rowid=False,
)

summaries = Table(
    "summaries",
    metadata,
    Column("run_no", Key, _build_foreign_key("runs.run_no"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

models = Table(
    "models",
    metadata,
    Column("model_no", Key, primary_key=True),
    Column("provider", ShortText, nullable=False),
    Column("model", ShortText, nullable=False),
    Column("endpoint", ShortText, nullable=False),
    UniqueConstraint("provider", "model", "endpoint"),
)

replies = Table(
    "replies",
    metadata,
    Column("reply_no", Key, primary_key=True),
    Column("key", LargeBinary(32), nullable=False, unique=True),
    Column("model_no", Key, ForeignKey("models.model_no"), nullable=False),
    Column("question", ShortText, nullable=False),
    Column("failed", SmallInteger, nullable=False),
    Column("at", Text, nullable=False),
    Column("ask", LargeBinary, nullable=False),  # packed JSON of what was asked: the key follows from it
    Column("body", LargeBinary, nullable=False),  # packed JSON of the reply, its vectors left out
    Column("vectors", LargeBinary),  # 32-bit floats, little end first, a row a text
)

calls = Table(
    "calls",
    metadata,
    Column("call_no", Key, primary_key=True),
    Column("run_no", Key),  # no reference: what was paid stays on record when the run goes
    Column("response_no", Key),
    Column("key", LargeBinary(32), nullable=False),
    Column("model_no", Key, ForeignKey("models.model_no"), nullable=False),
    Column("question", ShortText, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("cost", Float),
    Column("latency_ms", Float),
    Column("at", Text, nullable=False),
    Column("judge_no", Key),  # who asked; NULL where no judge did
    Index("calls_by_run", "run_no", "response_no"),
    Index("calls_by_cost", "run_no", "judge_no", "cost", "input_tokens"),
)

listings = Table(
    "listings",
    metadata,
    Column("run_no", Key, _build_foreign_key("runs.run_no"), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

baselines = Table(
    "baselines",
    metadata,
    Column("baseline_no", Key, primary_key=True),  # ascending: the last line of a name counts
    Column("name", ShortText, nullable=False),
    Column("run_id", ShortText, nullable=False),  # no reference: the history stays when a run goes; "" = taken away
    Column("run_name", ShortText, nullable=False),
    Column("at", Text, nullable=False),
    Column("who", ShortText, nullable=False),
    Column("git", ShortText, nullable=False),
    Column("branch", ShortText, nullable=False),
    Column("tag", ShortText, nullable=False),
    Column("note", ShortText, nullable=False),
    Index("baselines_by_name", "name"),
)

run_notes = Table(
    "run_notes",
    metadata,
    Column("run_no", Key, _build_foreign_key("runs.run_no"), primary_key=True),
    Column("text", ShortText, nullable=False),
    Column("at", Text, nullable=False),
    Column("who", ShortText, nullable=False),
)

imports = Table(
    "imports",
    metadata,
    Column("digest", LargeBinary(32), primary_key=True),  # of files, and of how they are read
    Column("run_no", Key, _build_foreign_key("runs.run_no"), nullable=False),
    Column("told", LargeBinary, nullable=False),  # packed JSON: warnings that came of reading them
    Index("imports_by_run", "run_no"),
)

checks = Table(
    "checks",
    metadata,
    Column("check_no", Key, primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), nullable=False),
    Column("question", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("file", LargeBinary(32), nullable=False),  # of what people said in it, whatever it is called
    Column("name", ShortText, nullable=False),
    Column("at", Text, nullable=False),  # when it was last checked
    UniqueConstraint("judge_no", "question", "version", "file"),
)

# A text that is in several files is here once, with what the last of them says.
check_scores = Table(
    "check_scores",
    metadata,
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("question", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("item", LargeBinary(32), primary_key=True),  # of the text that was labeled, with all that the question sees
    Column("metric", Text, primary_key=True),
    Column("example", LargeBinary(32), nullable=False),  # what texts share that are not independent
    Column("people", Float, nullable=False),
    Column("judge", Float, nullable=False),
    Column("labels", Integer, nullable=False),
    Column("check_no", Key, _build_foreign_key("checks.check_no"), nullable=False),
    Index("check_scores_by_check", "check_no"),
    sqlite_with_rowid=False,
)
