// SPDX-License-Identifier: Apache-2.0
// The newest sample in a file that node_exporter's textfile collector reads.
#pragma once

#include "sink/sink.hpp"

namespace gpulse::sink {

Result<void> check_prometheus_target(const SinkOptions &options);
Result<std::unique_ptr<Sink>> open_prometheus(const SinkOptions &options);

}  // namespace gpulse::sink
