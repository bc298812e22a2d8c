# Both work from a clean clone: they make .venv and install what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: quickstart shell test quick coverage setup format docs figures browser javascript clean

quickstart: $(VENV)/.quickstart
	$(BIN)/oodometer quickstart

# A shell in which the installed command is found; leave it with exit.
shell: $(VENV)/.quickstart
	@echo "oodometer is on the path here; leave with exit" && PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV="$(CURDIR)/$(VENV)" $${SHELL:-sh}

test: $(VENV)/.dev browser
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	@$(MAKE) --no-print-directory javascript
	$(BIN)/pytest -n auto

# The tests a person runs between two edits.
quick: $(VENV)/.dev
	$(BIN)/pytest -n auto -q -m "not slow"

# Which lines no test reaches: here, and as pages in htmlcov/. Kernels are compiled, so their lines don't count.
coverage: $(VENV)/.dev browser
	$(BIN)/pytest -n auto --cov --cov-report=term-missing:skip-covered --cov-report=html

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev
	$(BIN)/python docs/make_reference.py

# The pictures of docs/statistics, which are committed.
figures: $(VENV)/.dev
	$(BIN)/python docs/make_figures_metrics.py
	$(BIN)/python docs/make_figures_statistics.py
	$(BIN)/python docs/make_figures_sampling.py
	$(BIN)/python docs/make_figures_comparing.py
	$(BIN)/python docs/make_figures_labels.py
	$(BIN)/python docs/make_figures_difficulty.py

# The scripts of the pages: lint, types by comment, and tests of what needs no browser. Versions are pinned in package.json.
javascript:
	@if command -v npm > /dev/null; then \
	    $(MAKE) --no-print-directory node_modules/.stamp && npm run --silent check; \
	else \
	    echo "no npm here: the scripts of the pages are not checked"; \
	fi

node_modules/.stamp: package.json
	npm install --silent --no-audit --no-fund --no-package-lock
	touch $@

# The tests of the report and of the explorer open them in Debian's Chromium, and some in its Firefox; those of the
# databases of test sets also start a PostgreSQL of their own. Without these they are skipped with a word.
browser:
	@for program in chromium firefox-esr; do \
	    command -v $$program > /dev/null || { \
	        [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get -qq update > /dev/null 2>&1 && \
	        DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$program fonts-dejavu-core \
	        > /dev/null 2>&1; \
	    } || echo "no $$program, and it can't be installed here: the tests in it are skipped"; \
	done
	@{ command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } > /dev/null 2>&1 || { \
	    [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get -qq update > /dev/null 2>&1 && \
	    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends postgresql > /dev/null 2>&1; \
	} || echo "no PostgreSQL, and it can't be installed here: the tests with it are skipped"

setup: $(VENV)/.dev

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.quickstart: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[quickstart]'
	touch $@

$(VENV)/.dev: $(VENV)/.quickstart
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[all,quickstart,dev]'
	# Oracles of the tests of corruptions, of attacks and of estimates from few labels; the dependencies they ask for would bring a second OpenCV, and
	# torchvision with an old version of requests.
	$(BIN)/python -m pip install --quiet --no-deps -c constraints.txt imagecorruptions-imaug torchattacks ppi-python
	touch $@

clean:
	rm -rf $(VENV) node_modules build dist quickstart htmlcov .coverage
