"""The commands by name: what `ragauge --help` lists, and where each is, so that a start imports one of them alone."""

from __future__ import annotations

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """A command, or a group of them."""

    module: str  #: where it is; "" for a group of commands of this table.
    name: str  #: of its function; "app" for a group that stands in one module.
    help: str = ""  #: the first paragraph of its help; "" = its module is imported where it is listed.


COMMANDS = {  # as typed -> the command
    "demo": CommandEntry(
        "ragauge.evaluation.demo.command",
        "demo",
        "Evaluate a real RAG system on a small corpus: one good configuration, two with planted faults. No API key.",
    ),
    "init": CommandEntry(
        "ragauge.evaluation.init.command",
        "init",
        "Find the system in a project; write ragauge.yaml, an adapter, a first eval set and a CI workflow; evaluate.",
    ),
    "doctor": CommandEntry(
        "ragauge.evaluation.doctor.command",
        "doctor",
        "Check what an evaluation needs: judge, store, keys, packages, configuration. Exit 1 if something is wrong.",
    ),
    "run": CommandEntry(
        "ragauge.evaluation.run.command",
        "run",
        "Send every question of a set to a system and store the responses. Run the same command to resume.",
    ),
    "evaluate": CommandEntry(
        "ragauge.evaluation.evaluate.command",
        "evaluate",
        "Measure retrieval and generation, with intervals, and suggest what to fix.",
    ),
    "retrieval": CommandEntry(
        "ragauge.evaluation.retrieval.command",
        "retrieval",
        "Measure a ranking against relevance labels, as trec_eval does.",
    ),
    "report": CommandEntry(
        "ragauge.evaluation.scorecard.command",
        "report",
        "Write or print the report of an evaluated run, without judging it again.",
    ),
    "show": CommandEntry(
        "ragauge.evaluation.runs.command",
        "show",
        "Show a run, one example with its claims and their evidence, or how the answers use the ranking.",
    ),
    "explain": CommandEntry(
        "ragauge.diagnosis.explain.command",
        "explain",
        "Explain a number: the facts, formulas and cause of one example, or the means and findings of a run.",
    ),
    "metrics": CommandEntry(
        "ragauge.evaluation.metric_list.command", "metrics", "List the metrics, or show the definition of one."
    ),
    "compare": CommandEntry(
        "ragauge.comparison.command",
        "compare",
        "Compare runs overall and by segment: what got better, what got worse, and how certain that is.",
    ),
    "gate": CommandEntry(
        "ragauge.gating.command",
        "gate",
        "Check a run against the rules in ragauge.yaml. Exit 0: pass, 3: fail, 4: not enough data; 1 and 2 are errors.",
    ),
    "baseline": CommandEntry(
        "ragauge.comparison.baselines.command",
        "app",
        "Set, list and remove baselines: names for runs, as in --baseline main.",
    ),
    "confirm": CommandEntry(
        "ragauge.diagnosis.confirm.command",
        "confirm",
        "Test a run's causes: change the passages of failed examples and answer again. Makes extra calls.",
    ),
    "testset": CommandEntry(
        "ragauge.testsets.command", "app", "Create eval sets, check them against their corpus, and curate them."
    ),
    "label": CommandEntry("ragauge.labels.command", "app", "Sample answers for people to label, import their labels."),
    "judge": CommandEntry("ragauge.labels.judge_command", "app", "Check, calibrate and probe judges on your own data."),
    "sweep": CommandEntry(
        "ragauge.studies.sweep.command",
        "sweep",
        "Try configurations of a system, drop clear losers early, and recommend one with its certainty.",
    ),
    "component": CommandEntry("", "", "Study one part of a system: chunking, embeddings or the vector index."),
    "component chunking": CommandEntry("ragauge.studies.chunking.command", "chunking"),
    "component embeddings": CommandEntry("ragauge.studies.embeddings.command", "embeddings"),
    "component ann": CommandEntry("ragauge.studies.ann.command", "app"),
    "study": CommandEntry(
        "ragauge.studies.command", "app", "List, show and delete stored studies, such as sweeps and chunking studies."
    ),
    "monitor": CommandEntry(
        "ragauge.monitoring.command", "app", "Ingest production traces, score them, and alert when quality drops."
    ),
    "ui": CommandEntry(
        "ragauge.dashboard.command",
        "ui",
        "Serve a dashboard of the store: runs, reports, examples, comparisons. Press Ctrl-C to stop it.",
    ),
    "runs": CommandEntry("", "", "List, tag, log, export and delete stored runs. Lists them by default."),
    "runs list": CommandEntry("ragauge.evaluation.runs.command", "list_runs"),
    "runs tag": CommandEntry("ragauge.evaluation.runs.command", "tag"),
    "runs untag": CommandEntry("ragauge.evaluation.runs.command", "untag"),
    "runs log": CommandEntry("ragauge.comparison.history.command", "log"),
    "runs note": CommandEntry("ragauge.comparison.history.command", "write_note"),
    "runs export": CommandEntry("ragauge.evaluation.runs.command", "export"),
    "runs delete": CommandEntry("ragauge.monitoring.command", "delete"),
    "store": CommandEntry("", "", "Manage stored model replies, and check that the store is intact."),
    "store cache": CommandEntry("ragauge.evaluation.cache.command", "app"),
    "store check": CommandEntry("ragauge.evaluation.doctor.command", "check_store"),
    "docs": CommandEntry("ragauge.evaluation.docs.command", "docs", "Print a documentation page, or list all pages."),
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
