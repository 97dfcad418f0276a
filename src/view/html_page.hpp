// SPDX-License-Identifier: Apache-2.0
// What reports as one HTML file that needs nothing else have in common: the style sheet, the head, escaping. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gpulse::view {

// Text as HTML shows it, whatever it was.
std::string html_escaped(std::string_view text);

// From the beginning of the file to its heading. `mark`: what the file begins with; `title` and `heading` are HTML.
std::string html_page_head(std::string_view mark, std::string_view title, std::string_view heading);

// A figure with words below it.
std::string html_card(std::string_view figure, std::string_view words);

}  // namespace gpulse::view
