#!/bin/bash
# Installs the Debian packages that are missing, and nothing when none is: install_dependencies.sh build|test|check|package|bench…
# With --list before them it only names all that they need.
set -euo pipefail

# Debian 12's own is older than what we need, and it has a newer one beside it.
boost() {
  if grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release; then echo libboost1.81-dev; else echo libboost-dev; fi
}

# The page is built with them. Whoever has them from elsewhere keeps those.
node_tools() {
  command -v node >/dev/null || printf 'nodejs '
  command -v npm >/dev/null || printf 'npm '
}

# Ubuntu has it as a snap alone, which does not run in a container; the tests of the page are left out where there is none.
browser() {
  grep -qs '^ID=ubuntu$' /etc/os-release || echo chromium
}

packages_for() {
  case "$1" in
    build)
      echo g++ cmake ninja-build ccache pkg-config libfmt-dev libcli11-dev libtomlplusplus-dev libutf8proc-dev \
        libpugixml-dev libnghttp2-dev libprotozero-dev libsnappy-dev libsqlite3-dev zlib1g-dev "$(boost)" libssl-dev libcrypt-dev libgtest-dev libgmock-dev "$(node_tools)"
      ;;
    # prometheus for promtool too; chromium and nginx for the page; man and the shells for the pages and completions
    test)
      echo python3 python3-venv tmux binutils git libxml2-utils systemd prometheus prometheus-node-exporter victoria-metrics \
        "$(browser)" fonts-dejavu-core nginx-light man-db bash-completion zsh fish
      ;;
    check) echo clang-19 clang-format-19 libclang-rt-19-dev cppcheck shellcheck ;;
    # a fresh Debian to install the packages in
    package) echo debootstrap lintian ;;
    bench) echo valgrind ;;
    *)
      echo "install_dependencies: unknown list \"$1\": one of build, test, check, package, bench" >&2
      exit 2
      ;;
  esac
}

list_only=no
if [[ ${1-} == --list ]]; then
  list_only=yes
  shift
fi

wanted=()
for list in "$@"; do
  names=$(packages_for "$list")
  read -ra names <<<"$names"
  wanted+=("${names[@]}")
done

if [[ $list_only == yes ]]; then
  echo "${wanted[*]}"
  exit 0
fi

if ! command -v dpkg-query >/dev/null; then
  echo "install_dependencies: no Debian packages here; the build needs what they call: ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  # A package such as libgtest-dev:amd64 answers once per architecture.
  [[ $state == installed* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies: missing packages: as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${missing[*]}"
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends -qq
  -o Dpkg::Use-Pty=0)
# The lists may be absent or old: then update them, and only then.
if ! "${install[@]}" "${missing[@]}" >/tmp/gpulse-install.$$ 2>&1; then
  "${as_root[@]}" apt-get update -qq
  if ! "${install[@]}" "${missing[@]}" >/tmp/gpulse-install.$$ 2>&1; then
    cat /tmp/gpulse-install.$$ >&2
    rm -f /tmp/gpulse-install.$$
    exit 1
  fi
fi
rm -f /tmp/gpulse-install.$$

# Their programs are wanted, not the services that come with them and listen on all interfaces.
for package in "${missing[@]}"; do
  if [[ $package =~ ^(prometheus|victoria-metrics|nginx-light) && -d /run/systemd/system ]]; then
    "${as_root[@]}" systemctl disable --now --quiet "${package%-light}" ||
      echo "install_dependencies: the service $package could not be stopped: it listens on all interfaces" >&2
  fi
done
