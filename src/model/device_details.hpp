// SPDX-License-Identifier: Apache-2.0
// What a device tells beyond its readings, and only to a command that asks for it: rare numbers and texts, and lists.
// A list's size, or the reason why there is none, is a number of its own in the row.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "model/row.hpp"

namespace gpulse {

// Highest, lowest and mean of what the driver has sampled by itself in the last seconds.
struct SampleWindow {
  Reading count = Reason::not_supported;
  Reading seconds = Reason::not_supported;
  Reading max = Reason::not_supported, min = Reason::not_supported, mean = Reason::not_supported;
};
enum class SampleKind : std::uint8_t { power, gpu, memory, encoder, decoder, jpeg, ofa, sm_clock, memory_clock };
inline constexpr std::size_t kSampleKinds = 9;

struct SupportedClocks {
  double memory_mhz = 0;
  std::vector<double> graphics_mhz;
};

struct RetiredPage {
  std::uint64_t address = 0;
  std::int64_t time = 0;  // seconds since 1970; 0: the driver does not tell
  bool double_bit = false;
};

// What the driver remembers of a process, if accounting is on.
struct AccountedProcess {
  std::uint32_t pid = 0;
  Reading gpu_percent = Reason::not_supported, memory_percent = Reason::not_supported;
  Reading memory_max_bytes = Reason::not_supported;
  Reading running_seconds = Reason::not_supported;  // 0 while it runs
  bool running = false;
};

// How a log of nvidia-smi describes a device: the version of its format, and which rows of src/smi's table it has.
struct LogForm {
  int schema = 0;
  bool text = false;  // `-q`, without -x
  std::vector<bool> rows;
};

// A direct link to another device or to a switch.
struct DeviceLink {
  std::uint32_t number = 0;
  Reading state = Reason::not_supported;  // 0 off, 1 on, 2 asleep
  Reading bytes_per_second = Reason::not_supported;
  Text remote_pci{};                            // 00000000:D5:00.0; empty: not known
  Reading remote_link = Reason::not_supported;  // its number at the other end
  // Reading and writing memory of peers and of the host, atomically too, SLI, and being usable at all.
  std::array<Reading, 6> capabilities{};
  Reading replays = Reason::not_supported, recoveries = Reason::not_supported, crc_errors = Reason::not_supported;
  // Since the driver was loaded: data alone, and with what the protocol adds.
  Reading data_tx_bytes = Reason::not_supported, data_rx_bytes = Reason::not_supported;
  Reading raw_tx_bytes = Reason::not_supported, raw_rx_bytes = Reason::not_supported;
};

// A kind of instance that a device, or a GPU instance of it, can be split into.
struct InstanceProfile {
  Text name;  // "1g.10gb"
  std::uint32_t id = 0, slices = 0;
  std::uint32_t count = 0;               // at most
  Reading free = Reason::not_supported;  // how many more there is room for now
  double memory_bytes = 0;
  bool peer_to_peer = false;
  std::uint32_t processors = 0, copy_engines = 0, decoders = 0, encoders = 0, jpegs = 0, ofas = 0;
  std::vector<std::uint32_t> starts{};  // where it may lie, in slices of memory
  std::uint32_t size = 0;
};

// An instance that there is.
struct DeviceInstance {
  Text name;
  std::uint32_t id = 0, profile = 0, start = 0, size = 0;
};

// A part of a device with memory of its own, split further into those that compute.
struct DevicePart : DeviceInstance {
  std::vector<InstanceProfile> profiles;
  std::vector<DeviceInstance> instances;
};

struct DeviceDetails {
  Row row{Scope::detail, Reason::not_supported};
  TextRow texts{Scope::detail};
  std::array<SampleWindow, kSampleKinds> samples;
  std::vector<SupportedClocks> clocks;
  std::vector<RetiredPage> retired_pages;
  std::vector<AccountedProcess> accounted;
  // Of a log: what no metric stands for, in its own words, by the names of src/smi's table.
  std::map<std::string_view, Text> told;
  std::optional<LogForm> logged;
  std::vector<DeviceLink> links;
  std::vector<InstanceProfile> instance_profiles;
  std::vector<DevicePart> parts;

  const SampleWindow &operator[](SampleKind kind) const { return samples[static_cast<std::size_t>(kind)]; }
  SampleWindow &operator[](SampleKind kind) { return samples[static_cast<std::size_t>(kind)]; }
};

}  // namespace gpulse
