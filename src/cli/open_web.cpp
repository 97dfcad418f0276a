// SPDX-License-Identifier: Apache-2.0
#include "cli/open_web.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "cli/browser.hpp"
#include "cli/web_options.hpp"

namespace gpulse::cli {

Result<std::unique_ptr<serve::Web>> open_web(std::optional<serve::WebOptions> options,
                                             const serve::Web::MakeSite &make_site, bool shows_page) {
  if (!options) return nullptr;
  const auto base_path = options->base_path;
  const char *scheme = options->tls.certificate.empty() ? "http" : "https";
  auto web = serve::Web::open(std::move(*options), make_site);
  if (web && *web) {
    for (const auto &address : (*web)->server().addresses()) {
      log_line(LogLevel::info, fmt::format("answers on {}://{}", scheme, address));
    }
    if (const auto all = (*web)->server().addresses(); shows_page && !all.empty()) {
      const auto page = fmt::format("{}://{}{}/", scheme, browsable(all.front()), base_path);
      if (!open_browser(page)) log_line(LogLevel::notice, "no browser could be started here: the page is at " + page);
    }
  }
  return web;
}

Result<void> reload_web(const Options &options, serve::Web &web) {
  auto now = web_options(options);
  if (!now) return std::unexpected(now.error().error);
  if (!*now) return {};
  return web.reload(std::move(**now));
}

}  // namespace gpulse::cli
