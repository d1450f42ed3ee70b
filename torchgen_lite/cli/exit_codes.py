"""Exit codes: fine, something in the user's files needs attention, could not run, interrupted.

Python's own exit code for a crash is 1, which would read as "stale"; so nothing escapes `main`.
"""

from __future__ import annotations

FINE = 0
ATTENTION = 1
CANNOT_RUN = 2
INTERRUPTED = 130
