// SPDX-License-Identifier: Apache-2.0
// Which devices CUDA, HIP and Level Zero would give this process, in their order, by the rules that they read their
// variables by. Pure functions of a snapshot and the environment, for gpulse pick and the library; any thread.
// Nothing here initialises CUDA: where its own order matters, `ask` is called, which may ask another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "model/snapshot.hpp"

namespace gpulse::pick {

// A variable's value; none where it is not set.
using Environment = std::function<std::optional<std::string>(const char *name)>;
// That of this process. Nobody may change it meanwhile.
Environment own_environment();

// The UUIDs of all GPUs in CUDA's order, as ask_cuda_order() gives them.
using CudaOrder = std::function<Result<std::vector<std::string>>()>;

// How the answer was found.
enum class Method : std::uint8_t {
  no_mask,        // no variable hides anything
  mask,           // a variable was read by its rules
  asked_cuda,     // the same, with the order of the GPUs as CUDA itself gave it
  order_guessed,  // CUDA's order is not known: the driver's stands in for it, and `problem` says why
};
std::string_view word(Method method);

// An entry of a variable that shows no device.
struct Ignored {
  std::string variable;  // empty: no variable's fault, CUDA hides it by itself
  Text entry;
  std::string reason;

  bool operator==(const Ignored &) const = default;
};

struct Visible {
  std::vector<std::size_t> devices;  // positions in the snapshot's devices; the first is cuda:0
  // What a mask may name without reaching beyond this one: as `devices`, but with every instance of a split GPU, of
  // which CUDA shows a process only one.
  std::vector<std::size_t> allowed;
  std::vector<Ignored> ignored;
  Method method = Method::no_mask;
  // Why nothing is visible, or why the answer is not certain. Empty: all is well.
  std::string problem;
  // Not only the order of the devices may be wrong, but also which they are.
  bool uncertain = false;
};

Visible visible_to_cuda(std::span<const Device> devices, const Environment &environment, const CudaOrder &ask = {});
Visible visible_to_hip(std::span<const Device> devices, const Environment &environment);
Visible visible_to_level_zero(std::span<const Device> devices, const Environment &environment);

// All three, one after the other: CUDA's devices, HIP's, Level Zero's. A vendor without a device says nothing.
Visible visible(std::span<const Device> devices, const Environment &environment, const CudaOrder &ask = {});

// What each of the three numbers its devices by, before any mask: positions in `devices`.
std::vector<std::size_t> hip_agents(std::span<const Device> devices);
std::vector<std::size_t> level_zero_devices(std::span<const Device> devices);

}  // namespace gpulse::pick
