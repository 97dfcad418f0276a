// SPDX-License-Identifier: Apache-2.0
// What the files of the advice share; nobody else includes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "insight/advice.hpp"

namespace gpulse::insight {

enum class Framework : std::uint8_t { none, pytorch, jax, tensorflow, vllm };

struct Job {
  Framework framework = Framework::none;
  const AdviceContext &known;
};

using Lines = std::vector<std::string>;

// None where it is no number that a machine could have.
std::optional<double> sound(const std::optional<double> &value);
std::string in_words(const Job &job, std::string_view of_pytorch, std::string_view neutral);
std::string seconds_words(double seconds);
// "2.8 times"; empty where it is not known or not worth it.
std::string batch_words(const AdviceContext &known);

Lines input_cpu(const Job &job);
Lines input_io(const Job &job);
Lines memory_leak(const Job &job);
Lines memory_full(const Job &job);
Lines out_of_memory(const Job &job);
Lines memory_headroom(const Job &job);
Lines memory_held_idle(const Job &job);
Lines host_memory(const Job &job);

}  // namespace gpulse::insight
