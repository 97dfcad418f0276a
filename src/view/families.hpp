// SPDX-License-Identifier: Apache-2.0
// Names of the Prometheus families that are no metrics of the table: identity, states, what was counted and found, the
// agent itself. Alert rules and boards ask for them by these.
#pragma once

#include <array>
#include <string_view>

#include "metric/table.hpp"

namespace gpulse::view::families {

inline constexpr std::string_view kTime = "gpulse_sample_timestamp_seconds";
inline constexpr std::string_view kGpus = "gpulse_gpus";
inline constexpr std::string_view kInfo = "gpulse_gpu_info";
inline constexpr std::string_view kState = "gpulse_gpu_state";
inline constexpr std::string_view kOwner = "gpulse_gpu_owner_info";
inline constexpr std::string_view kXids = "gpulse_xid_errors_total";
inline constexpr std::string_view kXidTime = "gpulse_xid_last_timestamp_seconds";
inline constexpr std::string_view kFinding = "gpulse_finding";
inline constexpr std::string_view kFindingLost = "gpulse_finding_lost_seconds_total";
inline constexpr std::string_view kUp = "gpulse_up";
inline constexpr std::string_view kBuild = "gpulse_build_info";
inline constexpr std::string_view kReleased = "gpulse_self_released";
inline constexpr std::string_view kSamples = "gpulse_self_samples_total";
inline constexpr std::string_view kInterval = "gpulse_self_interval_seconds";
inline constexpr std::string_view kLate = "gpulse_self_late_seconds_total";
inline constexpr std::string_view kLatePeak = "gpulse_self_late_peak_seconds";
inline constexpr std::string_view kKept = "gpulse_self_history_samples_total";
inline constexpr std::string_view kDropped = "gpulse_self_history_dropped_total";
inline constexpr std::string_view kWaiting = "gpulse_self_history_waiting";
inline constexpr std::string_view kWritten = "gpulse_self_remote_write_samples_total";
inline constexpr std::string_view kRefused = "gpulse_self_remote_write_refused_total";
inline constexpr std::string_view kWriteFailures = "gpulse_self_remote_write_failures_total";
inline constexpr std::string_view kWrittenUpTo = "gpulse_self_remote_write_newest_timestamp_seconds";
inline constexpr std::string_view kAlertsFiring = "gpulse_self_alerts_firing";
inline constexpr std::string_view kAlertsSent = "gpulse_self_alerts_sent_total";
inline constexpr std::string_view kAlertsFailed = "gpulse_self_alerts_failed_total";
inline constexpr std::string_view kAlertsGivenUp = "gpulse_self_alerts_given_up_total";
inline constexpr std::string_view kAlertsWaiting = "gpulse_self_alerts_waiting";
inline constexpr std::string_view kCallTime = "gpulse_self_call_seconds_total";
inline constexpr std::string_view kCalls = "gpulse_self_calls_total";

// What is known of a process beside its number and its GPU: labels that are called as the metrics with these roles.
inline constexpr std::array kProcessLabels{Role::user, Role::name};

}  // namespace gpulse::view::families
