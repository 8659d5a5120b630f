"""People label what was drawn, one answer at a time: what is left of a draw, and each label kept as it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.label import ADJUDICATOR, SCORE, DrawProgress, Label, LabelTask, Part, last_said, part_text
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.scores.judge_check import JudgeCheck
    from ragauge.store.labels import LabelDraw
    from ragauge.store.store_access import Store

MOST_NAME = 60  # characters of an annotator's name
MOST_DRAWS = 64  # that an error looks for the nearest among
AT_A_TIME = 100  # responses with their texts in memory


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """One answer of a draw: its number in the store, the key of what is seen of it, and its parts."""

    response_no: int
    key: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """One answer of a draw as an annotator sees it: nothing of system, judge or other annotators.

    Attributes:
        draw: number of the draw.
        question: that is answered.
        guideline: hash of the instructions.
        instructions: their text; "" where only the hash is known.
        choices: (value, words) of what can be said, in the order of keys.
        annotator: who labels.
        answers: of the draw.
        place: of this answer, from 1.
        task: the answer; None where the run no longer has its texts.
        said: part as text -> what this annotator said of it last.
        labelled: parts of the draw that this annotator labelled.
        parts: of the draw.
        next: place of the next answer on which this annotator has something left, going round; 0 = nothing is left.
    """

    draw: int
    question: str
    guideline: str
    instructions: str
    choices: Sequence[tuple[str, str]]
    annotator: str
    answers: int
    place: int
    task: LabelTask | None
    said: Mapping[str, str]
    labelled: int
    parts: int
    next: int

    @property
    def left(self) -> list[int]:
        """Places of the parts of this answer, from 1, of which its annotator has said nothing."""
        parts = self.task.parts if self.task is not None else ()
        return [n for n, part in enumerate(parts, 1) if part_text(part) not in self.said]

    @property
    def pieces(self) -> list[tuple[str, str | None]]:
        """The answer in pieces: text, and the part that it is, as text; None between parts."""
        found: list[tuple[str, str | None]] = []
        if self.task is None:
            return found
        answer, done = self.task.answer, 0
        for part in self.task.parts:
            if isinstance(part, tuple):
                found += [(answer[done : part[0]], None), (answer[part[0] : part[1]], part_text(part))]
                done = part[1]
            elif part is None:
                found, done = [(answer, part_text(part))], len(answer)
        found.append((answer[done:], None))
        return [(text, part) for text, part in found if part is not None or text.strip()]

    def named(self, choice: tuple[str, str]) -> str:
        """What a value is called; of a score its words with the number."""
        value, words = choice
        return f"{words} ({value})" if self.question.startswith(SCORE) else value.replace("_", " ")


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """What a form says: the answer by its key, the part as text, and the value.

    Attributes:
        key: of what was seen.
        part: as `part_text` writes it.
        value: what was said.
        annotator: by whom.
    """

    key: str
    part: str
    value: str
    annotator: str


def label_draws(
    run: str = "", *, limit: int = 20, before: int | None = None, store: str | None = None
) -> list[DrawProgress]:
    """The draws of a run, or the newest of all, the last first, each with how far every annotator is.

    Args:
        run: a stored run: id, name or "latest"; "" = all runs.
        limit: most draws.
        before: of all runs: only draws before this number.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no such run.
    """
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        if run:
            found = opened.draws.of_run(opened.runs.find(run).run_id)[::-1][:limit]
        else:
            found = opened.draws.list(limit, before)
        names = opened.run_list.names(list({one.run_id for one in found}))
        return _progress(opened, found, names)


def label_sheet(draw: int, annotator: str, answer: int = 0, *, store: str | None = None) -> LabelSheet:
    """One answer of a draw, with what an annotator said of it.

    Args:
        draw: number of the draw.
        annotator: who labels.
        answer: its place in the draw, from 1; 0 = the first on which this annotator has something left.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no such draw.
        UsageError: no such answer, or a name that is none.
    """
    from ragauge.store.store_access import open_store

    who = annotator_named(annotator)
    with open_store(store_url(store)) as opened:
        return _sheet(opened, _draw(opened, draw), who, answer)


def give_label(draw: int, given: GivenLabel, *, store: str | None = None) -> LabelSheet:
    """Keeps one label of an answer of a draw; what its annotator said last already is not kept again.

    Args:
        draw: number of the draw.
        given: the label. Only answers of the draw, their parts, and values of its question are taken.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Returns:
        The answer as its annotator sees it now.

    Raises:
        UnknownName: no such draw, part or value, with the nearest.
        UsageError: an answer that was not drawn, or a name that is none.
    """
    from ragauge.engine.label_facts import decide_again
    from ragauge.engine.label_questions import choices_of
    from ragauge.store.database import now
    from ragauge.store.store_access import open_store

    who = annotator_named(given.annotator)
    with open_store(store_url(store)) as opened:
        drawn = _draw(opened, draw)
        items = _items(opened, drawn)
        place, item = next(((n, one) for n, one in enumerate(items, 1) if one.key == given.key), (0, None))
        if item is None:
            raise UsageError(f"draw {draw} has no answer of the key {given.key[:64]!r}. Open /label?draw={draw} again.")
        parts = {part_text(one): one for one in item.parts}
        if given.part not in parts:
            raise UnknownName(f"part of answer {place}", given.part, parts)
        values = [value for value, _ in choices_of(drawn.question)]
        if given.value not in values:
            raise UnknownName(f"label of {drawn.question}", given.value, values)
        said = {where: value for _, where, value in _last(opened, drawn, [item], who)}
        if said.get((item.key, parts[given.part])) != given.value:
            opened.labels.add(
                [Label(item.key, parts[given.part], drawn.question, given.value, who, now(), drawn.guideline)]
            )
            decide_again(opened, drawn.run_id, _alike(opened, drawn, item.key))
        return _sheet(opened, drawn, who, place)


def label_agreement(draw: int, *, store: str | None = None) -> tuple[DrawProgress, JudgeCheck | None]:
    """A draw, and how far the judges of its run agree with what people labelled of the run by its instructions.

    The verdicts are those that the store has: nothing is asked, and nothing is kept.

    Args:
        draw: number of the draw.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Returns:
        The second is None where nobody has labelled support yet, or the draw asks something else.

    Raises:
        UnknownName: no such draw.
    """
    from ragauge.labels.label.label_agreement import stored_agreement
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        drawn = _draw(opened, draw)
        (about,) = _progress(opened, [drawn], {drawn.run_id: opened.runs.find(drawn.run_id).name})
        if drawn.question != "support" or not about.labelled:
            return about, None
        return about, stored_agreement(opened, drawn.run_id, drawn.guideline)


def annotator_named(name: str) -> str:
    """An annotator's name without the blanks around it.

    Raises:
        UsageError: an empty or long one, one that cannot be printed, or the adjudicator's.
    """
    who = name.strip()
    if not who or len(who) > MOST_NAME or not who.isprintable():
        raise UsageError(f"annotator: expected a name of 1 to {MOST_NAME} characters, got {name[:80]!r}.")
    if who.casefold() == ADJUDICATOR:
        raise UsageError(
            f"annotator: {ADJUDICATOR!r} is who settles what people differ on: ragauge label draw latest "
            "--disagreements -o page.html. Give another name."
        )
    return who


def _draw(store: Store, number: int) -> LabelDraw:
    found = store.draws.read(number)
    if found is None:
        there = [str(one.number) for one in store.draws.list(MOST_DRAWS)]
        gone = "Deleting a run takes its draws away; the labels that people gave stay."
        raise UnknownName("draw", str(number), there, f"{gone} ragauge label draw latest makes another.")
    return found


def _items(store: Store, draw: LabelDraw) -> tuple[DrawnItem, ...]:
    """The answers of a draw in random order, always the same; of equal texts the first, and none that is gone.

    Where pages are served the texts are read once, as long as nothing is written to the run.
    """
    return store.of_run(draw.run_id, ("answers of a draw", draw.number), lambda: _read_items(store, draw))


def _read_items(store: Store, draw: LabelDraw) -> tuple[DrawnItem, ...]:
    from ragauge.engine.label_questions import task_of
    from ragauge.engine.people import drawn_name
    from ragauge.scores.label_sample import in_random_order

    names: dict[int, str] = {}
    items: dict[int, DrawnItem] = {}
    numbers = sorted(draw.drawn)
    for start in range(0, len(numbers), AT_A_TIME):
        for one in store.runs.load(numbers[start : start + AT_A_TIME]):
            task = task_of(draw.question, one, whole=draw.by == "answer")
            if task.key:
                names[one.response_no] = drawn_name(one)
                items[one.response_no] = DrawnItem(one.response_no, task.key, task.parts)
    once: dict[str, DrawnItem] = {}
    for number in in_random_order(names):
        once.setdefault(items[number].key, items[number])
    return tuple(once.values())


def _alike(store: Store, draw: LabelDraw, key: str) -> list[int]:
    """Numbers of the drawn responses of which people see the same."""
    from ragauge.engine.label_questions import key_of

    items = store.runs.load(sorted(draw.drawn))
    return [item.response_no for item in items if key_of(draw.question, item) == key]


def _last(
    store: Store, draw: LabelDraw, items: Sequence[DrawnItem], annotator: str | None = None
) -> Iterator[tuple[str, tuple[str, Part], str]]:
    """(annotator, key and part, value): what each annotator, or one, said last of the parts of a draw."""
    labels = store.labels.of({item.key for item in items}, draw.question)
    return _said_of(draw, items, [one for one in labels if annotator in (None, one.annotator)])


def _said_of(
    draw: LabelDraw, items: Sequence[DrawnItem], labels: Sequence[Label]
) -> Iterator[tuple[str, tuple[str, Part], str]]:
    """The same, among labels that were read already."""
    parts = {(one.key, part) for one in items for part in one.parts}
    asked = (draw.question, draw.guideline)
    mine = [one for one in labels if (one.question, one.guideline) == asked and one.annotator != ADJUDICATOR]
    for one in last_said(mine):
        if (one.key, one.part) in parts:
            yield one.annotator, (one.key, one.part), one.value


def _sheet(store: Store, draw: LabelDraw, who: str, answer: int) -> LabelSheet:
    from ragauge.engine.label_questions import choices_of, task_of

    items = _items(store, draw)
    if not 0 <= answer <= len(items):
        raise UsageError(f"answer: draw {draw.number} has answers 1 to {len(items):,}, got {answer:,}.")
    said = {place: value for _, place, value in _last(store, draw, items, who)}
    left = [n for n, one in enumerate(items, 1) if any((one.key, part) not in said for part in one.parts)]
    place = answer or next(iter(left), min(1, len(items)))
    following = next((n for n in left if n > place), next((n for n in left if n != place), 0))
    task = None
    if place:
        item = items[place - 1]
        task = next(
            (task_of(draw.question, one, whole=draw.by == "answer") for one in store.runs.load([item.response_no])),
            None,
        )
    mine = {part_text(part): value for (key, part), value in said.items() if task is not None and key == task.key}
    return LabelSheet(
        draw.number,
        draw.question,
        draw.guideline,
        draw.instructions or _known(draw),
        choices_of(draw.question),
        who,
        len(items),
        place,
        task,
        mine,
        len(said),
        sum(len(one.parts) for one in items),
        following,
    )


def _known(draw: LabelDraw) -> str:
    """Our instructions, where a draw follows them and does not hold them itself; else ""."""
    from ragauge.core.label import guideline_of
    from ragauge.engine.label_questions import instructions_of

    ours = instructions_of(draw.question)
    return ours if guideline_of(ours) == draw.guideline else ""


def _progress(store: Store, draws: Sequence[LabelDraw], names: Mapping[str, str]) -> list[DrawProgress]:
    """How far each draw is; the labels of all are read together. `names`: run id -> name."""
    drawn = [(draw, _items(store, draw)) for draw in draws]
    labels = store.labels.of({one.key for _, items in drawn for one in items})
    by_key: dict[str, list[Label]] = {}
    for label in labels:
        by_key.setdefault(label.key, []).append(label)
    found = []
    for draw, items in drawn:
        mine = [label for key in {one.key for one in items} for label in by_key.get(key, ())]
        counts = Counter(who for who, _, _ in _said_of(draw, items, mine))
        found.append(
            DrawProgress(
                draw.number,
                draw.run_id,
                names.get(draw.run_id, draw.run_id),
                draw.question,
                draw.guideline,
                draw.scheme,
                draw.by,
                draw.at,
                len(items),
                sum(len(one.parts) for one in items),
                dict(counts.most_common()),
            )
        )
    return found
