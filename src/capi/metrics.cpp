// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "capi/handles.hpp"
#include "metric/format.hpp"
#include "view/csv.hpp"

namespace gpulse::capi {

static_assert(sizeof(Reading) == sizeof(double));

double as_double(const Reading &reading) { return std::bit_cast<double>(reading); }

namespace {

gpulse_scope scope_of(const Metric &metric) {
  if (metric.scope == Scope::device) return GPULSE_DEVICE;
  return metric.scope == Scope::process ? GPULSE_PROCESS : GPULSE_HOST;
}

gpulse_kind kind_of(const Metric &metric) {
  switch (metric.kind) {
    case Kind::gauge:
      return GPULSE_GAUGE;
    case Kind::counter:
      return GPULSE_COUNTER;
    case Kind::state:
      return GPULSE_STATE;
    case Kind::set:
      return GPULSE_SET;
    case Kind::text:
      break;
  }
  return GPULSE_TEXT;
}

// Strings of the table have no final zero, and a program may keep them for as long as it runs.
struct Names {
  std::string key, unit, label, help;
};
const std::array<Names, kMetricCount> &names() {
  static const auto &all = *new std::array<Names, kMetricCount>([] {
    std::array<Names, kMetricCount> made;
    for (std::size_t i = 0; i < kMetricCount; ++i) {
      const auto &metric = kMetrics[i];
      const auto prefix = metric.scope == Scope::device ? std::string{} : std::string(word(metric.scope)) + ".";
      made[i] = {prefix + std::string(metric.key), metric.unit == Unit::none ? "" : std::string(word(metric.unit)),
                 std::string(metric.label), std::string(metric.help)};
    }
    return made;
  }());
  return all;
}

// As much as there is room for; returns how long the whole text is.
std::size_t write_text(std::string_view all, char *text, std::size_t room) {
  if (text != nullptr && room > 0) {
    const auto length = std::min(all.size(), room - 1);
    std::memcpy(text, all.data(), length);
    text[length] = '\0';
  }
  return all.size();
}

}  // namespace

}  // namespace gpulse::capi

using namespace gpulse;

int32_t gpulse_metric(const char *key) {
  int32_t found = -1;
  capi::guarded([&] {
    if (key == nullptr) return capi::fail(GPULSE_INVALID, "no key");
    const auto id = view::find_field(key);
    if (!id || !capi::is_offered(*id)) {
      return capi::fail(GPULSE_INVALID, fmt::format("no metric \"{}\": `gpulse explain --all` lists them", Text(key)));
    }
    found = id->index;
    return GPULSE_OK;
  });
  return found;
}

int32_t gpulse_metric_count(void) { return static_cast<int32_t>(kMetricCount); }

gpulse_status gpulse_describe(int32_t metric, gpulse_metric_info *info) {
  return capi::guarded([&] {
    const auto id = capi::metric_of(metric);
    if (!id) return capi::fail(GPULSE_INVALID, fmt::format("no metric has the number {}", metric));
    const auto &row = describe(*id);
    const auto &names = capi::names()[id->index];
    const gpulse_metric_info full{.size = 0,
                                  .key = names.key.c_str(),
                                  .scope = capi::scope_of(row),
                                  .kind = capi::kind_of(row),
                                  .unit = names.unit.c_str(),
                                  .label = names.label.c_str(),
                                  .help = names.help.c_str()};
    return capi::hand_out(full, info);
  });
}

const char *gpulse_reason(double value) {
  if (!std::isnan(value)) return "";
  thread_local std::string told;
  capi::guarded([&] {
    const auto reading = std::bit_cast<Reading>(value);
    told = reading.has_value() ? "no reading" : reason_text(reading);  // the program's own NaN says nothing
    return GPULSE_OK;
  });
  return told.c_str();
}

size_t gpulse_words(int32_t metric, double value, char *text, size_t room) {
  std::string all;
  capi::guarded([&] {
    const auto id = capi::metric_of(metric);
    if (!id || std::isnan(value)) return GPULSE_INVALID;
    const auto &row = describe(*id);
    if (row.kind != Kind::state && row.kind != Kind::set) return GPULSE_INVALID;
    for (const auto &word : value_words(row, value)) all += (all.empty() ? "" : ", ") + word;
    return GPULSE_OK;
  });
  return capi::write_text(all, text, room);
}

size_t gpulse_format(int32_t metric, double value, char *text, size_t room) {
  std::string all;
  capi::guarded([&] {
    const auto id = capi::metric_of(metric);
    if (!id || describe(*id).kind == Kind::text) return GPULSE_INVALID;
    all = std::isnan(value) ? gpulse_reason(value) : format_value(describe(*id), value);
    return GPULSE_OK;
  });
  return capi::write_text(all, text, room);
}
