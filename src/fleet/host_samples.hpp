// SPDX-License-Identifier: Apache-2.0
// The series of one host made into samples again: the reverse of view/prometheus. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/host_asker.hpp"
#include "fleet/query_answer.hpp"

namespace gpulse::fleet {

// `instance="…"` in braces, with more matchers behind it.
std::string host_matchers(const HostPlace &host, std::string_view more = {});

// All series that a sample is made of.
std::string sample_query(const HostPlace &host);
// When the newest of them was taken: by the host's clock, or by the engine's where an exporter does not tell.
std::string time_query(const HostPlace &host);

// The answer to that as moments at which there was a new sample, in the order of time.
std::vector<HostMoment> host_moments(std::span<const EngineSeries> times);

// The answers to both, of one moment or of many. There is a sample for each moment at which there was a new one, in
// the order of time.
std::vector<HostSample> host_samples(std::span<const EngineSeries> series, std::span<const EngineSeries> times,
                                     const HostPlace &host);

}  // namespace gpulse::fleet
