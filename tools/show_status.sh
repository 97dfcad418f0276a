#!/bin/bash
# Shows the GPUs of this machine; where there is none, says so and shows the demo.
set -euo pipefail

code=0
build/gpulse || code=$?
[[ $code -eq 3 ]] || exit "$code"
printf '\nNo GPU on this machine; this is what it looks like with one, from a recording (build/gpulse --demo):\n\n'
build/gpulse --demo
