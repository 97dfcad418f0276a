// SPDX-License-Identifier: Apache-2.0
// nvidia-smi -q: everything about each device, as text or as XML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

// The parts that -d can pick; bits.
namespace section {
inline constexpr std::uint32_t kMemory = 1U << 0, kUtilization = 1U << 1, kEcc = 1U << 2, kTemperature = 1U << 3,
                               kPower = 1U << 4, kClock = 1U << 5, kCompute = 1U << 6, kPids = 1U << 7,
                               kPerformance = 1U << 8, kSupportedClocks = 1U << 9, kPageRetirement = 1U << 10,
                               kAccounting = 1U << 11, kEncoderStats = 1U << 12, kTargetTemperature = 1U << 13,
                               kVoltage = 1U << 14, kFbcStats = 1U << 15, kRowRemapper = 1U << 16,
                               kGspVersion = 1U << 17, kPowerSmoothing = 1U << 18, kPowerProfiles = 1U << 19;
}  // namespace section

// "MEMORY,power": the bits, or nothing where a name is none.
std::optional<std::uint32_t> parse_sections(std::string_view list);

// Sections: 0 means all that a plain -q shows.
MetricSet needs_of_log(std::uint32_t sections, bool xml);
std::string log_text(const Scene &scene, std::uint32_t sections);
std::string log_xml(const Scene &scene);

}  // namespace gpulse::view::smi
