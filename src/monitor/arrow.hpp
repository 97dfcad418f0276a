// SPDX-License-Identifier: Apache-2.0
// A table by Arrow's C stream interface: one batch, which owns its columns, so that readers copy nothing.
#pragma once

#include <memory>

#include "monitor/table.hpp"

namespace gpulse::monitor {

// `stream` is a struct ArrowArrayStream that the caller has made room for.
void export_arrow(std::shared_ptr<const Table> table, void *stream);

}  // namespace gpulse::monitor
