"""Looks through a project for its RAG system: what it is built with, what could be asked, questions and documents.

Nothing of the project is imported or run: Python files are parsed.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragauge.systems.detecting_routes import FIRST, call_of, path_of

SKIPPED = frozenset({
    "venv", "env", "node_modules", "site-packages", "__pycache__", "build", "dist", "tests", "test", "migrations",
})  # fmt: skip
MOST_FILES, MOST_BYTES = 3_000, 1_000_000     # a project that is larger is looked through in part
FRAMEWORKS = {     # top-level package -> what it is called
    "langchain": "LangChain", "langchain_core": "LangChain", "langchain_community": "LangChain",
    "langgraph": "LangChain", "llama_index": "LlamaIndex", "haystack": "Haystack", "openai": "OpenAI",
    "anthropic": "Anthropic", "chromadb": "Chroma", "qdrant_client": "Qdrant", "pinecone": "Pinecone",
    "weaviate": "Weaviate", "faiss": "Faiss", "pgvector": "pgvector", "elasticsearch": "Elasticsearch",
    "opensearchpy": "OpenSearch", "sentence_transformers": "Sentence Transformers", "fastapi": "FastAPI",
    "flask": "Flask",
}  # fmt: skip
WEB = frozenset({"FastAPI", "Flask"})
VERBS = (
    "answer", "answer_question", "ask", "ask_question", "query", "rag", "respond", "chat", "qa", "run_query",
    "generate_answer", "get_answer", "rag_query", "rag_answer",
)  # fmt: skip
METHODS = ("query", "answer", "ask", "run", "invoke", "respond", "chat")
OBJECTS = (
    "chain", "rag_chain", "qa_chain", "retrieval_chain", "query_engine", "chat_engine", "pipeline", "rag_pipeline",
    "rag", "retriever",
)  # fmt: skip
ASKED = ("question", "query", "q", "prompt", "message", "user_input", "text", "user_query", "input")
FILES = ("rag", "chain", "qa", "pipeline", "engine", "app", "main", "bot", "chat", "answer", "query")
TABLES = (".jsonl", ".csv", ".parquet", ".json")
TEXTS = (".md", ".txt", ".rst", ".html")
NAMED = ("golden", "eval", "questions", "qa", "test", "benchmark", "faq")
FEWEST = 3     # text files that make a folder of documents


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something in the project that could be asked.

    Attributes:
        target: module:name, as `ragauge run` takes it.
        kind: function, class, object, or route of a web application.
        path: of its file.
        line: of its definition.
        score: how likely it is the system; higher is likelier.
        root: folder that has to be importable for it; "" = the project's own.
        call: the expression that asks it `query`, where it is not called with the question alone.
    """

    target: str
    kind: str
    path: str
    line: int
    score: int
    root: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """What is in a project.

    Attributes:
        frameworks: names, most used first.
        candidates: likeliest first.
        tables: files that may hold questions, likeliest first.
        documents: the folder with most text files, relative; "" for none.
    """

    frameworks: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    tables: tuple[Path, ...]
    documents: str


def look_through(folder: Path) -> Project:
    """What a project is built with and what of it could be asked."""
    uses: dict[str, int] = {}
    candidates: list[Candidate] = []
    tables: list[Path] = []
    texts: dict[Path, int] = {}
    for path in _files(folder):
        if path.suffix == ".py":
            tree = _parsed(path)
            if tree is None:
                continue
            used = {name for package in _imported(tree) if (name := FRAMEWORKS.get(package))}
            for name in used:
                uses[name] = uses.get(name, 0) + 1
            candidates += _candidates(tree, path.relative_to(folder), used - WEB)
        elif path.suffix in TABLES:
            tables.append(path)
        elif path.suffix in TEXTS and path.parent != folder:
            texts[path.parent] = texts.get(path.parent, 0) + 1
    candidates.sort(key=lambda one: (-one.score, one.path, one.line))
    tables.sort(key=lambda one: (not any(word in one.name.lower() for word in NAMED), len(one.parts), one.name))
    most = max(texts, key=lambda one: (texts[one], str(one)), default=None)
    documents = "" if most is None or texts[most] < FEWEST else most.relative_to(folder).as_posix()
    frameworks = sorted(uses, key=lambda name: (-uses[name], name))
    return Project(tuple(frameworks), tuple(candidates), tuple(tables), documents)


def _files(folder: Path) -> Iterator[Path]:
    """Files that may matter, of the folder and those below, at most some thousands."""
    left = MOST_FILES
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders
            if name not in SKIPPED and not name.startswith((".", "_")) and not name.endswith(".egg-info")
            and not (Path(place) / name / "pyvenv.cfg").exists()
        )  # fmt: skip
        for name in sorted(names):
            path = Path(place) / name
            if path.suffix not in (".py", *TABLES, *TEXTS) or name.startswith((".", "test_")):
                continue
            left -= 1
            if left < 0:
                return
            yield path


def _parsed(path: Path) -> ast.Module | None:
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")     # of the project's own string escapes
            return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
        return None


def _imported(tree: ast.Module) -> set[str]:
    """Top-level packages that a file imports."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def _candidates(tree: ast.Module, path: Path, frameworks: Collection[str]) -> Iterator[Candidate]:
    module, root = _module(path)
    if not module:
        return
    bonus = (2 if frameworks else 0) + any(word in path.stem.lower() for word in FILES)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        route = path_of(node)
        if route is not None and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            words = " ".join([node.name, *route.strip("/").split("/")]).replace("-", "_").lower().split()
            call = call_of(node, classes, ASKED, module) if any(map(_verb, words)) else None
            if call:
                place = path.as_posix()
                yield Candidate(f"{module}:{node.name}", "route", place, node.lineno, FIRST + bonus, root, call)
            continue
        for name, kind, score in _named(node, frameworks):
            yield Candidate(f"{module}:{name}", kind, path.as_posix(), node.lineno, score + bonus, root)


def _module(path: Path) -> tuple[str, str]:
    """A file's module, and the folder that has to be importable for it; "" where it can have none."""
    parts = path.with_suffix("").parts
    root = parts[0] if parts[0] == "src" and len(parts) > 1 else ""
    parts = parts[1:] if root else parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else "", root


def _named(node: ast.stmt, frameworks: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """(name, kind, score) of what a statement of a module defines that could be asked."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        score = _verb(node.name)
        if score and _takes_one(node.args, 0) and not node.name.startswith("_"):
            yield node.name, "function", score + _question(node.args, 0)
    elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
        methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
        made = methods.get("__init__")
        asked = next((methods[name] for name in METHODS if name in methods), None)
        if asked is not None and _takes_one(asked.args, 1) and (made is None or _needs(made.args, 1) == 0):
            yield node.name, "class", 2 + _question(asked.args, 1)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and frameworks:
        targets: Sequence[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and target.id.lower() in OBJECTS and isinstance(node.value, ast.expr):
                yield target.id, "object", 2 if target.id == "retriever" else 5


def _verb(name: str) -> int:
    if name in VERBS:
        return 4
    words = name.split("_")
    return 2 if any(word in words for word in ("answer", "ask", "query", "rag", "qa", "chat")) else 0


def _needs(arguments: ast.arguments, skipped: int) -> int:
    """Arguments without a default, less self."""
    positional = [*arguments.posonlyargs, *arguments.args][skipped:]
    required = max(0, len(positional) - len(arguments.defaults))
    return required + sum(default is None for default in arguments.kw_defaults)


def _takes_one(arguments: ast.arguments, skipped: int) -> bool:
    positional = [*arguments.posonlyargs, *arguments.args][skipped:]
    return bool(positional) and _needs(arguments, skipped) <= 1 and not any(
        default is None for default in arguments.kw_defaults
    )  # fmt: skip


def _question(arguments: ast.arguments, skipped: int) -> int:
    first = [*arguments.posonlyargs, *arguments.args][skipped:][0].arg
    return 2 if first in ASKED else 0
