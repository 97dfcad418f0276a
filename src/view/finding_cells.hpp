// SPDX-License-Identifier: Apache-2.0
// A finding in one line, for the table and the live view. Pure.
#pragma once

#include <string>
#include <vector>

#include "insight/finding.hpp"
#include "term/style.hpp"

namespace gpulse::view {

// How much it deserves to be seen; a busy board at its power limit does not.
term::Colour finding_colour(const insight::Finding &finding);
// "GPU 0, 2"
std::string devices_words(const insight::Finding &finding);
// "! GPU 0  input-cpu  The GPU waits 94 % of the time…"; the mark of a note is another.
std::vector<term::Span> finding_spans(const insight::Finding &finding, bool unicode);

}  // namespace gpulse::view
