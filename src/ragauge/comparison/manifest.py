"""The verbs that compare runs; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb, VerbGroup

GROUPS = (
    VerbGroup(
        command="baseline",
        help="Set, list and remove baselines: names for runs, as in --baseline main.",
        panel="Compare and gate",
    ),
)
PAGES = ("ragauge.comparison.page", "ragauge.comparison.history.page")
VERBS = (
    Verb(
        function="ragauge.comparison.verb:compare",
        command="compare",
        help="Compare runs overall and by segment: what got better, what got worse, and how certain that is.",
        examples=("main k8", "main k8 -m recall@5,faithfulness --filter type=multi_hop"),
        panel="Compare and gate",
        reads_only=True,
        run_as="ragauge.comparison.command:compare",
    ),
    Verb(
        function="ragauge.comparison.baselines.verb:set_baseline",
        command="baseline set",
        help="Let a name mean a run from now on. What it meant before stays in its history.",
        examples=("latest", 'latest --tag v1.2 --note "smaller chunks"'),
        text="ragauge.comparison.baselines.verb:describe_baseline",
    ),
    Verb(
        function="ragauge.comparison.baselines.verb:baselines",
        command="baseline list",
        help="List what every baseline means: run, since when, by whom, commit, branch, tag, note.",
        examples=("", "--history"),
        reads_only=True,
        text="ragauge.comparison.baselines.verb:build_baselines_table",
    ),
    Verb(
        function="ragauge.comparison.baselines.verb:remove_baseline",
        command="baseline remove",
        help="Remove a baseline. The run and the history of the name are kept.",
        examples=("main", "main --json"),
        text="ragauge.comparison.baselines.verb:describe_removal",
    ),
    Verb(
        function="ragauge.comparison.history.verb:log",
        command="runs log",
        help="A row for every evaluated run: when, what changed, how good, at what cost, and a note.\n\nA run whose "
        "scores mean something else than those of the row below (another judge, another version of the set) says so.",
        examples=("", "--set golden -o log.csv"),
        reads_only=True,
        run_as="ragauge.comparison.history.command:log",
    ),
    Verb(
        function="ragauge.comparison.history.verb:note",
        command="runs note",
        help="Write a note about a run into the log, in place of an earlier one.",
        examples=('latest "reranker on"', 'latest ""'),
        text="ragauge.comparison.history.verb:describe_note",
    ),
)
