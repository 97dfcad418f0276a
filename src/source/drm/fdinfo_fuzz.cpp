// SPDX-License-Identifier: Apache-2.0
// Any bytes as fdinfo: all views stay inside the text, and all rates are plausible.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "source/drm/engine_meter.hpp"
#include "source/drm/fdinfo.hpp"

namespace {

using namespace gpulse::drm;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_within(std::string_view piece, std::string_view text) {
  if (piece.empty() || piece == "amdgpu") return;
  require(piece.data() >= text.data() && piece.data() + piece.size() <= text.data() + text.size());
}

void require_sane(const ClientInfo &info, std::string_view text) {
  require(!info.driver.empty() && info.engines.size() <= 64 && info.regions.size() <= 64);
  for (const auto piece : {info.driver, info.pdev, info.name}) require_within(piece, text);
  for (const auto &engine : info.engines) {
    require(!engine.name.empty() && engine.capacity > 0);
    require_within(engine.name, text);
    const auto percent = engine.percent.value_or(0);
    require(percent >= 0 && percent <= 100);
  }
  for (const auto &region : info.regions) require_within(region.name, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  // Two texts, as if read one after the other.
  const std::string_view both(reinterpret_cast<const char *>(data), size);
  const auto middle = std::min(both.find('\1'), size);
  static ClientInfo info;
  EngineMeter meter;
  EngineReadings rates;
  gpulse::Monotonic now{std::chrono::hours(1)};
  for (const auto text : {both.substr(0, middle), both.substr(middle)}) {
    if (!parse_fdinfo(text, info)) continue;
    require_sane(info, text);
    now += std::chrono::milliseconds(100);
    meter.update(info.engines, now, rates);
    for (const auto &rate : rates) require(!rate.has_value() || (rate.value() >= 0 && rate.value() <= 100));
  }
  return 0;
}
