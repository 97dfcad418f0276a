#!/usr/bin/env python3
"""Makes the Debian packages and a tarball of the program from what is built: system_packages.py FOLDER.

GPULSE_BUILD names the folder with the products (build). DEBFULLNAME and DEBEMAIL say who makes the packages, and
SOURCE_DATE_EPOCH sets the times in them: the same tree then gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from email.utils import formatdate
from pathlib import Path

from python_package import build_time, fail, needed_glibc, version

ROOT = Path(__file__).resolve().parent.parent
DEBIAN = ROOT / "packaging" / "debian"
LICENSES = [ROOT / "LICENSE", ROOT / "data" / "gpu_names" / "LICENSE"]

# Whose file is whose; what no other package has is the program's.
OWNERS = [
    ("libgpulse1", re.compile(r"usr/lib/libgpulse\.so\..*")),
    ("libgpulse-dev", re.compile(r"usr/include/.*|usr/lib/(libgpulse\.so|cmake/.*|pkgconfig/.*)")),
    ("gpulse", re.compile(".*")),
]


def built() -> Path:
    folder = Path(os.environ.get("GPULSE_BUILD", ROOT / "build")).resolve()
    if not (folder / "pages").is_dir():
        fail(f"no {folder / 'pages'}", "build it: make build")
    return folder


def install(folder: Path) -> None:
    """What make install does, into a folder of its own."""
    words = [f"DESTDIR={folder}", "PREFIX=/usr", "SYSTEMD=yes", f"BUILT={built()}", "INSTALL_ARGS=--strip"]
    subprocess.run(["make", "-s", "-C", str(ROOT), "-o", "build", "install", *words], check=True)


def pack(path: Path) -> None:
    """Replaces a file by its .gz, without a time in it."""
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()


# Debian packages


def maintainer() -> str:
    name = os.environ.get("DEBFULLNAME", "The gpulse authors")
    return f"{name} <{os.environ.get('DEBEMAIL', 'gpulse@users.noreply.github.com')}>"


def debian_version() -> str:
    return f"{version()}-1"


def architecture() -> str:
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def paragraphs(glibc: str) -> dict[str, str]:
    """What packaging/debian/control.in says of each package."""
    text = (DEBIAN / "control.in").read_text().replace("@glibc@", glibc).replace("@version@", debian_version())
    parts = [part for part in text.split("\n\n") if part.startswith("Package:")]
    return {part.split("\n")[0].removeprefix("Package: "): part.strip() for part in parts}


def changelog(package: str) -> str:
    return (
        f"{package} ({debian_version()}) unstable; urgency=medium\n\n"
        f"  * gpulse {version()}: changelog.gz says what is new.\n\n"
        f" -- {maintainer()}  {formatdate(build_time())}\n"
    )


def third_party() -> str:
    """The notices of what is linked statically, as Debian has them, and of what is in the page."""
    script = [str(ROOT / "tools" / "install_dependencies.sh"), "--list", "build"]
    listed = subprocess.run(script, capture_output=True, text=True, check=True).stdout.split()
    notices = [Path("/usr/share/doc") / name / "copyright" for name in listed if re.match(r"(lib(?!g(test|mock))|zlib)", name)]
    notices += [*(ROOT / "web" / "node_modules").glob("uplot/LICENSE"), LICENSES[1]]
    return "".join(f"==> {path.parent.name}\n\n{path.read_text()}\n\n" for path in notices if path.is_file())


def write_documents(root: Path, package: str) -> None:
    folder = root / "usr" / "share" / "doc" / package
    folder.mkdir(parents=True)
    shutil.copy(DEBIAN / "copyright", folder)
    (folder / "changelog.Debian").write_text(changelog(package))
    pack(folder / "changelog.Debian")
    if package == "gpulse":
        shutil.copy(ROOT / "CHANGELOG.md", folder / "changelog")
        (folder / "third-party").write_text(third_party())
        pack(folder / "changelog")
        pack(folder / "third-party")
    overrides = DEBIAN / f"{package}.lintian-overrides"
    if overrides.is_file():
        target = root / "usr" / "share" / "lintian" / "overrides" / package
        target.parent.mkdir(parents=True)
        shutil.copy(overrides, target)


def arrange(root: Path) -> None:
    """What Debian wants otherwise than make install does."""
    for page in sorted(root.glob("usr/share/man/man1/*.1")):
        pack(page)
    zsh = root / "usr" / "share" / "zsh"
    (zsh / "site-functions").rename(zsh / "vendor-completions")


def share_out(staged: Path, roots: dict[str, Path]) -> None:
    for path in sorted(staged.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        name = path.relative_to(staged).as_posix()
        owner = next(package for package, files in OWNERS if files.fullmatch(name))
        target = roots[owner] / name
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)


def write_control(root: Path, package: str, paragraph: str) -> None:
    folder = root / "DEBIAN"
    folder.mkdir()
    files = sorted(path for path in root.glob("usr/**/*") if path.is_file() and not path.is_symlink())
    # Names of the same file take no room of their own.
    size = sum({path.stat().st_ino: path.stat().st_size for path in files}.values())
    name, rest = paragraph.split("\n", 1)
    lines = [name, "Source: gpulse", f"Version: {debian_version()}", f"Architecture: {architecture()}"]
    lines += [f"Maintainer: {maintainer()}", f"Installed-Size: {-(-size // 1024)}", "Priority: optional", rest]
    (folder / "control").write_text("\n".join(lines) + "\n")
    sums = subprocess.run(["md5sum", *(str(path.relative_to(root)) for path in files)], cwd=root, capture_output=True,
                          text=True, check=True)  # fmt: skip
    (folder / "md5sums").write_text(sums.stdout)
    for script in ("postinst", "prerm", "postrm"):
        if (DEBIAN / f"{package}.{script}").is_file():
            shutil.copy(DEBIAN / f"{package}.{script}", folder / script)
            (folder / script).chmod(0o755)
    for more in ("triggers", "shlibs"):
        if (DEBIAN / f"{package}.{more}").is_file():
            shutil.copy(DEBIAN / f"{package}.{more}", folder / more)


def clean_modes(root: Path) -> None:
    """The maker's umask is no part of a package."""
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    for library in root.glob("usr/lib/libgpulse.so.*"):
        if not library.is_symlink():
            library.chmod(0o644)


def make_debs(staged: Path, folder: Path, work: Path) -> list[Path]:
    products = [staged / "usr/bin/gpulse", *staged.glob("usr/lib/libgpulse.so.*")]
    glibc = "{}.{}".format(*needed_glibc(products))
    arrange(staged)
    about = paragraphs(glibc)
    roots = {package: work / package for package in about}
    share_out(staged, roots)
    made: list[Path] = []
    for package, root in roots.items():
        write_documents(root, package)
        write_control(root, package, about[package])
        clean_modes(root)
        target = folder / f"{package}_{debian_version()}_{architecture()}.deb"
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(build_time())}
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(target)], check=True,
                       stdout=subprocess.DEVNULL, env=environment)  # fmt: skip
        made.append(target)
    return made


# The tarball


def make_tarball(staged: Path, folder: Path) -> Path:
    """The program, its manual pages and completions, as they lie below any prefix."""
    stem = f"gpulse-{version()}-linux-{os.uname().machine}"
    files = {"bin/gpulse": staged / "usr/bin/gpulse", "LICENSE": LICENSES[0], "data/LICENSE": LICENSES[1]}
    for path in sorted((staged / "usr" / "share").rglob("*")):
        if path.is_file():
            files[path.relative_to(staged / "usr").as_posix()] = path
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in sorted(files.items()):
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size, entry.mtime = path.stat().st_size, build_time()
            entry.mode = 0o755 if name.startswith("bin/") else 0o644
            archive.addfile(entry, io.BytesIO(path.read_bytes()))
    target = folder / f"{stem}.tar.gz"
    target.write_bytes(gzip.compress(content.getvalue(), 9, mtime=0))
    return target


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: system_packages.py FOLDER")
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        staged = work / "staged"
        install(staged)
        print(make_tarball(staged, folder))
        if shutil.which("dpkg-deb") is None:
            print("no dpkg-deb here: no Debian packages", file=sys.stderr)
            return
        for package in make_debs(staged, folder, work):
            print(package)


if __name__ == "__main__":
    main()
