// SPDX-License-Identifier: Apache-2.0
#include "monitor/sample.hpp"

#include <memory>

#include "view/json.hpp"

namespace gpulse::monitor {

// Without a lock, which a fork could take along in the locked state: whoever comes second throws its own text away.
const std::string &Sample::json() const {
  if (const auto *made = json_.load(std::memory_order_acquire)) return *made;
  auto text = std::make_unique<std::string>();
  view::write_json(*snapshot, *text);
  const std::string *first = nullptr;
  if (json_.compare_exchange_strong(first, text.get(), std::memory_order_acq_rel)) return *text.release();
  return *first;
}

}  // namespace gpulse::monitor
