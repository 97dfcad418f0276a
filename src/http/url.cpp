// SPDX-License-Identifier: Apache-2.0
#include "http/url.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "http/address.hpp"

namespace gpulse::http {

namespace {

constexpr const char *kForms = "write it as https://name:8443/path";
constexpr std::uint16_t kPlainPort = 80;
constexpr std::uint16_t kSecurePort = 443;

std::uint16_t usual_port(bool is_secure) { return is_secure ? kSecurePort : kPlainPort; }

bool is_visible(char c) { return c > ' ' && c < '\x7f'; }

bool is_name_character(char c) {
  const bool is_alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_alphanumeric || c == '.' || c == '-' || c == '_';
}

std::unexpected<Error> refuse(std::string_view text) {
  return failure(fmt::format("\"{}\" is no address of a web server", text), kForms);
}

// "name", "name:80", "[::1]", "[::1]:80"; an empty port is the usual one.
bool take_authority(std::string_view text, Url &url) {
  const bool has_brackets = text.starts_with('[');
  const auto end = has_brackets ? text.find(']') : text.find(':');
  if (has_brackets && end == std::string_view::npos) return false;
  url.host = std::string(has_brackets ? text.substr(1, end - 1) : text.substr(0, end));
  if (url.host.empty()) return false;
  const bool is_good = has_brackets ? url.host.contains(':') && is_ip_address(url.host)
                                    : std::ranges::all_of(url.host, is_name_character);
  if (!is_good) return false;
  auto rest = end == std::string_view::npos ? std::string_view() : text.substr(end + (has_brackets ? 1 : 0));
  url.port = usual_port(url.is_secure);
  if (rest.empty() || rest == ":") return true;
  if (!rest.starts_with(':')) return false;
  const auto port = parse_integer<std::uint16_t>(rest.substr(1));
  if (!port || *port == 0) return false;
  url.port = *port;
  return true;
}

}  // namespace

std::string Url::authority() const {
  const auto name = host.contains(':') ? "[" + host + "]" : host;
  return port == usual_port(is_secure) ? name : fmt::format("{}:{}", name, port);
}

std::string Url::text() const { return (is_secure ? "https://" : "http://") + authority() + target; }

Result<Url> parse_url(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos) return refuse(text);
  const auto scheme = lower(text.substr(0, colon));
  Url url;
  url.is_secure = scheme == "https";
  if (!url.is_secure && scheme != "http") return refuse(text);
  auto rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const auto slash = std::min(rest.find_first_of("/?"), rest.size());
  const auto authority = rest.substr(0, slash);
  // What was refused is not repeated: the message goes to logs.
  if (authority.contains('@')) {
    return failure("the address holds a user or a password, which others could see in the list of processes",
                   "put the password into a file of its own");
  }
  const auto target = rest.substr(slash);
  if (!take_authority(authority, url) || !std::ranges::all_of(target, is_visible)) return refuse(text);
  url.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
  return url;
}

}  // namespace gpulse::http
