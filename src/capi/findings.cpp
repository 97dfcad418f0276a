// SPDX-License-Identifier: Apache-2.0
#include "monitor/findings.hpp"

#include <fmt/format.h>

#include <limits>

#include "capi/handles.hpp"
#include "capi/options.hpp"
#include "insight/catalogue.hpp"

using namespace gpulse;

namespace {

constexpr double kShortest = 3, kLongest = 120;  // seconds that are judged as one

std::uint32_t count_of(const auto &list) { return static_cast<std::uint32_t>(list.size()); }

std::int64_t nanoseconds(WallTime time) { return time.time_since_epoch().count(); }

gpulse_severity severity_of(insight::Weight weight) {
  switch (weight) {
    case insight::Weight::ok:
      return GPULSE_WELL;
    case insight::Weight::note:
      return GPULSE_NOTE;
    case insight::Weight::problem:
      break;
  }
  return GPULSE_PROBLEM;
}

// NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): of a literal
const char *id_of(insight::FindingId id) { return insight::word(id).data(); }

std::vector<const char *> pointers(const std::vector<std::string> &texts) {
  std::vector<const char *> made;
  for (const auto &text : texts) made.push_back(text.c_str());
  return made;
}

gpulse_findings::Arrays arrays_of(const monitor::KnownFinding &known) {
  gpulse_findings::Arrays arrays{.devices = pointers(known.ids),
                                 .uuids = pointers(known.uuids),
                                 .facts = {},
                                 .advice = pointers(known.finding.advice),
                                 .values = {}};
  for (const auto &fact : known.finding.evidence) {
    arrays.facts.push_back(fact.name.c_str());
    arrays.values.push_back(fact.value);
  }
  return arrays;
}

gpulse_findings *to_handle(monitor::FindingListPtr list) {
  auto made = std::make_unique<gpulse_findings>();
  for (const auto &known : list->findings) made->arrays.push_back(arrays_of(known));
  made->list = std::move(list);
  return made.release();
}

}  // namespace

gpulse_status gpulse_get_findings(gpulse_monitor *monitor, gpulse_findings **findings) {
  return capi::guarded([&] {
    if (monitor == nullptr || findings == nullptr)
      return capi::fail(GPULSE_INVALID, "no monitor, or no place for the findings");
    *findings = nullptr;
    if (monitor->monitor.is_forked()) return capi::forked();
    *findings = to_handle(monitor->monitor.findings());
    return GPULSE_OK;
  });
}

gpulse_status gpulse_diagnose(gpulse_monitor *monitor, double seconds, gpulse_findings **findings) {
  return capi::guarded([&] {
    if (monitor == nullptr || findings == nullptr)
      return capi::fail(GPULSE_INVALID, "no monitor, or no place for the findings");
    *findings = nullptr;
    if (!(seconds >= kShortest && seconds <= kLongest))
      return capi::fail(GPULSE_INVALID,
                        fmt::format("{} s cannot be judged as one: {} to {} seconds", seconds, kShortest, kLongest));
    if (monitor->monitor.is_forked()) return capi::forked();
    auto judged = monitor->monitor.diagnose(capi::nanoseconds_of(seconds));
    if (!judged) return capi::fail(GPULSE_TIMEOUT, judged.error().line());
    *findings = to_handle(std::move(*judged));
    return GPULSE_OK;
  });
}

void gpulse_findings_free(gpulse_findings *findings) { delete findings; }

gpulse_status gpulse_get_findings_info(const gpulse_findings *findings, gpulse_findings_info *info) {
  return capi::guarded([&] {
    if (findings == nullptr) return capi::fail(GPULSE_INVALID, "no findings");
    const auto &list = *findings->list;
    const gpulse_findings_info full{.size = 0,
                                    .count = count_of(list.findings),
                                    .samples = static_cast<std::uint32_t>(list.samples),
                                    .begin = nanoseconds(list.from),
                                    .end = nanoseconds(list.to),
                                    .verdict = id_of(list.verdict)};
    return capi::hand_out(full, info);
  });
}

gpulse_status gpulse_get_finding(const gpulse_findings *findings, uint32_t index, gpulse_finding *finding) {
  return capi::guarded([&] {
    if (findings == nullptr) return capi::fail(GPULSE_INVALID, "no findings");
    if (index >= findings->arrays.size()) return capi::fail(GPULSE_INVALID, fmt::format("no finding {}", index));
    const auto &known = findings->list->findings[index];
    const auto &one = known.finding;
    const auto &arrays = findings->arrays[index];
    const gpulse_finding full{.size = 0,
                              .number = known.number,
                              .id = id_of(one.id),
                              .severity = severity_of(one.weight),
                              .estimated = one.estimated ? 1 : 0,
                              .confidence = one.confidence,
                              .lost_share = one.lost_share.value_or(std::numeric_limits<double>::quiet_NaN()),
                              .since = nanoseconds(one.since),
                              .until = nanoseconds(one.until),
                              .text = one.text.c_str(),
                              .device_count = count_of(arrays.devices),
                              .pid_count = count_of(one.pids),
                              .fact_count = count_of(arrays.facts),
                              .advice_count = count_of(arrays.advice),
                              .devices = arrays.devices.data(),
                              .uuids = arrays.uuids.data(),
                              .pids = one.pids.data(),
                              .facts = arrays.facts.data(),
                              .values = arrays.values.data(),
                              .advice = arrays.advice.data()};
    return capi::hand_out(full, finding);
  });
}
