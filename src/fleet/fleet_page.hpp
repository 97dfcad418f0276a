// SPDX-License-Identifier: Apache-2.0
// A fleet as the page in the browser has it ("gpulse-fleet/1"): the overview in columns, so that thousands of GPUs are
// not much to send. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json_writer.hpp"
#include "fleet/fleet_groups.hpp"

namespace gpulse::fleet {

// What the snapshot does not tell of itself.
struct FleetPageNotes {
  Text trouble{};  // why there is nothing newer; empty: there is
  std::chrono::nanoseconds interval = std::chrono::seconds(15);
  bool is_past = false;
};
std::string fleet_page_json(const FleetSnapshot &fleet, const FleetView &view, const FleetPageNotes &notes);

// What a host is called in an address: as it is called, where that has nothing but letters, digits, dots and dashes;
// any other byte is _ and two hexadecimal digits, a colon is ~. The same instance always has the same one, and it is
// safe as a part of a path. The cluster is behind it where several have such a host.
std::string host_key(std::string_view instance);
std::string host_key(const FleetHost &host);
// The host of this key; none: there is no such.
std::optional<std::size_t> find_host(const FleetSnapshot &fleet, std::string_view key);

// As members of the object that has been begun.
void write_page_host(JsonWriter &json, const FleetHost &host);

}  // namespace gpulse::fleet
