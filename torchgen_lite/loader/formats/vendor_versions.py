"""Version ranges of Ascend's operator plug-in: `all_version`, `v2.1, v2.2`, `[v2.5, newest]`."""

from __future__ import annotations

from torchgen_lite.loader.entry.reader import TRUTH, EntryReader
from torchgen_lite.loader.versions import (
    Version,
    has_release,
    next_version,
    parse_version,
    version_text,
)
from torchgen_lite.loader.yaml.nodes import ListNode, Node

_ALL = "all_version"
_NEWEST = "newest"
# The releases that a range is made of; those to come are among them.
_MINORS = (*((1, minor) for minor in range(14)), *((2, minor) for minor in range(100)))
Releases = frozenset[Version]


class VendorVersions:
    """The releases that a file supports. A file that is read for no release is read for its newest."""

    def __init__(self, reader: EntryReader) -> None:
        self.reader = reader
        given = reader.words_of(_ALL, reader.fields[_ALL][1]) if _ALL in reader.fields else []
        known = [parse_version(word.removeprefix("v")) for word, _ in given]
        self._newest = max(known, default=())
        self._release = reader.dialect.for_torch[:2]
        self.every: Releases = frozenset(m for m in _MINORS if m >= min(known, default=()))

    def has(self, releases: Releases) -> bool:
        """Whether the release that the file is read for is among these."""
        release = self._release or self._newest
        return not release or release in releases or releases == self.every

    def read(self, field: str, node: Node) -> Releases:
        """The releases that a field includes. Two in a list are a range; otherwise each stands for itself."""
        words = self.reader.words_of(field, node)
        # In a file for a single release, the field says whether the kernel exists.
        if len(words) == 1 and words[0][0] in TRUTH:
            return self.every if TRUTH[words[0][0]] else frozenset()
        if any(word == _ALL for word, _ in words):
            return self.every
        versions = []
        for word, span in words:
            version = parse_version(word.removeprefix("v"))
            if not version and word != _NEWEST:
                self.reader.refuse(
                    "TG106",
                    word,
                    f"a release, such as `v2.13`, `{_NEWEST}` or `{_ALL}`",
                    span,
                    "not a release",
                )
            versions.append(version or max(self._newest, self._release))
        releases = self.every.intersection(versions)
        if isinstance(node, ListNode) and len(versions) == 2:
            last = _MINORS[-1] if words[1][0] == _NEWEST else versions[1]
            releases = frozenset(m for m in self.every if versions[0] <= m <= last)
        if self._release:
            return releases
        # Without a release there is no telling which entries apply.
        return self.every if self.has(releases) else frozenset()

    def of(self, torch: str | None) -> Releases:
        """The releases in a range of ours."""
        return frozenset(one for one in self.every if has_release(torch, one))

    def text(self, releases: Releases, written: str | None = None) -> str | None:
        """These releases as a range of ours, beside the `written` one of an entry.

        They are those of the file, so that its first one needs no bound, nor does what has no last one.
        """
        every = sorted(self.every)
        first = every.index(min(releases))
        last = every.index(max(releases))
        parts = written.split(",") if written else []
        parts += [f">={version_text(min(releases))}"] if first else []
        parts += [f"<{version_text(next_version(max(releases)))}"] if every[last + 1 :] else []
        left_out = [release for release in every[first:last] if release not in releases]
        parts += [f"!={version_text(release)}.*" for release in left_out]
        return ",".join(dict.fromkeys(parts)) or None
