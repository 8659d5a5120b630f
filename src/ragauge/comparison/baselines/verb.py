"""Baselines by name, and which baseline a run is compared with where none was named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.messages import format_command
from ragauge.core.response import Run
from ragauge.verbs.option_specs import OptionSpec, StoredRun, with_options
from ragauge.verbs.option_specs import Store as StoreOption
from ragauge.verbs.sources import LATEST, HasRun, find_run, resolve_store_url

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.store.run_facts import RunFacts
    from ragauge.store.run_log import Pointer
    from ragauge.store.store_access import Store


DEFAULT_BASELINE = "main"  # the name outside git
MAX_NAME_CHARS = 200  # characters of a name; branches have long ones
FORBIDDEN_CHARS = "<>\"'`\\"  # characters of a page or a shell, which no branch needs


def resolve_baseline(name: str, store: Store) -> str | None:
    """The id of the run that a baseline's name means, or else of the last baseline with this tag; None for neither."""
    current = store.baselines.get(name)
    if current is not None:
        return current.run_id
    tagged = next((line.run_id for line in store.baselines.history() if line.run_id and line.tag == name), None)
    try:
        return None if tagged is None else store.runs.find(tagged).run_id
    except UnknownName:  # deleted since
        return None


def describe_name_clash(store: Store, base: Run) -> str:
    """A sentence where the name of a baseline is another run's id or name too; "" where all is plain."""
    for line in store.baselines.list():
        if line.run_id != base.run_id:
            continue
        try:
            other = store.runs.find(line.name)
        except UnknownName:
            continue
        if other.run_id != base.run_id:
            return (
                f"{line.name} is the baseline (run {base.run_id}), but run {other.run_id} has the same name. To "
                "use that run, give its id."
            )
    return ""


def find_default_name() -> str:
    """The baseline that is meant when none is named: that of the current git branch, or main outside git.

    Raises:
        UsageError: git is on no branch, as in most checkouts of a pull request: nothing tells which one is meant.
    """
    from ragauge.verbs import git

    branch = git.find_branch()
    if not branch and git.find_commit():
        raise UsageError("git is on no branch (detached HEAD), so name the baseline: --name main.")
    return branch or DEFAULT_BASELINE


@with_options(
    run=StoredRun,
    name=Annotated[str, OptionSpec("Name of the baseline; default: git's current branch, or main.")],
    branch=Annotated[str, OptionSpec("Branch of the run; default: git's current one.")],
    tag=Annotated[str, OptionSpec("A tag such as v1.2; --baseline v1.2 then finds the run.")],
    note=Annotated[str, OptionSpec("The reason, in your own words.")],
    store=StoreOption,
)
def set_baseline(
    run: Any = LATEST, *, name: str = "", branch: str = "", tag: str = "", note: str = "", store: str | None = None
) -> dict[str, Any]:
    """Lets a name mean a run from now on; what it meant before stays in its history.

    Args:
        run: a stored run: id, name, "latest", or what stands for one, such as a scorecard.
        name: of the baseline; the branch by default.
        branch: that the run stands for; git's current branch by default.
        tag: such as v1.2: the run stays a baseline under this word when the name has moved on.
        note: in your words.
        store: URL of the store.

    Returns:
        The line as stored, as in `baselines`; "before" is the run id that the name meant until now.

    Raises:
        UnknownName: no such run.
        UsageError: a name that cannot be one, that is another run's, or none where git is on no branch.
    """
    from ragauge.store.run_log import Pointer
    from ragauge.store.store_access import open_store
    from ragauge.verbs import git

    name = _validate_name(name or branch or find_default_name())
    with open_store(resolve_store_url(store)) as opened_store:
        resolved_run = resolve_run(run, opened_store)
        with opened_store.transaction():
            previous = opened_store.baselines.get(name)
            if previous is None and name != resolved_run.name:
                _refuse_taken_name(opened_store, name, resolved_run)
            line = Pointer(
                name,
                resolved_run.run_id,
                resolved_run.name,
                who=git.find_user(),
                git=resolved_run.git,
                branch=branch or git.find_branch(),
                tag=tag.strip(),
                note=note,
            )
            saved = opened_store.baselines.set(line)
    return _build_row(saved) | {"before": previous.run_id if previous is not None else ""}


def describe_baseline(row: dict[str, Any], _: object) -> str:
    """What `ragauge baseline set` prints."""
    moved = {"": "", row["run_id"]: " (unchanged)"}.get(row["before"], f" (previously: run {row['before']})")
    after = format_command("report", "latest", "--baseline", row["name"])
    return (
        f"baseline {row['name']} is run {row['run']} ({row['run_id']}){moved}\n"
        f"After the next run, compare it with: {after}"
    )


@with_options(name=Annotated[str, OptionSpec("Name of the baseline.", argument=True)], store=StoreOption)
def remove_baseline(name: str, *, store: str | None = None) -> dict[str, Any]:
    """Lets a name mean nothing from now on; the run and the name's history stay. Returns what it meant.

    Raises:
        UnknownName: no such baseline; the nearest are in the text.
    """
    from ragauge.store.store_access import open_store
    from ragauge.verbs import git

    with open_store(resolve_store_url(store)) as opened_store:
        return _build_row(opened_store.baselines.remove(name, git.find_user()))


def list_baseline_names(run: HasRun, store: str | None = None) -> list[str]:
    """The baselines that mean a run now, in the order of the alphabet."""
    return [line["name"] for line in baselines(store=store) if line["run_id"] == run.run.run_id]


def describe_removal(row: dict[str, Any], given: Mapping[str, Any]) -> str:
    """What `ragauge baseline remove` prints."""
    return f"{given['name']} is no longer a baseline; run {row['run']} ({row['run_id']}) is kept"


@with_options(
    name=Annotated[str, OptionSpec("One baseline; all if omitted.", argument=True)],
    branch=Annotated[str, OptionSpec("Only baselines of this branch.")],
    tag=Annotated[str, OptionSpec("Only baselines with this tag.")],
    history=Annotated[bool, OptionSpec("Earlier runs of each name, newest first.")],
    store=StoreOption,
)
def baselines(
    *, name: str = "", branch: str = "", tag: str = "", history: bool = False, store: str | None = None
) -> list[dict[str, Any]]:
    """What every baseline means, by name: name, run_id, run, at, who, git, branch, tag, note.

    Args:
        name: only this one.
        branch: only those of this branch.
        tag: only those with this tag.
        history: every line that ever was set, the newest first; run_id is "" where the name was taken away.
        store: URL of the store.
    """
    from ragauge.store.store_access import open_store

    conditions = {"name": name, "branch": branch, "tag": tag}
    with open_store(resolve_store_url(store)) as opened_store:
        lines = opened_store.baselines.history() if history else opened_store.baselines.list()
    return [_build_row(line) for line in lines if all(not v or getattr(line, k) == v for k, v in conditions.items())]


def build_baselines_table(rows: Sequence[dict[str, Any]], _: object = None) -> RenderableType:
    """The list for a terminal."""
    from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable
    from ragauge.rendering.words import to_line
    from ragauge.rendering.writers.terminal import render_terminal

    if not rows:
        return render_terminal([ReportSection(lead=("No baseline. Set one with: ragauge baseline set latest",))])
    headers = {"name": "baseline", "run": "run", "run_id": "id", "at": "set", "who": "by", "git": "commit"}
    headers |= {key: key for key in ("branch", "tag", "note") if any(row[key] for row in rows)}
    table_rows = []
    for row in rows:
        cells = row | {"at": row["at"][:16].replace("T", " "), "run": row["run"] if row["run_id"] else "(removed)"}
        table_rows.append(tuple(to_line(cells[key]) for key in headers))
    table = ReportTable(tuple(ReportColumn(head, fold=True) for head in headers.values()), tuple(table_rows))
    return render_terminal([ReportSection(table=table)])


def _validate_name(name: str) -> str:
    """A name that a baseline can have."""
    text = name.strip()
    if not text or not text.isprintable():
        raise UsageError(f"a baseline needs a name of printable characters, got {name!r}. Give it one such as main.")
    if len(text) > MAX_NAME_CHARS or not set(text).isdisjoint(FORBIDDEN_CHARS) or ".." in text:
        got = text if len(text) <= MAX_NAME_CHARS else f"{text[:20]}… of {len(text):,} characters"
        raise UsageError(
            f"a baseline's name has at most {MAX_NAME_CHARS} characters, without {' '.join(FORBIDDEN_CHARS)} or two "
            f"dots in a row; got {got!r}. Give it one such as main."
        )
    if text == LATEST:
        raise UsageError("a baseline cannot be called latest: latest always means the most recent run.")
    return text


def _refuse_taken_name(store: Store, name: str, resolved_run: Run) -> None:
    """Raises UsageError where a new baseline would be called as another run is: the name would mean two."""
    try:
        other = store.runs.find(name)
    except UnknownName:
        return
    if other.run_id != resolved_run.run_id:
        raise UsageError(
            f"the baseline was not set, because {name} is already the id or name of run {other.run_id}. "
            f"Give the baseline another name, such as {name[: MAX_NAME_CHARS - 9]}-baseline."
        )


def resolve_run(which: Any, store: Store) -> Run:
    """The run of an id, a name or "latest", or of what stands for one.

    Raises:
        UnknownName: no such run.
        UsageError: it stands for none.
    """
    if isinstance(which, Run):
        return which
    if isinstance(which, HasRun):
        return which.run
    if isinstance(which, str):
        return find_run(which, store)
    raise UsageError(f"run must be a stored run (id, name, or a scorecard), got {type(which).__name__}.")


def _build_row(line: Pointer) -> dict[str, Any]:
    fields = asdict(line)
    return {"name": fields.pop("name"), "run_id": fields.pop("run_id"), "run": fields.pop("run_name"), **fields}


LAST_BASELINE_REASON = "the baseline of its last evaluation"
PREVIOUS_RUN_REASON = "the previous run on the same set"
PREVIOUS_TRAFFIC_REASON = "the previous traffic of the same project"


class BaselineChoice(NamedTuple):
    """A run to hold another one against."""

    run_id: str  #: of it.
    why: str  #: it is this one, in words that stand behind its name.


class BaselineFinder:
    """Finds what runs of a store are held against, with the baselines read once.

    Args:
        store: where the runs are.
    """

    def __init__(self, store: Store) -> None:

        try:
            usual = find_default_name()
        except UsageError:  # git is on no branch: nothing tells which one is meant
            usual = ""
        lines = sorted(store.baselines.list(), key=lambda line: (line.name == usual, line.at), reverse=True)
        sets = store.run_list.load_sets([line.run_id for line in lines])
        self._named = [(line, sets[line.run_id]) for line in lines if line.run_id in sets]

    def of(self, run: Run, facts: RunFacts) -> list[BaselineChoice]:
        """What a run may be held against, the first choice first; [] for nothing.

        A baseline of its set (that of the git branch first, then the one set last), what it was last evaluated
        against, and the run before it on the same set. Traffic is held against traffic of its own project.
        """
        choices: dict[str, BaselineChoice] = {}
        for base in self._iter_choices(run, facts):
            if base.run_id not in ("", run.run_id):
                choices.setdefault(base.run_id, base)
        return list(choices.values())

    def _iter_choices(self, run: Run, facts: RunFacts) -> Iterator[BaselineChoice]:
        own_project = run.system if run.kind == "traffic" else ""
        for line, (name, version, project) in self._named:
            if project == own_project and (run.set_version == version or (run.set_name and run.set_name == name)):
                yield BaselineChoice(line.run_id, f"the baseline {line.name}")
        if facts.evaluation is not None:
            yield BaselineChoice(facts.evaluation.base_id, LAST_BASELINE_REASON)
        yield BaselineChoice(facts.before, PREVIOUS_TRAFFIC_REASON if own_project else PREVIOUS_RUN_REASON)


def find_cached_verdict(
    bases: list[BaselineChoice], facts: RunFacts, verdicts: Mapping[tuple[str | None, str], str]
) -> tuple[str, str]:
    """The verdict on the first choice that can be compared with the run, and that run's id.

    The verdict is "" where it is not known as things are now; the id too where there is nothing to compare it with.
    """
    from ragauge.store.cards import NO_VERDICT

    judge = next(iter(facts.judges), None)
    for base in bases:
        verdict = verdicts.get((judge, base.run_id), "")
        if verdict != NO_VERDICT:
            return verdict, base.run_id
    return "", ""
