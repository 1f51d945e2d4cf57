"""The README and the reference: how long, how complete, and whether links lead somewhere."""

import re
from pathlib import Path

import pytest

import crowdwise as cw
from tools.site_links import require_own

ROOT = Path(__file__).parents[1]


def test_the_readme_is_short_and_all_of_it_is_executed() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 80
    before, _, after = page.partition("<!-- executed -->")
    assert "```" not in before
    assert set(re.findall(r"^```(\w+)$", after, re.M)) <= {"sh", "console", "python"}


def test_the_documentation_stays_short() -> None:
    generated = {"command-line.md", "methods.md"}
    words = {path: len(path.read_text(encoding="utf-8").split()) for path in (ROOT / "docs").rglob("*.md")}
    apart = {"studies", "contributing"}
    users = [count for path, count in words.items() if path.parent.name not in apart and path.name not in generated]
    assert sum(users) <= 17_000
    assert sum(count for path, count in words.items() if path.parent.name == "studies") <= 20_000


@pytest.mark.parametrize("name", dir(cw))
def test_the_reference_has_every_public_name(name: str) -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert re.search(rf"^(::: .*\.{name}|### `{name}`.*)$", page, re.M) or f"`{name}`" in page


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_pages_that_are_not_in_the_site_lead_to_files(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target
    for path in re.findall(r"\bdocs/[\w./-]+\.(?:md|csv|svg|png)", text):
        assert (ROOT / path).is_file(), path


def test_files_of_the_documentation_that_the_code_names_are_there() -> None:
    for file in [*ROOT.glob("src/**/*.py"), *ROOT.glob("tools/*.py"), ROOT / "Makefile", ROOT / "pyproject.toml"]:
        for path in re.findall(r"\bdocs/[\w./-]+\.(?:md|csv|svg|png)", file.read_text(encoding="utf-8")):
            assert (ROOT / path).is_file(), f"{file.name}: {path}"


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<img src="http://example.org/a.png">',
        "<style>@import url(https://example.org/a.css);</style>",
    ],
)
def test_a_page_of_the_site_that_loads_from_elsewhere_is_refused(html: str) -> None:
    with pytest.raises(ValueError, match=r"example\.org"):
        require_own(html, "a page")
    require_own(
        '<a href="https://example.org">a link is followed by the reader alone</a><script src="a.js"></script>', ""
    )
