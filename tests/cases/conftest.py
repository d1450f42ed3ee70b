"""Generated tests are expectations here, and no tests of ours."""

collect_ignore_glob = ["*/input/*", "*/expected/*"]
