// SPDX-License-Identifier: Apache-2.0
// Test support: a temporary folder that stands in for a machine with AMD devices.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/temporary_folder.hpp"
#include "source/amdgpu/amdgpu_source.hpp"

namespace gpulse::amdgpu {

// A gpu_metrics table in which every field is "not supported" until it is set.
class Table {
 public:
  Table(std::size_t size, unsigned format, unsigned content) : bytes_(size, '\xFF') {
    put(0, 2, size).put(2, 1, format).put(3, 1, content);
  }
  Table &put(std::size_t offset, std::size_t size, std::uint64_t value) {
    for (std::size_t i = 0; i < size; ++i) bytes_[offset + i] = static_cast<char>((value >> (8 * i)) & 0xFFU);
    return *this;
  }
  Table &u16(std::size_t offset, std::uint64_t value) { return put(offset, 2, value); }
  Table &u32(std::size_t offset, std::uint64_t value) { return put(offset, 4, value); }
  Table &u64(std::size_t offset, std::uint64_t value) { return put(offset, 8, value); }
  const std::string &bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class FakeCard {
 public:
  explicit FakeCard(std::string_view product = "73BF", std::string_view driver = "amdgpu") {
    // Keeps the name tables of the machine that runs the test out.
    for (const std::string_view table : {"libdrm/amdgpu.ids", "hwdata/pci.ids", "misc/pci.ids"}) {
      folder_.write(fmt::format("/usr/share/{}", table), "");
    }
    write("uevent", fmt::format("DRIVER={}\nPCI_ID=1002:{}\nPCI_SLOT_NAME=0000:03:00.0\n", driver, product));
    write("power/runtime_status", "active\n");
    sensor("name", driver);
  }

  const TemporaryFolder &folder() const { return folder_; }
  // Writes a file of the device, or of its sensors.
  void write(std::string_view file, std::string_view text) const { folder_.write(device() + std::string(file), text); }
  void sensor(std::string_view file, std::string_view text) const {
    write("hwmon/hwmon3/" + std::string(file), std::string(text) + "\n");
  }
  void remove(std::string_view file) const { folder_.remove(device() + std::string(file)); }
  // Makes a file that exists but cannot be read.
  void spoil(std::string_view file) const {
    remove(file);
    folder_.make_folder(device() + std::string(file));
  }
  void add_node(unsigned number, std::string_view properties, unsigned gpu_id = 0) const {
    const auto node = fmt::format("/sys/class/kfd/kfd/topology/nodes/{}", number);
    folder_.write(node + "/properties", properties);
    if (gpu_id != 0) folder_.write(node + "/gpu_id", std::to_string(gpu_id));
  }

  std::unique_ptr<Source> source(const SourceOptions &options = {}) const {
    return make_source(folder_.root(), options, std::make_shared<drm::DeviceUsers>(folder_.root()));
  }

 private:
  static std::string device() { return "/sys/class/drm/card0/device/"; }

  TemporaryFolder folder_;
};

// A source on that machine, read as the sampler would.
class Sampled {
 public:
  explicit Sampled(const FakeCard &card, const SourceOptions &options = {}) : source_(card.source(options)) {
    found = source_->discover();
    for (std::size_t i = 0; i < found.entities.size(); ++i) frames_.try_emplace(i, Frame{Row(Scope::device), {}});
  }

  // Calls every reader that was not refused; false when the device is asleep.
  bool sample(std::size_t entity = 0, Seconds after = Seconds(1)) {
    now_ += std::chrono::duration_cast<Monotonic::duration>(after);
    for (std::size_t i = 0; i < source_->readers().size(); ++i) {
      if (refused_[{entity, i}]) continue;
      const auto outcome = source_->read(entity, i, now_, frames_.at(entity));
      if (outcome == Outcome::asleep) return false;
      refused_[{entity, i}] = outcome == Outcome::unsupported;
    }
    return true;
  }
  Reading operator[](MetricId id) const { return frames_.at(0).row[id]; }
  const Frame &frame(std::size_t entity = 0) const { return frames_.at(entity); }
  Source &source() { return *source_; }

  Discovery found;

 private:
  std::unique_ptr<Source> source_;
  std::map<std::size_t, Frame> frames_;
  std::map<std::pair<std::size_t, std::size_t>, bool> refused_;
  Monotonic now_{std::chrono::hours(1)};
};

}  // namespace gpulse::amdgpu
