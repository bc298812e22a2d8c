"""Sections of the report as pages: the same sections, of all models or of one."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

import oodometer as odo
from oodometer.document.section import Plot, Table
from oodometer.explorer.links import path_link
from oodometer.explorer.section_pages import SECTION_PAGES

PAGES = {page.path: page for page in SECTION_PAGES}


@pytest.mark.parametrize("path", ["/scatter", "/quadrants", "/corruptions", "/calibration"])
def test_a_page_is_the_section_of_the_report(pages, shop, path):
    section = import_module(f"oodometer.report.html.sections.{PAGES[path].module}").section(odo.study_of(shop.store))
    found = pages.get(f"{path}.json").json()
    assert found["lead"] == list(section.lead)
    assert [part["part"] for part in found["parts"]] == [type(part).__name__.lower() for part in section.parts]
    page = pages.get(path)
    assert page.status_code == 200
    drawings = [part.draw for part in section.parts if isinstance(part, Plot)]
    assert re.findall(r'data-draw="(\w+)"', page.text) == drawings
    assert len([part for part in section.parts if isinstance(part, Table)]) <= page.text.count("data-table")
    assert f'<a href="{path}" aria-current="page">' in page.text
    assert "<script>" not in page.text  # scripts lie beside


def test_one_model_alone(pages, shop, hostile_model):
    found = pages.get("/calibration.json", params={"model": hostile_model}).json()
    plot = next(part for part in found["parts"] if part["part"] == "plot")
    assert [model["name"] for model in plot["data"]["models"]] == [hostile_model]
    of_all = pages.get("/calibration.json").json()
    whole = next(part for part in of_all["parts"] if part["part"] == "plot")["data"]["answers"]
    own = [answer for answer in whole if answer["model"] == hostile_model] if "model" in whole[0] else []
    assert all(answer in plot["data"]["answers"] for answer in own)
    page = pages.get("/calibration", params={"model": hostile_model})
    assert "<img src=x" not in page.text
    assert path_link("model", hostile_model).replace("&", "&amp;") in page.text


def test_one_shift_alone(pages):
    found = pages.get("/calibration.json", params={"shift": "sketch"}).json()
    plot = next(part for part in found["parts"] if part["part"] == "plot")
    assert [shift["name"] for shift in plot["data"]["shifts"]] == ["sketch"]


def test_unknown_names_are_told(pages):
    assert pages.get("/calibration.json", params={"model": "nobody"}).status_code == 404
    assert pages.get("/corruptions.json", params={"shift": "nothing"}).status_code == 404


def test_scripts_are_ours_and_styles_of_elements_are_for_plots_alone(pages):
    policy = pages.get("/calibration").headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "style-src 'self' 'unsafe-inline';" in policy
    assert "unsafe-inline" not in pages.get("/images").headers["content-security-policy"]
    for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', pages.get("/calibration").text):
        assert pages.get(name).status_code == 200, name


def test_a_model_and_a_shift_lead_to_their_sections(pages):
    assert 'href="/calibration?model=plain"' in pages.get("/model/plain").text
    page = pages.get(path_link("shift", "fam/fog")).text
    assert 'href="/corruptions?shift=fam%2Ffog"' in page
    assert 'href="/calibration?shift=fam%2Ffog"' in page
