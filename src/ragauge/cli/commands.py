"""The commands by name: what `ragauge --help` lists, and where each is, so that a start imports one of them alone."""

from __future__ import annotations

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """A command, or a group of them.

    Attributes:
        module: where it is; "" for a group of commands of this table.
        name: of its function; "app" for a group that stands in one module.
        help: the first paragraph of its help; "" = its module is imported where it is listed.
    """

    module: str
    name: str
    help: str = ""


COMMANDS = {  # as typed -> the command
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
    "doctor": CommandEntry(
        "ragauge.evaluation.doctor.command",
        "doctor",
        "Check what an evaluation needs: judge, store, keys, packages, configuration. Exit 1 when something is wrong.",
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
    "show": CommandEntry(
        "ragauge.evaluation.runs.command",
        "show",
        "Show a run, or one example of it with every claim and what it rests on, or how its ranking is used.",
    ),
    "explain": CommandEntry(
        "ragauge.diagnosis.explain.command",
        "explain",
        "Show how a number came about: of one example its facts, formulas and cause; of a run its means and findings.",
    ),
    "metrics": CommandEntry(
        "ragauge.evaluation.metric_list.command", "metrics", "List the metrics, or show how one is defined."
    ),
    "compare": CommandEntry(
        "ragauge.comparison.command",
        "compare",
        "Say what got better and what got worse between runs, overall and per segment, and how sure that is.",
    ),
    "gate": CommandEntry(
        "ragauge.gating.command",
        "gate",
        "Hold a run to the rules of ragauge.yaml. Exit 0: pass, 3: fail, 4: not enough data; 1 and 2 are errors.",
    ),
    "baseline": CommandEntry(
        "ragauge.comparison.baselines.command",
        "app",
        "Set, list and remove baselines: names for runs, as in --baseline main.",
    ),
    "confirm": CommandEntry(
        "ragauge.diagnosis.confirm.command",
        "confirm",
        "Confirm a run's causes: change the passages of failed examples, answer again, and see. Makes extra calls.",
    ),
    "testset": CommandEntry(
        "ragauge.testsets.command", "app", "Make eval sets, hold them against their corpus, curate them."
    ),
    "label": CommandEntry("ragauge.labels.command", "app", "What people say of answers: drawn, labelled, imported."),
    "judge": CommandEntry("ragauge.labels.judge_command", "app", "What a judge is worth on your data."),
    "sweep": CommandEntry(
        "ragauge.studies.sweep.command",
        "sweep",
        "Try configurations of a system, stop asking what surely loses, and say which to take and how sure that is.",
    ),
    "component": CommandEntry(
        "", "", "Study one part of a system by itself: how documents are cut, embedded and found in an index."
    ),
    "component chunking": CommandEntry("ragauge.studies.chunking.command", "chunking"),
    "component embeddings": CommandEntry("ragauge.studies.embeddings.command", "embeddings"),
    "component ann": CommandEntry("ragauge.studies.ann.command", "app"),
    "study": CommandEntry("ragauge.studies.command", "app", "Settings tried one against another, such as chunkers."),
    "monitor": CommandEntry(
        "ragauge.monitoring.command", "app", "Take in the traces of production, and say what became of each."
    ),
    "ui": CommandEntry(
        "ragauge.dashboard.command",
        "ui",
        "Serve what the store knows as linked pages: runs, reports, examples, comparisons. Ctrl-C ends it.",
    ),
    "runs": CommandEntry("", "", "The stored runs: list, tag, log, export and delete them. Alone it lists them."),
    "runs list": CommandEntry("ragauge.evaluation.runs.command", "list_runs"),
    "runs tag": CommandEntry("ragauge.evaluation.runs.command", "tag"),
    "runs untag": CommandEntry("ragauge.evaluation.runs.command", "untag"),
    "runs log": CommandEntry("ragauge.comparison.history.command", "log"),
    "runs note": CommandEntry("ragauge.comparison.history.command", "write_note"),
    "runs export": CommandEntry("ragauge.evaluation.runs.command", "export"),
    "runs delete": CommandEntry("ragauge.monitoring.erase_command", "delete"),
    "store": CommandEntry("", "", "What is kept: the replies of models, and whether the store is whole."),
    "store cache": CommandEntry("ragauge.evaluation.cache.command", "app"),
    "store check": CommandEntry("ragauge.evaluation.doctor.command", "check_store"),
    "docs": CommandEntry(
        "ragauge.evaluation.docs.command", "docs", "Print a page of the documentation, or list the pages."
    ),
}

PANELS = {  # heading in `ragauge --help` -> its commands; docs is in none, the last line of the help names it
    "Start": ("demo", "init", "doctor", "run", "evaluate", "retrieval", "report", "show", "explain", "metrics"),
    "Compare and gate": ("compare", "gate", "baseline", "confirm"),
    "Sets and people": ("testset", "label", "judge"),
    "Components": ("sweep", "component", "study"),
    "Production": ("monitor", "ui", "runs", "store"),
}

DEFAULT_COMMANDS = {"runs": "list"}  # of a group: the command that is meant where options, or nothing, follow

# which change no store: an older one is not upgraded for them
READ_ONLY_COMMANDS = frozenset(
    {
        "baseline list",
        "compare",
        "doctor",
        "explain",
        "gate",
        "label plan",
        "monitor status",
        "monitor trace",
        "monitor traces",
        "report",
        "runs export",
        "runs list",
        "runs log",
        "show",
        "store cache export",
        "store cache list",
        "store check",
        "study list",
    }
)

RENAMED_COMMANDS = {  # as typed before -> as typed now
    "ann": "component ann",
    "cache": "store cache",
    "chunking": "component chunking",
    "delete": "runs delete",
    "embeddings": "component embeddings",
    "export": "runs export",
    "log": "runs log",
    "log note": "runs note",
    "thresholds": "report RUN --thresholds METRIC",
    "validate": "doctor FILE",
}
