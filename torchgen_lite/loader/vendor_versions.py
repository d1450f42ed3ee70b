"""Version ranges of Ascend's operator plug-in: `all_version`, `v2.1, v2.2`, `[v2.5, newest]`."""

from __future__ import annotations

from torchgen_lite.loader.reader import TRUTH, EntryReader
from torchgen_lite.loader.versions import Version, parse_version
from torchgen_lite.loader.yaml_nodes import ListNode, Node

_ALL = "all_version"
_NEWEST = "newest"


class VendorVersions:
    """The releases that a file supports, and the release it is read for, by default the newest."""

    def __init__(self, reader: EntryReader) -> None:
        self.reader = reader
        known = [self._read(word) for word, _ in reader.list_words(_ALL)]
        self._newest = max(known, default=())
        self._wanted = reader.dialect.for_torch[:2] or self._newest

    def has(self, field: str, node: Node) -> bool:
        """Whether a field includes the release.

        Two releases in a list are a range; otherwise each release stands for itself.
        """
        words = self.reader.words_of(field, node)
        # In a file for a single release, the field says whether the kernel exists.
        if len(words) == 1 and words[0][0] in TRUTH:
            return TRUTH[words[0][0]]
        if not self._wanted or any(word == _ALL for word, _ in words):
            return True
        versions = []
        for word, span in words:
            version = self._read(word)
            if not version and word != _NEWEST:
                what = f"a release, such as `v2.13`, `{_NEWEST}` or `{_ALL}`"
                self.reader.refuse("TG106", word, what, span, "not a release")
            versions.append(version or max(self._newest, self._wanted))
        if isinstance(node, ListNode) and len(versions) == 2:
            return versions[0] <= self._wanted <= versions[1]
        return self._wanted in versions

    def _read(self, word: str) -> Version:
        return parse_version(word.removeprefix("v"))
