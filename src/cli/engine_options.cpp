// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_options.hpp"

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

}  // namespace gpulse::cli
