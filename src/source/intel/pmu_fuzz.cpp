// SPDX-License-Identifier: Apache-2.0
// Any bytes as the format and event of a counter, or as memory sizes: bits stay where the format says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "source/intel/memory.hpp"
#include "source/intel/pmu.hpp"

namespace {

using namespace gpulse::intel;

void require(bool holds) {
  if (!holds) std::abort();
}

std::uint64_t bits_of(const Format &format) {
  std::uint64_t bits = 0;
  for (const auto [low, high] : format) {
    require(low <= high && high < 64);
    for (auto bit = low; bit <= high; ++bit) bits |= std::uint64_t{1} << bit;
  }
  return bits;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the fuzzer's bytes are the text
  std::string_view text(reinterpret_cast<const char *>(data), size);
  static Pmu pmu;
  const auto first = gpulse::next_piece(text, '\n');
  auto &format = pmu.formats["event"];
  format = parse_format(first);
  const auto bits = bits_of(format);
  const auto terms = parse_event(text);
  pmu.encode(terms);
  for (const auto &term : terms) {
    require(!term.name.empty());
    // The bits of this name, whatever it is called.
    const Term placed{"event", term.value};
    const auto config = pmu.encode(std::span(&placed, 1));
    require(!config || (*config & ~bits) == 0);
  }
  parse_dmem_capacity(text, first);
  may_see_use(text);
  parse_i915_regions(std::as_bytes(std::span(data, size)));
  parse_xe_regions(std::as_bytes(std::span(data, size)));
  return 0;
}
