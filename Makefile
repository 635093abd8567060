# `make run` and `make test` do all set-up themselves; they need Python 3.11 to 3.13 with venv, make and a C library.

.POSIX:
.SUFFIXES:
.NOTPARALLEL:
.PHONY: run test check lint types tests model bench train-check native-check native-threads native-arm wheels clean help

APP = apps/smart_home
PY = .venv/bin/python
RUN = .venv/.installed
DEV = .venv/.installed-dev
BENCH = .venv/.installed-bench

run: $(RUN) ## Set everything up, pull the model and serve the smart home on http://127.0.0.1:8765
	@exec $(PY) -m agentkit.cli.main run $(APP) $(ARGS)

test: lint types tests ## Set everything up, pull the model, check style and types, run all tests

check: test

lint: $(DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(DEV)
	$(PY) -m mypy

tests: $(DEV) model
	$(PY) -m pytest $(ARGS)

model: $(RUN) ## Pull the default model; nothing happens if it is there already
	@$(PY) -m agentkit.cli.main models pull

bench: $(BENCH) model ## Run every bench, within 12 minutes, into bench-out/summary.md (builds llama.cpp once, some minutes more)
	$(PY) -m agentkit.cli.main bench all --out bench-out $(ARGS)

train-check: ## Check the training of the home model; wants PyTorch in .venv (models/home/README.md)
	cd models/home/train && ../../../$(PY) -m pytest -p no:cacheprovider check_train.py $(ARGS)

SANITIZED = ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 UBSAN_OPTIONS=halt_on_error=1 TSAN_OPTIONS=halt_on_error=1

native-check: native-threads ## Run the native kernels' tests under the address, undefined-behaviour and thread sanitizers (needs g++)
	CXX=g++ AF_NATIVE_FLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all -g" $(SANITIZED) \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" \
	$(PY) -m pytest tests/runtimes/test_af_native.py -p no:cacheprovider $(ARGS)

native-threads: $(DEV)
	CXX=g++ AF_NATIVE_FLAGS="-O1 -fsanitize=thread -g" $(SANITIZED) LD_PRELOAD="$$(g++ -print-file-name=libtsan.so)" \
	$(PY) -m pytest tests/runtimes/test_af_native.py -p no:cacheprovider -k "threads or bucket" $(ARGS)

native-arm: $(DEV) ## Build the kernels for arm64 and compare them with portable C++ in an emulator (needs qemu-user)
	$(PY) -m pip install --quiet --disable-pip-version-check ziglang
	$(PY) -m tests.runtimes.native.arm64

wheels: $(DEV) ## Build wheels with the native library in them, for x86-64 and arm64, into dist/
	$(PY) -m pip install --quiet --disable-pip-version-check ziglang
	$(PY) -m deploy.wheels dist

$(PY):
	@python="$$(PYTHON="$(PYTHON)" sh deploy/find_python.sh)" && echo "creating .venv with $$python" && "$$python" -m venv .venv

# The stamps make the second start quick: pip runs again only after pyproject.toml has changed.
$(RUN): pyproject.toml | $(PY)
	@echo "installing agentkit and what it needs into .venv"
	$(PY) -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(DEV): pyproject.toml | $(PY)
	@echo "installing agentkit, what it needs and what tests need into .venv"
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(RUN) $@

$(BENCH): pyproject.toml $(DEV)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $@

clean: ## Remove .venv and all caches; pulled models stay in ~/.cache/agentkit
	rm -rf .venv dist .mypy_cache .pytest_cache .ruff_cache .hypothesis bench-out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /	/'
