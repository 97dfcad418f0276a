// SPDX-License-Identifier: Apache-2.0
// Any bytes as name tables: names that are found lie inside them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "source/drm/names.hpp"

namespace {

void require_inside(std::string_view part, std::string_view whole) {
  if (part.empty()) return;
  if (part.data() < whole.data() || part.data() + part.size() > whole.data() + whole.size()) std::abort();
  if (part.contains('\n')) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse::drm;
  if (size < 2) return 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the fuzzer's bytes are the text
  const std::string_view text(reinterpret_cast<const char *>(data) + 2, size - 2);
  // Few ids, so that some are found.
  const std::uint32_t id = data[0] & 0x11U;
  const std::uint32_t other = data[1] & 0x11U;
  require_inside(find_amd_name(text, id, other), text);
  require_inside(find_amd_name(text, id, std::nullopt), text);
  // One half names the products, the other the board.
  const auto half = text.size() / 2;
  if (narrowed(text.substr(0, half), text.substr(half)).size() > text.size() + 1) std::abort();
  const auto names = find_pci_names(text, id, other, id, other);
  require_inside(names.vendor, text);
  require_inside(names.device, text);
  require_inside(names.subsystem, text);
  return 0;
}
