// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "kube/pod_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto pods = gpulse::kube::read_pod_list({reinterpret_cast<const char *>(data), size});
  if (pods && pods->size() > gpulse::kube::kMostPodDevices) std::abort();
  return 0;
}
