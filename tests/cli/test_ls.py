"""``oodometer ls shifts``: what there is to run, what it needs, and what of that is there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from as_typed import oodometer
from oodometer.catalogue.shifts import Declared
from oodometer.data.kinds.folder import open_folder
from oodometer.data.layouts.known_set import KnownSet, known_sets
from oodometer.shifts import availability as overview
from oodometer.shifts import resolve
from oodometer.shifts.installed import installed_groups

IMAGENET = KnownSet(
    name="imagenet", title="ImageNet", page="https://example.org/imagenet", layout="folders",
    places=("imagenet/val",), open=open_folder,
)  # fmt: skip
SETS = (
    IMAGENET,
    replace(IMAGENET, name="pets-a", places=("pets-a",), page="https://example.org/pets"),
    replace(IMAGENET, name="pets-b", places=("pets-b",), page="https://example.org/pets"),
    replace(IMAGENET, name="birds", places=("birds",), page="https://example.org/birds"),
)
SHIFTS = (
    Declared("pets-a", "dataset", sets=("imagenet", "pets-a")),
    Declared("pets-b", "style", sets=("imagenet", "pets-b")),
    Declared("birds", "attribute", sets=("birds",)),
    Declared("fog", "corruption"),
)


@pytest.fixture(autouse=True)
def few_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four sets, four shifts, one group; torch is not installed."""
    monkeypatch.setattr(known_sets, "_addresses", {})
    monkeypatch.setattr(known_sets, "_loaded", {one.name: one for one in SETS})
    shifts = {one.name: one for one in SHIFTS}
    monkeypatch.setattr(overview, "declared_shifts", lambda: shifts)
    monkeypatch.setattr(resolve, "declared_groups", dict)
    monkeypatch.setattr(resolve, "needs_of", lambda name, sources: shifts[name].sets)
    monkeypatch.setattr(installed_groups, "_loaded", {"animals": ("pets-a", "pets-b", "birds")})
    monkeypatch.setattr(overview, "find_spec", lambda name: None)
    monkeypatch.setattr(overview, "ATTACKS", ("pgd-linf-2",))
    monkeypatch.delenv("OODOMETER_DATA", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """ImageNet and pets-a are there, pets-b is not unpacked, birds are missing."""
    for place in ("imagenet/val/n01440764", "Pets_A/cat"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "pets-b.tar").write_bytes(b"")
    return tmp_path


def test_without_a_root_it_says_how_to_name_one_and_what_is_needed() -> None:
    result = oodometer("ls", "shifts")
    assert result.stdout == (
        "no data root: name the folder of your data sets with --data-root DIR or OODOMETER_DATA\n"
        "clean images: those of --data, or imagenet of the root\n"
        "\n"
        "shift                        kind         needs\n"
        "pgd-, fgsm-, noise-NORM-EPS  adversarial  the same as those with numbers; any budget\n"
        "pgd-linf-2                   adversarial  clean images, and torch (not installed)\n"
        "--base ... --shift ...       attribute    a manifest with the attributes as columns\n"
        "birds                        attribute    birds\n"
        "pm-K                         consistency  a manifest with columns sequence and frame\n"
        "fog                          corruption   clean images\n"
        "pets-a                       dataset      imagenet, pets-a\n"
        "pets-b                       style        imagenet, pets-b\n"
        "\n"
        "group    members\n"
        "animals  3\n"
        "\n"
        "the sets' pages\n"
        "  https://example.org/birds\n"
        "    birds\n"
        "  https://example.org/imagenet\n"
        "    imagenet\n"
        "  https://example.org/pets\n"
        "    pets-a, pets-b\n"
    )
    assert (result.exit_code, result.stderr) == (0, "")


def test_with_a_root_it_says_what_is_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = oodometer("ls", "shifts", "--data-root", root)
    assert result.stdout == (
        f"data root: {root}, which has 2 of 4 published sets\n"
        "clean images: those of --data, or imagenet of the root\n"
        "\n"
        "shift                        kind         run  needs\n"
        "pgd-, fgsm-, noise-NORM-EPS  adversarial  -    the same as those with numbers; any budget\n"
        "pgd-linf-2                   adversarial  no   clean images, and torch (not installed)\n"
        "--base ... --shift ...       attribute    -    a manifest with the attributes as columns\n"
        "birds                        attribute    no   birds\n"
        "pm-K                         consistency  -    a manifest with columns sequence and frame\n"
        "fog                          corruption   yes  clean images\n"
        "pets-a                       dataset      yes  imagenet, pets-a\n"
        "pets-b                       style        no   imagenet, pets-b\n"
        "\n"
        "group    members  there\n"
        "animals  3        1\n"
        "\n"
        "set       place\n"
        "imagenet  imagenet/val\n"
        "pets-a    Pets_A\n"
        "\n"
        "not unpacked\n"
        f"  pets-b: pets-b.tar lies in {root} but is not unpacked\n"
        "\n"
        "missing sets, and where to get them\n"
        "  https://example.org/birds\n"
        "    birds\n"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    monkeypatch.setenv("OODOMETER_DATA", str(root))
    assert oodometer("ls", "shifts").stdout == result.stdout


def test_json_has_the_same(root: Path) -> None:
    told = json.loads(oodometer("ls", "shifts", "--data-root", root, "--json").stdout)
    assert told["root"] == str(root)
    shifts = {one["name"]: one for one in told["shifts"]}
    assert shifts["pets-b"] == {
        "name": "pets-b",
        "kind": "style",
        "sets": ["imagenet", "pets-b"],
        "needs": "imagenet, pets-b",
        "there": False,
        "missing": ["pets-b"],
    }
    assert shifts["pgd-linf-2"]["missing"] == ["torch"]
    assert told["groups"] == [{"name": "animals", "members": ["pets-a", "pets-b", "birds"], "there": ["pets-a"]}]
    sets = {one["name"]: one for one in told["sets"]}
    assert sets["pets-a"]["place"] == str(root / "Pets_A")
    assert (sets["birds"]["place"], sets["birds"]["page"]) == (None, "https://example.org/birds")
    unknown = json.loads(oodometer("ls", "shifts", "--json").stdout)
    assert [one["there"] for one in unknown["shifts"]] == [None] * 8


def test_the_numbers_of_the_papers_texts() -> None:
    result = oodometer("ls", "numbers")
    assert (result.exit_code, result.stderr) == (0, "")
    # Hendrycks and Dietterich 2019, Section 3.5
    line = next(line for line in result.stdout.splitlines() if line.endswith("mCE of ResNet-50 with CLAHE"))
    assert line.split()[:5] == ["hendrycks2019", "Section", "3.5", "74.5", "percent"]
    told = json.loads(oodometer("ls", "numbers", "--json").stdout)
    assert len(told) == len(result.stdout.splitlines()) - 1
    assert set(told[0]) == {"paper", "where", "what", "sense", "value", "unit", "words"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ls", "shifts", "--data-root", "nowhere"), "Error: nowhere: no such folder"),
        (("ls", "models", "--data-root", "."), "Error: --data-root goes with 'oodometer ls shifts'"),
    ],
)
def test_mistakes_get_one_line(words: tuple[str, ...], message: str) -> None:
    result = oodometer(*words)
    assert result.stderr.startswith(message)
    assert (result.exit_code, result.stdout) == (2, "")
