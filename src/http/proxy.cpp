// SPDX-License-Identifier: Apache-2.0
#include "http/proxy.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "http/address.hpp"

namespace gpulse::http {

namespace {

std::string variable(const Environment &environment, std::string_view name) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  for (const auto &one : {std::string(name), upper}) {
    const char *value = environment(one.c_str());
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

bool is_on_this_machine(const std::string &host) {
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         (host.starts_with("127.") && is_ip_address(host));
}

std::optional<std::uint32_t> ipv4(const std::string &text) {
  in_addr address{};
  if (::inet_pton(AF_INET, text.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

// "10.0.0.0/8"
bool is_in_network(const std::string &host, std::string_view network) {
  const auto slash = network.find('/');
  if (slash == std::string_view::npos) return false;
  const auto address = ipv4(host);
  const auto base = ipv4(std::string(network.substr(0, slash)));
  const auto bits = parse_integer<unsigned>(network.substr(slash + 1));
  if (!address || !base || !bits || *bits > 32) return false;
  return *bits == 0 || ((*address ^ *base) >> (32 - *bits)) == 0;
}

// An entry is a name and all below it, an address, a network, each with a port or without.
bool is_excepted(const Url &url, std::string_view exceptions) {
  const auto host = lower(url.host);
  for (const auto piece : split(exceptions, ',')) {
    auto entry = lower(trim(piece));
    if (entry == "*") return true;
    const auto port = ":" + std::to_string(url.port);
    if (entry.ends_with(port) && std::ranges::count(entry, ':') == 1) entry.resize(entry.size() - port.size());
    entry.erase(0, entry.find_first_not_of("*."));
    if (entry.empty()) continue;
    if (host == entry || host.ends_with("." + entry) || is_in_network(host, entry)) return true;
  }
  return false;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    out += is_escape ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (is_escape) i += 2;
  }
  return out;
}

Result<Proxy> parse_proxy(std::string_view text) {
  const auto scheme = text.find("://");
  auto rest = scheme == std::string_view::npos ? text : text.substr(scheme + 3);
  if (scheme != std::string_view::npos && lower(text.substr(0, scheme)) != "http") {
    return failure("only proxies at http:// addresses can be used", "name one, or none");
  }
  Proxy proxy;
  // Unlike an address of ours it comes from the environment, which only its user can read.
  const auto at = rest.substr(0, rest.find('/')).rfind('@');
  if (at != std::string_view::npos) {
    proxy.authorization = basic_credentials(unescape(rest.substr(0, at)));
    rest = rest.substr(at + 1);
  }
  auto url = parse_url("http://" + std::string(rest));
  if (!url) return failure("the address of the proxy makes no sense", "write it as http://name:3128");
  proxy.host = std::move(url->host);
  proxy.port = url->port;
  return proxy;
}

}  // namespace

std::string basic_credentials(std::string_view user_and_password) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out = "Basic ";
  for (std::size_t i = 0; i < user_and_password.size(); i += 3) {
    const auto piece = user_and_password.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (k < piece.size() ? static_cast<unsigned char>(piece[k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= piece.size() ? kDigits[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

Result<std::optional<Proxy>> proxy_for(const Url &url, const std::optional<std::string> &option,
                                       const Environment &environment) {
  auto text = option.value_or("");
  if (!option && !is_on_this_machine(lower(url.host)) && !is_excepted(url, variable(environment, "no_proxy"))) {
    text = variable(environment, url.is_secure ? "https_proxy" : "http_proxy");
    if (text.empty()) text = variable(environment, "all_proxy");
  }
  if (text.empty()) return std::nullopt;
  auto proxy = parse_proxy(text);
  if (!proxy) return std::unexpected(proxy.error());
  return std::move(*proxy);
}

}  // namespace gpulse::http
