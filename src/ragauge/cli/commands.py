"""The commands by name: what `ragauge --help` lists, and where each is, so that a start imports one of them alone."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class CommandEntry(NamedTuple):
    """A command, or a group of them.

    Attributes:
        module: where it is.
        name: of its function; "app" for a group.
        help: the first paragraph of its help.
    """

    module: str
    name: str
    help: str


COMMANDS = {
    "demo": CommandEntry(
        "ragauge.evaluation.demo.command",
        "demo",
        "Evaluate a real RAG over a small corpus, in three configurations: one good, two with a planted fault. No key.",
    ),
    "init": CommandEntry(
        "ragauge.evaluation.init.command",
        "init",
        "Find the system in a project, write ragauge.yaml, an adapter, a first eval set and a workflow, and evaluate.",
    ),
    "run": CommandEntry(
        "ragauge.evaluation.run.command",
        "run",
        "Ask a system every question of a set, and keep what it returns. The same command goes on where one stopped.",
    ),
    "evaluate": CommandEntry(
        "ragauge.evaluation.evaluate.command",
        "evaluate",
        "Say how good retrieval and generation each are, with what certainty, and what to do.",
    ),
    "retrieval": CommandEntry(
        "ragauge.evaluation.retrieval.command",
        "retrieval",
        "Measure a ranking against relevance labels, as trec_eval does.",
    ),
    "report": CommandEntry(
        "ragauge.evaluation.scorecard.command",
        "report",
        "Write or print the report of an evaluated run. Nothing is judged again.",
    ),
    "explain": CommandEntry(
        "ragauge.diagnosis.explain.command",
        "explain",
        "Show how a number came about: of one example its facts, formulas and cause; of a run its means and findings.",
    ),
    "confirm": CommandEntry(
        "ragauge.diagnosis.confirm.command",
        "confirm",
        "Confirm a run's causes: change the passages of failed examples, answer again, and see. Makes extra calls.",
    ),
    "compare": CommandEntry(
        "ragauge.comparison.command",
        "compare",
        "Say what got better and what got worse between runs, overall and per segment, and how sure that is.",
    ),
    "chunking": CommandEntry(
        "ragauge.studies.chunking.command",
        "chunking",
        "Say which way of cutting documents brings most of the evidence into the context.",
    ),
    "embeddings": CommandEntry(
        "ragauge.studies.embeddings.command",
        "embeddings",
        "Say which embedder finds what is relevant, at what size and price; BM25 always runs too.",
    ),
    "sweep": CommandEntry(
        "ragauge.studies.sweep.command",
        "sweep",
        "Try configurations of a system, stop asking what surely loses, and say which to take and how sure that is.",
    ),
    "gate": CommandEntry(
        "ragauge.gating.command",
        "gate",
        "Hold a run to the rules of ragauge.yaml. Exit 0: pass, 3: fail, 4: not enough data; 1 and 2 are errors.",
    ),
    "validate": CommandEntry(
        "ragauge.evaluation.doctor.validate_command",
        "validate",
        "Check ragauge.yaml: every mistake with its line, and gates that can never fail. Exit 0: right, 2: mistakes.",
    ),
    "doctor": CommandEntry(
        "ragauge.evaluation.doctor.command",
        "doctor",
        "Check what an evaluation needs: judge, store, keys, packages, configuration. Exit 1 when something is wrong.",
    ),
    "ui": CommandEntry(
        "ragauge.dashboard.command",
        "ui",
        "Serve what the store knows as linked pages: runs, reports, examples, comparisons. Ctrl-C ends it.",
    ),
    "show": CommandEntry(
        "ragauge.evaluation.runs.command",
        "show",
        "Show a run, or one example of it with every claim and what it rests on, or how its ranking is used.",
    ),
    "export": CommandEntry(
        "ragauge.evaluation.runs.command",
        "export",
        "Write a run's responses (answers.jsonl) or its scores (scores.jsonl, with verdicts; .csv, .parquet).",
    ),
    "delete": CommandEntry(
        "ragauge.monitoring.erase_command",
        "delete",
        "Delete a run with what no other run uses, or all that is kept of a trace, a user or a tenant, with proof.",
    ),
    "metrics": CommandEntry(
        "ragauge.evaluation.metric_list.command", "metrics", "List the metrics, or show how one is defined."
    ),
    "docs": CommandEntry(
        "ragauge.evaluation.docs.command", "docs", "Print a page of the documentation, or list the pages."
    ),
    "thresholds": CommandEntry(
        "ragauge.evaluation.thresholds.command",
        "thresholds",
        "Say from which level of a metric on answers turn out well often enough.",
    ),
    "ann": CommandEntry(
        "ragauge.studies.ann.command",
        "app",
        "Say what an approximate index of vectors misses, and how fast it is at what recall.",
    ),
    "runs": CommandEntry(
        "ragauge.evaluation.runs.command",
        "app",
        "List the stored runs, newest first; those of a study under --study. Tag them.",
    ),
    "baseline": CommandEntry(
        "ragauge.comparison.baselines.command",
        "app",
        "Set, list and remove baselines: names that stand for runs, as in --baseline main.",
    ),
    "log": CommandEntry(
        "ragauge.comparison.history.command",
        "app",
        "A row for every evaluated run: when, what changed, how good, at what cost, and a note.",
    ),
    "study": CommandEntry("ragauge.studies.command", "app", "Settings tried one against another, such as chunkers."),
    "testset": CommandEntry(
        "ragauge.testsets.command", "app", "Make eval sets, hold them against their corpus, curate them."
    ),
    "judge": CommandEntry("ragauge.labels.judge_command", "app", "What a judge is worth on your data."),
    "label": CommandEntry("ragauge.labels.command", "app", "What people say of answers: drawn, labelled, imported."),
    "monitor": CommandEntry(
        "ragauge.monitoring.command", "app", "Take in the traces of production, and say what became of each."
    ),
    "cache": CommandEntry(
        "ragauge.evaluation.cache.command",
        "app",
        "List, remove, export and import what models said: the replies that no run pays for twice.",
    ),
}


# which change no store: an older one is not upgraded for them. Of a group, without or with the name of a command in it
READ_ONLY_COMMANDS = frozenset(
    {
        ("compare", ""),
        ("doctor", ""),
        ("explain", ""),
        ("export", ""),
        ("gate", ""),
        ("report", ""),
        ("show", ""),
        ("thresholds", ""),
        ("runs", ""),
        ("log", ""),
        ("baseline", "list"),
        ("study", "list"),
        ("cache", ""),
        ("cache", "list"),
        ("cache", "export"),
        ("monitor", "trace"),
        ("monitor", "traces"),
        ("monitor", "status"),
        ("label", "plan"),
    }
)


class Commands(TyperGroup):
    """The commands of the table; one is imported when it is run or asked for its help, not when all are listed."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=entry.help) for name, entry in COMMANDS.items()}
        self._listing = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; None for a name that is none."""
        known_command = super().get_command(ctx, cmd_name)
        return known_command if known_command is None or self._listing else load_command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is typed, which opens stores to read them where it changes none."""
        resolved = super().resolve_command(ctx, args)
        name, command, remaining = resolved
        within = next((word for word in remaining if word in getattr(command, "commands", ())), "")
        if (name, within) in READ_ONLY_COMMANDS:
            from ragauge.store.store_access import open_read_only

            ctx.with_resource(open_read_only())
        return resolved

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Lists the commands by what the table says of them."""
        self._listing = True
        super().format_help(ctx, formatter)


def load_command(name: str) -> Any:
    """The command itself, from its module."""
    entry = COMMANDS[name]
    made = getattr(importlib.import_module(entry.module), entry.name)
    if entry.name == "app":
        command: Any = typer.main.get_group(made)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        alone.command()(made)
        command = typer.main.get_command(alone)
    command.name = name
    return command
