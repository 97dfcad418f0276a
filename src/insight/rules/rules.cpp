// SPDX-License-Identifier: Apache-2.0
#include "insight/rules/rules.hpp"

#include <array>

namespace gpulse::insight {

namespace {

// In this order one that applies keeps the later ones, which it would mislead, from being asked.
constexpr std::array kStateRules{
    Rule{FindingId::idle, rules::idle},
    Rule{FindingId::unknown, rules::starting},
    Rule{FindingId::memory_held_idle, rules::memory_held_idle},
    Rule{FindingId::hung, rules::hung},
    Rule{FindingId::copy_bound, rules::copy_bound},
    Rule{FindingId::spinning, rules::spinning},
    Rule{FindingId::launch_bound, rules::launch_bound},
    Rule{FindingId::periodic_stalls, rules::periodic_stalls},
    Rule{FindingId::input_cpu, rules::input_cpu},
    Rule{FindingId::input_io, rules::input_io},
    Rule{FindingId::unknown, rules::waiting},
    Rule{FindingId::wrong_precision, rules::wrong_precision},
    Rule{FindingId::tensor_unused, rules::tensor_unused},
    Rule{FindingId::memory_bandwidth, rules::memory_bandwidth},
    Rule{FindingId::healthy, rules::healthy},
    Rule{FindingId::unknown, rules::unknown},
};

constexpr std::array kSideRules{
    Rule{FindingId::throttled_power, rules::throttled_power},
    Rule{FindingId::throttled_thermal, rules::throttled_thermal},
    Rule{FindingId::throttled_hardware, rules::throttled_hardware},
    Rule{FindingId::memory_leak, rules::memory_leak},
    Rule{FindingId::memory_full, rules::memory_full},
    Rule{FindingId::memory_headroom, rules::memory_headroom},
    Rule{FindingId::host_memory, rules::host_memory},
    Rule{FindingId::link_degraded, rules::link_degraded},
    Rule{FindingId::health, rules::health},
};

}  // namespace

std::span<const Rule> state_rules() { return kStateRules; }

std::span<const Rule> side_rules() { return kSideRules; }

}  // namespace gpulse::insight
