// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_subcommand.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace gpulse::cli {

const GivenOption *SubArguments::find(std::string_view full) const {
  const auto found =
      std::find_if(given_.begin(), given_.end(), [&](const GivenOption &one) { return one.option->full == full; });
  return found == given_.end() ? nullptr : &*found;
}

std::string_view SubArguments::value(std::string_view full) const {
  const auto *given = find(full);
  return given != nullptr ? given->value : std::string_view();
}

SmiResult<std::optional<std::uint32_t>> SubArguments::number(std::string_view full) const {
  const auto *given = find(full);
  if (given == nullptr) return std::nullopt;
  if (const auto number = parse_integer<std::uint32_t>(given->value)) return number;
  return refuse(fmt::format("Option \"{}\" is invalid for \"{}\".\n", Text(given->value), Text(given->typed)),
                kBadArgument);
}

SmiResult<SubArguments> parse_subcommand(std::span<const std::string_view> arguments,
                                         std::span<const SubOption> options) {
  std::vector<GivenOption> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto typed = arguments[i];
    const auto name = typed.substr(0, typed.find('='));
    const bool joined = name.size() < typed.size();
    const auto found = std::find_if(options.begin(), options.end(), [&](const SubOption &one) {
      return (!one.name.empty() && one.name == name) || one.full == name;
    });
    if (found == options.end() || (joined && !found->takes_value)) {
      return refuse(fmt::format("Option \"{}\" is not recognized.\n", Text(typed)), kBadArgument);
    }
    if (found->offer == Offer::no) return not_offered(name);
    GivenOption one{&*found, typed, {}};
    if (joined) {
      one.value = typed.substr(name.size() + 1);
    } else if (found->takes_value) {
      if (i + 1 >= arguments.size()) {
        return refuse(fmt::format("Option \"{}\" is missing its value.\n", Text(typed)), kBadArgument);
      }
      one.value = arguments[++i];
    }
    given.push_back(one);
  }
  return SubArguments(std::move(given));
}

}  // namespace gpulse::cli
