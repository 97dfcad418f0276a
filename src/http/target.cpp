// SPDX-License-Identifier: Apache-2.0
#include "http/target.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace gpulse::http {

namespace {

constexpr std::size_t kMostParameters = 64;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::optional<char> decode_escape(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const auto code = parse_integer<unsigned>(text.substr(1, 2), 16);
  if (!code) return std::nullopt;
  return static_cast<char>(*code);
}

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const auto decoded = decode_escape(text.substr(i));
      if (!decoded) return std::nullopt;
      c = *decoded;
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (is_control(c)) return std::nullopt;
    out += c;
  }
  // Nor what only looks like text: controls beyond ASCII, marks that turn the writing direction.
  if (!is_utf8(out) || printable(out) != out) return std::nullopt;
  return out;
}

std::optional<std::string> decode_path(std::string_view text) {
  std::string out;
  auto rest = text.substr(1);
  for (bool more = true; more;) {
    const auto slash = rest.find('/');
    more = slash != std::string_view::npos;
    const auto part = decode(rest.substr(0, slash), false);
    if (!part || *part == "." || *part == ".." || part->find_first_of("/\\") != std::string::npos) return std::nullopt;
    out += '/';
    out += *part;
    if (more) rest.remove_prefix(slash + 1);
  }
  return out;
}

}  // namespace

std::optional<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/') || text.contains('#')) return std::nullopt;
  const auto question = text.find('?');
  auto path = decode_path(text.substr(0, question));
  if (!path) return std::nullopt;
  Target target{.path = std::move(*path), .query = {}};
  if (question == std::string_view::npos) return target;
  for (const auto piece : split(text.substr(question + 1), '&')) {
    if (piece.empty()) continue;
    const auto equals = piece.find('=');
    auto name = decode(piece.substr(0, equals), true);
    auto value = equals == std::string_view::npos ? std::string() : decode(piece.substr(equals + 1), true);
    if (!name || !value || target.query.size() == kMostParameters) return std::nullopt;
    target.query.emplace_back(std::move(*name), std::move(*value));
  }
  return target;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-._~").contains(c);
    if (is_plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace gpulse::http
