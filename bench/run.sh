#!/bin/bash
# What gpulse costs beyond the driver calls it makes, on the NVML simulator, and beyond the files it reads, on a made-up
# machine with an AMD card; what a frame of the live view costs; and what the library costs the loop of a program. Builds
# and prints six tables. Fails when a full sample takes more than 1.1 times its calls, or twice the bare reads of its
# files, when its instructions do not grow with the GPUs alone, or when a look at the newest sample takes 200 ns.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/bench

cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
  -DGPULSE_BENCH=ON -DGPULSE_TESTS=OFF >/dev/null
if ! ninja -C $build gpulse sampler_bench bare_start start_bench drm_bench frame_bench library_bench >$build/bench.log; then
  tail -n 30 $build/bench.log
  exit 1
fi

echo "== Time of a sample =="
failed=0
$build/bench/sampler_bench || failed=1

# Instructions of a command, by callgrind.
instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | awk '/Collected/ { print $NF }'
}
# Of one sample: the difference that eight more of them make.
per_sample() {
  local few many
  few=$(instructions $build/bench/sampler_bench "$1" "$2" "$3" 4)
  many=$(instructions $build/bench/sampler_bench "$1" "$2" "$3" 12)
  echo $(((many - few) / 8))
}

if command -v valgrind >/dev/null; then
  echo
  echo "== Instructions of a sample =="
  printf '%4s  %-10s  %10s  %10s  %10s  %8s\n' GPUs pass ours bare more "per GPU"
  for pass in everything tick; do
    for gpus in 1 8 128; do
      ours=$(per_sample ours $pass $gpus)
      bare=$(per_sample bare $pass $gpus)
      each=$(((ours - bare) / gpus))
      printf '%4d  %-10s  %10d  %10d  %10d  %8d\n' $gpus $pass "$ours" "$bare" $((ours - bare)) $each
      [ $gpus = 8 ] && eight=$each
    done
    if ((each * 100 > eight * 115)); then
      echo "does not grow linearly: $each per GPU of 128, $eight per GPU of 8"
      failed=1
    fi
  done

  echo
  echo "== Instructions of a frame of the live view: 8 GPUs, 40 processes, 200x50 =="
  few=$(instructions $build/bench/frame_bench 100)
  many=$(instructions $build/bench/frame_bench 600)
  echo $(((many - few) / 500))
else
  echo "valgrind is not there: instructions are not counted" >&2
fi

echo
echo "== An AMD card with 50 clients =="
$build/bench/drm_bench || failed=1

echo
echo "== The library, from inside a program =="
$build/bench/library_bench || failed=1

echo
echo "== From start to end, least of many; calls take what they took on an H200 =="
export LD_LIBRARY_PATH=$build/sim GPULSE_SIM_SCENARIO=measured-cost
$build/bench/start_bench 40 "$build/bench/bare_start fast" "$build/gpulse --fast" "$build/gpulse --fast --json"
$build/bench/start_bench 25 "$build/bench/bare_start json" "$build/gpulse --json" "$build/gpulse"
$build/bench/start_bench 40 true "$build/gpulse --version"
exit $failed
