"""Exit codes: fine, something in the user's files needs attention, could not run, interrupted.

Python's own exit code for a crash is 1, which would read as "stale"; so nothing escapes `main`.
"""

from __future__ import annotations

FINE, ATTENTION, CANNOT_RUN, INTERRUPTED = 0, 1, 2, 130
