"""The verbs that run, evaluate and show; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb, VerbGroup

GROUPS = (
    VerbGroup(
        command="runs",
        help="List, tag, log, export and delete stored runs. Lists them by default.",
        panel="Production",
        default="list",
    ),
    VerbGroup(
        command="store", help="Manage stored model replies, and check that the store is intact.", panel="Production"
    ),
    VerbGroup(
        command="store cache",
        help="List, remove, export and import stored model replies, which later runs reuse at no cost.",
    ),
)
PAGES = ("ragauge.evaluation.runs.page", "ragauge.evaluation.scorecard.page", "ragauge.evaluation.metric_list.page")
VERBS = (
    Verb(
        function="ragauge.evaluation.demo.verb:demo",
        command="demo",
        help="Evaluate a real RAG system on a small corpus: one good configuration, two with planted faults. "
        "No API key.",
        examples=("", "--json"),
        panel="Start",
        public=False,
        progress="evaluated",
    ),
    Verb(
        command="init",
        help="Find the system in a project; write ragauge.yaml, an adapter, a first eval set and a CI workflow; "
        "evaluate.",
        examples=("", "--system my_app:answer"),
        panel="Start",
        public=False,
        run_as="ragauge.evaluation.init.command:init",
    ),
    Verb(
        function="ragauge.evaluation.doctor.verb:examine_machine",
        command="doctor",
        help="Check what an evaluation needs: judge, store, keys, packages, configuration. Exit 1 if something is "
        "wrong.\n\nWith a file: every mistake in it with its line, and gates that can never fail. Exit 0: right, "
        "2: mistakes.",
        examples=("--judge openai:gpt-5-mini", "ragauge.yaml --set golden.jsonl"),
        panel="Start",
        public=False,
        reads_only=True,
        run_as="ragauge.evaluation.doctor.command:doctor",
    ),
    Verb(function="ragauge.evaluation.doctor.validate:validate"),
    Verb(
        function="ragauge.evaluation.run.verb:run",
        command="run",
        help="Send every question of a set to a system and store the responses. Run the same command to resume.",
        examples=("my_app:answer golden.jsonl --evaluate", "https://support.example.com/ask golden.jsonl --limit 5"),
        panel="Start",
        run_as="ragauge.evaluation.run.command:run",
    ),
    Verb(
        function="ragauge.evaluation.verbs:evaluate",
        command="evaluate",
        help="Measure retrieval and generation, with intervals, and suggest what to fix.",
        examples=("golden.jsonl answers.jsonl", "latest --judge openai:gpt-5-mini --max-cost 1"),
        panel="Start",
        run_as="ragauge.evaluation.evaluate.command:evaluate",
    ),
    Verb(function="ragauge.evaluation.verbs:read_set"),
    Verb(
        function="ragauge.evaluation.retrieval.compute:evaluate_retrieval",
        command="retrieval",
        help="Measure a ranking against relevance labels, as trec_eval does.",
        examples=("qrels.txt run.txt", "qrels.txt run.txt -m recall@100,ndcg@10,mrr"),
        panel="Start",
        public=False,
        run_as="ragauge.evaluation.retrieval.command:retrieval",
    ),
    Verb(
        function="ragauge.evaluation.runs.verb:open_run",
        command="report",
        help="Write or print the report of an evaluated run, without judging it again.\n\nWith --thresholds: how often "
        "answers turn out well by level of a metric; without outcomes, what the run reaches.",
        examples=("latest --baseline main -o report.html", "latest --thresholds token_f1"),
        panel="Start",
        reads_only=True,
        run_as="ragauge.evaluation.scorecard.command:report",
    ),
    Verb(function="ragauge.evaluation.thresholds.verb:thresholds"),
    Verb(
        function="ragauge.evaluation.runs.verb:open_run",
        command="show",
        help="Show a run, one example with its claims and their evidence, or how the answers use the ranking.",
        examples=("latest q1", "latest --cost"),
        panel="Start",
        reads_only=True,
        run_as="ragauge.evaluation.runs.command:show",
    ),
    Verb(
        function="ragauge.evaluation.metric_list.verb:list_metrics",
        command="metrics",
        help="List the metrics, or show the definition of one.",
        examples=("", "recall@5"),
        panel="Start",
        public=False,
        run_as="ragauge.evaluation.metric_list.command:metrics",
    ),
    Verb(
        function="ragauge.evaluation.runs.verb:runs",
        command="runs list",
        help="List the stored runs, newest first; those of a study under --study.",
        examples=("", "--filter tag=release --sort faithfulness"),
        reads_only=True,
        text="ragauge.evaluation.runs.command:build_list",
    ),
    Verb(
        function="ragauge.evaluation.runs.tags:tag_run",
        command="runs tag",
        help="Give a run tags, by which lists are filtered: ragauge runs --filter tag=release.",
        examples=("latest release", "latest release golden"),
        text="ragauge.evaluation.runs.tags:describe_tags",
    ),
    Verb(
        function="ragauge.evaluation.runs.tags:untag_run",
        command="runs untag",
        help="Take tags away from a run.",
        examples=("latest golden", "latest golden --json"),
        text="ragauge.evaluation.runs.tags:describe_tags",
    ),
    Verb(
        command="runs export",
        help="Write a run's responses (answers.jsonl) or its scores (scores.jsonl, with verdicts; .csv, .parquet).",
        examples=("latest -o answers.jsonl", "latest -o scores.csv"),
        public=False,
        reads_only=True,
        run_as="ragauge.evaluation.runs.command:export",
    ),
    Verb(
        function="ragauge.evaluation.cache.verb:list_replies",
        command="store cache list",
        help="List the stored replies by model and question, with their size and age.",
        examples=("", "--json"),
        public=False,
        reads_only=True,
        text="ragauge.evaluation.cache.verb:build_table",
    ),
    Verb(
        function="ragauge.evaluation.cache.verb:prune_replies",
        command="store cache prune",
        help="Remove stored replies; asking the same again then costs again. Evidence and scores read from them stay.",
        examples=("--failed", "--before 2026-01-31 --yes"),
        public=False,
        run_as="ragauge.evaluation.cache.command:prune",
    ),
    Verb(
        function="ragauge.evaluation.cache.verb:export_replies",
        command="store cache export",
        help="Write every stored reply with what was asked, a JSON line each: the judged texts are in it, keys are "
        "not.",
        examples=("replies.jsonl", "replies.jsonl.gz"),
        public=False,
        reads_only=True,
        run_as="ragauge.evaluation.cache.command:export_replies",
    ),
    Verb(
        function="ragauge.evaluation.cache.verb:import_replies",
        command="store cache import",
        help="Take in replies that another store exported, all of the file or nothing; what is there already stays.",
        examples=("replies.jsonl", "replies.jsonl.gz --json"),
        public=False,
        run_as="ragauge.evaluation.cache.command:import_replies",
    ),
    Verb(
        function="ragauge.evaluation.doctor.verb:examine_store",
        command="store check",
        help="Look for damage in the store, and say what mends it. Exit 1 where something is damaged.",
        examples=("", "--store sqlite:///other.db"),
        public=False,
        reads_only=True,
        run_as="ragauge.evaluation.doctor.command:check_store",
    ),
    Verb(
        function="ragauge.evaluation.docs.verb:read_page",
        command="docs",
        help="Print a documentation page, or list all pages.",
        examples=("", "gates"),
        public=False,
        run_as="ragauge.evaluation.docs.command:docs",
    ),
)
