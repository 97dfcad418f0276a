#!/bin/bash
# make_clients.sh FOLDER: other people's programs that call nvidia-smi, as they come, for tests/test_smi_clients.py.
# Needs Go 1.21 or newer; a minute or two. NVIDIA_GPU_EXPORTER_SOURCE=DIR builds that one from a checkout instead.
set -euo pipefail

telegraf=github.com/influxdata/telegraf/cmd/telegraf@v1.37.2
exporter=github.com/utkuozdemir/nvidia_gpu_exporter/cmd/nvidia_gpu_exporter
exporter_version=v1.9.1

folder=$(realpath -m "$1")
PATH=$PATH:/usr/local/go/bin
if ! command -v go >/dev/null; then
  echo "make_clients: no Go compiler: see https://go.dev/dl" >&2
  exit 1
fi
mkdir -p "$folder"
export GOBIN=$folder GOFLAGS=-buildvcs=false

failed=0
get() {
  local name=$1
  shift
  [[ -x $folder/$name ]] || "$@" || {
    echo "make_clients: no $name" >&2
    failed=1
  }
}

# Of telegraf's plugins only those that the test uses: all of them would take half an hour.
get telegraf go install -tags custom,inputs.nvidia_smi,outputs.file,serializers.influx "$telegraf"
if [[ -n ${NVIDIA_GPU_EXPORTER_SOURCE:-} ]]; then
  get nvidia_gpu_exporter go build -C "$NVIDIA_GPU_EXPORTER_SOURCE" -o "$folder/nvidia_gpu_exporter" \
    ./cmd/nvidia_gpu_exporter
else
  get nvidia_gpu_exporter go install "$exporter@$exporter_version"
fi
exit "$failed"
