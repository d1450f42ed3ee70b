"""The language server, used as editors use it."""
