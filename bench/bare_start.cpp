// SPDX-License-Identifier: Apache-2.0
// What `gpulse --fast` and `gpulse --json` ask the driver, bare: opens the library, finds the devices, reads them once
// (`fast`) or twice (`json`), and ends.
#include <unistd.h>

#include <cstring>
#include <thread>

#include "bare_calls.hpp"

namespace gpulse::bench {

namespace {

using namespace nvml;

void find(const Api &api, std::uint32_t index) {
  std::array<char, kNameBytes> text{};
  Handle handle = nullptr;
  PciInfo pci{};
  std::uint32_t mode = 0;
  std::uint32_t pending = 0;
  api.handle_by_index_v2(index, &handle);
  api.name(handle, text.data(), text.size());
  api.uuid(handle, text.data(), text.size());
  api.pci_v3(handle, &pci);
  api.mig_mode(handle, &mode, &pending);
}

int start(bool twice) {
  const auto api = load_library();
  if (!api || (*api)->init_v2() != Return::success) return 1;
  std::array<char, 80> text{};
  std::uint32_t count = 0;
  int version = 0;
  (*api)->driver_version(text.data(), text.size());
  (*api)->library_version(text.data(), text.size());
  (*api)->cuda_version_v2(&version);
  (*api)->count_v2(&count);
  std::vector<std::unique_ptr<BareDevice>> devices;
  for (std::uint32_t i = 0; i < count; ++i) {
    find(**api, i);
    devices.push_back(std::make_unique<BareDevice>(*api, i));
  }
  for (auto &device : devices) twice ? device->everything() : device->tick();
  if (!twice) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (auto &device : devices) device->rates();
  return 0;
}

}  // namespace

}  // namespace gpulse::bench

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  // As gpulse ends: without taking the session down.
  ::_exit(gpulse::bench::start(std::strcmp(argv[1], "json") == 0));
}
