// SPDX-License-Identifier: Apache-2.0
// A finding in one line, for the table and the live view. Pure.
#pragma once

#include <string>
#include <vector>

#include "insight/finding.hpp"
#include "term/style.hpp"

namespace gpulse::view {

term::Colour colour_of(insight::Weight weight);
// "GPU 0, 2"
std::string devices_words(const insight::Finding &finding);
// "! GPU 0  input-cpu  The GPU waits 94 % of the time…"; the mark of a note is another.
std::vector<term::Span> finding_spans(const insight::Finding &finding, bool unicode);

}  // namespace gpulse::view
