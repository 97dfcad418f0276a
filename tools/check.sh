#!/bin/bash
# check.sh BUILD JOBS: formatting, clang-tidy, cppcheck and shellcheck over our own files; BUILD has the compile commands.
set -euo pipefail

build=$1
jobs=$2
mapfile -t sources < <(git ls-files 'src/*.cpp' 'sim/*.cpp' 'bench/*.cpp')
mapfile -t formatted < <(git ls-files '*.cpp' '*.hpp')
mapfile -t scripts < <(git ls-files 'tools/*.sh' .ci/run)

echo "clang-format: ${#formatted[@]} files"
clang-format-19 --dry-run -Werror "${formatted[@]}"

echo "shellcheck: ${#scripts[@]} files"
shellcheck "${scripts[@]}"

echo "cppcheck: ${#sources[@]} files"
cppcheck --project="$build/compile_commands.json" --file-filter="$PWD/*" -i "$PWD/$build" \
  --cppcheck-build-dir="$(mkdir -p "$build/cppcheck" && echo "$build/cppcheck")" \
  --enable=warning,performance,portability --inline-suppr --suppressions-list=tools/cppcheck_suppressions.txt \
  --library=googletest --error-exitcode=1 --quiet -j "$jobs"

# Only what the compile commands know: fuzzers and benchmarks are built with other presets.
mapfile -t known < <(python3 - "$build/compile_commands.json" "${sources[@]}" <<'PY'
import json, os, sys
compiled = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1]))}
print("\n".join(source for source in sys.argv[2:] if source in compiled))
PY
)
echo "clang-tidy: ${#known[@]} files"
printf '%s\n' "${known[@]}" | xargs -P "$jobs" -n 4 clang-tidy-19 -p "$build" --quiet 2>"$build/clang-tidy.log" ||
  { grep -v 'warnings generated' "$build/clang-tidy.log" >&2; exit 1; }
echo "check: nothing to complain about"
