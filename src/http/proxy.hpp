// SPDX-License-Identifier: Apache-2.0
// Which proxy stands before a server, as the option or the environment says. Internal to the client of src/http.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/url.hpp"

namespace gpulse::http {

struct Proxy {
  std::string host;
  std::uint16_t port = 0;
  std::string authorization{};  // "Basic …"; empty: none
};

// The value of an environment variable; null: it is not set.
using Environment = std::function<const char *(const char *)>;

// None: the server is asked directly. `option`: none is as https_proxy, http_proxy, all_proxy and no_proxy say, in
// either case; of these, servers on this machine are never asked through one.
Result<std::optional<Proxy>> proxy_for(const Url &url, const std::optional<std::string> &option,
                                       const Environment &environment);

// As in "Authorization: Basic …".
std::string basic_credentials(std::string_view user_and_password);

}  // namespace gpulse::http
