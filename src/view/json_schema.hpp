// SPDX-License-Identifier: Apache-2.0
// The JSON Schema (draft 2020-12) of what write_json() writes, made from the metric table: docs/schema holds a copy.
#pragma once

#include <string>

namespace gpulse::view {

std::string json_schema();

}  // namespace gpulse::view
