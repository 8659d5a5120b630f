"""Faults of writing the answer. The evidence is there, but for the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from tests.planted import pieces, words
from tests.planted.pieces import Piece
from tests.planted.retrieval_faults import quotable, quoted
from tests.planted.scene import Scene, Statement
from tests.planted.topics import Topic, topics

from ragauge.core.example import Span
from ragauge.core.response import Passage


def system_failed(scene: Scene, rng: Random) -> Scene:
    """The system gives an error."""
    return replace(scene, error=rng.choice(words.ERRORS))


def missed_refusal(scene: Scene, rng: Random) -> Scene:
    """The corpus does not hold the answer, and the system gives one: from a passage near it, or made up."""
    decoy = scene.topic.decoy
    if decoy is not None and rng.random() < 1 / 3:
        near = pieces.holding(decoy.sentence.span)
        passages = (near, *(piece for piece in scene.passages if piece != near))
        said = Statement(decoy.said[0], quotes=decoy.sentence.span)
        return replace(scene, passages=passages, candidates=None, statements=(said,), refusal="")
    return replace(scene, statements=(Statement(rng.choice(scene.topic.invented)),), refusal="")


def wrong_refusal(scene: Scene, rng: Random) -> Scene:
    """The system declines, with the answer before its eyes."""
    return replace(scene, statements=(), refusal=rng.choice(words.REFUSALS), closing="")


def off_topic(scene: Scene, rng: Random) -> Scene:
    """The answer is about something else: what another passage says, another question's answer, or courtesy."""
    kind = rng.random()
    if kind < 0.4:
        others = [piece for piece in scene.passages if piece.doc_id not in scene.topic.docs]
        return replace(scene, statements=(quoted(rng.sample(others, len(others))),))
    if kind < 0.8:
        other = rng.choice([topic for topic in topics() if not set(topic.docs) & set(scene.topic.docs)])
        sentence = rng.choice(other.parts).sentence
        return replace(scene, statements=(Statement(rng.choice(sentence.said), quotes=sentence.span),))
    first = rng.randrange(len(words.COURTESY))
    return replace(
        scene, statements=(Statement(words.COURTESY[first]), Statement(words.COURTESY[first - 1])), closing=""
    )


def contradicted(scene: Scene, rng: Random) -> Scene:
    """A statement of the answer is altered: a number, a name, a negation."""
    part = rng.randrange(len(scene.topic.parts))
    altered = Statement(rng.choice(scene.topic.parts[part].wrong), about=frozenset({part}), conflicts=True)
    return replace(scene, statements=_with(scene, part, altered))


def noise(scene: Scene, rng: Random) -> Scene:
    """The answer follows a passage that is wrong or about another thing, with the right one beside it.

    What leads astray inside a passage with the evidence is no noise: whoever follows it misread that passage.
    """
    decoy, part = scene.topic.decoy, rng.randrange(len(scene.topic.parts))
    apart = decoy is not None and pieces.holding(decoy.sentence.span) not in _evidence(scene.topic)
    if decoy is not None and apart and rng.random() < 0.75:
        astray = pieces.holding(decoy.sentence.span)
        about = frozenset(range(len(scene.topic.parts)))
        said = Statement(rng.choice(decoy.said), quotes=decoy.sentence.span, about=about, conflicts=decoy.conflicts)
        statements: tuple[Statement, ...] = (said,)
    else:
        wrong = rng.choice(scene.topic.parts[part].wrong)
        astray = _hearsay(scene, wrong)
        statements = _with(scene, part, Statement(wrong, about=frozenset({part}), conflicts=True))
    kept = [piece for piece in scene.passages if piece != astray]
    place = rng.randrange(len(kept) + 1)
    passages = (*kept[:place], astray, *kept[place:])
    candidates = passages + tuple(piece for piece in scene.candidates or () if piece not in passages)
    return replace(scene, passages=passages, candidates=candidates, statements=statements)


def ignored(scene: Scene, rng: Random) -> Scene:
    """The answer is from general knowledge: it takes nothing from the passages, and cites nothing."""
    about = frozenset(range(len(scene.topic.parts)))
    return replace(scene, statements=(Statement(scene.topic.general, about=about),), cites=rng.random() < 0.5)


def hallucinated(scene: Scene, rng: Random) -> Scene:
    """The answer goes on with something that stands nowhere."""
    place = len(scene.statements) if rng.random() < 0.7 else 0
    extra = Statement(scene.topic.extra)
    return replace(scene, statements=(*scene.statements[:place], extra, *scene.statements[place:]))


def wrong_answer(scene: Scene, rng: Random) -> Scene:
    """The answer is something else that stands beside the evidence."""
    said = rng.choice(_beside(scene.topic))
    return replace(scene, statements=(replace(said, about=frozenset(range(len(scene.topic.parts)))),))


def has_more(topic: Topic) -> bool:
    """Whether a passage that holds evidence for the question has another plain sentence."""
    return bool(_beside(topic))


def _evidence(topic: Topic) -> dict[Piece, None]:
    """The pieces that hold the evidence, each once."""
    return dict.fromkeys(pieces.holding(part.sentence.span) for part in topic.parts)


def _beside(topic: Topic) -> list[Statement]:
    """The plain sentences of the passages with the evidence, those that answer the question left out."""
    spans, held = [part.sentence.span for part in topic.parts], _evidence(topic)
    spans += [topic.decoy.sentence.span] if topic.decoy is not None else []
    return [one for piece in held for one in quotable(piece) if not _overlaps(one, spans)]


def _overlaps(one: Statement, spans: Sequence[Span]) -> bool:
    mine = one.quotes
    return mine is None or any(
        span.doc_id == mine.doc_id and span.start < mine.end and mine.start < span.end for span in spans
    )


def misattributed(scene: Scene, rng: Random) -> Scene:
    """What the answer states is credited to the wrong passage, and a part is left out."""
    short = incomplete(scene, rng)
    (said,) = short.statements
    others = [n for n in range(1, len(scene.passages) + 1) if n not in scene.supporting(said)]
    wrong = scene.passages[rng.choice(others) - 1].passage.passage_id
    return replace(short, statements=(replace(said, cited=wrong),), cites=True)


def incomplete(scene: Scene, rng: Random) -> Scene:
    """The answer is incomplete."""
    return replace(scene, statements=(rng.choice(scene.statements),))


def _with(scene: Scene, part: int, statement: Statement) -> tuple[Statement, ...]:
    return tuple(statement if n == part else one for n, one in enumerate(scene.statements))


def _hearsay(scene: Scene, wrong: str) -> Piece:
    """A page of user posts that was ingested beside the manual."""
    name = f"community-{scene.topic.name}"
    text = f"# Community answers\n\n{scene.topic.query}\n\n{wrong} Posted by a user, not reviewed by Brindle."
    return Piece(Passage(f"{name}#1", name, text), states=(wrong,))
