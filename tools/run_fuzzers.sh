#!/bin/bash
# run_fuzzers.sh FOLDER SECONDS: each fuzzer for that long, from its corpus beside the source where it has one. What it
# finds new is kept in FOLDER/corpus; what breaks it is left in FOLDER/findings.
set -euo pipefail

build=$1
seconds=$2
mapfile -t fuzzers < <(find "$build" -name '*_fuzz' -type f -executable | sort)
if [[ ${#fuzzers[@]} -eq 0 ]]; then
  echo "run_fuzzers: no fuzzer in $build" >&2
  exit 1
fi
mkdir -p "$build/findings"
for fuzzer in "${fuzzers[@]}"; do
  name=$(basename "$fuzzer")
  own="$build/corpus/$name"
  mkdir -p "$own"
  mapfile -t given < <(find src sim -type d -name "${name%_fuzz}_corpus")
  log="$build/$name.log"
  if ! "$fuzzer" "$own" "${given[@]}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "$name: FAILED, see $log and $build/findings"
    exit 1
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "$name: $runs inputs in $seconds s, none broke it"
done
echo "${#fuzzers[@]} fuzzers ran $seconds s each, nothing found"
