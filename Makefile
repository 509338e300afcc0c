# Penstock. `make` alone prints what there is; each target does all the set-up it needs.
#
# An environment is stamped with the hash of its lock, of the place where it stands and of what is compiled into it, so it
# is made once and brought up to date only when one of them changes. PYTHON=… chooses the interpreter; otherwise it is the
# first below that works.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3,$(call new-enough,$(p))))
new-enough = $(if $(1),$(shell $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(1)))
has-venv = $(shell $(1) -c 'import ensurepip, venv' 2>/dev/null && echo yes)

hash = $(shell { echo $(CURDIR); cat $(1); } | sha256sum | cut -c1-16)
pip = $(1)/bin/python -m pip --disable-pip-version-check --quiet install

RUN_LOCKS := requirements.txt requirements-build.txt
DEV_LOCKS := $(RUN_LOCKS) requirements-spark.txt requirements-dev.txt
BUILT := $(wildcard pyproject.toml native/Cargo.toml native/src/*.rs)
RUN := .venv/.run-$(call hash,$(RUN_LOCKS) $(BUILT))
DEV := .venv/.dev-$(call hash,$(DEV_LOCKS))
SPARK := .venv/.spark-$(call hash,requirements-spark.txt)
SDKS := boto3-1.28 awscli celery spark-4.1
TOOLS := java:openjdk-17-jre-headless chromium:chromium curl:curl node:nodejs npm:npm
sdk = .venvs/$(1)/.ready-$(call hash,tests/sdk/requirements-$(1).txt)
JAVASCRIPT := .venvs/javascript/.ready-$(call hash,tests/sdk/javascript/package-lock.json)

NOT_NATIVE := Penstock will run without its native part, at half the speed: there is no Rust here that compiles it (by \
	rustup, or your distribution's cargo if it is 1.85 or newer). Once there is: make clean run

# $(call venv,DIRECTORY): make it, or end in one line that says what to install.
define venv
	$(if $(call new-enough,$(PYTHON)),,$(error Penstock needs Python 3.11 or newer: apt-get install python3 python3-venv))
	$(if $(call has-venv,$(PYTHON)),,$(error $(PYTHON) cannot make virtual environments: apt-get install python3-venv))
	@[ -x $(1)/bin/python ] || { echo "Making $(1) with $$($(PYTHON) --version)…"; $(PYTHON) -m venv --clear $(1); }
endef

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: $(RUN) ## Run the server on 127.0.0.1:9324 with its data in ./data (ARGS="--auth off" adds options)
	@exec .venv/bin/python -m penstock serve $(ARGS)

.PHONY: pipeline
pipeline: $(SPARK) ## See the data pipeline at work: a server, traffic, tables and a page, in ./demo (needs Java 17)
	@exec .venv/bin/python -m penstock demo $(ARGS)

.PHONY: test
test: check test-tools sdk-envs ## Check, then run every test
ifdef ARGS
	.venv/bin/python -m pytest $(ARGS)
else
	.venv/bin/python tests/parts.py
endif

.PHONY: check
check: $(DEV) ## Format, lint, types, architecture: under 20 seconds
	.venv/bin/python -m ruff format --check src tests bench
	.venv/bin/python -m ruff check src tests bench
	.venv/bin/python -m mypy
	.venv/bin/python -m pytest tests/test_architecture.py

.PHONY: format
format: $(DEV) ## Bring the code into the house's format
	.venv/bin/python -m ruff format src tests bench
	.venv/bin/python -m ruff check --fix src tests bench

.PHONY: stubs
stubs: $(DEV) ## Write the type stubs of the compiled service models
	.venv/bin/python -m penstock.aws.stubs

.PHONY: docs
docs: $(DEV) ## Write docs/reference from the contract, the settings, the commands and the errors
	.venv/bin/python -m penstock.reference

.PHONY: bench
bench: $(DEV) ## Measure everything here beside other servers, twice: an hour or two (ARGS="cycle --peers goaws" for less)
	.venv/bin/python bench/compare.py $(ARGS)

.PHONY: bench-quick
bench-quick: $(DEV) ## Measure what matters most beside other servers, in about two minutes
	.venv/bin/python bench/compare.py --quick $(ARGS)

MINUTES ?= 10
.PHONY: battery
battery: $(DEV) ## Kills, power cuts, bad disks and networks in rotation (MINUTES=10 SEED=… PARTS="kill power")
	.venv/bin/python tests/faults/battery.py --minutes $(MINUTES) $(addprefix --seed ,$(SEED)) $(if $(PARTS),--parts $(PARTS))

.PHONY: bench-scale
bench-scale: $(DEV) ## 10,000 queues with 10 million messages: what holds at that size, in a quarter of an hour or so (ARGS="--scale 0.1" for less)
	.venv/bin/python -m penstock bench scale --json bench/results/scale.json $(ARGS)

.PHONY: test-tools
test-tools: ## Install the programs that tests use, such as Java and Chromium, if they are missing and we are root
	@need=; for tool in $(TOOLS); do command -v $${tool%%:*} >/dev/null || need="$$need $${tool##*:}"; done; \
	if [ -z "$$need" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then echo "Installing$$need…"; \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends $$need >/dev/null; \
	else echo "Tests that need them will be left out. To have them: sudo apt-get install$$need"; fi

.PHONY: sdk-envs
sdk-envs: $(foreach name,$(SDKS),$(call sdk,$(name))) $(JAVASCRIPT) ## Make the environments of the other SDKs that tests use

.PHONY: clean
clean: ## Remove everything that make has made; ./data and ./demo stay
	rm -rf .venv .venvs build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUN):
	$(call venv,.venv)
	@$(call pip,.venv) -r requirements.txt -r requirements-build.txt
	@! command -v cargo >/dev/null || echo "Compiling native/ (once, under a minute)…"
	@$(call pip,.venv) --no-deps --no-build-isolation --editable .
	@.venv/bin/python -c "import penstock.native" 2>/dev/null || echo "$(NOT_NATIVE)"
	@rm -f .venv/.run-* && touch $@

$(SPARK): $(RUN)
	@echo "Adding Spark to .venv…"
	@$(call pip,.venv) -r requirements-spark.txt
	@rm -f .venv/.spark-* && touch $@

$(DEV): $(RUN)
	@echo "Adding what tests need to .venv…"
	@$(call pip,.venv) -r requirements-dev.txt
	@rm -f .venv/.dev-* && touch $@

$(JAVASCRIPT):
	@if command -v npm >/dev/null; then \
		mkdir -p $(@D) && cp tests/sdk/javascript/package*.json $(@D) && rm -f $(@D)/.ready-* && \
		npm ci --prefix $(@D) --omit=optional --no-audit --no-fund --silent && touch $@; \
	else echo "Tests of the SDK for JavaScript will be left out. To have them: sudo apt-get install nodejs npm"; fi

define sdk-rule
$(call sdk,$(1)):
	$$(call venv,.venvs/$(1))
	@$$(call pip,.venvs/$(1)) -r tests/sdk/requirements-$(1).txt
	@rm -f .venvs/$(1)/.ready-* && touch $$@
endef
$(foreach name,$(SDKS),$(eval $(call sdk-rule,$(name))))
