// SPDX-License-Identifier: Apache-2.0
// The addresses of a name. The system's resolver cannot be stopped, so it runs on a thread that is left behind where it
// takes too long. Internal to the client of src/http.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "http/address.hpp"
#include "http/time_limit.hpp"

namespace gpulse::http {

Result<std::vector<Address::Raw>> look_up(const std::string &host, std::uint16_t port, const TimeLimit &limit);

}  // namespace gpulse::http
