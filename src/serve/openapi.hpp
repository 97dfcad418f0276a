// SPDX-License-Identifier: Apache-2.0
// The agent's API as an OpenAPI 3.1 document, made from the tables of metrics and findings: docs/openapi.json holds a
// copy, and a test holds every answer to it.
#pragma once

#include <string>

namespace gpulse::serve {

std::string openapi();

}  // namespace gpulse::serve
