#!/bin/bash
# write_generated_pages.sh FOLDER: the pages that the program itself prints.
set -euo pipefail

folder=$1
mkdir -p "$folder/schema"
build/gpulse explain --markdown >"$folder/metrics.md"
build/gpulse explain --schema >"$folder/schema/gpulse-1.schema.json"
