"""From described files to files on disk: rendering, headers, the plan, the write, the diff.

Nothing below this layer writes. `render.py` is the only module that knows Jinja2, and only the commands
that render import it.
"""
