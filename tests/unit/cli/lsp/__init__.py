"""The language server, asked as editors ask it."""
