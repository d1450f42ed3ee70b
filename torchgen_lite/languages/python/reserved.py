"""The names that Python and PyTorch have, and those that generated Python has: `reserved.txt`, by where they are."""

from __future__ import annotations

from torchgen_lite.loader.sources import words_beside

_WORDS = words_beside(__file__)
IN_MODULES = _WORDS["python"] | _WORDS["imported"]
NAMESPACES = IN_MODULES | _WORDS["namespaces"]
LOCALS = _WORDS["locals"]
IN_TORCH_OPS = _WORDS["torch.ops"]
IN_NAMESPACES_OF_TORCH_OPS = _WORDS["namespaces of torch.ops"]
IN_OPERATORS_OF_TORCH_OPS = _WORDS["operators of torch.ops"]
OF_MODULES = _WORDS["attributes of modules"]
CONTEXT_ATTRIBUTES = _WORDS["contexts"]
IN_DERIVATIVES = CONTEXT_ATTRIBUTES | _WORDS["derivatives"]
IN_PACKAGES = _WORDS["packages"]
STANDARD_LIBRARY = _WORDS["standard library"]
