# tritonscope: `make demo` and `make test` are all a fresh machine needs. `make help` lists the rest.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
CACHE  ?= $(or $(TRITONSCOPE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tritonscope)
JAEGER ?= $(CACHE)/jaeger-1.76.0/jaeger
COLLECTOR ?= $(CACHE)/collector-0.161.0/collector
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-unit test-deploy test-gpu bench-overhead bench-hot-path bench-pipeline-wrapper bench-prediction check format jaeger collector clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

demo: $(READY) ## run the example pipeline on a real Triton and say what throttles it
	@$(BIN)/tritonscope demo

test: $(READY) ## pass the tests (a real Triton runs; no GPU, no Docker)
	$(BIN)/pytest -m "not backends and not gpu"

test-unit: $(READY) ## the tests without a server; on another Python: make PYTHON=python3.13 VENV=.venv-3.13 test-unit
	$(BIN)/pytest tests/unit

test-deploy: $(READY) jaeger collector ## spans through real Collectors into a real Jaeger, asked by its API
	TRITONSCOPE_JAEGER=$(JAEGER) TRITONSCOPE_COLLECTOR=$(COLLECTOR) $(BIN)/pytest -m backends

test-gpu: $(READY) ## the tests that need a GPU
	$(BIN)/pytest -m gpu

bench-overhead: $(READY) ## what observing costs, against the bare model (about 6 minutes)
	$(BIN)/python benchmarks/overhead.py

bench-hot-path: $(READY) ## how many instructions observing adds to a batch (needs valgrind; 2 minutes)
	$(BIN)/python benchmarks/hot_path.py

bench-pipeline-wrapper: $(READY) ## what an ensemble costs as a Python model (about 5 minutes)
	$(BIN)/python benchmarks/pipeline_wrapper.py

bench-prediction: $(READY) ## how well a predicted gain comes true (about 2 minutes)
	$(BIN)/python benchmarks/prediction.py

check: $(READY) ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## rewrite the sources as `make check` wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

jaeger: $(JAEGER) ## build the Jaeger that the tests use, once (needs Go)

$(JAEGER): tests/jaeger/go.mod
	@command -v go >/dev/null || { echo "Jaeger is built from source and needs Go 1.24 or newer: install Go"; exit 1; }
	@echo "building Jaeger, once (some minutes)"
	cd tests/jaeger && GOFLAGS=-mod=mod go build -o $@.new github.com/jaegertracing/jaeger/cmd/jaeger
	mv $@.new $@

collector: $(COLLECTOR) ## build the Collector that the tests use, once (needs Go)

$(COLLECTOR): tests/collector/go.mod tests/collector/main.go
	@command -v go >/dev/null || { echo "the Collector is built from source and needs Go 1.26 or newer: install Go"; exit 1; }
	@echo "building the Collector, once (some minutes)"
	cd tests/collector && GOFLAGS=-mod=mod go build -o $@.new .
	mv $@.new $@

$(READY): pyproject.toml middleware/hatch_build.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "tritonscope needs Python 3.10 or newer; $(PYTHON) is older: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "$(PYTHON) cannot create a virtual environment: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

clean: ## remove the virtual environment and caches of this folder
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
