"""People label what was drawn, one answer at a time: what is left of a draw, and each label kept as it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.label import (
    ADJUDICATOR,
    SCORE_PREFIX,
    DrawProgress,
    Label,
    LabelTask,
    Part,
    format_part,
    select_latest_labels,
)
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.scores.judge_check import JudgeCheck
    from ragauge.store.labels import LabelDraw
    from ragauge.store.store_access import Store

MAX_NAME_CHARS = 60  # characters of an annotator's name
MAX_NAMED_DRAWS = 64  # that an error looks for the nearest among
BATCH_SIZE_RESPONSES = 100  # responses with their texts in memory


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """One answer of a draw: its number in the store, the key of what is seen of it, and its parts."""

    response_no: int
    key: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """One answer of a draw as an annotator sees it: nothing of system, judge or other annotators."""

    draw: int  #: number of the draw.
    question: str  #: that is answered.
    guideline: str  #: hash of the instructions.
    instructions: str  #: their text; "" where only the hash is known.
    choices: Sequence[tuple[str, str]]  #: (value, words) of what can be said, in the order of keys.
    annotator: str  #: who labels.
    answers: int  #: of the draw.
    place: int  #: of this answer, from 1.
    task: LabelTask | None  #: the answer; None where the run no longer has its texts.
    said: Mapping[str, str]  #: part as text -> what this annotator said of it last.
    labelled: int  #: parts of the draw that this annotator labelled.
    parts: int  #: of the draw.
    next: int  #: place of the next answer on which this annotator has something left, going round; 0 = nothing is left.

    @property
    def left(self) -> list[int]:
        """Places of the parts of this answer, from 1, of which its annotator has said nothing."""
        parts = self.task.parts if self.task is not None else ()
        return [n for n, part in enumerate(parts, 1) if format_part(part) not in self.said]

    @property
    def pieces(self) -> list[tuple[str, str | None]]:
        """The answer in pieces: text, and the part that it is, as text; None between parts."""
        pieces: list[tuple[str, str | None]] = []
        if self.task is None:
            return pieces
        answer, end = self.task.answer, 0
        for part in self.task.parts:
            if isinstance(part, tuple):
                pieces += [(answer[end : part[0]], None), (answer[part[0] : part[1]], format_part(part))]
                end = part[1]
            elif part is None:
                pieces, end = [(answer, format_part(part))], len(answer)
        pieces.append((answer[end:], None))
        return [(text, part) for text, part in pieces if part is not None or text.strip()]

    def named(self, choice: tuple[str, str]) -> str:
        """What a value is called; of a score its words with the number."""
        value, words = choice
        return f"{words} ({value})" if self.question.startswith(SCORE_PREFIX) else value.replace("_", " ")


@dataclass(frozen=True, slots=True)
class LabelInput:
    """What a form says: the answer by its key, the part as text, and the value."""

    key: str  #: of what was seen.
    part: str  #: as `format_part` writes it.
    value: str  #: what was said.
    annotator: str  #: by whom.


def list_draws(
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

    with open_store(resolve_store_url(store)) as opened_store:
        if run:
            draws = opened_store.draws.list_for_run(opened_store.runs.find(run).run_id)[::-1][:limit]
        else:
            draws = opened_store.draws.list(limit, before)
        names = opened_store.run_list.names(list({draw.run_id for draw in draws}))
        return _compute_progress(opened_store, draws, names)


def open_label_sheet(draw: int, annotator: str, answer: int = 0, *, store: str | None = None) -> LabelSheet:
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

    who = validate_annotator(annotator)
    with open_store(resolve_store_url(store)) as opened_store:
        return _build_sheet(opened_store, _find_draw(opened_store, draw), who, answer)


def save_label(draw: int, label: LabelInput, *, store: str | None = None) -> LabelSheet:
    """Keeps one label of an answer of a draw; what its annotator said last already is not kept again.

    Args:
        draw: number of the draw.
        label: the label. Only answers of the draw, their parts, and values of its question are taken.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Returns:
        The answer as its annotator sees it now.

    Raises:
        UnknownName: no such draw, part or value, with the nearest.
        UsageError: an answer that was not drawn, or a name that is none.
    """
    from ragauge.engine.label_facts import decide_again
    from ragauge.engine.label_questions import list_choices
    from ragauge.store.database import get_timestamp
    from ragauge.store.store_access import open_store

    who = validate_annotator(label.annotator)
    with open_store(resolve_store_url(store)) as opened_store:
        stored_draw = _find_draw(opened_store, draw)
        items = _load_items(opened_store, stored_draw)
        position, item = next(((n, entry) for n, entry in enumerate(items, 1) if entry.key == label.key), (0, None))
        if item is None:
            raise UsageError(f"draw {draw} has no answer with key {label.key[:64]!r}. Open /label?draw={draw} again.")
        parts = {format_part(entry): entry for entry in item.parts}
        if label.part not in parts:
            raise UnknownName(f"part of answer {position}", label.part, parts)
        values = [value for value, _ in list_choices(stored_draw.question)]
        if label.value not in values:
            raise UnknownName(f"label of {stored_draw.question}", label.value, values)
        answers = {where: value for _, where, value in _iter_last_answers(opened_store, stored_draw, [item], who)}
        if answers.get((item.key, parts[label.part])) != label.value:
            opened_store.labels.add(
                [
                    Label(
                        item.key,
                        parts[label.part],
                        stored_draw.question,
                        label.value,
                        who,
                        get_timestamp(),
                        stored_draw.guideline,
                    )
                ]
            )
            decide_again(opened_store, stored_draw.run_id, _list_same_texts(opened_store, stored_draw, item.key))
        return _build_sheet(opened_store, stored_draw, who, position)


def compute_agreement(draw: int, *, store: str | None = None) -> tuple[DrawProgress, JudgeCheck | None]:
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
    from ragauge.labels.label.label_agreement import build_stored_agreement
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        stored_draw = _find_draw(opened_store, draw)
        (about,) = _compute_progress(
            opened_store, [stored_draw], {stored_draw.run_id: opened_store.runs.find(stored_draw.run_id).name}
        )
        if stored_draw.question != "support" or not about.labelled:
            return about, None
        return about, build_stored_agreement(opened_store, stored_draw.run_id, stored_draw.guideline)


def validate_annotator(name: str) -> str:
    """An annotator's name without the blanks around it.

    Raises:
        UsageError: an empty or long one, one that cannot be printed, or the adjudicator's.
    """
    who = name.strip()
    if not who or len(who) > MAX_NAME_CHARS or not who.isprintable():
        raise UsageError(f"annotator: expected a name of 1 to {MAX_NAME_CHARS} characters, got {name[:80]!r}.")
    if who.casefold() == ADJUDICATOR:
        raise UsageError(
            f"annotator: {ADJUDICATOR!r} is reserved for adjudicating disagreements: ragauge label draw "
            "latest --disagreements -o page.html. Use another name."
        )
    return who


def _find_draw(store: Store, number: int) -> LabelDraw:
    stored_draw = store.draws.read(number)
    if stored_draw is None:
        known_numbers = [str(known_draw.number) for known_draw in store.draws.list(MAX_NAMED_DRAWS)]
        gone = "Deleting a run deletes its draws; the labels that people gave remain."
        raise UnknownName("draw", str(number), known_numbers, f"{gone} To make another: ragauge label draw latest.")
    return stored_draw


def _load_items(store: Store, draw: LabelDraw) -> tuple[DrawnItem, ...]:
    """The answers of a draw in random order, always the same; of equal texts the first, and none that is gone.

    Where pages are served the texts are read once, as long as nothing is written to the run.
    """
    return store.cache_for_run(draw.run_id, ("answers of a draw", draw.number), lambda: _read_items(store, draw))


def _read_items(store: Store, draw: LabelDraw) -> tuple[DrawnItem, ...]:
    from ragauge.engine.label_questions import build_label_task
    from ragauge.engine.people import format_response_name
    from ragauge.scores.label_sample import shuffle_by_hash

    names: dict[int, str] = {}
    items: dict[int, DrawnItem] = {}
    numbers = sorted(draw.drawn)
    for start in range(0, len(numbers), BATCH_SIZE_RESPONSES):
        for response in store.runs.load(numbers[start : start + BATCH_SIZE_RESPONSES]):
            task = build_label_task(draw.question, response, is_whole=draw.by == "answer")
            if task.key:
                names[response.response_no] = format_response_name(response)
                items[response.response_no] = DrawnItem(response.response_no, task.key, task.parts)
    unique: dict[str, DrawnItem] = {}
    for number in shuffle_by_hash(names):
        unique.setdefault(items[number].key, items[number])
    return tuple(unique.values())


def _list_same_texts(store: Store, draw: LabelDraw, key: str) -> list[int]:
    """Numbers of the drawn responses of which people see the same."""
    from ragauge.engine.label_questions import build_key

    items = store.runs.load(sorted(draw.drawn))
    return [item.response_no for item in items if build_key(draw.question, item) == key]


def _iter_last_answers(
    store: Store, draw: LabelDraw, items: Sequence[DrawnItem], annotator: str | None = None
) -> Iterator[tuple[str, tuple[str, Part], str]]:
    """(annotator, key and part, value): what each annotator, or one, said last of the parts of a draw."""
    labels = store.labels.of({item.key for item in items}, draw.question)
    return _select_last_answers(draw, items, [label for label in labels if annotator in (None, label.annotator)])


def _select_last_answers(
    draw: LabelDraw, items: Sequence[DrawnItem], labels: Sequence[Label]
) -> Iterator[tuple[str, tuple[str, Part], str]]:
    """The same, among labels that were read already."""
    parts = {(entry.key, part) for entry in items for part in entry.parts}
    draw_key = (draw.question, draw.guideline)
    own_labels = [
        entry for entry in labels if (entry.question, entry.guideline) == draw_key and entry.annotator != ADJUDICATOR
    ]
    for entry in select_latest_labels(own_labels):
        if (entry.key, entry.part) in parts:
            yield entry.annotator, (entry.key, entry.part), entry.value


def _build_sheet(store: Store, draw: LabelDraw, who: str, answer: int) -> LabelSheet:
    from ragauge.engine.label_questions import build_label_task, list_choices

    items = _load_items(store, draw)
    if not 0 <= answer <= len(items):
        raise UsageError(f"answer: draw {draw.number} has answers 1 to {len(items):,}, got {answer:,}.")
    answers = {position: value for _, position, value in _iter_last_answers(store, draw, items, who)}
    open_positions = [
        n for n, entry in enumerate(items, 1) if any((entry.key, part) not in answers for part in entry.parts)
    ]
    position = answer or next(iter(open_positions), min(1, len(items)))
    following = next((n for n in open_positions if n > position), next((n for n in open_positions if n != position), 0))
    task = None
    if position:
        item = items[position - 1]
        task = next(
            (
                build_label_task(draw.question, entry, is_whole=draw.by == "answer")
                for entry in store.runs.load([item.response_no])
            ),
            None,
        )
    own_answers = {
        format_part(part): value for (key, part), value in answers.items() if task is not None and key == task.key
    }
    return LabelSheet(
        draw.number,
        draw.question,
        draw.guideline,
        draw.instructions or _find_instructions(draw),
        list_choices(draw.question),
        who,
        len(items),
        position,
        task,
        own_answers,
        len(answers),
        sum(len(entry.parts) for entry in items),
        following,
    )


def _find_instructions(draw: LabelDraw) -> str:
    """Our instructions, where a draw follows them and does not hold them itself; else ""."""
    from ragauge.core.label import hash_guideline
    from ragauge.engine.label_questions import build_instructions

    ours = build_instructions(draw.question)
    return ours if hash_guideline(ours) == draw.guideline else ""


def _compute_progress(store: Store, draws: Sequence[LabelDraw], names: Mapping[str, str]) -> list[DrawProgress]:
    """How far each draw is; the labels of all are read together. `names`: run id -> name."""
    draws_with_items = [(draw, _load_items(store, draw)) for draw in draws]
    labels = store.labels.of({item.key for _, items in draws_with_items for item in items})
    by_key: dict[str, list[Label]] = {}
    for label in labels:
        by_key.setdefault(label.key, []).append(label)
    progress = []
    for draw, items in draws_with_items:
        own_labels = [label for key in {item.key for item in items} for label in by_key.get(key, ())]
        counts = Counter(who for who, _, _ in _select_last_answers(draw, items, own_labels))
        progress.append(
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
                sum(len(item.parts) for item in items),
                dict(counts.most_common()),
            )
        )
    return progress
