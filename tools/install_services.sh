#!/bin/bash
# install_services.sh DESTDIR PREFIX: the agent's services for systemd, of the program in PREFIX/bin; the folder of leases.
set -euo pipefail

destination=$1
prefix=$2
packaging=$(dirname "$0")/../packaging

install -D -m 644 "$packaging/gpulse.sysusers" "$destination$prefix/lib/sysusers.d/gpulse.conf"
install -D -m 644 "$packaging/gpulse.tmpfiles" "$destination$prefix/lib/tmpfiles.d/gpulse.conf"
install_service() {
  local file=$destination$prefix/lib/systemd/$2
  install -D -m 644 "$packaging/$1" "$file"
  local text
  text=$(<"$file")
  printf '%s\n' "${text//@bindir@/$prefix/bin}" >"$file"
}
install_service gpulse.service.in system/gpulse.service
install_service gpulse.user.service.in user/gpulse.service
