"""Init: looks through a project and writes what a first evaluation needs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, RagaugeError, UsageError
from ragauge.verbs.evaluate_options import InitOptions
from ragauge.verbs.sources import named

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.evaluation.init.detection import Project

CONFIG, SYSTEM, GOLDEN = "ragauge.yaml", "ragauge_system.py", "eval/golden.jsonl"
SCHEMA, WORKFLOW, IGNORE = ".ragauge/ragauge.schema.json", ".github/workflows/ragauge.yml", ".gitignore"
QUESTIONS = 20  # of a first set that is made from documents
TABLES_READ = 10  # files that are tried as an eval set
EXAMPLES = "eval/example_documents"
LABELS = ("relevant", "references", "answerable")


@dataclass(frozen=True, slots=True)
class SetSource:
    """The questions that are wanted.

    Attributes:
        path: of their file, relative to the project; "" = a file that is found, else a first set is made.
        columns: our field -> the file's column.
        segments: columns of the file to report by.
    """

    path: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    segments: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """How commands are told of the columns."""
        named = [word for ours, theirs in self.columns.items() for word in ("--map", f"{ours}={theirs}")]
        return (*named, *(("--segments", ",".join(self.segments)) if self.segments else ()))

    def read(self, path: Path) -> EvalSet:
        """A file as an eval set."""
        from ragauge.readers.source import read_set

        return read_set(path, columns=self.columns, segments=self.segments)


@dataclass(frozen=True, slots=True)
class Written:
    """One file.

    Attributes:
        path: relative to the project.
        what: it is for.
        kept: it was there, and is left as it is.
        backup: where the file is now that was there and said something else; "" where none was.
    """

    path: str
    what: str
    kept: bool = False
    backup: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """What was found, and what was written.

    Attributes:
        folder: the project.
        frameworks: that it uses.
        found: module:name of what could be asked, likeliest first.
        target: the system, as `ragauge run` takes it.
        example: neither a system nor documents were found: both are an example.
        eval_set: path of the questions.
        n: questions.
        made_up: the questions are to be replaced by real ones.
        written: the files.
        notes: what the number of questions can decide, and what of the workflow is not known.
        asked: how the questions are read.
    """

    folder: str
    frameworks: tuple[str, ...]
    found: tuple[str, ...]
    target: str
    example: bool
    eval_set: str
    n: int
    made_up: bool
    written: tuple[Written, ...]
    notes: tuple[str, ...] = ()
    asked: SetSource = SetSource()

    @property
    def command(self) -> str:
        """The command of the first evaluation."""
        return f"ragauge run {shlex.join([self.target, self.eval_set, *self.asked.options])} --evaluate"

    @property
    def in_git(self) -> bool:
        """Whether it is the top folder of a git repository: elsewhere a workflow and a .gitignore have no place."""
        return any(one.path == WORKFLOW for one in self.written)

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        from dataclasses import asdict

        return {**asdict(self), "command": self.command}


def begin(wanted: InitOptions) -> Begun:
    """Looks through a project and writes ragauge.yaml, a system adapter, a first eval set and a CI workflow.

    Nothing of the project is run. Files that are there are kept.

    Raises:
        UsageError: no such folder, or columns that no file of questions has.
        DataError: the eval set that was named cannot be read.
    """
    from ragauge.evaluation.init import project_files as files
    from ragauge.evaluation.init.detection import scan_project
    from ragauge.evaluation.init.project_files import needs_of

    root = wanted.folder
    if not root.is_dir():
        raise UsageError(f"{root}: no such folder. Run ragauge init in the folder of your project.")
    project = scan_project(root.absolute())
    writing = _Writing(root, wanted.force)
    target, example = _target(project, writing, wanted.system), False
    if not target:
        target, example = _example(writing), True
    asked = SetSource(wanted.eval_set, wanted.columns or {}, named(wanted.segments))
    questions, path, made_up = _questions(root, project, asked, target, writing)
    counts = {"answers": len(questions), **{name: _having(questions, name) for name in LABELS}}
    needs = needs_of(root, {} if target.startswith("reference:") else project.imports)
    words = [target, path, *asked.options]
    other = _settings(writing, files.config(counts, asked.options), files.workflow(words, needs), shlex.join(words))
    targets = tuple(candidate.target for candidate in project.candidates)
    notes = tuple(note for note in (files.size(counts), needs.said, other) if note)
    return Begun(
        str(root),
        project.frameworks,
        targets,
        target,
        example,
        path,
        len(questions),
        made_up,
        tuple(writing.files),
        notes,
        asked,
    )


class _Writing:
    """Writes files of a project, and keeps what is there."""

    def __init__(self, root: Path, force: bool) -> None:
        self.root, self.force = root, force
        self.files: list[Written] = []

    def text(self, path: str) -> str:
        """What a file says; "" where there is none, or it cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    def put(self, path: str, text: str, what: str, *, own: bool = False) -> None:
        """Writes a file, or leaves the one that is there. With `force` that one is moved aside where it differs.

        Args:
            path: of the file, relative to the project.
            text: of the file.
            what: it is for.
            own: what is there is as it was written here, and is written anew in any case.
        """
        backup = ""
        with self._writable(path) as target:
            kept = target.exists() and not (self.force or own)
            if not kept:
                if target.exists() and not own and self.text(path) != text:
                    backup = _aside(target).relative_to(self.root).as_posix()
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        self.files.append(Written(path, what, kept, backup))

    def add(self, path: str, line: str, but: Collection[str], what: str) -> None:
        """Adds a line to a file, which is made where there is none; one of the lines `but` is as good."""
        with self._writable(path) as target:
            lines = target.read_text(encoding="utf-8").splitlines() if target.exists() else []
            kept = not {line, *but}.isdisjoint(lines)
            if not kept:
                target.write_text("\n".join([*lines, line]) + "\n", encoding="utf-8")
        self.files.append(Written(path, what, kept))

    @contextmanager
    def _writable(self, path: str) -> Iterator[Path]:
        """The place of a file; where it cannot be written, an error that names it."""
        target = self.root / path
        try:
            yield target
        except OSError as error:
            problem = f"cannot be written: {error.strerror or error}."
            hint = "Run ragauge init in a folder that you may write to."
            raise DataError(problem, source=str(target.absolute()), hint=hint) from None


def _aside(path: Path) -> Path:
    """Moves a file to a name beside it that no older backup has: NAME.bak, NAME.bak2, NAME.bak3, and so on."""
    names = (path.with_name(f"{path.name}.bak{n if n > 1 else ''}") for n in count(1))
    return path.rename(next(name for name in names if not name.exists()))


def _target(project: Project, writing: _Writing, system: str = "") -> str:
    """The system that is named, else the likeliest of the project, else the reference pipeline over its documents.

    Something of the project is asked through an adapter, whether it is named or found.
    """
    from ragauge.evaluation.init import project_files as files

    candidates = [one for one in project.candidates if not system or system in one.names]
    if candidates:
        best, before = candidates[0], writing.text(SYSTEM)
        adapter = files.system(best)
        if not system or writing.force or before in ("", adapter):
            writing.put(SYSTEM, adapter, f"asks {best.target} ({best.path} line {best.line})")
            return f"{Path(SYSTEM).stem}:system"
        writing.put(SYSTEM, adapter, f"asks something else than {best.target}: with --force it is written anew")
    return system or (f"reference:{project.documents}" if project.documents else "")


def _example(writing: _Writing) -> str:
    """A few documents to see everything run on, and the reference pipeline over them."""
    from ragauge.evaluation.init import project_files as files

    for name, text in files.DOCUMENTS.items():
        writing.put(f"{EXAMPLES}/{name}.md", text, "a document of the example")
    return f"reference:{EXAMPLES}"


def _questions(
    root: Path, project: Project, asked: SetSource, target: str, writing: _Writing
) -> tuple[EvalSet, str, bool]:
    """The eval set, its path, and whether it was made here."""
    from ragauge.evaluation.init import project_files as files
    from ragauge.evaluation.init.detection import first_questions
    from ragauge.readers.source import read_set

    if asked.path:
        return asked.read(root / asked.path), asked.path, False
    starters: tuple[EvalSet, str] | None = None
    for path in project.tables[:TABLES_READ]:
        eval_set, name = _read(path, asked), path.relative_to(root.absolute()).as_posix()
        if eval_set is not None and not all("starter" in example.tags for example in eval_set.examples):
            return eval_set, name, False
        starters = starters or (None if eval_set is None else (eval_set, name))
    if starters is not None:  # made up here before; the user's own, wherever they lie, come first
        return *starters, True
    if asked.options:
        raise UsageError(f"no file of questions is found that {' '.join(asked.options)} fits. Name it: --set FILE.")
    made = None
    if project.documents:
        try:
            made = first_questions(root / project.documents, QUESTIONS, labelled=target.startswith("reference:"))
        except DataError:  # documents that cannot be read make no questions
            made = None
    if made is not None and len(made):
        what = f"{len(made)} questions from the headings of {project.documents}: replace them"
        writing.put(GOLDEN, _lines(made), what)
        return read_set(root / GOLDEN), GOLDEN, True
    rows = files.EXAMPLES if target == f"reference:{EXAMPLES}" else files.OPENERS
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    writing.put(GOLDEN, text, "first questions: replace them")
    return read_set(root / GOLDEN), GOLDEN, True


def _read(path: Path, asked: SetSource) -> EvalSet | None:
    """A table as an eval set; None where it is none."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval_set = asked.read(path)
        except (RagaugeError, OSError, ValueError):
            return None
    return eval_set if len(eval_set) else None


def _lines(made: EvalSet) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _rows(made))


def _rows(made: EvalSet) -> Iterator[dict[str, Any]]:
    for example in made.examples:
        labels = {doc_id: 1 for group in example.relevant or () for doc_id in group.doc_ids}
        yield {
            "query_id": example.query_id,
            "query": example.query,
            **({"relevant": labels} if labels else {}),
            "tags": sorted(example.tags),
        }


def _having(questions: EvalSet, name: str) -> int:
    """How many examples have a label."""
    return sum(getattr(example, name) not in (None, ()) for example in questions.examples)


def _settings(writing: _Writing, config: str, workflow: str, command: str) -> str:
    """Configuration, its schema for editors, the workflow, and what git is not to keep.

    Returns:
        Where a workflow that is kept asks something else than `command`, what to do about it; else "".
    """
    from ragauge.core.config.file import json_schema
    from ragauge.evaluation.init import project_files as files

    writing.put(CONFIG, config, "what a change must not break")
    writing.put(
        SCHEMA, json.dumps(json_schema(), indent=2) + "\n", "lets editors check and complete ragauge.yaml", own=True
    )
    if (writing.root / ".git").exists():
        there = writing.text(WORKFLOW)
        asked = files.asked_in(there)
        own = there.replace(asked, command) == workflow if asked else False  # nobody has changed it since
        writing.put(WORKFLOW, workflow, "evaluates and gates every pull request", own=own)
        writing.add(IGNORE, ".ragauge/", (".ragauge", "/.ragauge/", "/.ragauge"), "leaves the store out of git")
        if asked and asked != command and not (own or writing.force):
            return f"{WORKFLOW} is kept and asks {asked}: write {command} there, or ragauge init --force"
    return ""
