// SPDX-License-Identifier: Apache-2.0
#include "base/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/text.hpp"

namespace gpulse {

namespace {

constexpr std::size_t kLongestName = 253;  // of DNS
constexpr std::size_t kMostDigits = 9;
constexpr const char *kExample = "write node7, node7:9837, node[001-128,130] or [fd00::7]:9837";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_of_address(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}
bool is_of_name(char c) { return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '_'; }

std::unexpected<Error> wrong(std::string_view word, std::string_view what) {
  constexpr std::size_t kShown = 60;
  const bool is_long = word.size() > kShown;
  return failure(fmt::format("\"{}{}\" {}", word.substr(0, kShown), is_long ? "…" : "", what), kExample);
}

// "[fd00::7]" at the beginning of a word; 0: there is none.
std::size_t address_length(std::string_view word) {
  const auto end = word.starts_with('[') ? word.find(']') : std::string_view::npos;
  if (end == std::string_view::npos || !word.substr(0, end).contains(':')) return 0;
  const auto inside = word.substr(1, end - 1);
  const bool legal = std::ranges::all_of(inside, is_of_address);
  return legal ? end + 1 : 0;
}

// What stands between brackets: "001-128,130".
Result<std::vector<std::string>> expand_ranges(std::string_view word, std::string_view ranges) {
  std::vector<std::string> all;
  for (const auto range : split(ranges, ',')) {
    const auto middle = range.find('-');
    const auto first = range.substr(0, middle);
    const auto last = middle == std::string_view::npos ? first : range.substr(middle + 1);
    const auto from = parse_integer<std::uint32_t>(first), to = parse_integer<std::uint32_t>(last);
    if (!from || !to || first.size() > kMostDigits || last.size() > kMostDigits) {
      return wrong(word, "has a range without its numbers");
    }
    if (*from > *to) return wrong(word, "has a range that ends before it begins");
    if (*to - *from >= kMostHosts - all.size()) return wrong(word, fmt::format("is more than {} machines", kMostHosts));
    for (auto number = *from; number <= *to; ++number) all.push_back(fmt::format("{:0{}}", number, first.size()));
  }
  return all;
}

// All names that one word with ranges stands for.
Result<std::vector<std::string>> expand(std::string_view word) {
  std::vector<std::string> names{""};
  auto rest = word;
  while (!rest.empty()) {
    const auto open = rest.find('[');
    const auto plain = rest.substr(0, open);
    if (!std::ranges::all_of(plain, is_of_name) || names.front().size() + plain.size() > kLongestName) {
      return wrong(word, "is not the name of a machine");
    }
    for (auto &name : names) name += plain;
    if (open == std::string_view::npos) break;
    const auto close = rest.find(']', open);
    if (close == std::string_view::npos) return wrong(word, "has a [ without its ]");
    const auto pieces = expand_ranges(word, rest.substr(open + 1, close - open - 1));
    if (!pieces) return std::unexpected(pieces.error());
    if (names.size() * pieces->size() > kMostHosts) {
      return wrong(word, fmt::format("is more than {} machines", kMostHosts));
    }
    std::vector<std::string> longer;
    longer.reserve(names.size() * pieces->size());
    for (const auto &name : names) {
      for (const auto &piece : *pieces) longer.push_back(name + piece);
    }
    names = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return names;
}

// Takes "gpu7:9900" apart and puts it together for every name.
Result<std::vector<std::string>> targets_of(std::string_view word, std::string_view port) {
  // More than one colon is an address of IPv6 that has no port.
  if (!word.starts_with('[') && std::ranges::count(word, ':') > 1 && std::ranges::all_of(word, is_of_address)) {
    return std::vector{fmt::format("[{}]:{}", word, port)};
  }
  const auto address = address_length(word);
  const auto colon = word.find(':', address);
  if (colon != std::string_view::npos) {
    port = word.substr(colon + 1);
    const auto number = parse_integer<std::uint16_t>(port);
    if (!number || *number == 0) return wrong(word, "has no port behind its colon");
  }
  const auto host = word.substr(0, colon);
  if (address != 0) {
    if (host.size() != address) return wrong(word, "is not the name of a machine");
    return std::vector{fmt::format("{}:{}", host, port)};
  }
  auto names = expand(host);
  if (!names) return names;
  for (auto &name : *names) {
    if (name.empty() || name.size() > kLongestName || name.starts_with('-')) {
      return wrong(word, "is not the name of a machine");
    }
    name = fmt::format("{}:{}", name, port);
  }
  return names;
}

// The next word of a line; commas part words too, but not within brackets.
std::string_view next_host(std::string_view &line) {
  const auto is_between = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == ','; };
  while (!line.empty() && is_between(line.front())) line.remove_prefix(1);
  std::size_t end = 0;
  for (bool is_inside = false; end < line.size() && (is_inside || !is_between(line[end])); ++end) {
    if (line[end] == '[') is_inside = true;
    if (line[end] == ']') is_inside = false;
  }
  const auto word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

}  // namespace

Result<std::vector<std::string>> parse_hosts(std::string_view text, std::string_view port) {
  std::vector<std::string> all;
  std::set<std::string, std::less<>> seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto line = next_piece(text, '\n');
    line = line.substr(0, line.find('#'));
    for (auto word = next_host(line); !word.empty(); word = next_host(line)) {
      auto targets = targets_of(word, port);
      if (!targets) {
        return failure(fmt::format("line {}: {}", number, targets.error().what.str()), targets.error().remedy);
      }
      for (auto &target : *targets) {
        if (seen.insert(target).second) all.push_back(std::move(target));
      }
      if (all.size() > kMostHosts) return failure(fmt::format("these are more than {} machines", kMostHosts));
    }
  }
  return all;
}

}  // namespace gpulse
