// SPDX-License-Identifier: Apache-2.0
#include "bare_calls.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>

#include "source/nvml/code.hpp"

namespace gpulse::bench {

using namespace nvml;

namespace {

constexpr std::size_t kRows = 64, kMostSamples = 4096, kMostGpm = 64, kMostFields = 32;

constexpr std::array kGpmMetrics{1U,  2U,  3U,  4U,  5U,  6U,  7U,  9U,  10U,  11U,  12U,  13U, 20U,
                                 21U, 30U, 31U, 32U, 33U, 34U, 35U, 36U, 37U,  40U,  41U,  42U, 43U,
                                 44U, 45U, 46U, 47U, 50U, 51U, 60U, 61U, 166U, 167U, 168U, 169U};

std::uint64_t wall_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

// The lists, in the order in which the source has its readers.
struct BareDevice::Calls {
  using Call = Return (*)(BareDevice &);

  template <auto Function>
  static Return number(BareDevice &d) {
    std::uint32_t value = 0;
    return ((*d.api_).*Function)(d.handle_, &value);
  }
  template <auto Function, std::uint32_t Type>
  static Return typed(BareDevice &d) {
    std::uint32_t value = 0;
    return ((*d.api_).*Function)(d.handle_, Type, &value);
  }
  template <auto Function>
  static Return pair(BareDevice &d) {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    return ((*d.api_).*Function)(d.handle_, &first, &second);
  }
  template <auto Function, class Answer>
  static Return whole(BareDevice &d) {
    Answer answer{};
    return ((*d.api_).*Function)(d.handle_, &answer);
  }
  template <auto Function, class Answer, unsigned Version>
  static Return versioned(BareDevice &d) {
    Answer answer{};
    answer.version = version_word<Answer>(Version);
    return ((*d.api_).*Function)(d.handle_, &answer);
  }
  template <std::uint32_t Type, std::uint32_t Counter>
  static Return ecc(BareDevice &d) {
    std::uint64_t errors = 0;
    return d.api_->ecc_total(d.handle_, Type, Counter, &errors);
  }
  template <std::uint32_t Type, std::uint32_t Location>
  static Return ecc_at(BareDevice &d) {
    std::uint64_t errors = 0;
    return d.api_->ecc_location(d.handle_, Type, 1, Location, &errors);
  }
  template <std::uint32_t Cause>
  static Return retired(BareDevice &d) {
    std::uint32_t count = 0;
    return d.api_->retired_pages(d.handle_, Cause, &count, nullptr);
  }
  template <auto List>
  static Return processes(BareDevice &d) {
    return d.processes((*d.api_).*List);
  }
  static Return encoder_stats(BareDevice &d) {
    std::array<std::uint32_t, 3> out{};
    return d.api_->encoder_stats(d.handle_, &out[0], &out[1], &out[2]);
  }
  static Return remapped_rows(BareDevice &d) {
    std::array<std::uint32_t, 4> out{};
    return d.api_->remapped_rows(d.handle_, &out[0], &out[1], &out[2], &out[3]);
  }
  static Return power_samples(BareDevice &d) { return d.samples(0, d.power_us_); }
  static Return utilization_samples(BareDevice &d) { return d.samples(1, d.utilization_us_); }
  static Return fast_fields(BareDevice &d) { return d.ask_fields(d.fast_); }
  static Return slow_fields(BareDevice &d) { return d.ask_fields(d.slow_); }
  static Return gpm(BareDevice &d) { return d.gpm(); }
  static Return engines(BareDevice &d) { return d.process_engines(); }
  static Return links(BareDevice &d) { return d.links(); }

  static constexpr std::array<Call, 18> kTick{
      whole<&Api::utilization, Utilization>,
      versioned<&Api::memory_v2, MemoryV2, 2>,
      versioned<&Api::temperature_v, TemperatureReading, 1>,
      number<&Api::power>,
      number<&Api::power_limit_enforced>,
      typed<&Api::clock, 0>,
      typed<&Api::clock, 1>,
      typed<&Api::clock, 2>,
      typed<&Api::clock, 3>,
      number<&Api::performance_state>,
      whole<&Api::event_reasons, std::uint64_t>,
      pair<&Api::encoder>,
      pair<&Api::decoder>,
      pair<&Api::jpeg>,
      pair<&Api::ofa>,
      processes<&Api::compute_v2>,
      processes<&Api::graphics_v2>,
      processes<&Api::mps_v2>,
  };

  static constexpr std::array<Call, 59> kRest{
      gpm,
      engines,
      power_samples,
      utilization_samples,
      fast_fields,
      typed<&Api::fan_speed_v2, 0>,
      number<&Api::pcie_generation>,
      number<&Api::pcie_width>,
      whole<&Api::energy, std::uint64_t>,
      versioned<&Api::temperature_margin, MarginTemperature, 1>,
      versioned<&Api::fan_rpm, FanSpeedInfo, 1>,
      whole<&Api::bar1, Bar1Memory>,
      encoder_stats,
      slow_fields,
      number<&Api::power_limit>,
      number<&Api::pcie_replay>,
      links,
      ecc<0, 1>,
      ecc<1, 1>,
      ecc<0, 0>,
      ecc<1, 0>,
      ecc_at<0, 2>,
      ecc_at<1, 2>,
      ecc_at<0, 7>,
      ecc_at<1, 7>,
      versioned<&Api::ecc_sram, SramEccErrorStatus, 1>,
      retired<0>,
      retired<1>,
      number<&Api::retired_pending>,
      remapped_rows,
      whole<&Api::remapper_histogram, RowRemapperHistogram>,
      pair<&Api::ecc_mode>,
      pair<&Api::mig_mode>,
      number<&Api::compute_mode>,
      number<&Api::persistence_mode>,
      number<&Api::display_active>,
      number<&Api::accounting_mode>,
      number<&Api::power_source>,
      typed<&Api::clock_application, 0>,
      typed<&Api::clock_application, 2>,
      typed<&Api::clock_max, 0>,
      typed<&Api::clock_max, 1>,
      typed<&Api::clock_max, 2>,
      typed<&Api::clock_max, 3>,
      typed<&Api::clock_boost, 0>,
      typed<&Api::temperature_threshold, 0>,
      typed<&Api::temperature_threshold, 1>,
      typed<&Api::temperature_threshold, 2>,
      typed<&Api::temperature_threshold, 3>,
      number<&Api::power_limit_default>,
      pair<&Api::power_limit_range>,
      number<&Api::pcie_generation_max>,
      number<&Api::pcie_width_max>,
      number<&Api::pcie_generation_device>,
      number<&Api::virtualization_mode>,
      number<&Api::minor_number>,
      number<&Api::cores>,
      number<&Api::bus_width>,
      whole<&Api::attributes, DeviceAttributes>,
  };

  static constexpr std::size_t kDifferential = 5;  // so many of kRest, the first ones, are read twice

  static void make(std::span<const Call> calls, std::vector<bool> &refused, BareDevice &device) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (refused[i]) continue;
      refused[i] = outcome_of(calls[i](device)) == Outcome::unsupported;
    }
  }
};

BareDevice::BareDevice(std::shared_ptr<Api> api, std::uint32_t index)
    : api_(std::move(api)),
      refused_tick_(Calls::kTick.size()),
      refused_rest_(Calls::kRest.size()),
      fast_{{186, 0}, {185, 0}, {82, 0}},
      slow_{{185, 2}, {185, 1}, {74, 0},  {75, 0},  {76, 0},  {77, 0}, {78, 0}, {79, 0}, {269, 0}, {270, 0},
            {271, 0}, {193, 0}, {194, 0}, {195, 0}, {196, 0}, {38, 0}, {45, 0}, {52, 0}, {59, 0},  {230, 0}},
      gpm_(kGpmMetrics.begin(), kGpmMetrics.end()),
      engines_us_(wall_us() - 1'000'000),
      buffer_(kMostSamples),
      rows_(kRows * sizeof(ProcessInfoV3Wide)),
      engines_(kRows) {
  if (api_->handle_by_index_v2(index, &handle_) != Return::success) std::abort();
  for (auto &sample : gpm_samples_) api_->gpm_alloc(&sample);
}

BareDevice::~BareDevice() {
  for (const auto sample : gpm_samples_) api_->gpm_free(sample);
}

void BareDevice::tick() { Calls::make(Calls::kTick, refused_tick_, *this); }

void BareDevice::rates() {
  tick();
  Calls::make(std::span(Calls::kRest).first(Calls::kDifferential), refused_rest_, *this);
}

void BareDevice::everything() {
  tick();
  Calls::make(Calls::kRest, refused_rest_, *this);
}

Return BareDevice::ask_fields(std::vector<Field> &fields) {
  std::array<FieldValue, kMostFields> values{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values[i].field = fields[i].number;
    values[i].scope = fields[i].scope;
  }
  const auto code = api_->field_values(handle_, static_cast<int>(fields.size()), values.data());
  for (std::size_t i = fields.size(); i-- > 0;) {
    if (values[i].result == Return::not_supported) fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return code;
}

Return BareDevice::gpm() {
  newest_ = 1 - newest_;
  auto code = api_->gpm_sample(handle_, gpm_samples_[newest_]);
  if (code != Return::success || !gpm_ready_) {
    gpm_ready_ = code == Return::success;
    return code;
  }
  GpmMetricsGet<kMostGpm> query{};
  query.version = 1;
  query.count = static_cast<std::uint32_t>(gpm_.size());
  query.sample1 = gpm_samples_[1 - newest_];
  query.sample2 = gpm_samples_[newest_];
  for (std::size_t i = 0; i < gpm_.size(); ++i) query.metrics[i].id = gpm_[i];
  code = api_->gpm_metrics(&query);
  for (std::size_t i = gpm_.size(); i-- > 0;) {
    if (query.metrics[i].result == Return::not_supported) gpm_.erase(gpm_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return code;
}

Return BareDevice::samples(std::uint32_t type, std::uint64_t &last_us) {
  auto kind = ValueType::u32;
  auto count = static_cast<std::uint32_t>(buffer_.size());
  const auto code = api_->samples(handle_, type, last_us, &kind, &count, buffer_.data());
  for (std::size_t i = 0; code == Return::success && i < count; ++i) last_us = std::max(last_us, buffer_[i].time_us);
  return code;
}

Return BareDevice::processes(const Api::ProcessList &list) {
  auto rows = static_cast<std::uint32_t>(kRows);
  return list(handle_, &rows, rows_.data());
}

Return BareDevice::process_engines() {
  ProcessesUtilizationInfo query{.version = version_word<ProcessesUtilizationInfo>(1),
                                 .count = static_cast<std::uint32_t>(kRows),
                                 .last_seen_us = engines_us_,
                                 .processes = engines_.data()};
  const auto code = api_->process_utilization_info(handle_, &query);
  for (std::size_t i = 0; code == Return::success && i < query.count; ++i) {
    engines_us_ = std::max(engines_us_, engines_[i].time_us);
  }
  return code;
}

Return BareDevice::links() {
  for (std::uint32_t link = 0; link < 36; ++link) {
    std::uint32_t state = 0;
    const auto code = api_->nvlink_state(handle_, link, &state);
    if (code != Return::success) return link == 0 ? code : Return::success;
  }
  return Return::success;
}

}  // namespace gpulse::bench
