"""The backend fallbacks of stock PyTorch 2.13, by key: the labels in `stock_fallbacks.txt`.

Schema files don't mention fallbacks, but most tables end in them. A label that begins with
`fallthrough` stands for a fallthrough; the others run, and most of them redispatch below.
"""

from __future__ import annotations

from pathlib import Path

_LINES = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()

STOCK_FALLBACKS: dict[str, str] = dict([line.split(": ") for line in _LINES])
META_FALLBACK = STOCK_FALLBACKS["Meta"]
"""It serves no call: it raises an error that says so."""
