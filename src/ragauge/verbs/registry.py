"""What ragauge can do, verb by verb: each capability declares its own in `manifest.py`, and this lists them all.

A declaration gives the command, its help and examples, the name in Python, its coroutine and the pages of the
dashboard. Manifests import nothing but this module, so that `ragauge --help` reads all of them and loads no verb.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

MANIFESTS = (
    "ragauge.evaluation.manifest",
    "ragauge.diagnosis.manifest",
    "ragauge.comparison.manifest",
    "ragauge.gating.manifest",
    "ragauge.testsets.manifest",
    "ragauge.labels.manifest",
    "ragauge.studies.manifest",
    "ragauge.monitoring.manifest",
    "ragauge.dashboard.manifest",
)
PANELS = {  # heading in `ragauge --help` -> its commands in order; further ones that name the heading follow
    "Start": ("demo", "init", "doctor", "run", "evaluate", "retrieval", "report", "show", "explain", "metrics"),
    "Compare and gate": ("compare", "gate", "baseline", "confirm"),
    "Sets and people": ("testset", "label", "judge"),
    "Components": ("sweep", "component", "study"),
    "Production": ("monitor", "ui", "runs", "store"),
}


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One thing that ragauge does. References to code are texts, "module:name", loaded when they are used."""

    #: the function that does it; its parameters are the options of the command. A public verb has its name in Python.
    #: "" for a command function of its own that calls none of Python.
    function: str = ""
    command: str = ""  #: as typed behind `ragauge`, such as "judge probe"; "" for Python alone.
    help: str = ""  #: of the command. The first paragraph stands in the list of commands.
    examples: tuple[str, ...] = ()  #: two: what follows the command.
    panel: str = ""  #: heading of `ragauge --help` under which it is listed; "" where its group is listed.
    public: bool = True  #: whether `ragauge.NAME` is the function, and `ragauge.aio.NAME` its coroutine.
    reads_only: bool = False  #: it changes no store, so an older one is not upgraded for it.
    # how the command shows its result
    outputs: str = ""  #: help of -o; "" where the result is not written to files.
    result: str = ""  #: the type of the result, needed for the formats of -o.
    text: str = ""  #: what makes the printed text of the result and the options; "" for a result that shows itself.
    sections: str = ""  #: what makes the sections that are printed, given the result; "" as for `text`.
    progress: str = ""  #: what the progress line says was done to an example, such as "judged"; "" for no line.
    kept: str = "Everything evaluated so far is saved."  #: what Ctrl-C says is kept.
    #: what gives the dry run as JSON types, given the options, and what makes its text; () for no --dry-run.
    preview: tuple[str, ...] = ()
    run_as: str = ""  #: a command function of its own, where the result is not simply shown; "" for the derived one.

    @property
    def name(self) -> str:
        """The name in Python."""
        return self.function.rpartition(":")[2]


@dataclass(frozen=True, kw_only=True)
class VerbGroup:
    """Commands that share their first word."""

    command: str  #: the words as typed.
    help: str  #: what the list of commands says.
    panel: str = ""  #: heading of `ragauge --help` under which it is listed; "" for a group in a group.
    default: str = ""  #: the command that is meant where options, or nothing, follow.


def load(reference: str) -> Any:
    """What a reference of a declaration stands for.

    >>> load("ragauge.verbs.registry:PANELS") is PANELS
    True
    """
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@cache
def load_manifests() -> tuple[Any, ...]:
    """The manifests: modules with VERBS, and GROUPS and PAGES where the capability has some."""
    return tuple(map(import_module, MANIFESTS))


@cache
def list_verbs() -> tuple[Verb, ...]:
    """Every verb, in the order of the manifests."""
    return tuple(verb for manifest in load_manifests() for verb in manifest.VERBS)


@cache
def list_commands() -> Mapping[str, Verb | VerbGroup]:
    """Words as typed -> the command or group, in the order of the help."""
    declared: list[Verb | VerbGroup] = []
    for manifest in load_manifests():
        declared += getattr(manifest, "GROUPS", ())
        declared += [verb for verb in manifest.VERBS if verb.command]
    order = {name: place for place, name in enumerate(name for names in PANELS.values() for name in names)}
    declared.sort(key=lambda entry: order.get(entry.command.split()[0], len(order)))
    return {entry.command: entry for entry in declared}


@cache
def list_public_verbs() -> Mapping[str, Verb]:
    """Name in Python -> its verb."""
    return {verb.name: verb for verb in list_verbs() if verb.public and verb.function}


@cache
def list_page_modules() -> tuple[str, ...]:
    """The modules that declare pages of the dashboard, in PAGES of each."""
    return tuple(module for manifest in load_manifests() for module in getattr(manifest, "PAGES", ()))
