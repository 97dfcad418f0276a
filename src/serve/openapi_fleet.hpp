// SPDX-License-Identifier: Apache-2.0
// The answers about a fleet as schemas: components of the OpenAPI document.
#pragma once

#include "view/schema_writer.hpp"

namespace gpulse::serve {

// As members.
void write_fleet_schemas(view::SchemaWriter &schema);

}  // namespace gpulse::serve
