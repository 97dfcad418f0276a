// SPDX-License-Identifier: Apache-2.0
// The command lines of nvidia-smi's subcommands: a table of options each.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/smi_refusal.hpp"

namespace gpulse::cli {

// What gpulse does with an option.
enum class Offer : std::uint8_t {
  yes,
  no,       // it would change something, or say what no public call of a driver tells
  no_more,  // the original has given it up as well, and says nothing
};

struct SubOption {
  std::string_view name, full;  // name: empty where there is only the long form
  bool takes_value = false;
  Offer offer = Offer::yes;
};

struct GivenOption {
  const SubOption *option = nullptr;
  std::string_view typed, value;
};

class SubArguments {
 public:
  explicit SubArguments(std::vector<GivenOption> given) : given_(std::move(given)) {}

  const std::vector<GivenOption> &all() const { return given_; }
  bool has(std::string_view full) const { return find(full) != nullptr; }
  std::string_view value(std::string_view full) const;
  // A number that an option takes, or nvidia-smi's complaint.
  SmiResult<std::optional<std::uint32_t>> number(std::string_view full) const;

 private:
  const GivenOption *find(std::string_view full) const;

  std::vector<GivenOption> given_;
};

// nvidia-smi's complaint about what it does not know; one of our own about what we do not offer.
SmiResult<SubArguments> parse_subcommand(std::span<const std::string_view> arguments,
                                         std::span<const SubOption> options);

}  // namespace gpulse::cli
