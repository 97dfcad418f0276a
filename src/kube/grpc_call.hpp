// SPDX-License-Identifier: Apache-2.0
// One gRPC call over a socket of this machine: a message goes out, one comes back. The calling thread waits, until the
// deadline at most.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace gpulse::kube {

struct GrpcCall {
  std::string socket;  // its path
  std::string method;  // "/v1.PodResourcesLister/List"
  std::string message{};
  std::size_t most_bytes = 8UL << 20U;  // of the answer
};

// The answer's message.
Result<std::string> grpc_call(const GrpcCall &call, Monotonic deadline);

}  // namespace gpulse::kube
