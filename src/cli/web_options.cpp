// SPDX-License-Identifier: Apache-2.0
#include "cli/web_options.hpp"

#include "serve/web_config.hpp"

namespace gpulse::cli {

namespace {

http::Limits limits_of(const serve::WebConfig &config) {
  http::Limits limits;
  if (config.max_streams) limits.streams = *config.max_streams;
  if (config.max_connections) limits.connections = *config.max_connections;
  // One reader may have them all, where somebody has asked for so many.
  if (config.max_streams || config.max_connections) {
    limits.connections_per_address = std::max({limits.connections_per_address, limits.streams, limits.connections});
  }
  return limits;
}

}  // namespace

std::expected<std::optional<serve::WebOptions>, Refused> web_options(const Options &options) {
  const auto refuse = [](Error error, int code) { return std::unexpected(Refused{std::move(error), code}); };
  auto config = serve::parse_web_config(section(options.sections, "web"));
  if (!config) return refuse(config.error(), kUsage);
  const bool is_off = options.listen == std::vector<std::string>{"off"};
  if (is_off) return std::nullopt;
  serve::WebOptions web{.is_asked_for = !options.listen.empty(),
                        .access = {.users = config->users, .is_open = options.insecure_no_auth},
                        .tls = config->tls,
                        .limits = limits_of(*config),
                        .version = GPULSE_VERSION};
  for (const auto &text : web.is_asked_for ? options.listen : std::vector<std::string>{serve::kDefaultListen}) {
    auto address = http::parse_address(text);
    if (!address) return refuse(address.error(), kUsage);
    web.addresses.push_back(std::move(*address));
  }
  web.base_path = options.base_path.empty() ? config->base_path : options.base_path;
  while (web.base_path.ends_with('/')) web.base_path.pop_back();
  if (!web.base_path.empty() && !web.base_path.starts_with('/')) {
    return refuse({"the base path \"" + web.base_path + "\" does not begin with a slash"}, kUsage);
  }
  web.access.hosts = config->allowed_hosts;
  web.access.hosts.insert(web.access.hosts.end(), options.allowed_hosts.begin(), options.allowed_hosts.end());
  web.frame_origins = config->frame_origins;
  web.frame_origins.insert(web.frame_origins.end(), options.frame_origins.begin(), options.frame_origins.end());
  if (auto good = serve::check_frame_origins(web.frame_origins); !good) return refuse(good.error(), kUsage);
  const auto &token_file = options.token_file.empty() ? config->token_file : options.token_file;
  if (!token_file.empty()) {
    auto tokens = serve::read_tokens(token_file);
    if (!tokens) return refuse(tokens.error(), kFailure);
    web.access.tokens = std::move(*tokens);
  }
  const bool has_tls = !web.tls.certificate.empty();
  const auto good = serve::check_exposure(web.addresses, web.access, has_tls, !web.tls.client_ca.empty());
  if (!good) return refuse(good.error(), kUsage);
  return web;
}

}  // namespace gpulse::cli
