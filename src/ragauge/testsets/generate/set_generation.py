"""A set made from a corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ragauge.engine.caller import CallCounts
from ragauge.testsets.corpus_view import CorpusCounts, CorpusView
from ragauge.testsets.generate.known_item import FIT, sample_known_items
from ragauge.testsets.generate.question_writer import Session
from ragauge.testsets.generate.rounds import FIT as WRITTEN_FIT
from ragauge.testsets.generate.rounds import SetWriter, Writers, WritingOptions, WrittenSet
from ragauge.testsets.set_file import SetLine


@dataclass(frozen=True)
class GeneratedSet:
    """Questions with their labels, and what they came from."""

    lines: tuple[SetLine, ...]  #: an example each.
    wanted: int  #: how many were asked for.
    corpus: CorpusCounts  #: what it holds.
    topics: int  #: groups of documents that were drawn from in turn.
    fit: str  #: what the set serves, and what not.
    written: WrittenSet | None = None  #: what a model wrote and what of it was rejected; None = no model was asked.
    by: tuple[str, ...] = ()  #: who wrote and who judged, by their specs; () = no model was asked.
    calling: CallCounts | None = None  #: calls to models; None = no model was asked.


def generate_known_items(corpus: CorpusView, n: int, seed: int = 7) -> GeneratedSet:
    """Known-item queries over a corpus.

    Args:
        corpus: what is drawn from.
        n: how many.
        seed: of the drawing.
    """
    return GeneratedSet(tuple(sample_known_items(corpus, n, seed)), n, corpus.counts, len(corpus.topics), FIT)


async def write_set(
    corpus: CorpusView,
    options: WritingOptions,
    by: Writers,
    session: Session,
    before_round: Callable[[], None] = lambda: None,
) -> GeneratedSet:
    """Questions that a model writes about documents, filtered.

    Args:
        corpus: what is drawn from.
        options: how many, of which types.
        by: who writes and who judges.
        session: asks them; replies are kept as they arrive.
        before_round: called before models are asked; what it raises ends the writing.

    Raises:
        JudgeError: a model cannot be asked at all.
    """
    written = await SetWriter(corpus, options, by).write(session, before_round)
    names = (str(by.writer.spec.default), by.judge.judge_id)
    return GeneratedSet(
        written.lines, options.n, corpus.counts, len(corpus.topics), WRITTEN_FIT, written, names, session.counts
    )
