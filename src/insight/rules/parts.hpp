// SPDX-License-Identifier: Apache-2.0
// What rules have in common: the frame of a finding, how sure it is, the words for its numbers.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "insight/advice.hpp"
#include "insight/rules/rules.hpp"

namespace gpulse::insight::rules {

// From 0.5 at the threshold to 0.95 where it is `far` or more away from it.
double sureness(double value, double threshold, double far);

// A finding about the device and those who are on it; less sure where the stretch is short.
Finding finding_of(FindingId id, Weight weight, const DeviceSignals &signals, double confidence, std::string text);

// Adds the numbers that are known.
struct Known {
  std::string_view name;
  Number value;
  Unit unit = Unit::percent;
};
void add_evidence(Finding &finding, std::initializer_list<Known> facts);
// How busy the job's processes and the host's cores are.
void add_host_evidence(Finding &finding, const DeviceSignals &signals);

AdviceContext context_of(const DeviceSignals &signals);
void add_advice(Finding &finding, const AdviceContext &context);

// "2 processes of the job use a whole core each, 14 of 16 cores are idle"; empty where nothing is known.
std::string cpu_words(const DeviceSignals &signals);
// "18.2 GiB", "740 MB/s", "12 %".
std::string size_words(double bytes);
std::string rate_words(double bytes_per_second);
std::string percent_words(double percent);
std::string duration_words(double seconds);

// Work as it goes and stops, where the GPU works at all.
Stalls stalls_of(const DeviceSignals &signals, const Thresholds &limits);
// It has worked, and stands still now: that is no lack of data between one step and the next.
bool has_stopped(const DeviceSignals &signals, const Stalls &stalls, const Thresholds &limits);

bool mentions(const JobSignals &job, std::initializer_list<std::string_view> words);
// The job serves requests, or is a notebook: it is there to wait.
bool is_interactive(const JobSignals &job);
bool is_server(const JobSignals &job);
// It takes all memory when it starts.
bool takes_all_memory(const JobSignals &job);
bool takes_all_memory(const DeviceSignals &signals);

}  // namespace gpulse::insight::rules
