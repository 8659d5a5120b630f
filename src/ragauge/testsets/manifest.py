"""The verbs about eval sets; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb, VerbGroup

GROUPS = (
    VerbGroup(
        command="testset",
        help="Create eval sets, check them against their corpus, and curate them.",
        panel="Sets and people",
    ),
)
PAGES = ("ragauge.testsets.page",)
REPLIES_KEPT = "All replies so far are cached."
VERBS = (
    Verb(
        function="ragauge.testsets.generate.verb:generate_set",
        command="testset generate",
        help="Make questions with labels from a corpus: known-item queries, or a model's. Exit 4: fewer than wanted.",
        examples=("docs/ -o set.jsonl -n 200", "docs/ -o set.jsonl --model openai:gpt-5-mini"),
        progress="done",
        kept=REPLIES_KEPT,
        preview=("ragauge.testsets.generate.verb:estimate_set", "ragauge.testsets.generate.verb:describe_estimate"),
    ),
    Verb(
        function="ragauge.testsets.check.verb:check_set",
        command="testset check",
        help="Hold a set against its corpus: stale evidence, holes in labels, types. Exit 3: under 90 % of gold alive.",
        examples=("set.jsonl --corpus docs/", "set.jsonl --corpus docs/ --fix -o mended.jsonl"),
        progress="judged",
        kept=REPLIES_KEPT,
    ),
    Verb(
        function="ragauge.testsets.check.verb:freeze_set",
        command="testset freeze",
        help="Keep hashes of a set's evidence beside it, by which `check` tells what changed and finds what was "
        "renamed.",
        examples=("set.jsonl --corpus docs/", "set.jsonl --corpus corpus.jsonl"),
        run_as="ragauge.testsets.command:freeze",
    ),
    Verb(
        function="ragauge.testsets.curate.verb:mark_set",
        command="testset mark",
        help="Mark examples as draft, reviewed, golden or rejected; other lines keep their bytes.",
        examples=("set.jsonl --to golden --by Ann --ids q1,q7", "set.jsonl --to reviewed --all"),
        run_as="ragauge.testsets.command:mark",
    ),
    Verb(
        function="ragauge.testsets.vary.verb:vary_set",
        command="testset vary",
        help="Put questions otherwise, beside their originals: typos, keywords, case; entity: what no document tells.",
        examples=(
            "set.jsonl --kinds typos,keywords -o varied.jsonl",
            "set.jsonl --kinds entity --corpus docs/ -o varied.jsonl",
        ),
    ),
    Verb(
        function="ragauge.testsets.add.verb:add_examples",
        command="testset add",
        help="Add examples of a run to a set: by id, all that failed, or a sample; the rest of the file keeps its "
        "bytes.",
        examples=("latest --failed --to golden.jsonl --tag regression", "latest q7 q12 --to golden.jsonl"),
    ),
    Verb(
        function="ragauge.testsets.stats.verb:set_stats",
        command="testset stats",
        help="Say what a set is made of, whether it is like real questions, and what change a run on it can show.",
        examples=("set.jsonl --corpus docs/", "set.jsonl --run latest --detect 3%"),
        outputs="Write the statistics: .html, .md or .json.",
        result="ragauge.testsets.stats.verb:SetStatsResult",
    ),
    Verb(
        function="ragauge.testsets.curate.verb:export_set",
        command="testset export",
        help="Write a set in the form of another tool; what that has no place for stands beside it, and is read again.",
        examples=("set.jsonl --to ragas -o samples.jsonl", "set.jsonl --to beir -o beir/ --corpus docs/"),
        run_as="ragauge.testsets.command:export",
    ),
    Verb(
        function="ragauge.testsets.curate.verb:diff_sets",
        command="testset diff",
        help="Say what was added, removed and changed between two versions of a set, by field.",
        examples=("old.jsonl set.jsonl", "old.jsonl set.jsonl --json"),
    ),
    Verb(
        function="ragauge.testsets.prepare.verb:prepare_set",
        command="testset prepare",
        help="Extract the claims of each reference answer and the aspects of each question, once for all runs on the "
        "set.",
        examples=("set.jsonl -o prepared.jsonl", "set.jsonl -o prepared.jsonl --judge openai:gpt-5-mini"),
        public=False,
        run_as="ragauge.testsets.command:prepare",
    ),
)
