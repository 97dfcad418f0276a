// SPDX-License-Identifier: Apache-2.0
#include "view/finding_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "insight/catalogue.hpp"
#include "insight/usual.hpp"
#include "term/width.hpp"

namespace gpulse::view {

using insight::Weight;
using term::Colour;

Colour finding_colour(const insight::Finding &finding) {
  if (insight::is_usual(finding)) return Colour::dim;
  switch (finding.weight) {
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
  const auto colour = finding_colour(finding);
  const std::string_view mark = finding.weight == Weight::problem ? "!" : unicode ? "·" : "-";
  return {{fmt::format("{} ", mark), colour},
          {devices_words(finding) + "  ", Colour::bold},
          {fmt::format("{}  ", insight::word(finding.id)), colour},
          {term::clean(finding.text, unicode), Colour::plain}};
}

}  // namespace gpulse::view
