"""Where answer and passages stand in what a function of a project returns, read from its return statement."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ragauge.data.readers.aliases import names_of
from ragauge.data.readers.passages import DOC_KEYS, SCORE_KEYS, TEXT_KEYS
from ragauge.systems.detecting_values import Function, returns

WRAPPERS = ("jsonify", "JSONResponse", "ORJSONResponse", "UJSONResponse")     # they send what they are given
ANSWERS = ("text", "reply", "content", "message", "output_text", "completion", "generated_text", "final", "body")
PASSAGES = (
    "contexts", "hits", "evidence", "chunks", "snippets", "sources", "matches", "results", "excerpts", "texts", "docs",
    "documents", "citations", "references", "grounding",
)  # fmt: skip
TEXTS = (*TEXT_KEYS, "snippet", "excerpt", "body", "chunk", "passage", "quote", "page_content")
SCORES = (*SCORE_KEYS, "relevance", "similarity", "weight", "confidence", "rank_score", "match")
DOCUMENTS = (*DOC_KEYS, "ref", "source", "url", "uri", "file", "document", "doc", "path", "title")
MANY_SCORES = ("scores", "similarities", "relevance", "relevances", "relevance_scores", "weights", "confidences")
MANY_DOCUMENTS = ("ids", "doc_ids", "document_ids", "refs", "source_ids", "urls", "files")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value in a reply.

    Attributes:
        place: how it is reached from the reply, as Python: ["data"]["text"].
        keys: on the way, the last its own.
        node: what stands there.
    """

    place: str
    keys: tuple[str, ...]
    node: ast.expr


def reading(node: Function, classes: Mapping[str, ast.ClassDef]) -> str:
    """The expression that makes answer and passages of what a function returned, in `reply`; "" where none is needed.

    Args:
        node: the function.
        classes: those of its file, by name: a model of a reply is one of them.
    """
    local = {target.id: one.value for one in ast.walk(node) if isinstance(one, ast.Assign)
             for target in one.targets if isinstance(target, ast.Name)}     # fmt: skip
    for returned in returns(node):
        leaves = list(_leaves(_unwrapped(returned, local), classes, local))
        answer = _best(leaves, names_of("answer"), ANSWERS, but=())
        if answer is not None:
            return _read(leaves, answer)
    return ""


def _read(leaves: list[Leaf], answer: Leaf) -> str:
    passages = _best(leaves, names_of("passages"), PASSAGES, but=(answer,))
    if passages is None:
        plain = len(answer.keys) == 1 and answer.keys[0] in names_of("answer")
        return "" if plain else f'{{"answer": reply{answer.place}}}'
    found = _passages(passages, leaves)
    known = len(answer.keys) == len(passages.keys) == 1 and answer.keys[0] in names_of("answer")
    if known and passages.keys[0] in names_of("passages") and found == f"reply{passages.place}":
        return ""
    return f'{{"answer": reply{answer.place}, "passages": {found}}}'


def _unwrapped(node: ast.expr, local: Mapping[str, ast.expr]) -> ast.expr:
    """What is returned, without what only sends it; of a name what it was assigned."""
    if isinstance(node, ast.Call) and _called(node) in WRAPPERS:
        given = [*node.args, *(one.value for one in node.keywords if one.arg == "content")]
        if given:
            return _unwrapped(given[0], local)
        return ast.Dict([ast.Constant(one.arg) for one in node.keywords], [one.value for one in node.keywords])
    if isinstance(node, ast.Name) and isinstance(local.get(node.id), ast.Dict | ast.Call):
        return local[node.id]
    return node


def _leaves(
    node: ast.expr, classes: Mapping[str, ast.ClassDef], local: Mapping[str, ast.expr], place: str = "",
    keys: tuple[str, ...] = (),
) -> Iterator[Leaf]:     # fmt: skip
    if isinstance(node, ast.Name) and isinstance(local.get(node.id), ast.Dict | ast.ListComp):
        node = local[node.id]
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from _leaves(value, classes, local, f"{place}[{json.dumps(key.value)}]", (*keys, key.value))
    elif isinstance(node, ast.Call) and _called(node) in classes and node.keywords:
        for one in node.keywords:
            if one.arg:
                yield from _leaves(one.value, classes, local, f"{place}.{one.arg}", (*keys, one.arg))
    elif keys:
        yield Leaf(place, keys, node)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _best(leaves: list[Leaf], sure: Collection[str], perhaps: Collection[str], but: Collection[Leaf]) -> Leaf | None:
    """The leaf whose own key says most that it is what is looked for; of several the first."""
    def likely(leaf: Leaf) -> int:
        inner = any(key in sure for key in leaf.keys[:-1])
        return 4 * (leaf.keys[-1] in sure) + 2 * (leaf.keys[-1] in perhaps) + inner

    fits = [leaf for leaf in leaves if leaf not in but and not isinstance(leaf.node, ast.Constant)]
    return max((leaf for leaf in fits if likely(leaf) > 1), key=likely, default=None)


def _passages(passages: Leaf, leaves: list[Leaf]) -> str:
    """The expression of the passages: as they are, with scores and ids that stand in lists of their own, or renamed."""
    beside = {name: next((one for one in leaves if one.keys[-1] in names and one is not passages), None)
              for name, names in (("score", MANY_SCORES), ("doc_id", MANY_DOCUMENTS))}     # fmt: skip
    element = passages.node.elt if isinstance(passages.node, ast.ListComp) else None
    if isinstance(passages.node, ast.List) and passages.node.elts:
        element = passages.node.elts[0]
    if isinstance(element, ast.Dict):
        keys = [key.value for key in element.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        parts = {ours: next((key for key in names if key in keys), "")
                 for ours, names in (("text", TEXTS), ("score", SCORES), ("doc_id", DOCUMENTS))}     # fmt: skip
        known = all(not key or key in (*TEXT_KEYS, *SCORE_KEYS, *DOC_KEYS) for key in parts.values())
        if not known and parts["text"]:
            named = ", ".join(f'"{ours}": one[{json.dumps(key)}]' for ours, key in parts.items() if key)
            return f"[{{{named}}} for one in reply{passages.place}]"
        return f"reply{passages.place}"
    there = {name: leaf for name, leaf in beside.items() if leaf is not None}
    if not there:
        return f"reply{passages.place}"
    named = ", ".join(f'"{name}": {name}' for name in ("text", *there))
    lists = ", ".join(f"reply{leaf.place}" for leaf in (passages, *there.values()))
    return f"[{{{named}}} for {', '.join(('text', *there))} in zip({lists}, strict=True)]"
