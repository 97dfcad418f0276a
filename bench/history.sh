#!/bin/bash
# What a history costs: bytes per value and on the disk after 90 generated days, what is written in an hour, the time of a
# range, and what an agent takes with and without it. Some ten minutes, and 1.5 GB of /tmp or FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/bench

cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
  -DGPULSE_BENCH=ON -DGPULSE_TESTS=OFF >/dev/null
if ! ninja -C $build gpulse history_bench >$build/bench.log; then
  tail -n 30 $build/bench.log
  exit 1
fi
folder=$(mktemp -d -p "${FOLDER:-/tmp}" gpulse-bench-XXXXXX)
trap 'rm -rf "$folder"' EXIT
$build/bench/history_bench "$folder"
bench/agent_bench.py --gpulse $build/gpulse --history
