// SPDX-License-Identifier: Apache-2.0
// Whatever stands in a text of metrics: it becomes a request that can be read, with sorted labels of which none is
// empty.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fleet/decoded.hpp"
#include "fleet/series.hpp"
#include "fleet/write_request.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace gpulse::fleet;
  SeriesTable table({{"instance", "n1:9837"}, {"job", "gpulse"}});
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  for (const auto part : {text, text.substr(size / 2), std::string_view()}) {
    const std::vector<Step> steps{{.time_ms = 1, .samples = table.take(part)}};
    const auto all = decode_write_request(encode_write_request(steps));
    if (all.size() != steps[0].samples.size()) std::abort();
    for (const auto &series : all) {
      if (!std::ranges::is_sorted(series.order) || series.labels.size() != series.order.size()) std::abort();
      for (const auto &[name, value] : series.labels) {
        if (name.empty() || value.empty()) std::abort();
      }
    }
  }
  return 0;
}
