// SPDX-License-Identifier: Apache-2.0
#include "cli/scrape_config.hpp"

#include "base/host_list.hpp"
#include "cli/output.hpp"
#include "codec/byte_source.hpp"
#include "view/page_contents.hpp"
#include "view/scrape_config.hpp"

namespace gpulse::cli {

namespace {

constexpr const char *kPort = "9837";
constexpr std::size_t kLargestList = std::size_t{1} << 20U;

Result<std::string> read_list(const std::string &file) {
  auto bytes = codec::ByteSource::open(file);
  if (!bytes) return std::unexpected(bytes.error());
  const auto content = bytes->view(0, kLargestList + 1);
  if (content.size() > kLargestList) return failure(file + " is larger than a list of machines can be: 1 MiB");
  return std::string(reinterpret_cast<const char *>(content.data()), content.size());
}

Result<std::vector<std::string>> targets_of(const Options &options) {
  std::string words;
  for (const auto &word : options.hosts) words.append(words.empty() ? "" : " ").append(word);
  if (!options.hosts_file.empty()) {
    auto text = read_list(options.hosts_file);
    if (!text) return std::unexpected(text.error());
    auto targets = parse_hosts(*text, kPort);
    if (!targets) return failure(Text(options.hosts_file + ", ") + targets.error().what.str(), targets.error().remedy);
    if (targets->empty()) return failure(options.hosts_file + " names no machine", "write one per line");
    return targets;
  }
  return parse_hosts(words, kPort);
}

}  // namespace

bool asks_for_targets(const Options &options) {
  return options.rules_format == kRuleFormats[3] || options.rules_format == kRuleFormats[4];
}

int run_scrape_config(const Options &options) {
  if (options.hosts.empty() && options.hosts_file.empty()) {
    return fail({"which machines", "name them behind --format scrape, or in a file for --hosts"}, kUsage);
  }
  const auto targets = targets_of(options);
  if (!targets) return fail(targets.error(), options.hosts_file.empty() ? kUsage : kFailure);
  const bool is_config = options.rules_format == kRuleFormats[3];
  const view::ScrapeConfigOptions how{.has_tls = options.tls || !options.ca_file.empty(),
                                      .is_usual = options.rules_metrics == view::kUsualWord,
                                      .token_file = options.token_file,
                                      .ca_file = options.ca_file};
  const auto text = is_config ? view::scrape_config(*targets, how) : view::file_targets(*targets);
  if (auto written = write_out(text); !written) return fail(written.error());
  return kGood;
}

}  // namespace gpulse::cli
