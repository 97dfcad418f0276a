// SPDX-License-Identifier: Apache-2.0
#include "monitor/sample.hpp"

#include "view/json.hpp"

namespace gpulse::monitor {

const std::string &Sample::json() const {
  std::call_once(json_once_, [&] { view::write_json(*snapshot, json_, false); });
  return json_;
}

}  // namespace gpulse::monitor
