// SPDX-License-Identifier: Apache-2.0
// /api/v1/about: what this server shows, for a page that does not know yet. Pure; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_writer.hpp"
#include "http/message.hpp"

namespace gpulse::serve {

// `more`: writes the members that only this kind has.
http::Response about_answer(const http::Request &request, std::string_view version, std::string_view kind,
                            const std::function<void(JsonWriter &)> &more = {});

}  // namespace gpulse::serve
