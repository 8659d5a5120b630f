"""Faults of finding the evidence. The answer that follows is what a generator makes of what is left."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from random import Random

from tests.planted import pieces, words
from tests.planted.pieces import Piece
from tests.planted.scene import Scene, Statement
from tests.planted.topics import pages

from ragauge.core.document import IndexListing
from ragauge.text.sentences import split_sentences

DEPTH = 20  # candidates


def empty_retrieval(scene: Scene, rng: Random) -> Scene:
    """The search returns nothing; the system says so, or answers from general knowledge."""
    left = replace(scene, passages=(), candidates=())
    if rng.random() < 0.6:
        return replace(left, statements=(), refusal=rng.choice(words.REFUSALS), closing="")
    about = frozenset(range(len(scene.topic.parts)))
    return replace(left, statements=(Statement(scene.topic.general, about=about),))


def not_in_index(scene: Scene, rng: Random) -> Scene:
    """A page was never ingested; a listing of the index is known."""
    struck = _struck(scene, rng)
    listing = IndexListing(len(pages()) - len(struck), frozenset(struck))
    return _answered(replace(_gone(scene, struck), listing=listing), rng)


def retrieval_miss(scene: Scene, rng: Random) -> Scene:
    """The search does not bring a page that is in the index.

    The ranking before the cut is not recorded for some, and some questions carry no labels.
    """
    found = _gone(scene, _struck(scene, rng))
    kind = rng.random()
    if kind < 0.2:
        found = replace(found, candidates=None)
    elif kind < 0.4:
        found = replace(found, candidates=None, labelled=False)
    elif kind < 0.6:
        found = replace(found, listing=IndexListing(len(pages())))
    return _answered(found, rng)


def ranked_low(scene: Scene, rng: Random) -> Scene:
    """The search brings a page, but too far down to be handed on."""
    return _answered(_low(scene, _struck(scene, rng), rng), rng)


def lost_before_prompt(scene: Scene, rng: Random) -> Scene:
    """The search brings a page near the top, and a filter or the reranker drops it."""
    return _answered(_lost(scene, _struck(scene, rng), rng), rng)


def span_cut(scene: Scene, rng: Random) -> Scene:
    """The page arrives without the sentence: cut through it, or in another piece than the one that holds it."""
    part = rng.randrange(len(scene.topic.parts))
    span = scene.topic.parts[part].sentence.span
    whole = pieces.holding(span)
    rest = [one for one in pieces.pieces() if one.doc_id == span.doc_id and not one.holds(span)]
    other = pieces.cut_through(span) if rng.random() < 0.6 or not rest else rng.choice(rest)
    kept = tuple(other if one.passage.passage_id == whole.passage.passage_id else one for one in scene.passages)
    once = tuple(one for n, one in enumerate(kept) if one not in kept[:n])
    candidates = once + tuple(one for one in scene.candidates or () if one not in once and not one.holds(span))
    return _answered(replace(scene, passages=once, candidates=candidates, spans=rng.random() < 0.5), rng)


def stale_source(scene: Scene, rng: Random) -> Scene:
    """The index holds an earlier version of the page; the answer follows it, or finds nothing in it."""
    decoy = scene.topic.decoy
    if decoy is None:
        raise ValueError(f"{scene.topic.name} has no earlier version")
    gone = _gone(scene, scene.topic.docs)
    old = pieces.holding(decoy.sentence.span)
    place = rng.randrange(len(gone.passages))
    passages = (*gone.passages[:place], old, *gone.passages[place:-1])
    candidates = passages + tuple(one for one in gone.candidates or () if one not in passages)
    found = replace(gone, passages=passages, candidates=candidates)
    if old.passage.superseded_by in scene.topic.docs and rng.random() < 0.3:
        return replace(found, statements=(), refusal=rng.choice(words.REFUSALS), closing="")
    said = Statement(rng.choice(decoy.said), quotes=decoy.sentence.span, about=frozenset({0}), conflicts=True)
    return replace(found, statements=(said,))


def compound(scene: Scene, rng: Random) -> Scene:
    """One of two pages is missed, and the answer makes up what it would have said."""
    struck = {rng.choice(scene.topic.docs)}
    found = rng.choice((_gone(scene, struck), _low(scene, struck, rng), _lost(scene, struck, rng)))
    held = set(found.held())
    filled = [
        statement
        if n in held
        else Statement(rng.choice(scene.topic.parts[n].wrong), about=frozenset({n}), conflicts=True)
        for n, statement in enumerate(scene.statements)
    ]
    return replace(found, statements=tuple(filled))


def _struck(scene: Scene, rng: Random) -> set[str]:
    """The pages that are missed: one, or all."""
    docs = scene.topic.docs
    return {rng.choice(docs)} if rng.random() < 0.6 else set(docs)


def _without(scene: Scene, struck: Collection[str]) -> tuple[list[Piece], list[Piece]]:
    """The passages that stay, filled up with others; and the rest of what a search brings."""
    kept = [piece for piece in scene.passages if piece.doc_id not in struck]
    more = [piece for piece in pieces.distractors(scene.topic) if piece not in kept]
    missing = len(scene.passages) - len(kept)
    return kept + more[:missing], more[missing:]


def _gone(scene: Scene, struck: Collection[str]) -> Scene:
    passages, rest = _without(scene, struck)
    return replace(scene, passages=tuple(passages), candidates=tuple([*passages, *rest][:DEPTH]))


def _low(scene: Scene, struck: Collection[str], rng: Random) -> Scene:
    passages, rest = _without(scene, struck)
    low = [piece for piece in scene.passages if piece.doc_id in struck]
    place = rng.randrange(0, 10)
    candidates = [*passages, *rest[:place], *low, *rest[place:]][:DEPTH]
    return replace(scene, passages=tuple(passages), candidates=tuple(candidates))


def _lost(scene: Scene, struck: Collection[str], rng: Random) -> Scene:
    passages, rest = _without(scene, struck)
    ranking = list(passages)
    for piece in scene.passages:
        if piece.doc_id in struck:
            ranking.insert(rng.randrange(0, min(3, len(ranking) + 1)), piece)
    return replace(scene, passages=tuple(passages), candidates=tuple([*ranking, *rest][:DEPTH]))


def _answered(scene: Scene, rng: Random) -> Scene:
    """The scene with what a generator says to it: what the passages hold, a sentence of them, or a refusal.

    Where they hold none of the answer, one in five answers with something that it made up.
    """
    held, kind = scene.held(), rng.random()
    if held and kind < 0.7:
        return replace(scene, statements=tuple(scene.statements[n] for n in held))
    if held or kind < 0.5:
        return replace(scene, statements=(), refusal=rng.choice(words.REFUSALS), closing="")
    if kind < 0.8:
        return replace(scene, statements=(quoted(scene.passages),))
    part = rng.choice(scene.topic.parts)
    about = frozenset({scene.topic.parts.index(part)})
    return replace(scene, statements=(Statement(rng.choice(part.wrong), about=about, conflicts=True),))


def quoted(passages: Iterable[Piece]) -> Statement:
    """A sentence of the first passage that has a plain one, as it stands there: the longest below 140 characters."""
    return next(found for piece in passages for found in [_quoted(piece)] if found is not None)


def _quoted(piece: Piece) -> Statement | None:
    return max(quotable(piece), key=lambda one: (len(one.text) < 140, len(one.text)), default=None)


def quotable(piece: Piece) -> list[Statement]:
    """The plain sentences of a passage, as they stand there."""
    mine = piece.passage.span
    if mine is None:
        return []
    body = pages()[piece.doc_id].text[mine.start : mine.end]
    plain = [
        (mine.start + one.end - len(text), text) for one in split_sentences(body) for text in [_plain(one.text)] if text
    ]
    return [Statement(text, quotes=replace(mine, start=start, end=start + len(text))) for start, text in plain]


def _plain(sentence: str) -> str:
    """A sentence without its bullet; "" for a heading, a list or the rest of one."""
    text = sentence.removeprefix("- ")
    return text if text[:1].isupper() and text.endswith(".") and "\n" not in text else ""
