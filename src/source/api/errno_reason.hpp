// SPDX-License-Identifier: Apache-2.0
// Why a kernel file could not be read, as the reason of a reading.
#pragma once

#include <cerrno>

#include "model/reading.hpp"

namespace gpulse {

inline Reason errno_reason(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return Reason::no_permission;
    case ENOENT:
    case ENOTDIR:
    case EOPNOTSUPP:  // /proc/pressure on a kernel started with psi=0
    case ENODEV:
    case ENXIO:
      return Reason::not_supported;
    case ESRCH:  // the process ended while its file was open
      return Reason::lost;
    default:
      return Reason::error;
  }
}

}  // namespace gpulse
