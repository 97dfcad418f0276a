// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_keys.hpp"

#include <cstdint>

#include "fleet/engine_values.hpp"

namespace gpulse::fleet {

namespace {

// A label may hold any byte, so that its length is part of the key.
void append_part(std::string &key, std::string_view part) {
  const auto size = static_cast<std::uint32_t>(part.size());
  for (int shift = 0; shift < 32; shift += 8) key += static_cast<char>(size >> shift & 0xFFU);
  key += part;
}

}  // namespace

std::string key_of_parts(std::initializer_list<std::string_view> parts) {
  std::string key;
  std::size_t bytes = 0;
  for (const auto part : parts) bytes += sizeof(std::uint32_t) + part.size();
  key.reserve(bytes);
  for (const auto part : parts) append_part(key, part);
  return key;
}

std::string host_key_of(std::string_view instance, std::string_view cluster) {
  return key_of_parts({instance, cluster});
}
std::string host_key_of(const EngineSeries &series) {
  return host_key_of(series.label("instance"), series.label("cluster"));
}

std::optional<WallTime> moment_of(const EngineSeries &series) {
  return series.points.empty() ? std::nullopt : moment_at(series.points.back().value);
}

std::span<const EngineSeries> part_of(const FleetParts &parts, FleetPart part) {
  const auto *answer = parts[static_cast<std::size_t>(part)];
  return answer == nullptr ? std::span<const EngineSeries>() : std::span(*answer);
}

}  // namespace gpulse::fleet
