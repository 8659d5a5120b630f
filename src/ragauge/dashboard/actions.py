"""What can be changed from a page: names and notes of a run, that it is there, and the regression set.

Nothing here spends money.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from ragauge.comparison.baselines.verb import remove_baseline, set_baseline, stands_for
from ragauge.comparison.history.verb import note
from ragauge.core.errors import UsageError
from ragauge.dashboard.site import NoSuchPage, Site
from ragauge.diagnosis.examples.page import TAG
from ragauge.evaluation.runs.tags import tag_run, untag_run
from ragauge.evaluation.runs.verb import OpenRun
from ragauge.rendering.lists import ServedLinks, question
from ragauge.testsets.add.verb import add_examples

Fields = Mapping[str, Sequence[str]]  # name of a field -> what stands in each of that name


def act(site: Site, run: str, action: str, fields: Fields) -> str:
    """Does what a form of a run's page asks for; returns the address that shows it.

    Args:
        site: what is served.
        run: as its address names it.
        action: one of ACTIONS.
        fields: of the form.

    Raises:
        NoSuchPage: no such run, or no such action.
        UsageError: a field that is empty, or that cannot be what it is to be.
    """
    if action not in ACTIONS:
        raise NoSuchPage(f"nothing can be done here that is called {action!r}. There are: {', '.join(ACTIONS)}.")
    found = site.run(run)
    to = ACTIONS[action](site, found, fields)
    if to is not None:
        return to
    what = _last(fields, "tag" if action.endswith("tag") else "name").strip()
    told = {"did": action, **({"what": what} if action != "note" else {})}
    return f"{site.root}/runs/{found.run.run_id}{question(told)}#manage"


def _baseline(site: Site, run: OpenRun, fields: Fields) -> None:
    set_baseline(run, name=_filled(fields, "name", "the baseline's name, such as main"), store=site.store)


def _remove_baseline(site: Site, run: OpenRun, fields: Fields) -> None:
    name, known = _filled(fields, "name", "the baseline's name"), stands_for(run, site.store)
    if name not in known:  # somebody set it to another run meanwhile
        raise UsageError(f"nothing was changed: {name!r} does not stand for this run. Open the run again.")
    remove_baseline(name, store=site.store)


def _tag(site: Site, run: OpenRun, fields: Fields) -> None:
    tag_run(run, _filled(fields, "tag", "a tag, such as release"), store=site.store)


def _untag(site: Site, run: OpenRun, fields: Fields) -> None:
    untag_run(run, _filled(fields, "tag", "the tag to take away"), store=site.store)


def _note(site: Site, run: OpenRun, fields: Fields) -> None:
    note(run, _last(fields, "text"), store=site.store)


def _delete(site: Site, run: OpenRun, fields: Fields) -> str:
    typed = _last(fields, "name")
    if typed != run.run.name:
        raise UsageError(f"the run was kept: to delete it, type its name, {run.run.name!r}; got {typed!r}.")
    run.delete()
    return f"{site.root}/runs"


def _regression(site: Site, run: OpenRun, fields: Fields) -> str:
    """Adds examples to the regression set; leads back to the list, or to the one example, that says how many."""
    if not site.regression_set:
        raise UsageError(
            "nothing was added: no set is named for it. Write ui: {regression_set: regression.jsonl} in "
            "ragauge.yaml, and start ragauge ui in its folder."
        )
    ids = [unquote(one) for one in fields.get("id", ())]  # quoted: no form keeps line breaks and control characters
    if not ids:
        raise UsageError("nothing was added: no example is ticked. Go back and tick those to add.")
    found = add_examples(run.run.run_id, ids=ids, to=Path(site.regression_set), tag=TAG, store=site.store).found
    kept = dict(parse_qsl(_last(fields, "list")))
    told = {**kept, "added": str(len(found.lines)), "there": str(len(found.there))}
    links = ServedLinks(site.root, run.run.run_id)
    repeat = _last(fields, "repeat")
    return links.example(ids[0], int(repeat) if repeat.isdecimal() else 0, told) if repeat else links.examples(told)


def _last(fields: Fields, name: str) -> str:
    """What stands in the last field of a name; "" where there is none."""
    return next(reversed(fields.get(name, ())), "")


def _filled(fields: Fields, name: str, what: str) -> str:
    value = _last(fields, name).strip()
    if not value:
        raise UsageError(f"nothing was changed: expected {what}, got an empty field. Go back and fill it in.")
    return value


ACTIONS: Mapping[str, Callable[[Site, OpenRun, Fields], str | None]] = {
    "baseline": _baseline,
    "remove-baseline": _remove_baseline,
    "tag": _tag,
    "untag": _untag,
    "note": _note,
    "delete": _delete,
    "regression": _regression,
}
