// SPDX-License-Identifier: Apache-2.0
#include "insight/usual.hpp"

#include "insight/catalogue.hpp"
#include "insight/finding_events.hpp"
#include "metric/state_names.hpp"

namespace gpulse::insight {

namespace {

// Its rule is silent about a GPU without a job, so a GPU that has it is busy.
constexpr auto kUsualFinding = FindingId::throttled_power;

}  // namespace

std::uint64_t usual_bits(const Metric &metric) {
  return metric.role == Role::throttle ? state_names::kUsualThrottle : 0;
}

bool is_usual(const Finding &finding) { return finding.id == kUsualFinding && finding.weight == Weight::note; }

bool is_usual(const Event &event) {
  if (event.kind == EventKind::finding || event.kind == EventKind::finding_ended) {
    return finding_word(event) == word(kUsualFinding);
  }
  if (event.kind != EventKind::throttle && event.kind != EventKind::throttle_ended) return false;
  constexpr auto kThrottle = role_metric<Scope::device>(Role::throttle);
  const auto bits = static_cast<std::uint64_t>(event.code);
  return bits != 0 && (bits & ~usual_bits(describe(kThrottle))) == 0;
}

}  // namespace gpulse::insight
