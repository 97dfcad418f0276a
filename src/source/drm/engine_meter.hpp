// SPDX-License-Identifier: Apache-2.0
// Turns the engines' running totals for a client into the share of time since the last reading. No clock of its own:
// time comes in as an argument.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.hpp"
#include "metric/table.hpp"
#include "model/row.hpp"
#include "source/drm/fdinfo.hpp"

namespace gpulse::drm {

// A driver's name for an engine, and the metrics that it belongs to.
struct EngineName {
  std::string_view name;
  MetricId device, process;
};

// Where several engines belong to one metric, the busiest one counts.
inline constexpr std::array kEngineNames = [] {
  constexpr auto kRender =
      std::pair(device_metric("render_utilization_percent"), process_metric("render_utilization_percent"));
  constexpr auto kCompute =
      std::pair(device_metric("compute_utilization_percent"), process_metric("compute_utilization_percent"));
  constexpr auto kCopy =
      std::pair(device_metric("copy_utilization_percent"), process_metric("copy_utilization_percent"));
  constexpr auto kVideo =
      std::pair(device_metric("video_utilization_percent"), process_metric("video_utilization_percent"));
  constexpr auto kEnhance = std::pair(device_metric("video_enhance_utilization_percent"),
                                      process_metric("video_enhance_utilization_percent"));
  constexpr auto kDecoder =
      std::pair(device_metric("decoder_utilization_percent"), process_metric("decoder_utilization_percent"));
  constexpr auto kEncoder =
      std::pair(device_metric("encoder_utilization_percent"), process_metric("encoder_utilization_percent"));
  constexpr auto kJpeg =
      std::pair(device_metric("jpeg_utilization_percent"), process_metric("jpeg_utilization_percent"));
  const auto engine = [](std::string_view name, const auto &metrics) {
    return EngineName{name, metrics.first, metrics.second};
  };
  return std::array{
      engine("gfx", kRender),
      engine("render", kRender),
      engine("rcs", kRender),
      engine("fragment", kRender),
      engine("vertex-tiler", kRender),
      engine("bin", kRender),
      engine("gpu", kRender),
      engine("panthor", kRender),
      engine("compute", kCompute),
      engine("ccs", kCompute),
      engine("csd", kCompute),
      engine("npu-amdxdna", kCompute),
      engine("amdxdna_accel_driver", kCompute),
      engine("dma", kCopy),
      engine("copy", kCopy),
      engine("bcs", kCopy),
      engine("tfu", kCopy),
      engine("video", kVideo),
      engine("vcs", kVideo),
      engine("video-enhance", kEnhance),
      engine("vecs", kEnhance),
      engine("vpe", kEnhance),
      engine("dec", kDecoder),
      engine("enc", kEncoder),
      engine("enc_1", kEncoder),
      engine("jpeg", kJpeg),
  };
}();

// One reading per engine; not_supported for engines that the driver does not list.
using EngineReadings = std::array<Reading, kEngineNames.size()>;

// Puts the busiest engine of each metric into the row, at most 100 %: counters are read at slightly different moments.
void put_engines(const EngineReadings &engines, MetricId EngineName::*metric, Row &row);

std::optional<std::size_t> engine_number(std::string_view name);

class EngineMeter {
 public:
  // How busy the client kept each engine since the last call; not_sampled the first time. An engine that was not listed
  // before counts from 0.
  void update(std::span<const EngineCount> engines, Monotonic now, EngineReadings &out);
  // Whether there was an earlier call to compare with.
  bool has_past() const { return at_.has_value(); }
  // Call when the next counts cannot be compared with the last.
  void forget() { *this = {}; }

 private:
  struct Past {
    std::optional<std::uint64_t> busy_ns, cycles, total_cycles;
  };
  Reading rate(const EngineCount &engine, Past &past, Monotonic now) const;

  std::array<Past, kEngineNames.size()> past_{};
  std::optional<Monotonic> at_;
};

}  // namespace gpulse::drm
