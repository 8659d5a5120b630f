"""What can be changed from a page: names and notes of a run, that it is there, and the regression set.

Nothing here spends money.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from ragauge.comparison.baselines.verb import list_baseline_names, remove_baseline, set_baseline
from ragauge.comparison.history.verb import note
from ragauge.core.errors import UsageError
from ragauge.dashboard.site import NoSuchPage, Site
from ragauge.diagnosis.examples.page import TAG
from ragauge.evaluation.runs.tags import tag_run, untag_run
from ragauge.evaluation.runs.verb import OpenRun
from ragauge.rendering.lists import ServedLinks, format_query
from ragauge.testsets.add.verb import add_examples

Fields = Mapping[str, Sequence[str]]  # name of a field -> what stands in each of that name


def run_action(site: Site, run: str, action: str, fields: Fields) -> str:
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
        raise NoSuchPage(f"there is no action {action!r}. Choose one of: {', '.join(ACTIONS)}.")
    opened_run = site.run(run)
    to = ACTIONS[action](site, opened_run, fields)
    if to is not None:
        return to
    what = _get_last(fields, "tag" if action.endswith("tag") else "name").strip()
    params = {"did": action, **({"what": what} if action != "note" else {})}
    return f"{site.root}/runs/{opened_run.run.run_id}{format_query(params)}#manage"


def _set_baseline(site: Site, run: OpenRun, fields: Fields) -> None:
    set_baseline(run, name=_require_field(fields, "name", "the baseline's name, such as main"), store=site.store)


def _remove_baseline(site: Site, run: OpenRun, fields: Fields) -> None:
    name, baseline_names = _require_field(fields, "name", "the baseline's name"), list_baseline_names(run, site.store)
    if name not in baseline_names:  # somebody set it to another run meanwhile
        raise UsageError(f"nothing was changed: {name!r} is not a baseline of this run. Reload the run.")
    remove_baseline(name, store=site.store)


def _tag_run(site: Site, run: OpenRun, fields: Fields) -> None:
    tag_run(run, _require_field(fields, "tag", "a tag, such as release"), store=site.store)


def _untag_run(site: Site, run: OpenRun, fields: Fields) -> None:
    untag_run(run, _require_field(fields, "tag", "the tag to remove"), store=site.store)


def _save_note(site: Site, run: OpenRun, fields: Fields) -> None:
    note(run, _get_last(fields, "text"), store=site.store)


def _delete_run(site: Site, run: OpenRun, fields: Fields) -> str:
    typed = _get_last(fields, "name")
    if typed != run.run.name:
        raise UsageError(f"the run was not deleted: to delete it, type its name, {run.run.name!r}; got {typed!r}.")
    run.delete()
    return f"{site.root}/runs"


def _add_to_regression_set(site: Site, run: OpenRun, fields: Fields) -> str:
    """Adds examples to the regression set; leads back to the list, or to the one example, that says how many."""
    if not site.regression_set:
        raise UsageError(
            "nothing was added: no regression set is configured. Add ui: {regression_set: regression.jsonl} to "
            "ragauge.yaml and start ragauge ui in its folder."
        )
    ids = [
        unquote(query_id) for query_id in fields.get("id", ())
    ]  # quoted: no form keeps line breaks and control characters
    if not ids:
        raise UsageError("nothing was added: no example is selected. Go back and select the examples to add.")
    added = add_examples(run.run.run_id, ids=ids, to=Path(site.regression_set), tag=TAG, store=site.store).data
    list_params = dict(parse_qsl(_get_last(fields, "list")))
    params = {**list_params, "added": str(len(added.lines)), "there": str(len(added.there))}
    links = ServedLinks(site.root, run.run.run_id)
    repeat = _get_last(fields, "repeat")
    return links.example(ids[0], int(repeat) if repeat.isdecimal() else 0, params) if repeat else links.examples(params)


def _get_last(fields: Fields, name: str) -> str:
    """What stands in the last field of a name; "" where there is none."""
    return next(reversed(fields.get(name, ())), "")


def _require_field(fields: Fields, name: str, what: str) -> str:
    value = _get_last(fields, name).strip()
    if not value:
        raise UsageError(f"nothing was changed: expected {what}, got an empty field. Go back and fill it in.")
    return value


ACTIONS: Mapping[str, Callable[[Site, OpenRun, Fields], str | None]] = {
    "baseline": _set_baseline,
    "remove-baseline": _remove_baseline,
    "tag": _tag_run,
    "untag": _untag_run,
    "note": _save_note,
    "delete": _delete_run,
    "regression": _add_to_regression_set,
}
