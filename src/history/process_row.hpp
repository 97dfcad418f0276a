// SPDX-License-Identifier: Apache-2.0
// A row of the table of processes.
#pragma once

#include <string>

#include "history/database.hpp"
#include "history/reader.hpp"

namespace gpulse::history {

// As read_process() wants them, first of a query's; NULL for a text that the file has no column for.
std::string process_columns(Database &database, std::string_view table);
int process_column_count();
ProcessUse read_process(const Statement &row);

// The bits of "compute+graphics".
std::uint8_t types_named(std::string_view words);

}  // namespace gpulse::history
