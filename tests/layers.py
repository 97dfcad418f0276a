"""The table of docs/architecture.md as rules: which folder may include which."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Rules:
    """`uses` has for each folder what its row names, not what that uses in turn."""

    uses: dict[str, set[str]]

    def folder_of(self, path: str) -> str | None:
        """The folder of the table that a path below src/ lies in: the longest that fits."""
        parts = Path(path).parts[:-1]
        for length in range(len(parts), 0, -1):
            if (name := "/".join(parts[:length])) in self.uses:
                return name
        return None

    def allowed(self, folder: str) -> set[str]:
        """What a file of the folder may include: its own, the row's folders, and what these stand on."""
        found: set[str] = set()
        pending = [folder]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self.uses[name]
        # What lies inside another folder is that one's own business, unless the row names it.
        inner = {name for name in found if "/" in name and folder.split("/")[0] != name.split("/")[0]}
        return found - (inner - self.uses[folder])


def read_rules(page: str) -> Rules:
    uses: dict[str, set[str]] = {}
    for line in page.splitlines():
        row = re.fullmatch(r"\| `src/([\w/]+)` \|.*\| ([^|]+) \|", line)
        if row:
            used = set() if row[2].strip() == "–" else {name.strip().strip("`") for name in row[2].split(",")}
            uses[row[1]] = used
    unknown = {name for names in uses.values() for name in names} - uses.keys()
    assert uses and not unknown, f"docs/architecture.md names folders without a row: {sorted(unknown)}"
    return Rules(uses)


def is_test(path: Path) -> bool:
    return path.stem.endswith(("_test", "_fuzz", "_bench")) or "testing" in path.stem or path.stem.startswith("fake_")


def broken_in(name: str, text: str, rules: Rules) -> list[str]:
    """A line for each #include of a file of src/ that the table does not allow."""
    folder = rules.folder_of(str(Path(name).relative_to("src")))
    if folder is None:
        return [f"{name}: its folder has no row in docs/architecture.md"]
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        include = re.match(r'#include "([^"]+)"', line)
        if not include or include[1].startswith(("sim/testing/", "test_paths.hpp")) and is_test(Path(name)):
            continue
        target = rules.folder_of(include[1])
        if target is None or target not in rules.allowed(folder):
            found.append(f'{name}:{number}: src/{folder} may not include "{include[1]}"')
    return found


def broken_rules(root: Path, rules: Rules) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "src"], cwd=root, check=True, capture_output=True, text=True)  # fmt: skip
    paths = [root / name for name in listed.stdout.splitlines() if name.endswith((".cpp", ".hpp"))]
    return [line for path in paths if path.is_file() for line in broken_in(str(path.relative_to(root)), path.read_text(), rules)]


def staged(name: str) -> str:
    return subprocess.run(["git", "show", f":{name}"], check=True, capture_output=True, text=True).stdout


def main() -> None:
    """What the pre-commit hook asks of the files that it names, as they are staged."""
    rules = read_rules(staged("docs/architecture.md"))
    broken = [line for name in sys.argv[1:] for line in broken_in(name, staged(name), rules)]
    if broken:
        sys.exit("\n".join(broken))


if __name__ == "__main__":
    main()
