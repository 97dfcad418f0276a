// SPDX-License-Identifier: Apache-2.0
// Whether a job died because a GPU had no memory left, and of what kind that was. Nobody tells: it is judged by how the
// job ended and by what the memory did until then. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "insight/advice.hpp"
#include "insight/job_report.hpp"

namespace gpulse::insight {

// By what the memory of one GPU did until the job was last seen there. None: it did not die of that; `unknown`: it was
// well for a while, then one step needed more.
std::optional<OutOfMemoryCause> out_of_memory_cause(const JobEnd &how, const JobGpu &gpu);

// The finding for a report that is complete otherwise.
std::optional<Finding> out_of_memory(const JobReport &report);

// They take nearly all memory when they start, so that a full GPU says nothing.
bool takes_all_memory(std::string_view framework);

}  // namespace gpulse::insight
