// SPDX-License-Identifier: Apache-2.0
#include "pick/visible.hpp"

#include <cstdlib>
#include <iterator>

namespace gpulse::pick {

Environment own_environment() {
  return [](const char *name) -> std::optional<std::string> {
    const char *value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the header says so
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::string_view word(Method method) {
  switch (method) {
    case Method::no_mask:
      return "no mask";
    case Method::mask:
      return "mask";
    case Method::asked_cuda:
      return "asked CUDA";
    case Method::order_guessed:
      return "order guessed";
  }
  return "";
}

namespace {

// The later methods are those that say more.
void join(Visible &all, Visible one) {
  all.devices.insert(all.devices.end(), one.devices.begin(), one.devices.end());
  all.allowed.insert(all.allowed.end(), one.allowed.begin(), one.allowed.end());
  std::move(one.ignored.begin(), one.ignored.end(), std::back_inserter(all.ignored));
  all.method = std::max(all.method, one.method);
  all.uncertain = all.uncertain || one.uncertain;
  if (one.problem.empty()) return;
  if (!all.problem.empty()) all.problem += "; ";
  all.problem += one.problem;
}

}  // namespace

Visible visible(std::span<const Device> devices, const Environment &environment, const CudaOrder &ask) {
  auto all = visible_to_cuda(devices, environment, ask);
  join(all, visible_to_hip(devices, environment));
  join(all, visible_to_level_zero(devices, environment));
  return all;
}

}  // namespace gpulse::pick
