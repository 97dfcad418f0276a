#!/bin/bash
# make_venv.sh FOLDER REQUIREMENTS: a Python environment with just these packages; FOLDER/ready says it is complete.
set -euo pipefail

folder=$1
requirements=$2
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
touch "$folder/ready"
