"""The report in a real browser: it stands alone, is silent, is accessible, and shows hostile names as text."""

from pathlib import Path

import pytest
from browser import DARK, accessibility, ask, visit
from made_up_run import HOSTILE, run

from rollout.report.html import render_html

WIDE, NARROW = "--window-size=1280,1000", "--window-size=500,1000"


@pytest.fixture(scope="module")
def page() -> str:
    """The page of a run of three hosts."""
    return render_html(run())


def test_the_page_asks_for_nothing_and_says_nothing(page: str, tmp_path: Path) -> None:
    """No outside request and no line on the console; its own policy would forbid both."""
    file = tmp_path / "report.html"
    file.write_text(page)
    seen = visit(file)
    assert seen.console == ()
    assert seen.requests == ()
    assert "default-src 'none'" in seen.document


def test_the_browser_of_these_tests_does_see_requests_and_complaints(tmp_path: Path) -> None:
    """A page that asks for a picture at a closed port and logs an error is found out."""
    file = tmp_path / "loud.html"
    file.write_text("<title>x</title><img src='http://127.0.0.1:9/x.png' alt=''><script>console.error('x')</script>")
    seen = visit(file)
    assert seen.requests
    assert seen.console


def test_a_hostile_host_name_stays_text(page: str, tmp_path: Path) -> None:
    """No script element exists, and the name is read as it is written."""
    script = "done([document.querySelectorAll('script').length, document.querySelector('.trouble a').textContent])"
    scripts, name = ask(page, tmp_path, script)
    assert scripts == 1  # the one that asks
    assert name == HOSTILE


@pytest.mark.parametrize("flags", [(WIDE,), (NARROW,), (WIDE, DARK)], ids=["wide", "narrow", "dark"])
def test_an_accessibility_checker_finds_nothing(page: str, tmp_path: Path, flags: tuple[str, ...]) -> None:
    """All folded parts opened: names, contrast, order of headings, tables, landmarks."""
    assert accessibility(page, tmp_path, *flags) == []


def test_the_checker_finds_what_is_wrong(page: str, tmp_path: Path) -> None:
    """Without a language and with pale text it complains."""
    worse = page.replace('<html lang="en">', "<html>").replace("--soft: #555c64", "--soft: #dddddd")
    found = accessibility(worse, tmp_path, WIDE)
    assert {row.partition(":")[0] for row in found} == {"html-has-lang", "color-contrast"}


def test_the_page_fits_a_narrow_screen(page: str, tmp_path: Path) -> None:
    """Only tables scroll sideways, inside their own frames that the keyboard reaches."""
    script = """done([document.documentElement.scrollWidth, innerWidth,
        [...document.querySelectorAll('.scroll')].every(frame => frame.tabIndex === 0)])"""
    width, window, reachable = ask(page, tmp_path, script, NARROW)
    assert width <= window
    assert reachable


def test_dark_and_light_differ(page: str, tmp_path: Path) -> None:
    """The page follows the reader's colour scheme."""
    script = "done(getComputedStyle(document.body).backgroundColor)"
    assert ask(page, tmp_path, script, WIDE) != ask(page, tmp_path, script, WIDE, DARK)
