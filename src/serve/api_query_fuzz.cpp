// SPDX-License-Identifier: Apache-2.0
// Any parameters: what is taken stays within its limits, what is refused is named.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "serve/api_query.hpp"

namespace {

using namespace gpulse;

void must(bool holds) {
  if (!holds) std::abort();
}

template <class T>
void check_refusal(const serve::Asked<T> &asked) {
  if (asked) return;
  must(asked.error().status == 400 && !asked.error().message.empty() && asked.error().message.size() < 1000);
  must(asked.error().message == printable(asked.error().message));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  http::Request request;
  for (const auto line : split(text, '\n')) {
    const auto equals = line.find('=');
    request.query.emplace_back(line.substr(0, equals), equals == line.npos ? "" : line.substr(equals + 1));
  }
  const WallTime now(std::chrono::seconds(1'794'800'000));
  const auto history = serve::asked_history(request, now);
  check_refusal(history);
  if (history) {
    must(history->span.from < history->span.to && history->metrics.size() <= serve::kMostMetrics);
    must(history->points >= 1 && history->points <= serve::kMostPoints);
    must(history->step.count() == 0 || (history->span.to - history->span.from) / history->step <= serve::kMostPoints);
  }
  check_refusal(serve::asked_sample(request));
  check_refusal(serve::asked_processes(request, now));
  check_refusal(serve::asked_events(request, now));
  return 0;
}
