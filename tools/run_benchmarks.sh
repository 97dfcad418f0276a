#!/bin/bash
# run_benchmarks.sh FOLDER: every benchmark in it, on the simulator.
set -euo pipefail

build=$1
mapfile -t benchmarks < <(find "$build" -name '*_bench' -type f -executable | sort)
if [[ ${#benchmarks[@]} -eq 0 ]]; then
  echo "run_benchmarks: no benchmark in $build" >&2
  exit 1
fi
for benchmark in "${benchmarks[@]}"; do
  echo "== $(basename "$benchmark")"
  LD_LIBRARY_PATH="$build/sim" "$benchmark"
done
