// SPDX-License-Identifier: Apache-2.0
// The lists of the log, such as processes, and the writers of rows that they share with the rest of it.
#pragma once

#include <string>
#include <string_view>

#include "smi/log_row.hpp"
#include "view/smi/log.hpp"

namespace gpulse::view::smi {

// "    Label          : value", with the colon in the given column.
std::string text_line(std::size_t depth, std::string_view label, std::string_view value, std::size_t column = 55);

void text_list(const LogRow &row, const Snapshot &snapshot, const Device &device, const LogStyle &style,
               std::string &out);
void xml_list(const LogRow &row, const Snapshot &snapshot, const Device &device, const LogStyle &style,
              std::string &out);

// Writes the rows for a device or an instance.
void text_rows(std::span<const LogRow> rows, const Snapshot &snapshot, const Device &device, const LogStyle &style,
               std::string &out);
void xml_rows(std::span<const LogRow> rows, const Snapshot &snapshot, const Device &device, const LogStyle &style,
              std::string &out);

}  // namespace gpulse::view::smi
