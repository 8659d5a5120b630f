"""Init: looks through a project and writes what a first evaluation needs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, RagaugeError, UsageError
from ragauge.verbs.evaluate_options import InitOptions
from ragauge.verbs.sources import parse_names

if TYPE_CHECKING:
    from ragauge.core.document import Document
    from ragauge.core.example import EvalSet
    from ragauge.evaluation.init.project_scan import Project

CONFIG_PATH, SYSTEM_PATH, GOLDEN_PATH = "ragauge.yaml", "ragauge_system.py", "eval/golden.jsonl"
SCHEMA_PATH, WORKFLOW_PATH, IGNORE_PATH = ".ragauge/ragauge.schema.json", ".github/workflows/ragauge.yml", ".gitignore"
FIRST_SET_QUESTIONS = 20  # of a first set that is made from documents
MAX_TABLES = 10  # files that are tried as an eval set
EXAMPLES_FOLDER = "eval/example_documents"
LABELS = ("relevant", "references", "answerable")
HEADING_PATTERN = re.compile(r"^#{1,4}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
MIN_HEADING_WORDS, MAX_HEADING_WORDS = 2, 12  # of a heading that makes a question
MAX_QUESTIONS_PER_DOCUMENT = 3  # questions, at most


@dataclass(frozen=True, slots=True)
class SetSource:
    """The questions that are wanted."""

    path: str = ""  #: of their file, relative to the project; "" = a file that is found, else a first set is made.
    columns: Mapping[str, str] = field(default_factory=dict)  #: our field -> the file's column.
    segments: tuple[str, ...] = ()  #: columns of the file to report by.

    @property
    def command_options(self) -> tuple[str, ...]:
        """How commands are told of the columns."""
        map_options = [word for ours, theirs in self.columns.items() for word in ("--map", f"{ours}={theirs}")]
        return (*map_options, *(("--segments", ",".join(self.segments)) if self.segments else ()))

    def read_eval_set(self, path: Path) -> EvalSet:
        """A file as an eval set."""
        from ragauge.readers.source import read_set

        return read_set(path, columns=self.columns, segments=self.segments)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file."""

    path: str  #: relative to the project.
    what: str  #: it is for.
    kept: bool = False  #: it was there, and is left as it is.
    backup: str = ""  #: where the file is now that was there and said something else; "" where none was.


@dataclass(frozen=True, slots=True)
class InitResult:
    """What was found, and what was written."""

    folder: str  #: the project.
    frameworks: tuple[str, ...]  #: that it uses.
    found: tuple[str, ...]  #: module:name of what could be asked, likeliest first.
    target: str  #: the system, as `ragauge run` takes it.
    example: bool  #: neither a system nor documents were found: both are an example.
    eval_set: str  #: path of the questions.
    n: int  #: questions.
    made_up: bool  #: the questions are to be replaced by real ones.
    written: tuple[WrittenFile, ...]  #: the files.
    notes: tuple[str, ...] = ()  #: what the number of questions can decide, and what of the workflow is not known.
    asked: SetSource = SetSource()  #: how the questions are read.

    @property
    def command(self) -> str:
        """The command of the first evaluation."""
        return f"ragauge run {shlex.join([self.target, self.eval_set, *self.asked.command_options])} --evaluate"

    @property
    def is_git_root(self) -> bool:
        """Whether it is the top folder of a git repository: elsewhere a workflow and a .gitignore have no place."""
        return any(written_file.path == WORKFLOW_PATH for written_file in self.written)

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        from dataclasses import asdict

        return {**asdict(self), "command": self.command}


def begin_project(options: InitOptions) -> InitResult:
    """Looks through a project and writes ragauge.yaml, a system adapter, a first eval set and a CI workflow.

    Nothing of the project is run. Files that are there are kept.

    Raises:
        UsageError: no such folder, or columns that no file of questions has.
        DataError: the eval set that was named cannot be read.
    """
    from ragauge.evaluation.init import project_files as files
    from ragauge.evaluation.init.project_scan import scan_project

    root = options.folder
    if not root.is_dir():
        raise UsageError(f"{root}: no such folder. Run ragauge init in the folder of your project.")
    project = scan_project(root.absolute())
    writing = _ProjectWriter(root, options.force)
    target, example = _resolve_target(project, writing, options.system), False
    if not target:
        target, example = _write_example(writing), True
    set_source = SetSource(options.eval_set, options.columns or {}, parse_names(options.segments))
    questions, path, made_up = _find_questions(root, project, set_source, target, writing)
    counts = {"answers": len(questions), **{name: _count_labeled(questions, name) for name in LABELS}}
    needs = files.find_needs(root, {} if target.startswith("reference:") else project.imports)
    words = [target, path, *set_source.command_options]
    other = _write_settings(
        writing,
        files.build_config(counts, set_source.command_options),
        files.build_workflow(words, needs),
        shlex.join(words),
    )
    targets = tuple(candidate.target for candidate in project.candidates)
    notes = tuple(note for note in (files.describe_size(counts), needs.said, other) if note)
    return InitResult(
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
        set_source,
    )


class _ProjectWriter:
    """Writes files of a project, and keeps what is there."""

    def __init__(self, root: Path, force: bool) -> None:
        self.root, self.force = root, force
        self.files: list[WrittenFile] = []

    def text(self, path: str) -> str:
        """What a file says; "" where there is none, or it cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    def write_file(self, path: str, text: str, what: str, *, is_generated: bool = False) -> None:
        """Writes a file, or leaves the one that is there. With `force` that one is moved aside where it differs.

        Args:
            path: of the file, relative to the project.
            text: of the file.
            what: it is for.
            is_generated: what is there is as it was written here, and is written anew in any case.
        """
        backup = ""
        with self._guard_writable(path) as target:
            is_kept = target.exists() and not (self.force or is_generated)
            if not is_kept:
                if target.exists() and not is_generated and self.text(path) != text:
                    backup = _move_aside(target).relative_to(self.root).as_posix()
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        self.files.append(WrittenFile(path, what, is_kept, backup))

    def add(self, path: str, line: str, equivalents: Collection[str], what: str) -> None:
        """Adds a line to a file, which is made where there is none; one of the lines `equivalents` is as good."""
        with self._guard_writable(path) as target:
            lines = target.read_text(encoding="utf-8").splitlines() if target.exists() else []
            is_kept = not {line, *equivalents}.isdisjoint(lines)
            if not is_kept:
                target.write_text("\n".join([*lines, line]) + "\n", encoding="utf-8")
        self.files.append(WrittenFile(path, what, is_kept))

    @contextmanager
    def _guard_writable(self, path: str) -> Iterator[Path]:
        """The place of a file; where it cannot be written, an error that names it."""
        target = self.root / path
        try:
            yield target
        except OSError as error:
            problem = f"cannot be written: {error.strerror or error}."
            hint = "Run ragauge init in a folder that you may write to."
            raise DataError(problem, source=str(target.absolute()), hint=hint) from None


def _move_aside(path: Path) -> Path:
    """Moves a file to a name beside it that no older backup has: NAME.bak, NAME.bak2, NAME.bak3, and so on."""
    names = (path.with_name(f"{path.name}.bak{n if n > 1 else ''}") for n in count(1))
    return path.rename(next(name for name in names if not name.exists()))


def _resolve_target(project: Project, writing: _ProjectWriter, system: str = "") -> str:
    """The system that is named, else the likeliest of the project, else the reference pipeline over its documents.

    Something of the project is asked through an adapter, whether it is named or found.
    """
    from ragauge.evaluation.init import project_files as files

    candidates = [candidate for candidate in project.candidates if not system or system in candidate.names]
    if candidates:
        best, current = candidates[0], writing.text(SYSTEM_PATH)
        adapter = files.build_adapter(best)
        if not system or writing.force or current in ("", adapter):
            writing.write_file(SYSTEM_PATH, adapter, f"queries {best.target} ({best.path} line {best.line})")
            return f"{Path(SYSTEM_PATH).stem}:system"
        writing.write_file(SYSTEM_PATH, adapter, f"does not query {best.target}; --force rewrites it")
    return system or (f"reference:{project.documents}" if project.documents else "")


def _write_example(writing: _ProjectWriter) -> str:
    """A few documents to see everything run on, and the reference pipeline over them."""
    from ragauge.evaluation.init import project_files as files

    for name, text in files.TEMPLATES["documents"].items():
        writing.write_file(f"{EXAMPLES_FOLDER}/{name}.md", text, "a document of the example")
    return f"reference:{EXAMPLES_FOLDER}"


def _find_questions(
    root: Path, project: Project, set_source: SetSource, target: str, writing: _ProjectWriter
) -> tuple[EvalSet, str, bool]:
    """The eval set, its path, and whether it was made here."""
    from ragauge.evaluation.init import project_files as files
    from ragauge.readers.source import read_set

    if set_source.path:
        return set_source.read_eval_set(root / set_source.path), set_source.path, False
    starters: tuple[EvalSet, str] | None = None
    for path in project.tables[:MAX_TABLES]:
        eval_set, name = _read_table(path, set_source), path.relative_to(root.absolute()).as_posix()
        if eval_set is not None and not all("starter" in example.tags for example in eval_set.examples):
            return eval_set, name, False
        starters = starters or (None if eval_set is None else (eval_set, name))
    if starters is not None:  # made up here before; the user's own, wherever they lie, come first
        return *starters, True
    if set_source.command_options:
        raise UsageError(f"no question file matches {' '.join(set_source.command_options)}. Name one with --set FILE.")
    rows: list[dict[str, Any]] = []
    if project.documents:
        with suppress(DataError):  # documents that cannot be read make no questions
            rows = build_first_questions(root / project.documents, is_labeled=target.startswith("reference:"))
            what = f"{len(rows)} questions from the headings of {project.documents}: replace them"
    if not rows:
        rows = files.TEMPLATES["questions" if target == f"reference:{EXAMPLES_FOLDER}" else "starters"]
        what = "first questions: replace them"
    writing.write_file(GOLDEN_PATH, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), what)
    return read_set(root / GOLDEN_PATH), GOLDEN_PATH, True


def _read_table(path: Path, set_source: SetSource) -> EvalSet | None:
    """A table as an eval set; None where it is none."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval_set = set_source.read_eval_set(path)
        except (RagaugeError, OSError, ValueError):
            return None
    return eval_set if len(eval_set) else None


def build_first_questions(folder: Path, *, is_labeled: bool) -> list[dict[str, Any]]:
    """Rows of an eval set from the headings of documents: enough to see everything run, not to judge a system by.

    Args:
        folder: with text files.
        is_labeled: name the heading's document as the relevant one; only where the index names documents by file.

    Raises:
        DataError: the folder cannot be read.
    """
    from ragauge.readers.corpus import read_corpus

    numbered = [
        (n, document.doc_id, query)
        for document in read_corpus(folder)
        for n, query in enumerate(islice(_iter_questions(document), MAX_QUESTIONS_PER_DOCUMENT))
    ]
    first = sorted(numbered, key=lambda entry: entry[0])[:FIRST_SET_QUESTIONS]  # the first of every document, and so on
    return [
        {"query_id": f"s{n}", "query": query, **({"relevant": {doc_id: 1}} if is_labeled else {}), "tags": ["starter"]}
        for n, (_, doc_id, query) in enumerate(first, 1)
    ]


def _iter_questions(document: Document) -> Iterator[str]:
    for heading in dict.fromkeys(HEADING_PATTERN.findall(document.text)):
        words = heading.split()
        if heading == document.title and len(words) < MIN_HEADING_WORDS:
            continue
        if heading.endswith("?"):
            yield heading
        elif MIN_HEADING_WORDS <= len(words) <= MAX_HEADING_WORDS:
            yield f"What do the documents say about {heading}?"


def _count_labeled(questions: EvalSet, name: str) -> int:
    """How many examples have a label."""
    return sum(getattr(example, name) not in (None, ()) for example in questions.examples)


def _write_settings(writing: _ProjectWriter, config: str, workflow: str, command: str) -> str:
    """Configuration, its schema for editors, the workflow, and what git is not to keep.

    Returns:
        Where a workflow that is kept asks something else than `command`, what to do about it; else "".
    """
    from ragauge.core.config.file import build_json_schema
    from ragauge.evaluation.init import project_files as files

    writing.write_file(CONFIG_PATH, config, "what a change must not break")
    writing.write_file(
        SCHEMA_PATH,
        json.dumps(build_json_schema(), indent=2) + "\n",
        "lets editors check and complete ragauge.yaml",
        is_generated=True,
    )
    if (writing.root / ".git").exists():
        existing = writing.text(WORKFLOW_PATH)
        existing_command = files.find_run_command(existing)
        # nobody has changed it since
        is_unchanged = existing.replace(existing_command, command) == workflow if existing_command else False
        writing.write_file(WORKFLOW_PATH, workflow, "evaluates and gates every pull request", is_generated=is_unchanged)
        writing.add(IGNORE_PATH, ".ragauge/", (".ragauge", "/.ragauge/", "/.ragauge"), "leaves the store out of git")
        if existing_command and existing_command != command and not (is_unchanged or writing.force):
            return f"{WORKFLOW_PATH} runs {existing_command}: change it to {command}, or run ragauge init --force"
    return ""
