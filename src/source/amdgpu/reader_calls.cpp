// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/reader_calls.hpp"

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "metric/state_names.hpp"
#include "model/plausible.hpp"
#include "source/amdgpu/pp_dpm.hpp"
#include "source/api/errno_reason.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::amdgpu {

namespace {

constexpr std::size_t kMaxText = 8192;

const std::string &path_of(const Context &in, std::string_view base, std::string_view file) {
  return in.device.path.assign(base).append(file);
}

bool read_text(const Context &in, std::string_view base, std::string_view file) {
  return in.root.read_piece(in.device.text, path_of(in, base, file), kMaxText);
}

// The file's number, or the reason why there is none. `error` is 0 when it could be read.
Reading number_at(const Context &in, std::string_view base, std::string_view file, MetricId id, double scale,
                  int &error) {
  error = 0;
  if (base.empty()) return Reason::not_supported;
  if (read_text(in, base, file)) return sysfs::parse_attribute(in.device.text, id, scale);
  error = errno;
  return errno_reason(error);
}

Reading number_at(const Context &in, std::string_view base, std::string_view file, MetricId id, double scale) {
  int ignored = 0;
  return number_at(in, base, file, id, scale, ignored);
}

Reason reason_of(int error) {
  switch (error) {
    case EPERM:  // everybody may read these files: the driver is in a reset
      return Reason::error;
    case ENODATA:
    case EINVAL:
      return Reason::not_supported;
    default:
      return sysfs::refusal_of_device(error);
  }
}

}  // namespace

void put(const Context &in, MetricId id, const Reading &reading) {
  auto &known = in.frame.row[id] = in.device.presence.check(id, reading);
  in.device.own[id.index] = known.has_value();
}

Outcome refuse(const Context &in, std::span<const MetricId> fills, int error) {
  const bool gone = errno_reason(error) == Reason::not_supported;
  if (!gone && !in.options.wake && drm::is_asleep(in.root, in.device.card)) return Outcome::asleep;
  const auto reason = reason_of(error);
  for (const auto id : fills) {
    put(in, id, reason == Reason::error ? Reading(reason, static_cast<std::uint16_t>(error)) : Reading(reason));
  }
  return gone ? Outcome::unsupported : Outcome::ok;
}

Outcome read_sleep(const Context &in, const Reader & /*self*/) {
  const auto &device = in.device;
  if (device.card.device.empty()) return Outcome::unsupported;
  if (!device.integrated && in.idle_cards.try_release(in.root, device.card, in.frame, in.now)) return Outcome::asleep;
  return !in.options.wake && drm::is_asleep(in.root, in.device.card) ? Outcome::asleep : Outcome::ok;
}

Outcome read_number(const Context &in, const Reader &self) {
  const auto &base = self.sensor == Sensor::none ? in.device.folder : in.device.sensor(self.sensor);
  if (base.empty()) return Outcome::unsupported;
  if (!read_text(in, base, self.file)) return refuse(in, self.info.fills, errno);
  for (const auto id : self.info.fills) put(in, id, sysfs::parse_attribute(in.device.text, id, self.scale));
  return Outcome::ok;
}

Outcome read_numa_node(const Context &in, const Reader & /*self*/) {
  if (in.device.folder.empty()) return Outcome::unsupported;
  put(in, device_metric("numa_node"), drm::numa_node(in.root, in.device.card));
  return Outcome::ok;
}

Outcome read_memory(const Context &in, const Reader &self) {
  struct Part {
    std::string_view used_file, total_file;
    MetricId used, total;
  };
  constexpr std::array<Part, 3> kParts{
      {{"/mem_info_vram_used", "/mem_info_vram_total", device_metric("memory_vram_used_bytes"),
        device_metric("memory_vram_total_bytes")},
       {"/mem_info_gtt_used", "/mem_info_gtt_total", device_metric("memory_gtt_used_bytes"),
        device_metric("memory_gtt_total_bytes")},
       {"/mem_info_vis_vram_used", "/mem_info_vis_vram_total", device_metric("memory_visible_used_bytes"),
        device_metric("memory_visible_total_bytes")}}};
  auto &row = in.frame.row;
  auto &device = in.device;
  if (device.folder.empty()) {
    NodeMemory sum;
    for (const auto &node : device.nodes) {
      const auto memory = read_node_memory(in.root, node);
      if (memory.total_bytes) sum.total_bytes = sum.total_bytes.value_or(0) + memory.total_bytes.value();
      if (memory.used_bytes) sum.used_bytes = sum.used_bytes.value_or(0) + memory.used_bytes.value();
    }
    row[kParts[0].used] = sum.used_bytes;
    row[kParts[0].total] = sum.total_bytes;
    for (std::size_t i = 1; i < kParts.size(); ++i) row[kParts[i].used] = row[kParts[i].total] = Reason::not_supported;
  } else {
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      int error = 0;
      const auto &part = kParts[i];
      row[part.used] = number_at(in, device.folder, part.used_file, part.used, 1, error);
      if (error != 0 && i == 0) return refuse(in, self.info.fills, error);
      auto &total = device.totals[i];
      if (!total && !total.is(Reason::not_supported))
        total = number_at(in, device.folder, part.total_file, part.total, 1);
      row[part.total] = total;
      // Old kernels may report less than zero.
      if (row[part.used] && total && row[part.used].value() > total.value()) row[part.used] = Reason::out_of_range;
    }
  }
  // On an APU both parts are in the host's memory, and programs use either.
  const auto whole = [&](MetricId vram, MetricId gtt) {
    if (!device.integrated || !row[gtt] || !row[vram]) return row[vram];
    return Reading(row[vram].value() + row[gtt].value());
  };
  const auto used = row[device_metric("memory_used_bytes")] = whole(kParts[0].used, kParts[1].used);
  const auto total = row[device_metric("memory_total_bytes")] = whole(kParts[0].total, kParts[1].total);
  row[device_metric("memory_free_bytes")] =
      used && total ? Reading(total.value() - used.value()) : (used ? total : used);
  return Outcome::ok;
}

Outcome read_power(const Context &in, const Reader &self) {
  constexpr auto kAverage = device_metric("power_average_watts");
  constexpr auto kInstant = device_metric("power_instant_watts");
  constexpr double kMicro = 1e-6;
  const auto &base = in.device.sensor(Sensor::power);
  int error = 0;
  // Depending on chip and kernel there is the one, the other, or both.
  const auto average = number_at(in, base, "_average", kAverage, kMicro, error);
  int other = 0;
  const auto instant = number_at(in, base, "_input", kInstant, kMicro, other);
  if (error != 0 && other != 0) return refuse(in, self.info.fills, other == ENOENT ? error : other);
  put(in, kAverage, average);
  put(in, kInstant, instant);
  put(in, device_metric("power_draw_watts"), average ? average : instant);
  return base.empty() ? Outcome::unsupported : Outcome::ok;
}

Outcome read_fan(const Context &in, const Reader &self) {
  constexpr auto kRpm = device_metric("fan_speed_rpm");
  constexpr auto kPercent = device_metric("fan_speed_percent");
  constexpr double kFullDuty = 255;
  const auto &fan = in.device.sensor(Sensor::fan);
  const auto &pwm = in.device.sensor(Sensor::pwm);
  if (fan.empty() && pwm.empty()) return Outcome::unsupported;
  int error = 0;
  const auto rpm = number_at(in, fan, "_input", kRpm, 1, error);
  if (error != 0 && error != ENOENT) return refuse(in, self.info.fills, error);
  auto percent = number_at(in, pwm, "", kPercent, 100 / kFullDuty);
  // Some cards report that the fan is off while it turns.
  if (rpm.value_or(0) > 0 && percent.value_or(0) == 0) {
    const auto most = number_at(in, fan, "_max", kRpm, 1);
    if (most.value_or(0) > 0) percent = plausible(kPercent, rpm.value() / most.value() * 100);
  }
  put(in, kRpm, rpm);
  put(in, kPercent, percent);
  put(in, device_metric("fan_count"), 1.0);
  return Outcome::ok;
}

// The first half of the row's metrics is the current level, the second half the highest.
Outcome read_levels(const Context &in, const Reader &self) {
  const auto &base = in.device.folder;
  if (base.empty()) return Outcome::unsupported;
  const auto fills = self.info.fills;
  const auto now = fills.subspan(0, (fills.size() + 1) / 2);
  const auto most = fills.subspan(now.size());
  // A measured clock is better than the requested level.
  const bool measured =
      self.sensor != Sensor::none && !in.device.sensor(self.sensor).empty() && in.frame.row[now[0]].has_value();
  if (!read_text(in, base, self.file)) {
    return refuse(in, measured ? most : fills, errno);
  }
  const auto levels = parse_levels(in.device.text);
  for (const auto id : now) {
    if (!measured) put(in, id, levels.now_mhz ? plausible(id, *levels.now_mhz) : Reason::not_supported);
  }
  for (const auto id : most) {
    // A table of zeros belongs to a part that is switched off.
    put(in, id, levels.max_mhz.value_or(0) > 0 ? plausible(id, *levels.max_mhz) : Reason::not_supported);
  }
  return Outcome::ok;
}

Outcome read_partition(const Context &in, const Reader & /*self*/) {
  const auto &device = in.device;
  if (!device.partition || *device.partition >= kMaxPartitions) return Outcome::unsupported;
  constexpr auto kMetric = device_metric("gpu_utilization_percent");
  const std::lock_guard lock(device.partitions->mutex);
  const auto &busy = device.partitions->busy_percent[*device.partition];
  in.frame.row[kMetric] = busy ? plausible(kMetric, *busy) : Reason::not_supported;
  return Outcome::ok;
}

Outcome read_units(const Context &in, const Reader & /*self*/) {
  constexpr auto kMetric = device_metric("multiprocessor_count");
  double units = 0;
  for (const auto &node : in.device.nodes) units += node.compute_units;
  if (units == 0) return Outcome::unsupported;
  in.frame.row[kMetric] = units;
  return Outcome::ok;
}

Outcome read_level(const Context &in, const Reader &self) {
  const auto &base = in.device.folder;
  if (base.empty()) return Outcome::unsupported;
  if (!read_text(in, base, self.file)) return refuse(in, self.info.fills, errno);
  std::string word(sysfs::bare(in.device.text));
  std::replace(word.begin(), word.end(), '_', ' ');
  const auto *const known =
      std::find(state_names::kPerformanceLevel.begin(), state_names::kPerformanceLevel.end(), word);
  in.frame.row[self.info.fills[0]] = known == state_names::kPerformanceLevel.end()
                                         ? Reading(Reason::error)
                                         : Reading(static_cast<double>(known - state_names::kPerformanceLevel.begin()));
  return Outcome::ok;
}

// "ue: 0" and "ce: 3" for each block of the chip; the memory's block is umc.
Outcome read_errors(const Context &in, const Reader & /*self*/) {
  const auto folder = in.device.folder + "/ras";
  const auto files = in.device.folder.empty() ? std::vector<std::string>() : in.root.list(folder);
  Reading corrected = Reason::not_supported;
  Reading uncorrected = Reason::not_supported;
  Reading memory_corrected = Reason::not_supported;
  Reading memory_uncorrected = Reason::not_supported;
  for (const auto &file : files) {
    if (!file.ends_with("_err_count") || !read_text(in, folder, "/" + file)) continue;
    std::string_view rest = sysfs::bare(in.device.text);
    while (!rest.empty()) {
      auto line = next_piece(rest, '\n');
      const auto key = next_piece(line, ':');
      const auto count = parse_integer<std::uint64_t>(sysfs::bare(line));
      if (!count || (key != "ue" && key != "ce")) continue;
      const auto add = [&](Reading &sum) { sum = sum.value_or(0) + static_cast<double>(*count); };
      add(key == "ce" ? corrected : uncorrected);
      if (file == "umc_err_count") add(key == "ce" ? memory_corrected : memory_uncorrected);
    }
  }
  in.frame.row[device_metric("ecc_corrected_volatile_total")] = corrected;
  in.frame.row[device_metric("ecc_uncorrected_volatile_total")] = uncorrected;
  in.frame.row[device_metric("ecc_dram_corrected_volatile_total")] = memory_corrected;
  in.frame.row[device_metric("ecc_dram_uncorrected_volatile_total")] = memory_uncorrected;
  return corrected || uncorrected ? Outcome::ok : Outcome::unsupported;
}

Outcome read_link(const Context &in, const Reader & /*self*/) {
  if (in.device.folder.empty()) return Outcome::unsupported;
  drm::read_pcie_link(in.root, in.device.link, in.frame.row, in.device.text);
  return Outcome::ok;
}

Outcome read_link_errors(const Context &in, const Reader & /*self*/) {
  if (in.device.folder.empty()) return Outcome::unsupported;
  drm::read_pcie_errors(in.root, in.device.link, in.frame.row, in.device.text);
  return Outcome::ok;
}

Outcome read_processes(const Context &in, const Reader & /*self*/) {
  auto &device = in.device;
  auto &row = in.frame.row;
  if (!device.clients) return Outcome::unsupported;
  constexpr auto kBusy = device_metric("gpu_utilization_percent");
  constexpr auto kVideo = device_metric("video_utilization_percent");
  constexpr auto kJpeg = device_metric("jpeg_utilization_percent");
  const auto told = [&](MetricId id) { return device.own[id.index] || device.from_table[id.index]; };
  const auto video = row[kVideo];
  const auto jpeg = row[kJpeg];
  device.clients->read(in.now, in.frame);
  // The device's own utilisation includes processes whose files we may not read.
  if (told(kVideo)) row[kVideo] = video;
  if (told(kJpeg)) row[kJpeg] = jpeg;
  // The clients do not include work sent through KFD: without the driver's own number the load is unknown.
  if (!told(kBusy) && device.nodes.empty()) {
    row[kBusy] = drm::busiest(row[device_metric("render_utilization_percent")],
                              row[device_metric("compute_utilization_percent")]);
  }
  add_compute_processes(in.root, device.nodes, in.frame);
  // If no process can be read, an empty list from KFD does not mean that there are none.
  auto &count = row[device_metric("process_count")];
  if (count || !in.frame.processes.empty()) count = static_cast<double>(in.frame.processes.size());
  return Outcome::ok;
}

Outcome scan_processes(const Context &in, const Reader & /*self*/) {
  if (!in.device.clients) return Outcome::unsupported;
  in.device.device_users->scan_all(in.now);
  return Outcome::ok;
}

Outcome read_bandwidth(const Context &in, const Reader & /*self*/) {
  if (in.device.bandwidth == nullptr) return Outcome::unsupported;
  const auto traffic = in.device.bandwidth->ask();
  put(in, device_metric("pcie_rx_bytes_per_second"), traffic.rx_bytes_per_second);
  put(in, device_metric("pcie_tx_bytes_per_second"), traffic.tx_bytes_per_second);
  return Outcome::ok;
}

}  // namespace gpulse::amdgpu
