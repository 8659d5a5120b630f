"""Which of the judges of a run is meant by the text that it was asked for with, by its id, or by how that begins."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import RagaugeError, UnknownName, UsageError, nearest
from ragauge.verbs.arguments import text_of

if TYPE_CHECKING:
    from ragauge.store.store_access import Store


def judges_meant(store: Store, judge: object, judges: Collection[str | None]) -> list[str]:
    """The ids that a text may mean, in their order: an id as it stands, else those of a spec, else those that begin so.

    Args:
        store: where the specs of judges are.
        judge: what `evaluate --judge` was given, an id, or how one begins.
        judges: ids there are; None and "" for nobody's verdicts.

    Raises:
        UsageError: no text.
    """
    asked = text_of(judge, "judge", "local")
    known = [one for one in judges if one is not None]
    if asked in known:
        return [asked]
    return [one for one in known if asked and store.judges.spec(one) == asked] or [
        one for one in known if one.startswith(asked)
    ]


def judge_named(store: Store, judge: object, judges: Sequence[str | None], of: str, hint: str = "") -> str:
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
    found, asked = judges_meant(store, judge, judges), str(judge)
    if len(found) != 1 and (now := _made_now(asked)) in judges and now is not None:
        return now
    if len(found) == 1 or (found and _one_guideline(found)):
        return found[0]
    if found:
        said = ", ".join(_said(store, one) for one in found)
        raise UsageError(f"{asked!r} may mean {len(found)} judges of {of}: {said}. Name one by its id.")
    raise unknown_judge(store, judge, judges, of, hint)


def unknown_judge(store: Store, judge: object, judges: Collection[str | None], of: str, hint: str = "") -> UnknownName:
    """That a text means none of some judges, with the ids and specs of those there are, the nearest first."""
    asked, known = str(judge), [one for one in judges if one]
    heads = {part for one in known for part in (one, store.judges.spec(one) or one, one.partition(":")[0])}
    said = [_said(store, one) for one in known]
    return UnknownName(f"judge of {of}", asked, said, "" if known else hint, meant=nearest(asked, heads))


def _made_now(spec: str) -> str | None:
    """The id of the judge that a spec makes now; None where it makes none, or code of the user's would be run."""
    from ragauge.core.providers import provider_of
    from ragauge.engine.judges import BUILDERS, build_judge

    if provider_of(spec) is None and spec.partition(":")[0] not in (*BUILDERS, "hybrid", "calibrated", "jury"):
        return None
    try:
        return build_judge(spec).judge_id
    except RagaugeError:  # it was no spec, or its file is gone
        return None


def _one_guideline(judges: Sequence[str]) -> bool:
    return judges[0].startswith("people:") and len({one.partition("#")[0] for one in judges}) == 1


def _said(store: Store, judge_id: str) -> str:
    """A judge's id, and the spec that it was asked for with where that is another text."""
    spec = store.judges.spec(judge_id)
    return judge_id if not spec or judge_id.startswith(spec) else f"{judge_id} (--judge {spec})"
