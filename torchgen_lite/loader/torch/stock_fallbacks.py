"""The backend fallbacks of stock PyTorch 2.13, by key: the labels in `stock_fallbacks.txt`.

Schema files don't mention fallbacks, but most tables end in them. A label that begins with
`fallthrough` stands for a fallthrough; the others run, and most of them redispatch below.
"""

from __future__ import annotations

from torchgen_lite.loader.sources import lines_beside

STOCK_FALLBACKS = dict([line.split(": ") for line in lines_beside(__file__)])
META_FALLBACK = STOCK_FALLBACKS["Meta"]
"""It serves no call: it raises an error that says so."""
