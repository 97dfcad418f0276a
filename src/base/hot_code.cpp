// SPDX-License-Identifier: Apache-2.0
#include "base/hot_code.hpp"

// Both ends of each block, from cmake/hot_code.ld; null in programs that are linked without it.
extern "C" {
// NOLINTBEGIN(*-avoid-c-arrays)
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_begin[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_end[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_csv_begin[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_csv_end[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_json_begin[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_json_end[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_smi_begin[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char gpulse_hot_smi_end[];
// NOLINTEND(*-avoid-c-arrays)
}

namespace gpulse {

namespace {

// The second level is near enough, and large enough.
[[gnu::always_inline]] inline void fetch(const char *begin, const char *end) {
  constexpr int kLine = 64;
  for (const char *at = begin; at < end; at += kLine) __builtin_prefetch(at, 0, 2);
}

}  // namespace

[[gnu::hot]] void fetch_hot_code(HotCode what) {
  switch (what) {
    case HotCode::sample:
      return fetch(gpulse_hot_begin, gpulse_hot_end);
    case HotCode::csv:
      return fetch(gpulse_hot_csv_begin, gpulse_hot_csv_end);
    case HotCode::json:
      return fetch(gpulse_hot_json_begin, gpulse_hot_json_end);
    case HotCode::smi:
      return fetch(gpulse_hot_smi_begin, gpulse_hot_smi_end);
  }
}

}  // namespace gpulse
