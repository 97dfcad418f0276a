// SPDX-License-Identifier: Apache-2.0
// The parts of the log that have as many lines as there are entries.
#pragma once

#include <string>
#include <string_view>

#include "smi/log_row.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

// "    Label          : value", the value in the column given.
std::string text_line(std::size_t depth, std::string_view label, std::string_view value, std::size_t column = 55);
std::string xml_escape(std::string_view text);

void text_list(const LogRow &row, const Snapshot &snapshot, const Device &device, std::string &out);
void xml_list(const LogRow &row, const Snapshot &snapshot, const Device &device, std::string &out);

// The rows of a table for a device or a MIG instance; of the text those of the sections, 0 meaning a plain -q.
void text_rows(std::span<const LogRow> rows, const Snapshot &snapshot, const Device &device, std::uint32_t sections,
               std::string &out);
void xml_rows(std::span<const LogRow> rows, const Snapshot &snapshot, const Device &device, std::string &out);

}  // namespace gpulse::view::smi
