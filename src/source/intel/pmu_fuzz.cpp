// SPDX-License-Identifier: Apache-2.0
// Any bytes as the format and the event of a counter: what comes out fits the word, and says what it was made of.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "source/intel/memory.hpp"
#include "source/intel/pmu.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse::intel;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the fuzzer's bytes are the text
  std::string_view text(reinterpret_cast<const char *>(data), size);
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  const auto first = gpulse::next_piece(text, '\n');
  Pmu pmu;
  pmu.formats["event"] = parse_format(first);
  for (const auto [low, high] : pmu.formats["event"]) require(low <= high && high < 64);
  pmu.events["rcs0-busy"] = std::string(text);
  i915_pmu_engines(pmu);
  pmu.events["engine-active-ticks"] = pmu.events["engine-total-ticks"] = std::string(text);
  pmu.formats["engine_class"] = pmu.formats["engine_instance"] = pmu.formats["gt"] = pmu.formats["event"];
  const Gt gt;
  xe_pmu_engines(pmu, std::span(&gt, 1));
  const auto terms = parse_event(text);
  for (const auto &term : terms) require(!term.name.empty());
  std::uint64_t bits = 0;
  for (const auto [low, high] : pmu.formats["event"]) {
    for (auto bit = low; bit <= high; ++bit) bits |= std::uint64_t{1} << bit;
  }
  for (const auto &term : terms) {
    if (term.name != "event") continue;
    const auto config = pmu.encode(std::span(&term, 1));
    if (config) require((*config & ~bits) == 0);
  }
  parse_dmem_capacity(text, first);
  return 0;
}
