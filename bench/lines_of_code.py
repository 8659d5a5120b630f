"""How many lines a user writes for six wishes, in ragauge, ragas, deepeval and promptfoo; run on a mock server.

Every text starts where `answers.jsonl` and `answers.csv` (query, answer, passages, criterion) are there and, in Python,
the list `rows`. Counted are all lines but imports, blank lines and closing brackets, up to 110 characters each: what is
said, how it is run, and the mean that is printed (promptfoo prints its own). A command is a line. Keys and addresses
come from the environment where the tool reads them there, and cost nothing.

    python bench/lines_of_code.py                            # the table
    python bench/lines_of_code.py --run RAGAS,DEEPEVAL PROMPTFOO   # Python with both, and promptfoo's command: runs all
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is in no wheel

from tests.loopback.answers import answer

TASKS = {
    "function": "a function of your own",
    "polite": "“polite”, by a model, over all answers",
    "each": "a criterion that each answer has of its own",
    "azure": "… a judge on Azure",
    "ollama": "… a judge on Ollama",
    "chat": "faithfulness of a chat log (OpenAI messages), turn by turn",
}
TOOLS = ("ragauge", "ragas", "deepeval", "promptfoo")
TEXT = {
    ("function", "ragauge"): """
import ragauge as rg
def thanks(answer: str) -> bool:
    return "thank" in answer.lower()
print(rg.evaluate(rows, metrics=[thanks], judge=None)["thanks"].mean)
""",
    ("function", "ragas"): """
from ragas.metrics import numeric_metric
@numeric_metric(name="thanks", allowed_values=(0, 1))
def thanks(answer: str) -> float:
    return float("thank" in answer.lower())
print(sum(thanks.score(answer=row["answer"]).value for row in rows) / len(rows))
""",
    ("function", "deepeval"): """
from deepeval import evaluate
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase
class Thanks(BaseMetric):
    threshold = 0.5
    def measure(self, case):
        self.score = float("thank" in case.actual_output.lower())
        self.success = self.score >= self.threshold
        return self.score
    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)
    def is_successful(self):
        return self.success
cases = [LLMTestCase(input=row["query"], actual_output=row["answer"]) for row in rows]
found = evaluate(cases, [Thanks()]).test_results
print(sum(one.metrics_data[0].score for one in found) / len(found))
""",
    ("function", "promptfoo"): """
prompts: ["{{answer}}"]
providers: [echo]
defaultTest: {assert: [{type: javascript, value: 'output.toLowerCase().includes("thank")'}]}
tests: file://answers.csv
$ promptfoo eval
""",
    ("polite", "ragauge"): """
import ragauge as rg
criteria = {"polite": "Addresses the reader formally"}
print(rg.evaluate(rows, criteria=criteria, metrics=["polite"], judge=JUDGE)["polite"].mean)
""",
    ("polite", "ragas"): """
from openai import OpenAI
from ragas.llms import llm_factory
from ragas.metrics import DiscreteMetric
llm = llm_factory("gpt-5-mini", client=OpenAI())
asked = "Does this answer address the reader formally? Say yes or no. Answer: {answer}"
polite = DiscreteMetric(name="polite", prompt=asked, allowed_values=["yes", "no"])
found = [polite.score(llm=llm, answer=row["answer"]).value for row in rows]
print(found.count("yes") / len(found))
""",
    ("polite", "deepeval"): """
from deepeval import evaluate
from deepeval.metrics import GEval
from deepeval.test_case import LLMTestCase, SingleTurnParams
seen = [SingleTurnParams.ACTUAL_OUTPUT]
polite = GEval(name="polite", criteria="Addresses the reader formally", evaluation_params=seen)
cases = [LLMTestCase(input=row["query"], actual_output=row["answer"]) for row in rows]
found = evaluate(cases, [polite]).test_results
print(sum(one.metrics_data[0].score for one in found) / len(found))
""",
    ("polite", "promptfoo"): """
prompts: ["{{answer}}"]
providers: [echo]
defaultTest: {assert: [{type: llm-rubric, value: Addresses the reader formally}]}
tests: file://answers.csv
$ promptfoo eval
""",
    ("each", "ragauge"): """
import ragauge as rg
print(rg.evaluate(rows, metrics=["criteria_met"], judge=JUDGE)["criteria_met"].mean)
""",
    ("each", "ragas"): """
from openai import OpenAI
from ragas.llms import llm_factory
from ragas.metrics import DiscreteMetric
llm = llm_factory("gpt-5-mini", client=OpenAI())
asked = "Is this true of the answer: {criterion}? Say yes or no. Answer: {answer}"
met = DiscreteMetric(name="met", prompt=asked, allowed_values=["yes", "no"])
found = [met.score(llm=llm, answer=row["answer"], criterion=row["criteria"][0]).value for row in rows]
print(found.count("yes") / len(found))
""",
    ("each", "deepeval"): """
from deepeval.metrics import GEval
from deepeval.test_case import LLMTestCase, SingleTurnParams
seen, found = [SingleTurnParams.ACTUAL_OUTPUT], []
for row in rows:
    met = GEval(name="met", criteria=row["criteria"][0], evaluation_params=seen)
    found.append(met.measure(LLMTestCase(input=row["query"], actual_output=row["answer"])))
print(sum(found) / len(found))
""",
    ("each", "promptfoo"): """
prompts: ["{{answer}}"]
providers: [echo]
defaultTest: {assert: [{type: llm-rubric, value: "{{criterion}}"}]}
tests: file://answers.csv
$ promptfoo eval
""",
    ("azure", "ragauge"): 'JUDGE = "azure:gpt-5-mini"\n',
    ("azure", "ragas"): """
from openai import AzureOpenAI
llm = llm_factory("gpt-5-mini", client=AzureOpenAI())
""",
    ("azure", "deepeval"): """
from deepeval.models import AzureOpenAIModel
model = AzureOpenAIModel(model="gpt-5-mini", deployment_name="gpt-5-mini")
polite = GEval(name="polite", criteria="Addresses the reader formally", evaluation_params=seen, model=model)
""",
    ("azure", "promptfoo"): """
  options: {provider: {id: "azure:chat:gpt-5-mini", config: {apiVersion: 2024-10-21}}}
""",
    ("ollama", "ragauge"): 'JUDGE = "ollama:llama3.2"\n',
    ("ollama", "ragas"): """
from openai import OpenAI
llm = llm_factory("llama3.2", client=OpenAI(api_key="ollama", base_url=OLLAMA_URL + "/v1"))
""",
    ("ollama", "deepeval"): """
from deepeval.models import OllamaModel
model = OllamaModel(model="llama3.2", base_url=OLLAMA_URL)
polite = GEval(name="polite", criteria="Addresses the reader formally", evaluation_params=seen, model=model)
""",
    ("ollama", "promptfoo"): """
  options: {provider: "ollama:chat:llama3.2"}
""",
    ("chat", "ragauge"): """
import ragauge as rg
form = "Context: {context} Question: {query}"
card = rg.evaluate("chat.jsonl", context_marker=form, metrics=["faithfulness"], judge=JUDGE)
print(card["faithfulness"].mean)
""",
    ("chat", "ragas"): """
import json
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import Faithfulness
import asyncio
metric, found = Faithfulness(llm=llm_factory("gpt-5-mini", client=AsyncOpenAI())), []
for line in open("chat.jsonl"):
    messages = json.loads(line)["messages"]
    for user, said in zip(messages, messages[1:]):
        if said["role"] == "assistant":
            context, _, query = user["content"].partition("Question: ")
            asked = {"user_input": query, "response": said["content"], "retrieved_contexts": [context]}
            found.append(asyncio.run(metric.ascore(**asked)).value)
print(sum(found) / len(found))
""",
    ("chat", "deepeval"): """
import json
from deepeval import evaluate
from deepeval.metrics import FaithfulnessMetric
from deepeval.test_case import LLMTestCase
cases = []
for line in open("chat.jsonl"):
    messages = json.loads(line)["messages"]
    for user, said in zip(messages, messages[1:]):
        if said["role"] == "assistant":
            context, _, query = user["content"].partition("Question: ")
            asked = {"input": query, "actual_output": said["content"], "retrieval_context": [context]}
            cases.append(LLMTestCase(**asked))
found = evaluate(cases, [FaithfulnessMetric()]).test_results
print(sum(one.metrics_data[0].score for one in found) / len(found))
""",
    ("chat", "promptfoo"): """
import json
rows = []
for line in open("chat.jsonl"):
    messages = json.loads(line)["messages"]
    for user, said in zip(messages, messages[1:]):
        if said["role"] == "assistant":
            context, _, query = user["content"].partition("Question: ")
            turn = {"query": query, "answer": said["content"], "context": context}
            rows.append(json.dumps({"vars": turn}))
open("turns.jsonl", "w").write("\\n".join(rows))
--- promptfooconfig.yaml
prompts: ["{{answer}}"]
providers: [echo]
defaultTest: {assert: [{type: context-faithfulness}]}
tests: file://turns.jsonl
$ promptfoo eval
""",
}
ADDED = ("azure", "ollama")  # counted are the lines that stand beside, or in place of, those for "polite"
NOT_COUNTED = re.compile(r"\s*(import .*|from .* import .*|--- .*|[\])}]*)")


def lines_of(task: str, tool: str) -> int:
    """How many lines count."""
    return sum(not NOT_COUNTED.fullmatch(line) for line in TEXT[task, tool].splitlines())


def table() -> str:
    """Tasks by tools, as Markdown."""
    rows = [f"| lines for | {' | '.join(TOOLS)} |", f"|---|{'---|' * len(TOOLS)}"]
    for task, words in TASKS.items():
        rows.append(f"| {words} | {' | '.join(str(lines_of(task, tool)) for tool in TOOLS)} |")
    return "\n".join(rows)


def filled(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """The smallest value of a schema that agrees with everything."""
    if "$ref" in schema:
        return filled(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return filled(schema[key][0], root)
    if "enum" in schema or "const" in schema:
        known = schema.get("enum", [schema.get("const")])
        return next((word for word in ("yes", "met", "supported") if word in known), known[0])
    match schema.get("type"):
        case "object":
            parts = schema.get("properties", {}).items()
            return {name: 10 if name == "score" else filled(part, root) for name, part in parts}
        case "array":
            return [filled(schema["items"], root)]
        case "integer" | "number":
            return 1
        case "boolean":
            return True
    return "It is said so."


class Server(BaseHTTPRequestHandler):
    """Chat completions of OpenAI and Azure, responses of OpenAI, and Ollama's own chat; it agrees with everything."""

    asked: ClassVar[list[str]] = []
    ours: ClassVar[bool] = False  # ragauge asks

    def do_POST(self) -> None:
        """Answers in the form that was asked for."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(self.path)
        text, tools = "", body.get("tools") or []
        form = (body.get("response_format") or {}).get("json_schema", {}).get("schema") or body.get("format")
        form = form or (body.get("text") or {}).get("format", {}).get("schema")
        if tools:
            tool = tools[0].get("function", tools[0])
            form = tool["parameters"]
        said = filled(form, form) if isinstance(form, Mapping) else OTHERWISE
        texts = [one["content"] for one in body.get("messages", ()) if isinstance(one["content"], str)]
        if self.ours and isinstance(form, Mapping) and "claims" in json.dumps(form):  # with quotes and numbers
            said = answer(texts[0], "\n\n".join(texts[1:]), form)
        if said is OTHERWISE and "verdict" in json.dumps(body):
            said = OTHERWISE | {"statements": [{"statement": "It is.", "reason": "It is.", "verdict": 1}]}
        text = json.dumps(said)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if tools:
            call = {"id": "c", "type": "function", "function": {"name": tool["name"], "arguments": text}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        used = {"prompt_tokens": 900, "completion_tokens": 9, "total_tokens": 909}
        reply = {
            "id": "r",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", "m"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": used,
        }
        if self.path.endswith("/api/chat"):
            reply = {
                "model": "m",
                "created_at": "2026-01-01T00:00:00Z",
                "message": message,
                "done": True,
                "prompt_eval_count": 900,
                "eval_count": 9,
            }
        elif self.path.partition("?")[0].endswith("/responses"):
            parts = [{"type": "output_text", "text": text, "annotations": []}]
            if tools:
                output = [{"type": "function_call", "call_id": "c", "name": tool["name"], "arguments": text}]
            else:
                output = [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": parts}]
            reply = {
                "id": "r",
                "object": "response",
                "created_at": 0,
                "model": "m",
                "status": "completed",
                "output": output,
                "parallel_tool_calls": False,
                "tool_choice": "auto",
                "tools": [],
                "usage": {
                    "input_tokens": 900,
                    "output_tokens": 9,
                    "total_tokens": 909,
                    "input_tokens_details": {"cached_tokens": 0},
                    "output_tokens_details": {"reasoning_tokens": 0},
                },
            }
        sent = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


# where a form is asked for in words only: promptfoo's rubrics, deepeval's steps and scores
OTHERWISE = {
    "pass": True,
    "score": 10,
    "reason": "It is said so.",
    "steps": ["Read it."],
    "value": "yes",
    "statements": ["It is."],
}
ROWS = [
    {
        "query_id": f"q{n}",
        "query": f"What is {n}?",
        "answer": f"It is {n}" + (", thank you." if n % 2 else "."),
        "passages": [f"It is {n}."],
        "criteria": ["Names the number"],
    }
    for n in range(4)
]
CHAT = [
    {
        "messages": [
            {"role": "user", "content": f"Context: It is {n}. Question: What is {n}?"},
            {"role": "assistant", "content": f"It is {n}."},
            {"role": "user", "content": f"Context: It is {n + 1}. Question: And after it?"},
            {"role": "assistant", "content": f"It is {n + 1}."},
        ]
    }
    for n in range(2)
]
HEAD = """import json, os
OLLAMA_URL, JUDGE = os.environ["OLLAMA_BASE_URL"].removesuffix("/v1"), "openai-chat:gpt-5-mini"
rows = [json.loads(line) for line in open("answers.jsonl")]
"""


def whole(task: str, tool: str) -> str:
    """A text that runs: what is added for a provider stands in that for "polite"."""
    text = TEXT[task, tool]
    if task not in ADDED:
        return text
    base = TEXT["polite", tool]
    if tool == "ragas":
        return base.replace('llm = llm_factory("gpt-5-mini", client=OpenAI())\n', text.lstrip())
    if tool == "deepeval":
        *_, line = text.strip().splitlines()
        return re.sub(r"^polite = .*$", lambda _: text.strip(), base, flags=re.MULTILINE) if line else base
    if tool == "promptfoo":
        inner = text.strip().removeprefix("options: ")
        return base.replace("defaultTest: {", f"defaultTest: {{options: {inner}, ")
    return text + base


def run(task: str, tool: str, python: str, promptfoo: str) -> str:
    """Runs one in a new folder; the last line that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("answers", ROWS), ("chat", CHAT)):
            Path(folder, f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        table = "".join(f'{row["query"]},"{row["answer"]}",{row["criteria"][0]}\n' for row in ROWS)
        Path(folder, "answers.csv").write_text(f"query,answer,criterion\n{table}")
        text = whole(task, tool)
        script, config = text, ""
        if tool == "promptfoo":
            before, _, after = text.rpartition("--- promptfooconfig.yaml")
            script, config = before, after.replace("$ promptfoo eval", "")
            Path(folder, "promptfooconfig.yaml").write_text(config)
        Path(folder, "wish.py").write_text(HEAD + script)
        if script.strip():
            out = subprocess.run([python, "wish.py"], cwd=folder, capture_output=True, text=True, check=False)
        if tool == "promptfoo":
            words = [promptfoo, "eval", "-o", "out.json", "--no-cache", "--no-table"]
            out = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
            if Path(folder, "out.json").exists():
                stats = json.loads(Path(folder, "out.json").read_text())["results"]["stats"]
                return f"{stats['successes']} passed, {stats['failures']} failed, {stats['errors']} errors"
        if out.returncode:
            return "FAILED " + (out.stderr + out.stdout)[-1500:]
        return out.stdout.strip().splitlines()[-1]


def main() -> None:
    """Prints the table; with --run, also what each text gave."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", nargs=2, metavar=("PYTHON", "PROMPTFOO"), help="of the peers' environments")
    parser.add_argument("--only", default="", help="a task or a tool")
    given = parser.parse_args()
    print(table())
    if given.run is None:
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    os.environ |= {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OLLAMA_BASE_URL": url,
        "OLLAMA_API_KEY": "none",
        "AZURE_OPENAI_API_KEY": "none",
        "AZURE_API_KEY": "none",
        "AZURE_OPENAI_ENDPOINT": url,
        "OPENAI_API_VERSION": "2024-10-21",
        "AZURE_API_BASE_URL": url,
        "AZURE_API_HOST": url,
        "RAGAS_DO_NOT_TRACK": "true",
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
        "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    }
    for task in TASKS:
        for tool in TOOLS:
            if given.only not in ("", task, tool):
                continue
            Server.asked.clear()
            Server.ours = tool == "ragauge"
            python = sys.executable if tool == "ragauge" else given.run[0]
            said = run(task, tool, python, given.run[1])
            paths = sorted({path.partition("?")[0] for path in Server.asked})
            print(f"{task} {tool}: {said}; {len(Server.asked)} requests {' '.join(paths)}", flush=True)


if __name__ == "__main__":
    main()
