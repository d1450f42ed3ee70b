"""Facts about whole files: the program, its operators resolved, checks, lint, comparison."""
