// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "model/snapshot.hpp"

namespace gpulse {

std::string text(Reason reason, std::uint16_t code) {
  switch (reason) {
    case Reason::not_sampled:
      return "not sampled yet";
    case Reason::not_supported:
      return "not supported";
    case Reason::no_permission:
      return "no permission";
    case Reason::asleep:
      return "asleep";
    case Reason::lost:
      return "lost";
    case Reason::not_responding:
      return "not responding";
    case Reason::out_of_range:
      return "error: value out of range";
    case Reason::reset_required:
      return "error: device requires a reset";
    case Reason::error:
      return code == 0 ? "error" : fmt::format("error: driver code {}", code);
    case Reason::deprecated:
      return "deprecated by the driver";
  }
  return "error";
}

[[gnu::hot]] std::string text(const DeviceId &id) {
  return id.instance ? fmt::format("{}:{}", id.index, *id.instance) : std::to_string(id.index);
}

std::optional<DeviceId> parse_device_id(std::string_view text) {
  const auto colon = text.find(':');
  const auto index = parse_integer<std::uint32_t>(text.substr(0, colon));
  if (!index) return std::nullopt;
  DeviceId id;
  id.index = *index;
  if (colon == std::string_view::npos) return id;
  id.instance = parse_integer<std::uint32_t>(text.substr(colon + 1));
  return id.instance ? std::optional(id) : std::nullopt;
}

[[gnu::hot]] std::string_view word(DeviceState state) {
  switch (state) {
    case DeviceState::ok:
      return "ok";
    case DeviceState::asleep:
      return "asleep";
    case DeviceState::lost:
      return "lost";
    case DeviceState::not_responding:
      return "not responding";
  }
  return "";
}

std::string type_word(std::uint8_t types) {
  std::string joined;
  const auto add = [&](ProcessType type, std::string_view name) {
    if ((types & static_cast<std::uint8_t>(type)) == 0) return;
    if (!joined.empty()) joined += '+';
    joined += name;
  };
  add(ProcessType::compute, "compute");
  add(ProcessType::graphics, "graphics");
  add(ProcessType::mps, "mps");
  return joined.empty() ? "unknown" : joined;
}

}  // namespace gpulse
