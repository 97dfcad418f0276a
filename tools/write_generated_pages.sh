#!/bin/bash
# write_generated_pages.sh FOLDER: the pages that the program itself prints, and the types of its metrics for Python.
set -euo pipefail

folder=$1
mkdir -p "$folder/schema"
build/gpulse explain --markdown >"$folder/metrics.md"
build/gpulse explain --markdown findings >"$folder/findings.md"
build/gpulse explain --schema >"$folder/schema/gpulse-1.schema.json"
build/gpulse explain --openapi >"$folder/openapi.json"
build/gpulse explain --all --json | tools/make_metric_types.py >python/gpulse/_metrics.pyi
