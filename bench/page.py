"""How fast the page of tables is in Chromium, with every operator of the installed PyTorch.

    python bench/page.py [--runs N]

The first rows are timed from the navigation until their layout, searches from the key press until the layout of the new rows. Needs torch and Chromium.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

# Chromium dumps the page once it is loaded, so all of this happens before.
MEASURE = """
<script>{
  document.body.offsetHeight;
  const ready = performance.now(), times = [];
  for (const text of ["a", "add", "add.Tensor", "conv backward", "register", "nothing at all", ""]) {
    byId("search").value = text;
    const before = performance.now();
    byId("search").dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    times.push(performance.now() - before);
  }
  document.title = JSON.stringify({ ready, search: Math.max(...times) });
}</script>
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as name:
        page = Path(name, "page.html")
        command = [sys.executable, "-m", "torchgen_lite", "table", "--torch", "--html", str(page)]
        subprocess.run(command, check=True)
        page.write_text(page.read_text() + MEASURE)
        window = "--window-size=1600,1000"
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", window, "--dump-dom"]
        found = []
        for _ in range(runs):
            done = subprocess.run(
                [chromium, *flags, page.as_uri()], capture_output=True, text=True, check=True
            )
            title = re.search("<title>(.*?)</title>", done.stdout)
            found.append(json.loads(unescape(title[1] if title else "{}")))
        size = page.stat().st_size / 1e6
    print(f"{size:.1f} MB, {runs} runs")
    for name, key in [("first rows", "ready"), ("slowest search", "search")]:
        times = [one[key] for one in found]
        print(f"{name}: median {statistics.median(times):.0f} ms, fastest {min(times):.0f} ms")


if __name__ == "__main__":
    main()
