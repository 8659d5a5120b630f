"""Which of the judges of a run is meant by the text that it was asked for with, by its id, or by how that begins."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import RagaugeError, UnknownName, UsageError, find_nearest
from ragauge.verbs.arguments import validate_text

if TYPE_CHECKING:
    from ragauge.store.store_access import Store


def match_judges(store: Store, judge: object, judges: Collection[str | None]) -> list[str]:
    """The ids that a text may mean, in their order: an id as it stands, else those of a spec, else those that begin so.

    Args:
        store: where the specs of judges are.
        judge: what `evaluate --judge` was given, an id, or how one begins.
        judges: ids there are; None and "" for nobody's verdicts.

    Raises:
        UsageError: no text.
    """
    text = validate_text(judge, "judge", "local")
    judge_ids = [judge_id for judge_id in judges if judge_id is not None]
    if text in judge_ids:
        return [text]
    return [judge_id for judge_id in judge_ids if text and store.judges.find_spec(judge_id) == text] or [
        judge_id for judge_id in judge_ids if judge_id.startswith(text)
    ]


def resolve_judge_id(store: Store, judge: object, judges: Sequence[str | None], of: str, hint: str = "") -> str:
    """The id of the one judge that a text means.

    Of several that a spec was, such as calibrated:FILE of a file that was written anew, it is the one that the spec
    makes now. Of people's labels by one guideline the last count.

    Args:
        store: where the specs of judges are.
        judge: what `evaluate --judge` was given, an id, or how one begins.
        judges: ids there are, the last first; None and "" for nobody's verdicts.
        of: what they judged, for the error.
        hint: what to do where there is none.

    Raises:
        UnknownName: it means none; the nearest are in the text.
        UsageError: it may mean several, or is no text.
    """
    matches, text = match_judges(store, judge, judges), str(judge)
    if len(matches) != 1 and (current_id := _build_current_id(text)) in judges and current_id is not None:
        return current_id
    if len(matches) == 1 or (matches and _is_one_guideline(matches)):
        return matches[0]
    if matches:
        descriptions = ", ".join(_describe_judge(store, judge_id) for judge_id in matches)
        raise UsageError(f"{text!r} may mean {len(matches)} judges of {of}: {descriptions}. Name one by its id.")
    raise build_unknown_judge_error(store, judge, judges, of, hint)


def build_unknown_judge_error(
    store: Store, judge: object, judges: Collection[str | None], of: str, hint: str = ""
) -> UnknownName:
    """That a text means none of some judges, with the ids and specs of those there are, the nearest first."""
    text, judge_ids = str(judge), [judge_id for judge_id in judges if judge_id]
    names = {
        name
        for judge_id in judge_ids
        for name in (judge_id, store.judges.find_spec(judge_id) or judge_id, judge_id.partition(":")[0])
    }
    descriptions = [_describe_judge(store, judge_id) for judge_id in judge_ids]
    return UnknownName(f"judge of {of}", text, descriptions, "" if judge_ids else hint, meant=find_nearest(text, names))


def _build_current_id(spec: str) -> str | None:
    """The id of the judge that a spec makes now; None where it makes none, or code of the user's would be run."""
    from ragauge.core.providers import find_provider
    from ragauge.engine.judges import BUILDERS, build_judge

    if find_provider(spec) is None and spec.partition(":")[0] not in (*BUILDERS, "hybrid", "calibrated", "jury"):
        return None
    try:
        return build_judge(spec).judge_id
    except RagaugeError:  # it was no spec, or its file is gone
        return None


def _is_one_guideline(judges: Sequence[str]) -> bool:
    return judges[0].startswith("people:") and len({judge_id.partition("#")[0] for judge_id in judges}) == 1


def _describe_judge(store: Store, judge_id: str) -> str:
    """A judge's id, and the spec that it was asked for with where that is another text."""
    spec = store.judges.find_spec(judge_id)
    return judge_id if not spec or judge_id.startswith(spec) else f"{judge_id} (--judge {spec})"
