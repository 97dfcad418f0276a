// SPDX-License-Identifier: Apache-2.0
// The answers about a fleet as schemas: components of the OpenAPI document.
#pragma once

#include "view/schema_writer.hpp"

namespace gpulse::view {

// As members.
void write_fleet_schemas(SchemaWriter &schema);

}  // namespace gpulse::view
