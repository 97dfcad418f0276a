#!/bin/bash
# check.sh BUILD JOBS: formatting, clang-tidy, cppcheck and shellcheck over our own files, mypy and pyright over the Python
# package, its examples and what builds it; BUILD has the compile commands and check_venv.
set -euo pipefail

build=$1
jobs=$2
mapfile -t formatted < <(git ls-files '*.cpp' '*.hpp')
mapfile -t scripts < <(git ls-files '*.sh' .ci/run 'tools/hooks/*' 'packaging/debian/gpulse.p*' 'packaging/slurm/*')

echo "clang-format: ${#formatted[@]} files"
clang-format-19 --dry-run -Werror "${formatted[@]}"

echo "shellcheck: ${#scripts[@]} files"
shellcheck "${scripts[@]}"

# Without the frameworks there is nothing to check in the examples that use them: make test-integrations runs them.
mapfile -t typed < <(git ls-files 'python/*.py' 'examples/python/*.py' ':!examples/python/frameworks' tools/python_package.py tools/system_packages.py)
echo "mypy, pyright: ${#typed[@]} files"
"$build/check_venv/bin/mypy" --no-error-summary --cache-dir "$build/mypy" "${typed[@]}"
"$build/check_venv/bin/pyright" --pythonpath "$build/check_venv/bin/python" --warnings "${typed[@]}" >"$build/pyright.log" || {
  cat "$build/pyright.log" >&2
  exit 1
}

echo "cppcheck: $(grep -c '"file":' "$build/compile_commands.json") files"
mkdir -p "$build/cppcheck"
cppcheck --project="$build/compile_commands.json" --cppcheck-build-dir="$build/cppcheck" --library=googletest \
  --enable=warning,performance,portability --inline-suppr --suppressions-list=tools/cppcheck_suppressions.txt \
  --suppress='*:/usr/*' --error-exitcode=1 --quiet -j "$jobs"

# What goes into the program; the macros of the test framework make tests slow to check.
mapfile -t compiled < <(git ls-files 'src/*.cpp' | grep -vE '_(test|fuzz|bench)\.cpp$')
echo "clang-tidy: ${#compiled[@]} files"
# The analyzer walks every path through a function, and through those it calls: it may not take most of the time.
bounded=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=1000)
if ! printf '%s\n' "${compiled[@]}" | xargs -P "$jobs" -n 2 "$build/check_venv/bin/clang-tidy" -p "$build" --quiet \
  --extra-arg=-Wno-unknown-warning-option "${bounded[@]}" 2>"$build/clang-tidy.log"; then
  grep -vE '^[0-9]+ warnings? generated' "$build/clang-tidy.log" >&2
  exit 1
fi
echo "check: ${#formatted[@]} files, nothing to complain about"
