// SPDX-License-Identifier: Apache-2.0
#include "tui/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <regex>
#include <vector>

#include "base/text.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

namespace {

using Test = std::function<bool(const Process &)>;

constexpr std::size_t kLongestQuery = 400;
// The matcher recurses once per character: a command line of megabytes would overflow the stack.
constexpr std::size_t kLongestText = 2048;

struct Field {
  std::string_view name;
  Role role;
};
constexpr std::array kTexts{Field{"user", Role::user},
                            Field{"job", Role::job},
                            Field{"pod", Role::pod},
                            Field{"name", Role::name},
                            Field{"container", Role::container},
                            Field{"command", Role::command}};
constexpr std::array kNumbers{Field{"cpu", Role::cpu}, Field{"mem", Role::memory_used}, Field{"use", Role::utilization},
                              Field{"hostmem", Role::host_memory}, Field{"time", Role::age}};

std::string_view bounded(std::string_view text) { return text.substr(0, kLongestText); }

Result<std::regex> compile(std::string_view pattern) {
  const bool capitals = std::ranges::any_of(pattern, [](char c) { return c >= 'A' && c <= 'Z'; });
  // The polynomial matcher, because with the default one some patterns take for ever.
  auto flags = std::regex::ECMAScript | std::regex::optimize | std::regex_constants::__polynomial;
  if (!capitals) flags |= std::regex::icase;
  try {
    return std::regex(pattern.begin(), pattern.end(), flags);
  } catch (const std::regex_error &) {
    return failure(fmt::format("\"{}\" is no regular expression", pattern));
  }
}

bool found_in(const std::regex &pattern, std::string_view text) {
  const auto part = bounded(text);
  return std::regex_search(part.begin(), part.end(), pattern);
}

Result<Test> expression(std::string_view pattern) {
  auto compiled = compile(pattern);
  if (!compiled) return std::unexpected(compiled.error());
  return [pattern = std::move(*compiled)](const Process &process) {
    if (found_in(pattern, fmt::format("{}", process.pid))) return true;
    constexpr std::array kRoles{Role::command, Role::name, Role::user, Role::job, Role::pod, Role::container};
    return std::ranges::any_of(
        kRoles, [&](Role role) { return found_in(pattern, view::text_by_role(process.texts.get(), role)); });
  };
}

struct Range {
  std::uint32_t from, to;
};

// "0,2-3"
Result<std::vector<Range>> ranges(std::string_view text) {
  std::vector<Range> list;
  for (const auto piece : split(text, ',')) {
    const auto dash = piece.find('-');
    const auto from = parse_integer<std::uint32_t>(piece.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : parse_integer<std::uint32_t>(piece.substr(dash + 1));
    if (!from || !to) return failure(fmt::format("\"{}\" is no list of numbers", text));
    list.push_back({*from, *to});
  }
  return list;
}

Result<Test> number_list(std::string_view text, std::uint32_t (*number_of)(const Process &)) {
  auto list = ranges(text);
  if (!list) return std::unexpected(list.error());
  return [list = std::move(*list), number_of](const Process &process) {
    const auto number = number_of(process);
    return std::ranges::any_of(list, [&](const Range &range) { return number >= range.from && number <= range.to; });
  };
}

// A single instance ("0:1"), or GPUs with all of theirs ("0,2-4").
Result<Test> device_list(std::string_view text) {
  const auto id = parse_device_id(text);
  if (id && id->instance) return [id = *id](const Process &process) { return process.device == id; };
  return number_list(text, [](const Process &process) { return process.device.index; });
}

Result<Test> type_list(std::string_view text) {
  std::uint8_t wanted = 0;
  for (const auto piece : split(text, ',')) {
    const auto word = lower(piece);
    if (word.empty()) continue;
    const bool compute = std::string_view("compute").starts_with(word);
    const bool graphics = std::string_view("graphics").starts_with(word);
    const bool mps = std::string_view("mps").starts_with(word);
    if (!compute && !graphics && !mps) return failure(fmt::format("\"{}\" is no type: c, g or m", piece));
    const auto type = compute ? ProcessType::compute : (graphics ? ProcessType::graphics : ProcessType::mps);
    wanted = static_cast<std::uint8_t>(wanted | static_cast<std::uint8_t>(type));
  }
  return [wanted](const Process &process) { return (process.types & wanted) != 0; };
}

Result<Test> text_list(Role role, std::string_view text) {
  std::vector<std::string> wanted;
  for (const auto piece : split(text, ',')) {
    if (!piece.empty()) wanted.push_back(lower(piece));
  }
  return [role, wanted = std::move(wanted)](const Process &process) {
    const auto has = lower(bounded(view::text_by_role(process.texts.get(), role)));
    // Users match in full, everything else in part.
    return std::ranges::any_of(wanted, [&](const std::string &each) {
      return role == Role::user ? has == each : has.find(each) != std::string::npos;
    });
  };
}

// "1.5G", "50", "30m", in the unit of the metric.
std::optional<double> amount(std::string_view text, Unit unit) {
  double scale = 1;
  if (!text.empty()) {
    constexpr std::string_view kBytes = "KMGT";
    const auto letter = text.back();
    const auto place = kBytes.find(static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 32 : letter));
    if (unit == Unit::seconds && (letter == 's' || letter == 'm' || letter == 'h' || letter == 'd')) {
      scale = letter == 's' ? 1 : (letter == 'm' ? 60 : (letter == 'h' ? 3600 : 86400));
      text.remove_suffix(1);
    } else if (unit == Unit::percent && letter == '%') {
      text.remove_suffix(1);
    } else if (place != std::string_view::npos) {
      for (std::size_t i = 0; i <= place; ++i) scale *= 1024;
      text.remove_suffix(1);
    }
  }
  const auto number = parse_double(text);
  if (!number) return std::nullopt;
  return *number * scale;
}

std::optional<MetricId> number_field(std::string_view name) {
  const auto *const found = std::ranges::find(kNumbers, name, &Field::name);
  if (found != kNumbers.end()) return find_role(Scope::process, found->role);
  const auto id = find_metric(Scope::process, name);
  return id && !is_text(describe(*id)) ? id : std::nullopt;
}

// "cpu>50"; none if it is not a comparison.
std::optional<Result<Test>> comparison(std::string_view term) {
  const auto at = term.find_first_of("<>=");
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const auto id = number_field(term.substr(0, at));
  if (!id) return std::nullopt;
  const char sign = term[at];
  auto rest = term.substr(at + 1);
  const bool equal = sign == '=' || rest.starts_with('=');
  if (rest.starts_with('=')) rest.remove_prefix(1);
  const auto limit = amount(rest, describe(*id).unit);
  if (!limit) return failure(fmt::format("\"{}\" is no number", rest));
  return Test([id = *id, sign, equal, limit = *limit](const Process &process) {
    const auto &reading = process.row[id];
    if (!reading) return false;
    const double value = reading.value();
    return (equal && value == limit) || (sign == '>' && value > limit) || (sign == '<' && value < limit);
  });
}

constexpr std::array<std::string_view, 3> kLists{"gpu", "pid", "type"};

// "usr:root" and "cpuu>5" are slips, not patterns; one that is meant to be a pattern has a backslash: "http\\://".
std::optional<Error> unknown_key(std::string_view term) {
  const auto at = term.find_first_of(":<>=");
  if (at == std::string_view::npos || at == 0 || at + 1 == term.size()) return std::nullopt;
  const auto name = term.substr(0, at);
  if (!std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; })) {
    return std::nullopt;
  }
  std::vector<std::string_view> known;
  if (term[at] == ':') {
    known.assign(kLists.begin(), kLists.end());
    for (const auto &each : kTexts) known.push_back(each.name);
  } else {
    for (const auto &each : kNumbers) known.push_back(each.name);
  }
  // The user is what most look for.
  std::ranges::stable_partition(known, [](std::string_view each) { return each == "user"; });
  return Error{fmt::format("no such key \"{}\": {}", name, fmt::join(known, ", ")), {}};
}

Result<Test> field_test(std::string_view term) {
  if (auto compared = comparison(term)) return std::move(*compared);
  const auto colon = term.find(':');
  if (colon != std::string_view::npos && colon > 0 && colon + 1 < term.size()) {
    const auto name = lower(term.substr(0, colon));
    const auto value = term.substr(colon + 1);
    if (name == "gpu") return device_list(value);
    if (name == "pid") return number_list(value, [](const Process &process) { return process.pid; });
    if (name == "type") return type_list(value);
    const auto *const text = std::ranges::find(kTexts, name, &Field::name);
    if (text != kTexts.end()) return text_list(text->role, value);
  }
  if (auto slip = unknown_key(term)) return std::unexpected(std::move(*slip));
  return expression(term);
}

}  // namespace

struct Query::Term {
  bool negated;
  Test test;
};

Query::Query() = default;
Query::Query(const Query &) = default;
Query &Query::operator=(const Query &) = default;
Query::Query(Query &&) noexcept = default;
Query &Query::operator=(Query &&) noexcept = default;
Query::~Query() = default;

Result<Query> Query::parse(std::string_view text) {
  if (text.size() > kLongestQuery) return failure("that is too long");
  Query query;
  auto terms = std::make_shared<std::vector<Term>>();
  for (auto term : split_words(text)) {
    const bool negated = term.starts_with('!') && term.size() > 1;
    if (negated) term.remove_prefix(1);
    auto test = field_test(term);
    if (!test) return std::unexpected(test.error());
    terms->push_back({negated, std::move(*test)});
  }
  if (!terms->empty()) {
    query.text_ = std::string(trim(text));
    query.terms_ = std::move(terms);
  }
  return query;
}

bool Query::matches(const Process &process) const {
  return terms_ == nullptr ||
         std::ranges::all_of(*terms_, [&](const Term &term) { return term.test(process) != term.negated; });
}

}  // namespace gpulse::tui
