#!/usr/bin/env bash
# Holds the checked-out commit to the rules of ragauge.yaml, against the commit that it branched off from; one that is
# merged already, such as the newest of main, against the commit before it.
#
# The system answers the eval set at both commits, both are evaluated alike, and the gate decides. The base's answers
# are kept in .ragauge/answers: the same command is not given the same questions at the same commit again, and what it
# answered is held to the labels of now. Exit code: 0 pass, 3 fail, 4 not enough data, else an error.
#
#   RAGAUGE_SYSTEM     command that answers the eval set and writes RAGAUGE_RESPONSES; run at the root of each commit
#   RAGAUGE_RESPONSES  the file that it writes, relative to that root
#   RAGAUGE_SET        eval set, relative to the root; that of the checked-out commit serves both. Empty: the questions
#                      stand in the responses
#   RAGAUGE_BASE       what is merged into; origin/main by default
#   RAGAUGE_CONFIG     file with the section gate; ragauge.yaml by default
#   RAGAUGE_METRICS    metrics to measure; the default preset when empty
#   RAGAUGE_JUDGE      local by default
#   RAGAUGE_STORE      URL of the store; .ragauge/ragauge.db here by default
#   RAGAUGE_OUTPUT     folder of the reports; ragauge-gate by default
#   RAGAUGE_COMMAND    ragauge itself; that on PATH by default
set -euo pipefail

: "${RAGAUGE_SYSTEM:?is not set: the command that answers the eval set}"
: "${RAGAUGE_RESPONSES:?is not set: the file that RAGAUGE_SYSTEM writes}"
root=$PWD
config=${RAGAUGE_CONFIG:-ragauge.yaml}
output=${RAGAUGE_OUTPUT:-ragauge-gate}
export RAGAUGE_STORE=${RAGAUGE_STORE:-sqlite:///$root/.ragauge/ragauge.db}
if [[ -n ${RAGAUGE_SET:-} && $RAGAUGE_SET != /* ]]; then
    export RAGAUGE_SET=$root/$RAGAUGE_SET
fi
there=$(mktemp -d)
finish() {     # whatever happened: nothing is left behind, and the verdict is told
    local code=$?
    git worktree remove --force "$there/base" > /dev/null 2>&1 || true
    rm -rf "$there"
    if [[ -n ${GITHUB_OUTPUT:-} ]]; then
        case $code in
            0) verdict=pass ;;
            3) verdict=fail ;;
            4) verdict=not_enough_data ;;
            *) verdict=error ;;
        esac
        printf 'verdict=%s\n' "$verdict" >> "$GITHUB_OUTPUT"
    fi
}
trap finish EXIT

ragauge() {
    command "${RAGAUGE_COMMAND:-ragauge}" "$@"
}

into=${RAGAUGE_BASE:-origin/main}
head=$(git rev-parse HEAD)
if ! base=$(git merge-base "$into" HEAD 2> /dev/null); then
    echo "ragauge: no commit that $into and HEAD come from is here. Check out the whole history (actions/checkout with" \
        "fetch-depth: 0), or name what is merged into (RAGAUGE_BASE; the action's input base)." >&2
    exit 1
fi
if [[ $base == "$head" ]] && parent=$(git rev-parse --verify --quiet HEAD^); then
    echo "ragauge: HEAD is in $into already, and is held against the commit before it"
    base=$parent
fi

if [[ -n ${RAGAUGE_SET:-} ]]; then
    ragauge doctor "$config" --set "$RAGAUGE_SET"
else
    ragauge doctor "$config"
fi

how=(--judge "${RAGAUGE_JUDGE:-local}" --quiet)
if [[ -n ${RAGAUGE_METRICS:-} ]]; then
    how+=(--metrics "$RAGAUGE_METRICS")
fi

questions() {     # those of the eval set in any order, a line each: id, text and earlier turns, without the labels
    local text='"([^"\\]|\\.)*"'
    if [[ -z ${RAGAUGE_SET:-} ]]; then
        return
    fi
    rm -f "$there/set.jsonl"     # the other commit's: examples are not written over
    if ! ragauge testset prepare "$RAGAUGE_SET" --judge local --quiet -o "$there/set.jsonl" > "$there/said" 2>&1; then
        cat "$there/said" >&2
        exit 1
    fi
    LC_ALL=C sed -E "s/^(\{\"query_id\": $text, \"query\": $text(, \"history\": \[($text|[^]\"])*\])?).*/\1/" \
        "$there/set.jsonl" | LC_ALL=C sort
}

answer() {     # DIRECTORY NAME FILE: answers the eval set there, and copies the answers to the file
    echo "ragauge: answering the eval set at $2"
    (cd "$1" && bash -euo pipefail -c "$RAGAUGE_SYSTEM")
    cp "$1/$RAGAUGE_RESPONSES" "$3"
}

evaluate() {     # NAME FILE: evaluates the answers by the labels of the checked-out commit, and sets run to its id
    ragauge evaluate ${RAGAUGE_SET:+"$RAGAUGE_SET"} "$2" --name "$1" "${how[@]}" --json > "$there/card.json"
    run=$(sed -nE 's/^ *"run_id": "([0-9a-f]+)".*/\1/p;/"run_id"/q' "$there/card.json")
}

# files are called as the runs, so that answers that are the same at both commits stay two runs with a name each
head_name=commit-${head:0:12}
base_name=commit-${base:0:12}
file=${RAGAUGE_RESPONSES##*/}
ending=${file#"${file%%.*}"}
asked=$({ printf '%s\n' "$RAGAUGE_SYSTEM" "$RAGAUGE_RESPONSES"; questions; } | git hash-object --stdin)
kept=$root/.ragauge/answers/$asked/$base_name$ending

if [[ -f $kept ]]; then
    echo "ragauge: the answers at $base_name are kept"
    evaluate "$base_name" "$kept"
else
    git worktree add --quiet --detach "$there/base" "$base"
    answer "$there/base" "$base_name" "$there/$base_name$ending"
    evaluate "$base_name" "$there/$base_name$ending"
    mkdir -p "${kept%/*}"
    cp "$there/$base_name$ending" "$kept.part"
    mv "$kept.part" "$kept"
fi
base_run=$run
answer "$root" "$head_name" "$there/$head_name$ending"
evaluate "$head_name" "$there/$head_name$ending"
head_run=$run

mkdir -p "$output"
ragauge report "$head_run" --baseline "$base_run" -o "$output/report.html"
code=0
ragauge gate "$head_run" --baseline "$base_run" --config "$config" \
    -o "$output/gate.xml" -o "$output/gate.md" -o "$output/gate.json" || code=$?

if [[ -n ${GITHUB_OUTPUT:-} && -f $output/gate.md ]]; then
    printf 'output=%s\n' "$output" >> "$GITHUB_OUTPUT"
fi
exit "$code"
