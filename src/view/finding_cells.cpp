// SPDX-License-Identifier: Apache-2.0
#include "view/finding_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "insight/catalogue.hpp"
#include "term/width.hpp"

namespace gpulse::view {

using insight::Weight;
using term::Colour;

Colour colour_of(Weight weight) {
  switch (weight) {
    case Weight::ok:
      return Colour::good;
    case Weight::note:
      return Colour::warn;
    case Weight::problem:
      break;
  }
  return Colour::bad;
}

std::string devices_words(const insight::Finding &finding) {
  std::vector<std::string> ids;
  for (const auto &id : finding.devices) ids.push_back(text(id));
  return fmt::format("GPU {}", fmt::join(ids, ", "));
}

std::vector<term::Span> finding_spans(const insight::Finding &finding, bool unicode) {
  const auto colour = colour_of(finding.weight);
  const std::string_view mark = finding.weight == Weight::problem ? "!" : unicode ? "·" : "-";
  return {{fmt::format("{} ", mark), colour},
          {devices_words(finding) + "  ", Colour::bold},
          {fmt::format("{}  ", insight::word(finding.id)), colour},
          {term::clean(finding.text, unicode), Colour::plain}};
}

}  // namespace gpulse::view
