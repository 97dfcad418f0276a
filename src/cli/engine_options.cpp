// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

// A chunk of a report over thousands of GPUs.
constexpr std::size_t kMostBytes = std::size_t{128} << 20U;

}  // namespace

OptionHandle add_engine(OptionList &list, Options &options) {
  auto url = list.text("--url", options.url,
                       "ask this Prometheus, VictoriaMetrics or the like, such as http://prometheus:9090")
                 .value_name("URL");
  add_engine_rights(list, options, url);
  return url;
}

void add_engine_rights(OptionList &list, Options &options, const OptionHandle &address) {
  list.text("--url-token-file", options.url_token_file, "the bearer token for it").value_name("FILE").needs(address);
  list.text("--url-user", options.url_user, "or the user").value_name("NAME").needs(address);
  list.text("--url-password-file", options.url_password_file, "and the password of that user").value_name("FILE");
  list.text("--url-ca-file", options.url_ca_file, "the authorities that it is trusted by (those of this system)")
      .value_name("FILE");
  list.duration("--url-timeout", options.url_timeout, "how long it may take for one answer (1m)", 100ms);
}

bool is_given(const Options &options, std::string_view name) {
  return std::ranges::any_of(options.words, [&](const std::string &word) {
    const bool is_short = name.size() == 2;  // "-n50" too
    return word == name || word.starts_with(is_short ? std::string(name) : std::string(name) + '=');
  });
}

std::optional<std::string> given_of(const Options &options, std::span<const std::string_view> beginnings) {
  for (const auto &word : options.words) {
    const bool is_one = std::ranges::any_of(beginnings, [&](auto one) { return word.starts_with(one); });
    if (is_one) return word.substr(0, word.find('='));
  }
  return std::nullopt;
}

Options with_configured_engine(Options options) {
  if (options.configured_fleet == nullptr) return options;
  const auto &other = *options.configured_fleet;
  // What lets us in there is shown to no other engine.
  if (options.url.empty() || options.url == other.url) {
    options.url = other.url;
    const bool has_rights = !options.url_token_file.empty() || !options.url_user.empty();
    if (!has_rights) {
      options.url_token_file = other.url_token_file;
      options.url_user = other.url_user;
      options.url_password_file = other.url_password_file;
    }
    if (options.url_ca_file.empty()) options.url_ca_file = other.url_ca_file;
  }
  if (options.url_timeout == Options().url_timeout) options.url_timeout = other.url_timeout;
  return options;
}

Result<fleet::EngineOptions> engine_options(const Options &options) {
  auto url = fleet::parse_engine_url(options.url);
  if (!url) return std::unexpected(url.error());
  if (options.url_user.empty() != options.url_password_file.empty()) {
    return failure("a user of --url needs a password, and a password a user",
                   "give --url-user and --url-password-file");
  }
  if (!options.url_user.empty() && !options.url_token_file.empty()) {
    return failure("--url takes a token or a user, not both");
  }
  fleet::EngineOptions out;
  out.url = std::move(*url);
  out.client.bearer_file = options.url_token_file;
  out.client.user = options.url_user;
  out.client.password_file = options.url_password_file;
  out.client.ca_file = options.url_ca_file;
  out.client.total_time = std::chrono::ceil<std::chrono::milliseconds>(options.url_timeout);
  out.client.most_bytes = kMostBytes;
  return out;
}

Error no_gpus_known(const Text &place, bool is_past) {
  return {fmt::format("the engine at {} knows of no GPUs{}", place, is_past ? " at that time" : ""),
          "see that it scrapes the agents or that they write to it (docs/prometheus.md)"};
}

}  // namespace gpulse::cli
