"""The tutorial of building a test set, run as it stands on the page, on the real icons, from the pool to the drop."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import oodometer as odo
from oodometer.analysis.gaps import gaps
from oodometer.build.icons.build import Built
from oodometer.build.testset.project.out_now import out_since
from oodometer.build.testset.project.project import open_project
from oodometer.build.testset.project.revisions import revisions
from oodometer.build.testset.release.verify import verify_release

pytestmark = pytest.mark.slow

PAGE = Path(odo.__file__).parents[2] / "docs" / "tutorial-testset.md"
BLOCK = re.compile(r"^```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RELEASES = ("icons-matched", "icons-threshold", "icons-top")


def commands_of(page: str) -> list[tuple[str, str]]:
    """The commands of the page, each with what is shown below it."""
    commands: list[tuple[str, str]] = []
    for block in BLOCK.findall(page):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], ""))
            else:
                commands[-1] = (commands[-1][0], f"{commands[-1][1]}{line}\n")
    return commands


def run_page(place: Path) -> None:
    """Run the commands of the page but the first, which builds the icons, and compare what they print."""
    (place / "bin").mkdir()
    script = place / "bin" / "oodometer"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m oodometer "$@"\n')
    script.chmod(0o755)
    searched = {**os.environ, "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    first, *others = commands_of(PAGE.read_text(encoding="utf-8"))
    assert first[0] == "oodometer build icons --out icons/"
    for command, shown in others:
        done = subprocess.run(command, shell=True, cwd=place, env=searched, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"$ {command}\n{done.stderr}"
        assert doctest.OutputChecker().check_output(shown, done.stdout, FLAGS), f"$ {command}\n{done.stdout}"


# reference: Recht et al. (2019), table 2: MatchedFrequency drops further than Threshold, and that than TopImages
def test_the_page_runs_and_the_drop_is_that_of_the_paper_in_kind(built: Built, tmp_path: Path) -> None:
    shutil.copytree(built.folder, tmp_path / "icons")
    run_page(tmp_path)
    drops: dict[str, dict[str, float]] = {}
    for row in gaps(str(tmp_path / "runs")).as_json():
        drops.setdefault(row["model"], {})[row["shift"]] = row["gap"]["value"]
    assert len(drops) == 3
    for model, by_release in drops.items():
        assert by_release[RELEASES[0]] > by_release[RELEASES[-1]], model
    means = [sum(by_release[name] for by_release in drops.values()) for name in RELEASES]  # the paper's are averages
    assert means == sorted(means, reverse=True)
    for name, n in (("matched-frequency", 123), ("threshold", 130), ("top-images", 130)):  # as the page says
        assert verify_release(tmp_path / name).is_whole
        card = (tmp_path / name / "CARD.md").read_text(encoding="utf-8")
        assert "380 of the answers behind this set are simulated" in card
        assert f"- MIT: {n}" in card
    with open_project(tmp_path / "new-icons") as project:
        for record in revisions(project):
            assert out_since(project, record) == {}  # no two of a release are a close pair that nobody has looked at
