// SPDX-License-Identifier: Apache-2.0
#include "cli/remote_write_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "serve/web.hpp"

namespace gpulse::cli {

namespace {

bool is_label_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) && !name.starts_with("__") &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// As a scraper that asks this agent from elsewhere would call it.
std::string own_instance(const Options &options) {
  std::string_view address = serve::kDefaultListen;
  for (const std::string_view each : options.listen) {
    if (each.contains(':') && !each.starts_with("unix:") && !each.ends_with(":0")) address = each;
  }
  std::array<char, 256> name{"localhost"};
  static_cast<void>(::gethostname(name.data(), name.size() - 1));
  return std::string(name.data()) + std::string(address.substr(address.rfind(':')));
}

Result<std::vector<fleet::Label>> labels_of(const Options &options) {
  std::vector<fleet::Label> labels{
      {"instance", options.remote_write_instance.empty() ? own_instance(options) : options.remote_write_instance},
      {"job", options.remote_write_job}};
  for (const auto &text : options.remote_write_labels) {
    const auto middle = text.find('=');
    const auto name = text.substr(0, middle);
    if (middle == std::string::npos || !is_label_name(name)) {
      return failure("\"" + text + "\" is no label", "write NAME=VALUE, with letters, digits and _ in the name");
    }
    if (name == "instance" || name == "job") {
      return failure("the label " + name + " has an option of its own", "use --remote-write-" + name);
    }
    labels.emplace_back(name, text.substr(middle + 1));
  }
  return labels;
}

}  // namespace

Result<std::optional<fleet::RemoteWriteOptions>> remote_write_options(const Options &options,
                                                                      const std::string &history) {
  if (options.remote_write.empty()) return std::nullopt;
  auto url = http::parse_url(options.remote_write);
  if (!url) return std::unexpected(url.error());
  if (history.empty()) {
    return failure("remote write needs a history: what an engine does not have yet waits there",
                   "leave out --history off, or name a file");
  }
  if (options.remote_write_user.empty() != options.remote_write_password_file.empty()) {
    return failure("a user of --remote-write needs a password, and a password a user",
                   "give --remote-write-user and --remote-write-password-file");
  }
  if (!options.remote_write_user.empty() && !options.remote_write_token_file.empty()) {
    return failure("--remote-write takes a token or a user, not both");
  }
  auto contents = view::page_of(options.remote_write_metrics);
  if (!contents) return std::unexpected(contents.error());
  auto labels = labels_of(options);
  if (!labels) return std::unexpected(labels.error());
  fleet::RemoteWriteOptions out;
  out.url = std::move(*url);
  out.client.bearer_file = options.remote_write_token_file;
  out.client.user = options.remote_write_user;
  out.client.password_file = options.remote_write_password_file;
  out.client.ca_file = options.remote_write_ca_file;
  out.history = history;
  out.replay.labels = std::move(*labels);
  out.replay.step = options.remote_write_interval;
  out.replay.contents = *contents;
  out.replay.processes = options.process_metrics;
  out.since = options.remote_write_since;
  return out;
}

}  // namespace gpulse::cli
