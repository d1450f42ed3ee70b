"""The generated tests below this folder are expected output, so pytest must not collect them."""

collect_ignore_glob = ["*/input/*", "*/expected/*"]
