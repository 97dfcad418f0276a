// SPDX-License-Identifier: Apache-2.0
#include "view/scrape_config.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "view/page_contents.hpp"

namespace gpulse::view {

namespace {

// A string of JSON is one of YAML too.
std::string quoted(const std::string &text) {
  std::string out;
  JsonWriter(out).value(text);
  return out;
}

}  // namespace

std::string scrape_config(std::span<const std::string> targets, const ScrapeConfigOptions &options) {
  std::string out = "scrape_configs:\n  - job_name: gpulse\n    scrape_interval: 15s\n";
  if (options.is_usual) out += fmt::format("    params:\n      metrics: [{}]\n", kUsualWord);
  if (options.has_tls) out += "    scheme: https\n";
  if (!options.token_file.empty()) {
    out += fmt::format("    authorization:\n      credentials_file: {}\n", quoted(options.token_file));
  }
  if (!options.ca_file.empty()) out += fmt::format("    tls_config:\n      ca_file: {}\n", quoted(options.ca_file));
  out += "    static_configs:\n      - targets:\n";
  for (const auto &target : targets) out += fmt::format("          - {}\n", quoted(target));
  return out;
}

std::string file_targets(std::span<const std::string> targets) {
  std::string out = "[\n  {\"targets\": [";
  const char *before = "\n    ";
  for (const auto &target : targets) {
    out.append(before).append(quoted(target));
    before = ",\n    ";
  }
  return out += "\n  ]}\n]\n";
}

}  // namespace gpulse::view
