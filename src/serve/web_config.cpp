// SPDX-License-Identifier: Apache-2.0
#include "serve/web_config.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/toml_text.hpp"

namespace gpulse::serve {

namespace {

constexpr std::size_t kShortestToken = 16, kLongestToken = 512;

std::string read_text(const toml::node &node, std::string &target) {
  const auto text = node.value<std::string>();
  if (!text || text->empty()) return "is no text";
  target = *text;
  return {};
}

std::string read_count(const toml::node &node, std::optional<std::size_t> &target) {
  const auto number = node.value<std::int64_t>();
  if (!number || *number < 1 || *number > 100000) return "is no whole number from 1 to 100000";
  target = static_cast<std::size_t>(*number);
  return {};
}

std::string read_list(const toml::node &node, std::vector<std::string> &target) {
  const auto *all = node.as_array();
  if (all == nullptr) return "is no list";
  for (const auto &one : *all) {
    std::string text;
    if (auto problem = read_text(one, text); !problem.empty()) return "has an element that " + problem;
    target.push_back(std::move(text));
  }
  return {};
}

std::string read_users(const toml::node &node, Users &target) {
  const auto *all = node.as_table();
  if (all == nullptr) return "is no table of names and hashes";
  for (const auto &[name, value] : *all) {
    const auto hash = value.value<std::string>().value_or("");
    const std::string user(name.str());
    if (user.empty() || user.contains(':')) return fmt::format("has the user \"{}\", which can be nobody's name", user);
    if (!is_bcrypt_hash(hash)) return fmt::format("has no bcrypt hash for {}: htpasswd -nB {} makes one", user, user);
    target[user] = hash;
  }
  return {};
}

struct Row {
  std::string_view key;
  std::string (*read)(const toml::node &node, WebConfig &config);  // what is wrong with it
};
constexpr std::array kRows{
    Row{"token_file", [](const toml::node &node, WebConfig &config) { return read_text(node, config.token_file); }},
    Row{"base_path", [](const toml::node &node, WebConfig &config) { return read_text(node, config.base_path); }},
    Row{"cert", [](const toml::node &node, WebConfig &config) { return read_text(node, config.tls.certificate); }},
    Row{"key", [](const toml::node &node, WebConfig &config) { return read_text(node, config.tls.key); }},
    Row{"client_ca", [](const toml::node &node, WebConfig &config) { return read_text(node, config.tls.client_ca); }},
    Row{"users", [](const toml::node &node, WebConfig &config) { return read_users(node, config.users); }},
    Row{"allowed_hosts",
        [](const toml::node &node, WebConfig &config) { return read_list(node, config.allowed_hosts); }},
    Row{"frame_origins",
        [](const toml::node &node, WebConfig &config) { return read_list(node, config.frame_origins); }},
    Row{"max_streams", [](const toml::node &node, WebConfig &config) { return read_count(node, config.max_streams); }},
    Row{"max_connections",
        [](const toml::node &node, WebConfig &config) { return read_count(node, config.max_connections); }},
};

Result<WebConfig> read_rows(const toml::table &table) {
  WebConfig config;
  for (const auto &[key, value] : table) {
    const auto *const found = std::ranges::find(kRows, key.str(), &Row::key);
    const auto problem = found == kRows.end() ? "is nothing to configure" : found->read(value, config);
    if (!problem.empty()) return failure(fmt::format("[web] {} {}", key.str(), problem));
  }
  if (config.tls.certificate.empty() != config.tls.key.empty()) return failure("[web] needs cert and key, or neither");
  if (!config.tls.client_ca.empty() && config.tls.key.empty()) return failure("[web] client_ca needs cert and key");
  return config;
}

}  // namespace

Result<WebConfig> parse_web_config(std::string_view text) {
  if (const auto line = stray_line(text); line > 0) {
    return failure(fmt::format("the configuration, line {}: {}", line, kStrayText), kStrayRemedy);
  }
  try {
    const auto table = toml::parse(text);
    const auto *web = table["web"].as_table();
    return web == nullptr ? WebConfig{} : read_rows(*web);
  } catch (const toml::parse_error &error) {
    return failure(fmt::format("the configuration, line {}: {}", error.source().begin.line, error.description()));
  }
}

Result<std::vector<std::string>> read_tokens(const std::string &file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) == 0 && (info.st_mode & S_IRWXO) != 0) {
    return failure(fmt::format("the token in {} can be read by everybody", file), "chmod o= " + file);
  }
  const auto text = read_small_file(file);
  if (!text) return std::unexpected(text.error());
  std::vector<std::string> tokens;
  for (const auto line : split(*text, '\n')) {
    const auto token = trim(line);
    if (token.empty()) continue;
    const bool is_printable = std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
    if (!is_printable || token.size() < kShortestToken || token.size() > kLongestToken) {
      return failure(fmt::format("{} holds a token that is none: 16 to 512 characters without blanks", file),
                     "openssl rand -hex 32 makes a good one");
    }
    tokens.emplace_back(token);
  }
  if (tokens.empty()) return failure(fmt::format("{} holds no token", file), "openssl rand -hex 32 makes a good one");
  return tokens;
}

}  // namespace gpulse::serve
