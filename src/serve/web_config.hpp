// SPDX-License-Identifier: Apache-2.0
// [web] of the configuration, and the file that tokens are kept in. For whoever starts the agent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/tls.hpp"
#include "serve/password.hpp"

namespace gpulse::serve {

struct WebConfig {
  std::string token_file{}, base_path{};
  http::TlsFiles tls{};
  Users users{};
  std::vector<std::string> allowed_hosts{}, frame_origins{};
  std::optional<std::size_t> max_streams{}, max_connections{};
};

// TOML in which nothing but [web] stands.
Result<WebConfig> parse_web_config(std::string_view text);

// A line each. A file that others may read is no place for a secret.
Result<std::vector<std::string>> read_tokens(const std::string &file);

}  // namespace gpulse::serve
