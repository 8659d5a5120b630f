"""Writes tests/golden/tools/promptfoo-VERSION: results of `promptfoo eval` as JSON, JSON lines and CSV.

    npm install --prefix /tmp/golden promptfoo
    python tools/golden/files_of_promptfoo.py /tmp/golden/node_modules/promptfoo

The provider is a few lines of JavaScript that look the answer up. One assertion does not hold, and one question makes
the provider fail, since both write a field `error`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "tests/golden/tools"
PROVIDER = """module.exports = class {
  id() { return 'bot'; }
  async callApi(prompt, context) {
    const one = CONTENT.find((one) => one.question === context.vars.question);
    if (!one) return { error: 'time-out' };
    return { output: one.answer, tokenUsage: { prompt: 12, completion: 5, total: 17 }, cost: 0.001 };
  }
};
"""
FAILING = {"question": "Does the provider fail?", "context": "It does.", "expected": "Yes."}


def main(package: Path) -> None:
    """Writes every form."""
    content = json.loads((FOLDER / "content.json").read_text(encoding="utf-8"))
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    out = FOLDER / f"promptfoo-{version}"
    out.mkdir(exist_ok=True)
    work = Path(tempfile.mkdtemp())
    (work / "bot.js").write_text(f"const CONTENT = {json.dumps(content)};\n{PROVIDER}", encoding="utf-8")
    tests = [
        {
            "vars": {
                "question": one["question"],
                "context": "\n\n".join(one["passages"]),
                "expected": one["reference"],
            },
            "metadata": {"topic": one["topic"]},
            "assert": [{"type": "contains", "value": "40 minutes"}],
        }
        for one in content
    ]
    bots = [{"id": "file://bot.js", "label": label} for label in ("bot", "other")]
    variables = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(work)}
    for stem, providers in (("results", bots[:1]), ("two-providers", bots)):
        config = {
            "prompts": ["From {{context}}: {{question}}"],
            "providers": providers,
            "tests": [*tests, {"vars": FAILING}],
        }
        (work / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
        names = [f"{stem}.{form}" for form in ("json", "jsonl", "csv") if (stem, form) != ("two-providers", "json")]
        files = [word for name in names for word in ("-o", name)]  # relative, since it writes its options down
        command = ["node", str(package / "dist/src/entrypoint.js"), "eval", "-c", "promptfooconfig.json", *files]
        done = subprocess.run([*command, "--no-cache", "--no-table"], cwd=work, env=os.environ | variables, check=False)
        for name in names:
            shutil.copy(work / name, out)
        print("promptfoo ended with", done.returncode, "(100 = an assertion did not hold)")


main(Path(sys.argv[1]).resolve())
