// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/gpm.hpp"

#include <algorithm>

#include "source/nvml/code.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

namespace {

using namespace std::chrono_literals;

struct GpmRow {
  std::uint32_t id;
  MetricId metric;
  double scale = 1.0;
};

constexpr double kMiB = 1024.0 * 1024.0;

constexpr std::array kRows{
    GpmRow{1, device_metric("graphics_active_percent")},
    GpmRow{2, device_metric("sm_active_percent")},
    GpmRow{3, device_metric("sm_occupancy_percent")},
    GpmRow{4, device_metric("integer_active_percent")},
    GpmRow{5, device_metric("tensor_active_percent")},
    GpmRow{6, device_metric("tensor_fp64_active_percent")},
    GpmRow{7, device_metric("tensor_fp16_active_percent")},
    GpmRow{9, device_metric("tensor_integer_active_percent")},
    GpmRow{10, device_metric("dram_active_percent")},
    GpmRow{11, device_metric("fp64_active_percent")},
    GpmRow{12, device_metric("fp32_active_percent")},
    GpmRow{13, device_metric("fp16_active_percent")},
    GpmRow{20, device_metric("pcie_tx_bytes_per_second"), kMiB},
    GpmRow{21, device_metric("pcie_rx_bytes_per_second"), kMiB},
    GpmRow{30, device_metric("decoder_0_active_percent")},
    GpmRow{31, device_metric("decoder_1_active_percent")},
    GpmRow{32, device_metric("decoder_2_active_percent")},
    GpmRow{33, device_metric("decoder_3_active_percent")},
    GpmRow{34, device_metric("decoder_4_active_percent")},
    GpmRow{35, device_metric("decoder_5_active_percent")},
    GpmRow{36, device_metric("decoder_6_active_percent")},
    GpmRow{37, device_metric("decoder_7_active_percent")},
    GpmRow{40, device_metric("jpeg_0_active_percent")},
    GpmRow{41, device_metric("jpeg_1_active_percent")},
    GpmRow{42, device_metric("jpeg_2_active_percent")},
    GpmRow{43, device_metric("jpeg_3_active_percent")},
    GpmRow{44, device_metric("jpeg_4_active_percent")},
    GpmRow{45, device_metric("jpeg_5_active_percent")},
    GpmRow{46, device_metric("jpeg_6_active_percent")},
    GpmRow{47, device_metric("jpeg_7_active_percent")},
    GpmRow{50, device_metric("ofa_0_active_percent")},
    GpmRow{51, device_metric("ofa_1_active_percent")},
    GpmRow{60, device_metric("nvlink_rx_bytes_per_second"), kMiB},
    GpmRow{61, device_metric("nvlink_tx_bytes_per_second"), kMiB},
    GpmRow{166, device_metric("encoder_0_active_percent")},
    GpmRow{167, device_metric("encoder_1_active_percent")},
    GpmRow{168, device_metric("encoder_2_active_percent")},
    GpmRow{169, device_metric("encoder_3_active_percent")},
};
static_assert(kRows.size() <= 64);

constexpr auto kFills = [] {
  std::array<MetricId, kRows.size()> ids{};
  std::transform(kRows.begin(), kRows.end(), ids.begin(), [](const GpmRow &row) { return row.metric; });
  return ids;
}();

// The library wants 100 ms between samples; the rest is slack for timers.
constexpr auto kApart = 95ms;

}  // namespace

std::span<const MetricId> gpm_metrics() { return kFills; }

GpmState::~GpmState() {
  for (const auto sample : samples_) {
    if (sample != nullptr) api_->gpm_free(sample);
  }
}

Return GpmState::take(const DeviceData &device) {
  auto &sample = samples_[1 - newest_];
  if (sample == nullptr) {
    if (!api_->gpm_free) return Return::function_not_found;  // it could never be freed
    if (const auto code = api_->gpm_alloc(&sample); code != Return::success) {
      sample = nullptr;
      return code;
    }
  }
  return device.instance ? api_->gpm_mig_sample(device.parent, device.gpu_instance, sample)
                         : api_->gpm_sample(device.handle, sample);
}

Return GpmState::fill(const Driver &driver, Frame &frame) {
  auto &row = frame.row;
  GpmMetricsGet<kRows.size()> query{};
  query.version = 1;
  query.sample1 = samples_[1 - newest_];
  query.sample2 = samples_[newest_];
  std::array<std::size_t, kRows.size()> asked{};
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    // Each metric costs the driver time of its own.
    if (refused_[i] || !driver.wants(kRows[i].metric) || !frame.is_due(kRows[i].metric)) continue;
    asked[query.count] = i;
    query.metrics[query.count++].id = kRows[i].id;
  }
  if (query.count == 0) return refused_.count() == kRows.size() ? Return::not_supported : Return::success;
  const auto code = api_->gpm_metrics(&query);
  if (code != Return::success) return code;
  for (std::size_t i = 0; i < query.count; ++i) {
    const auto &answer = query.metrics[i];
    const auto &wanted = kRows[asked[i]];
    if (answer.result == Return::success) {
      row[wanted.metric] = plausible(wanted.metric, answer.value * wanted.scale);
    } else {
      row[wanted.metric] = reason_of(answer.result);
      refused_[asked[i]] = outcome_of(answer.result) == Outcome::unsupported;
    }
  }
  return Return::success;
}

Outcome GpmState::read(const Driver &driver, const DeviceData &device, Monotonic now, Frame &frame) {
  if (have_one_ && now - taken_ < kApart) return Outcome::not_yet;
  auto code = take(device);
  if (code == Return::success) {
    newest_ = 1 - newest_;
    taken_ = now;
    if (!have_one_) {
      have_one_ = true;
      return Outcome::not_yet;
    }
    code = fill(driver, frame);
  }
  if (code != Return::success) {
    // Metrics that the device does not have stay not_supported.
    for (std::size_t i = 0; i < kRows.size(); ++i) {
      if (!refused_[i]) frame.row[kRows[i].metric] = reason_of(code);
    }
    have_one_ = false;
  }
  return outcome_of(code);
}

}  // namespace gpulse::nvml
