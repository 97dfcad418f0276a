// SPDX-License-Identifier: Apache-2.0
#include "capi/handles.hpp"

namespace gpulse::capi {

std::string &last_error() {
  thread_local std::string text;
  return text;
}

gpulse_status fail(gpulse_status status, std::string_view what) {
  try {
    last_error() = Text(what).str();
  } catch (...) {
    last_error().clear();  // no memory for the words: the status says enough
  }
  return status;
}

}  // namespace gpulse::capi

uint32_t gpulse_abi(void) { return GPULSE_ABI; }
const char *gpulse_version(void) { return GPULSE_VERSION; }
const char *gpulse_last_error(void) { return gpulse::capi::last_error().c_str(); }
