"""All of PyTorch's own inputs for the reference operators: `python reference/tests/count_opinfo.py [ENTRY ...]`.

Counts the calls whose results, errors and gradients were compared, and prints each difference with the title that
`docs/differences.md` has for it. Exits 1 if one has none. Needs `pip install -e ".[test,torch]"`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from operators import opinfo
from operators.exceptions import title_of


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", nargs="*", help="names of op_db; all without one")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    titles: Counter[str] = Counter()
    shown: set[tuple[str, str, str]] = set()

    def report(entry: opinfo.Entry, dtype: str, how: str, text: str) -> None:
        title = title_of(entry.name, how, text) or "unexplained"
        titles[title] += 1
        key = (entry.name, how, text.partition(":")[0])
        if key not in shown:
            shown.add(key)
            print(f"{title}: {entry.name} {dtype} [{how}] {text}", flush=True)

    for entry in opinfo.entries():
        if options.entries and entry.name not in options.entries:
            continue
        for dtype in entry.dtypes():
            for sample in opinfo.samples(entry, dtype):
                counts["samples"] += 1
                for how, text in opinfo.differences(entry, sample):
                    report(entry, dtype, how, text)
        for dtype in opinfo.gradient_dtypes(entry):
            for sample in opinfo.samples(entry, dtype, requires_grad=True):
                counts["gradients"] += 1
                for how, text in opinfo.gradient_differences(entry, sample):
                    report(entry, dtype, how, text)
        for how, text in opinfo.error_differences(entry):
            report(entry, "", how, text)
        counts["entries"] += 1
    print(
        f"{counts['entries']} entries, {counts['samples']:,} inputs, {counts['gradients']:,} with gradients of"
        f" two orders, {sum(titles.values()):,} differences"
    )
    for title, count in titles.most_common():
        print(f"  {count:6,} {title}")
    return int("unexplained" in titles)


if __name__ == "__main__":
    sys.exit(main())
