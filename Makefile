# Each target makes the virtual environment it needs, from Python 3.11 to 3.13.
#   make demo    the gradient of a real simulation, in a fresh environment
#   make test    everything that has to pass, in an environment made anew
#   make lint    style, types and spelling     make tiny    the tests of five seconds
#   make golden  rewrite tests/golden          make bench   every benchmark
#   make format  lay the code out              make clean   remove what was made

PYTHON ?= python3
TEST := build/venv-test
DEMO := build/venv-demo
export PIP_DISABLE_PIP_VERSION_CHECK := 1

$(TEST)/ready: WANTS := .[test,dev]
$(DEMO)/ready: WANTS := .
build/venv-%/ready: setup.cfg pyproject.toml
	@echo "making $(@D) ..."
	@rm -rf $(@D)
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/pip install -qq --editable '$(WANTS)'
	@touch $@

.PHONY: demo test lint style types spelling tiny golden bench format clean

demo: $(DEMO)/ready
	@$(DEMO)/bin/python examples/demo.py

test:
	@rm -rf $(TEST)
	@$(MAKE) --no-print-directory lint
	$(TEST)/bin/pytest -q -n 2

lint: style types spelling

style: $(TEST)/ready
	$(TEST)/bin/ruff check --quiet
	$(TEST)/bin/ruff format --check --quiet

# A checker does not follow package_dir: it reads the package laid out as installed.
types: $(TEST)/ready
	@rm -rf build/typed && mkdir -p build/typed
	@cp -Rp gradwright build/typed/ && cp -Rp transform backends build/typed/gradwright/
	cd build/typed && ../../$(TEST)/bin/mypy --config-file ../../setup.cfg \
	  --cache-dir ../../.mypy_cache --package gradwright

spelling: $(TEST)/ready
	$(TEST)/bin/codespell

tiny: $(TEST)/ready
	$(TEST)/bin/pytest -q tests/test_tiny.py

golden: $(TEST)/ready
	$(TEST)/bin/pytest -q -n 2 --update-golden

bench: $(TEST)/ready
	@set -e; for script in benchmarks/*.py; do \
	  echo "== $$script"; $(TEST)/bin/python $$script; done

format: $(TEST)/ready
	$(TEST)/bin/ruff check --quiet --fix --select I
	$(TEST)/bin/ruff format --quiet

clean:
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
