// SPDX-License-Identifier: Apache-2.0
// The answers of the API as schemas: the components of the OpenAPI document.
#pragma once

#include "view/schema_writer.hpp"

namespace gpulse::serve {

// As members.
void write_answer_schemas(view::SchemaWriter &schema);

}  // namespace gpulse::serve
