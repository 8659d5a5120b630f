# Two commands do everything on a fresh machine: make demo, make test.   make check is what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip --disable-pip-version-check
# what is imported is compiled then; that is less than half of it
INSTALL := $(PIP) install -q --no-compile
PYTEST := $(BIN)/python -m pytest $(PYTEST_ARGS)
BESIDE := -n 2 --dist loadfile --no-loadscope-reorder
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test browser check prove mutants lint smoke platforms bench docs clean

demo: $(VENV)/.core                ## run the main job on the built-in RAG and write a report
	$(BIN)/ragauge demo -o demo-report.html

test: $(VENV)/.test                ## every test that fits; real-data tests run where the data is
	$(PYTEST) $(BESIDE) -m "not browser and not prove"

browser: $(VENV)/.test             ## the HTML report in Debian's Chromium
	$(PYTEST) $(BESIDE) -m browser

check: $(VENV)/.check              ## what CI runs: lint beside smoke, then every test
	$(MAKE) --jobs=2 --output-sync=target lint smoke
	$(PYTEST) $(BESIDE) -m "not prove"

prove: $(VENV)/.test               ## more kills, draws, sizes, looks: before a release, or when what they prove changes
	$(PYTEST) $(BESIDE) --hypothesis-profile=long -m "prove or hypothesis and not browser"

mutants: $(VENV)/.test             ## faults planted in the core, one at a time: the tests named for each must fail
	$(PYTEST) -v -m prove tests/mutants

lint: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/metric_pages.py --check

smoke: $(VENV)/.check              ## the built wheel in a clean environment, core dependencies only
	$(BIN)/python tools/smoke.py

platforms: $(VENV)/.venv           ## whether core and extras install from wheels alone, on every Python and platform
	$(BIN)/python tools/platforms.py

bench: $(VENV)/.check              ## figures beside those of peers; takes a while
	$(BIN)/python bench/retrieval.py --work out/retrieval
	$(BIN)/python bench/local_judge.py
	$(BIN)/python bench/model_judge.py --work out/peers
	$(BIN)/python bench/bootstrap.py
	$(BIN)/python bench/compare_runs.py

docs: $(VENV)/.test                ## pages that are generated from the code
	$(BIN)/python tools/metric_pages.py
	$(BIN)/python tools/cause_matrix.py
	$(BIN)/python tools/diagnosis_page.py
	$(BIN)/python tools/monitoring_page.py
	$(BIN)/python tools/schemas.py

$(VENV)/.venv:
	$(PYTHON) -c 'import sys; sys.exit("ragauge needs Python 3.11 or later, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	touch $@

$(VENV)/.core: $(VENV)/.venv pyproject.toml constraints.txt tools/embedder_files.py
	$(INSTALL) -e .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(INSTALL) --group test --group frameworks
	$(INSTALL) --no-deps --group server
	touch $@

$(VENV)/.check: $(VENV)/.venv pyproject.toml constraints.txt tools/embedder_files.py
	$(INSTALL) -e . --group test --group frameworks --group check
	$(INSTALL) --no-deps --group server
	touch $(VENV)/.core $(VENV)/.test $@

clean:
	rm -rf $(VENV) .smoke build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
