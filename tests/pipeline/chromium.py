"""A real browser for pages that tests make: what it sees, and what it looks like."""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 90
POLICY = re.compile(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>")
SCRIPT = """<script>
addEventListener("load", () => {
  const box = e => e.getBoundingClientRect();
  const before = (a, b) => a.right <= b.left + 1 || a.bottom <= b.top + 1;
  const apart = (a, b) => before(a, b) || before(b, a);
  const overlapping = (all, name) => all.flatMap((a, i) =>
    all.slice(i + 1).filter(b => !apart(box(a), box(b))).map(b => [name(a), name(b)]));
  const cards = [...document.querySelectorAll("section, .total")];
  const labels = [...document.querySelectorAll("svg")].flatMap(svg =>
    overlapping([...svg.querySelectorAll("text")], e => e.textContent));
  const heads = [...document.querySelectorAll("th")].filter(e => e.scrollWidth > e.clientWidth + 1);
  const numbers = [...document.querySelectorAll("td.n")].filter(e => e.scrollWidth > e.clientWidth + 1);
  const outside = [...document.querySelectorAll("section *, .total *")].filter(e => {
    const card = box(e.closest("section, .total"));
    const cut = e.parentElement.closest(".wide, td");  // what may be scrolled, and cells, which end in an ellipsis
    return box(e).width && !cut && (box(e).right > card.right + 1 || box(e).left < card.left - 1);
  }).map(e => e.tagName + " " + e.textContent.slice(0, 40));
  const found = {
    width: document.documentElement.clientWidth, needed: document.documentElement.scrollWidth,
    cards: overlapping(cards, e => e.textContent.slice(0, 20)), labels, outside,
    heads: heads.map(e => e.textContent), numbers: numbers.map(e => e.textContent),
  };
  const result = document.createElement("pre");
  result.id = "measured";
  result.textContent = JSON.stringify(found);
  document.body.append(result);
});
</script>"""


def program() -> str:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        words = "Chromium is not here: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(words)
        pytest.skip(words)
    return found


def run(page: Path, *words: str, width: int = 1400, dark: bool = False) -> str:
    profile = page.parent / "profile"
    command = [program(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    look = ["--blink-settings=preferredColorScheme=0"] if dark else []
    command += ["--hide-scrollbars", f"--window-size={width},2000", *look, *words, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout


def seen(page: Path) -> str:
    """The document as the browser has understood it."""
    return run(page, "--dump-dom")


def picture(page: Path, to: Path, width: int = 1400, dark: bool = False) -> bytes:
    run(page, f"--screenshot={to}", width=width, dark=dark)
    return to.read_bytes()


def measured(page: Path, width: int) -> dict[str, Any]:
    """Sizes that only a browser knows. The page forbids scripts, so this is done with a copy that does not."""
    copy = page.with_name(f"measured-{width}.html")
    copy.write_text(POLICY.sub("", page.read_text()).replace("</body>", f"{SCRIPT}</body>"))
    found = re.search(r"<pre id=\"measured\">(.*?)</pre>", run(copy, "--dump-dom", width=width), re.DOTALL)
    assert found, "the page did not load"
    return dict(json.loads(html.unescape(found[1])))
