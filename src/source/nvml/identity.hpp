// SPDX-License-Identifier: Apache-2.0
// The identity of a device, read once when it is found.
#pragma once

#include <array>
#include <cstring>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/sysroot.hpp"
#include "base/text.hpp"
#include "model/snapshot.hpp"
#include "source/api/source.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

struct Versions {
  std::string driver, library;
  TextReading cuda = Reason::not_supported;
};

// 13000 as "13.0".
std::string cuda_text(int number);
// `cuda`: also ask for the CUDA version, for which the library may load libcuda.
Versions read_versions(const Api &api, bool cuda = true);

// 0000:00:06.0, as the kernel writes it, or why the driver does not tell.
std::expected<std::string, Return> find_pci(const Api &api, Handle handle);
// The same, empty when the driver does not know.
std::string read_pci(const Api &api, Handle handle);

// Whether the GPU is part of a system on a chip, judging by its name: "NVIDIA GB10", "Orin (nvgpu)".
bool is_integrated(std::string_view name);
// Whether its driver is nvgpu, for which the library knows little more than a name.
bool is_of_nvgpu(std::string_view name);

// Reads only the texts that `options` ask for: each costs a call.
std::shared_ptr<DeviceIdentity> read_identity(const Api &api, const DeviceData &device, const Versions &versions,
                                              const SourceOptions &options);

// Does not rely on the terminating zero: a broken driver may omit it.
template <std::size_t N>
std::string text_of(const std::array<char, N> &buffer) {
  return std::string(trim(std::string_view(buffer.data(), strnlen(buffer.data(), buffer.size()))));
}

// Bits as "0-15,32-47".
std::string bits_as_ranges(std::span<const unsigned long> bits);

}  // namespace gpulse::nvml
