// SPDX-License-Identifier: Apache-2.0
// What a command line says, as plain values; and the exit codes.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/sections.hpp"

namespace gpulse::cli {

inline constexpr int kGood = 0, kFailure = 1, kUsage = 2, kNoDevice = 3;

inline constexpr std::string_view kRuleFormats[] = {"text", "prometheus", "grafana", "scrape", "file-sd", "recording"};

struct Options {
  // Everywhere
  std::string source = "auto";
  std::string sysroot;
  std::string replay;
  std::string columns;  // of the CSV to replay, if it has no titles
  bool demo = false;
  bool wake = false;
  bool no_agent = false;
  double speed = 1;
  std::optional<std::chrono::nanoseconds> at;
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  bool colour = false, no_colour = false, ascii = false;
  std::vector<std::string> devices;

  // gpulse status
  bool json = false, csv = false, fast = false, watch = false;
  std::chrono::nanoseconds window = std::chrono::milliseconds(100);
  std::vector<std::string> fields;
  int width = 0;
  std::optional<std::uint64_t> count;

  // gpulse record
  std::string output;
  bool append = false, force = false;
  std::optional<std::chrono::nanoseconds> duration;

  // gpulse log
  std::string format = "csv", run = "gpu";
  std::uint64_t rotate_size = 0;  // 0: none
  std::optional<std::chrono::nanoseconds> rotate_time;
  std::optional<std::uint64_t> keep;
  std::optional<std::uint32_t> pid;
  std::vector<std::string> command;  // what stands behind "--"

  // gpulse top
  std::string settings_file, theme, filter, sort, rows;
  std::string host;  // of an engine
  bool readonly = false, no_mouse = false, no_plots = false, no_processes = false;

  // gpulse serve, gpulse agent
  std::chrono::nanoseconds fastest = std::chrono::milliseconds(100);
  std::vector<std::string> request;
  std::string history;
  std::uint64_t history_size = std::uint64_t{1} << 30U;
  std::chrono::nanoseconds keep_raw = std::chrono::hours(24);
  std::chrono::nanoseconds keep_10s = std::chrono::days(7);
  std::chrono::nanoseconds keep_1min = std::chrono::days(90);
  bool process_metrics = false;
  std::string pod_resources;  // the kubelet's socket; empty: where it usually is
  std::vector<std::string> listen, allowed_hosts, frame_origins;
  std::string token_file, base_path;
  std::string remote_write, remote_write_token_file, remote_write_user, remote_write_password_file;
  std::string remote_write_ca_file, remote_write_instance, remote_write_job = "gpulse";
  std::vector<std::string> remote_write_labels, remote_write_metrics;
  std::chrono::nanoseconds remote_write_interval = std::chrono::seconds(10);
  std::optional<std::chrono::nanoseconds> remote_write_since;
  bool open_page = false;
  bool insecure_no_auth = false;
  Sections sections;  // of the configuration, that are no options
  // What the command line and the configuration say now.
  std::function<Result<Options>()> read_again = {};

  bool serves_fleet = false;
  // What the configuration says of gpulse fleet, for other commands that ask an engine; null: nothing
  const Options *configured_fleet = nullptr;
  std::vector<std::string> words;  // the command line as it was given

  // gpulse history; since also of gpulse top
  std::optional<std::chrono::nanoseconds> since, step;
  std::string from, to, user, export_to;
  bool jsonl = false, range = false, processes = false, users = false, jobs = false, events = false;

  // gpulse diagnose
  std::optional<std::chrono::nanoseconds> for_time;
  std::string by;

  // gpulse pick
  std::size_t wanted = 1;
  std::string min_free;
  std::optional<double> max_util;
  std::optional<std::chrono::nanoseconds> wait;

  // gpulse run
  std::string json_to, html_to, price;
  std::optional<std::chrono::nanoseconds> run_interval;  // none: fine at first, then coarser
  bool quiet = false;

  // An engine: gpulse report, gpulse fleet, gpulse serve --fleet, gpulse top --host
  std::string url, url_token_file, url_user, url_password_file, url_ca_file;
  std::chrono::nanoseconds url_timeout = std::chrono::minutes(1);

  // gpulse report
  std::string report_by = "user";
  std::size_t top = 10;

  // gpulse fleet
  std::string fleet_by = "host", fleet_at;
  std::vector<std::string> fleet_filters;
  std::size_t fleet_top = 20;
  std::chrono::nanoseconds fleet_interval = std::chrono::seconds(15);

  // gpulse explain; topic also of gpulse help and gpulse completion
  std::vector<std::string> topic;
  bool all = false, markdown = false, schema = false, openapi = false;

  // gpulse rules
  std::string rules_format = "text", rules_metrics;
  std::vector<std::string> hosts;
  std::string hosts_file, ca_file;
  bool tls = false;

  // gpulse set
  std::vector<std::string> setting;  // what, and to what
  bool yes = false;

  // Whose GPUs: gpulse status and gpulse top; with user and pid
  bool mine = false;

  // gpulse help
  bool manual = false;
  std::string pages;  // the folder to write all pages into
};

// One per subcommand; each returns the exit code.
int run_status(const Options &options);
int run_top(const Options &options);
int run_record(const Options &options);
int run_log(const Options &options);
int run_history(const Options &options);
int run_report(const Options &options);
int run_fleet(const Options &options);
int run_diagnose(const Options &options);
int run_doctor(const Options &options);
int run_explain(const Options &options);
int run_serve(const Options &options);
int run_agent(const Options &options);
int run_rules(const Options &options);
int run_alert(const Options &options);
int run_set(const Options &options);
int run_pick(const Options &options);
int run_run(const Options &options);
// For other processes of ours: the UUIDs in CUDA's order.
int run_cuda_order();
// What is in a log of nvidia-smi, as JSON, a line per moment; "-" is the standard input.
int run_parse(const std::string &file, const std::string &columns);

// Those that speak another program's command line get what stands behind the command's word.
int run_smi(std::span<char *> arguments);
int run_gpustat(std::span<char *> arguments);

}  // namespace gpulse::cli
