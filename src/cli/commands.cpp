// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "cli/completion.hpp"
#include "cli/engine_options.hpp"
#include "cli/fleet_options.hpp"
#include "cli/program.hpp"
#include "cli/report_options.hpp"
#include "cli/run_options.hpp"
#include "control/setting_words.hpp"
#include "pick/choose.hpp"
#include "sink/sink.hpp"
#include "source/registry.hpp"
#include "tui/settings.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

constexpr OptionList::Limits kCounts{"1", "1000000000000"};

void add_source(OptionList &list, Options &options) {
  std::vector<std::string> names{"auto"};
  for (const auto &factory : source_factories()) names.emplace_back(factory.name);
  list.text("--source", options.source, fmt::format("what to read: {}", fmt::join(names, ", ")))
      .value_name("NAME")
      .one_of(names);
  list.text("--sysroot", options.sysroot, "read /sys and /proc below this folder").value_name("DIR");
}

void add_machine(OptionList &list, Options &options) {
  add_source(list, options);
  list.flag("--wake", options.wake, "read also GPUs that are asleep, which wakes them");
}

void add_everywhere(OptionList &list, Options &options) {
  add_machine(list, options);
  list.flag("--no-agent", options.no_agent, "read the GPUs here, even where an agent does (also: GPULSE_AGENT=off)");
  const auto replay =
      list.text("--replay", options.replay, "play a recording or a log of nvidia-smi instead; -: the standard input")
          .value_name("FILE");
  list.text("--columns", options.columns, "of a CSV of nvidia-smi that has no titles").value_name("TITLES");
  list.flag("--demo", options.demo, "play the recording shipped with gpulse").excludes(replay);
  list.number("--speed", options.speed, "play so much faster", {"0.000001", "1000000000"}).value_name("X");
  list.duration("--at", options.at, "where in the recording, from its start");
  list.duration("--interval", options.interval, "time between samples (1s)", 10ms);
  const auto colour = list.flag("--color", options.colour, "colours even when not on a terminal");
  list.flag("--no-color", options.no_colour, "no colours (also: NO_COLOR)").excludes(colour);
  list.flag("--ascii", options.ascii, "plain ASCII");
}

constexpr const char *kDevicesHelp = "only these devices: index, UUID or its start, PCI address, vendor";

void add_devices(OptionList &list, Options &options, const std::string &help = kDevicesHelp) {
  list.each_time("-i,--id", options.devices, help).value_name("WHICH");
}

// Whose GPUs to show.
void add_choice_of_gpus(OptionList &list, Options &options) {
  add_devices(list, options, std::string(kDevicesHelp) + "; visible: those that CUDA would show a program here");
  const auto user = list.text("--user", options.user, "only processes of this user, and the GPUs that they are on")
                        .value_name("NAME")
                        .command_line_only();
  list.flag("--mine", options.mine, "only my processes, and the GPUs that they are on")
      .command_line_only()
      .excludes(user);
  list.number("--pid", options.pid, "only this process and what it has started, and their GPUs", {"1", "4194304"})
      .value_name("PID")
      .command_line_only();
}

void add_status(OptionList &list, Options &options) {
  add_choice_of_gpus(list, options);
  const auto json = list.flag("--json", options.json, "JSON");
  list.flag("--csv", options.csv, "comma-separated values, a line per device").excludes(json);
  list.comma_list("--fields", options.fields, "only these, by name: columns of --csv, members of --json")
      .value_name("LIST");
  list.flag("--fast", options.fast, "read once: no rates, no true activity");
  list.duration("--sample", options.window, "time between the two readings that rates need (100ms)", 100ms);
  list.maybe_duration("--watch", options.watch, options.interval, "again and again, every SEC (1s)", 10ms)
      .value_name("[SEC]");
  list.number("--count", options.count, "stop after so many", kCounts).value_name("N");
  list.number("--width", options.width, "columns to use", {"1", "10000"}).value_name("N");
}

// One of a few words, which the help lists: "auto, full or compact".
OptionHandle add_choice(OptionList &list, const std::string &name, std::string &target,
                        std::span<const std::string_view> words, const std::string &help) {
  const auto choices = fmt::format("{} or {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
  return list.text(name, target, help + choices).one_of({words.begin(), words.end()});
}

void add_top(OptionList &list, Options &options) {
  add_choice_of_gpus(list, options);
  list.duration("--since", options.since, "look back into the history, so far: 12h, 30d").command_line_only();
  list.text("--history", options.history, "the history to look back into (that of the agent)").value_name("FILE");
  list.text("--host", options.host,
            "this host, as a metrics engine knows it (--url, or url in [fleet] of the configuration)")
      .value_name("NAME")
      .command_line_only();
  add_engine(list, options);
  list.text("--filter", options.filter, "only these processes: user:ann gpu:0 type:c cpu>50 REGEX").value_name("QUERY");
  list.text("--sort", options.sort, "sort processes by this column; -NAME: descending, +NAME: ascending")
      .value_name("COLUMN");
  add_choice(list, "--theme", options.theme, tui::kWords<tui::ThemeName>, "").value_name("NAME");
  add_choice(list, "--rows", options.rows, tui::kWords<tui::DeviceRows>, "lines per GPU: ").value_name("HOW");
  list.flag("--readonly", options.readonly, "no signals, no renice");
  list.flag("--no-mouse", options.no_mouse, "leave the mouse to the terminal");
  list.flag("--no-plots", options.no_plots, "without the plots");
  list.flag("--no-processes", options.no_processes, "without the processes");
  list.text("--settings", options.settings_file, "where the look is remembered (gpulse/top.toml beside the config)")
      .value_name("FILE");
}

void add_record(OptionList &list, Options &options) {
  list.text("-o,--output", options.output, "the file to write; -: the standard output").required().value_name("FILE");
  const auto append = list.flag("--append", options.append, "go on with a recording that is there");
  list.flag("--force", options.force, "overwrite a file that is there").excludes(append);
  list.duration("--duration", options.duration, "stop after this time");
  list.number("--count", options.count, "stop after so many samples", kCounts).value_name("N");
}

void add_log(OptionList &list, Options &options) {
  add_devices(list, options);
  add_choice(list, "--format", options.format, sink::kFormatWords, "").value_name("FORMAT");
  list.text("-o,--output", options.output, "the file, or TensorBoard's log directory; -: the standard output")
      .value_name("PATH");
  list.comma_list("--fields", options.fields, "only these, by name (what matters most; jsonl, prometheus: all)")
      .value_name("LIST");
  list.text("--run", options.run, "TensorBoard's run, a folder below its log directory (gpu)").value_name("NAME");
  list.duration("--duration", options.duration, "stop after this time");
  list.number("--count", options.count, "stop after so many samples", kCounts).value_name("N");
  const auto append = list.flag("--append", options.append, "go on with a file that is there");
  list.flag("--force", options.force, "overwrite a file that is there").excludes(append);
  list.size("--rotate-size", options.rotate_size, "begin a new file before it is larger than this: 100M, 1GiB", 1024);
  list.duration("--rotate-time", options.rotate_time,
                "begin a new file every 1h, 1d, …: at full hours, at midnight UTC");
  list.number("--keep", options.keep, "how many old files are kept, compressed with gzip (10)", kCounts)
      .value_name("N");
  list.number("--pid", options.pid, "until this process ends, and only the GPUs that it is on", {"1", "4194304"})
      .value_name("PID")
      .command_line_only();
  list.footer(
      "  gpulse log > gpus.csv                                      until Ctrl-C\n"
      "  gpulse log --format tensorboard -o runs -- python train.py  while the command runs; its exit code\n"
      "  tensorboard --logdir runs                                  shows it beside the training's own curves\n"
      "  gpulse log -o gpus.csv --append --rotate-size 100M         for months; old ones are gpus.csv.TIME.gz\n"
      "  gpulse log --format prometheus -o gpus.prom                the newest sample, for node_exporter's textfiles\n"
      "A TensorBoard run that is there is left alone: the next one is gpu_1, gpu_2, …");
}

void add_serve(OptionList &list, Options &options) {
  add_machine(list, options);
  list.text("--replay", options.replay, "publish a recording instead, in a folder of its own").value_name("FILE");
  list.flag("--demo", options.demo, "publish the recording shipped with gpulse, in a folder of its own");
  list.duration("--interval", options.interval, "time between samples (1s)", 10ms);
  list.duration("--fastest", options.fastest, "the least time between samples that a reader may ask for (100ms)", 10ms);
  list.text("--history", options.history,
            "where what was is kept; off: nowhere (/var/lib/gpulse, ~/.local/state/gpulse)")
      .value_name("FILE|off");
  list.size("--history-size", options.history_size, "what it may take on the disk (1GiB)", std::uint64_t{16} << 20U);
  list.duration("--keep-raw", options.keep_raw, "how much is kept second by second (24h)", 10min);
  list.duration("--keep-10s", options.keep_10s, "and how much in steps of ten seconds (7d)", 10min);
  list.duration("--keep-1min", options.keep_1min, "and in steps of a minute (90d)", 60min);
  list.flag("--process-metrics", options.process_metrics,
            "at /metrics also series for processes: at most 256, those with the most memory");
  list.text("--pod-resources", options.pod_resources,
            "the kubelet's socket that tells which pod has which GPU; off: do not ask (where it usually is)")
      .value_name("SOCKET|off");
  list.each_time("--listen", options.listen,
                 "where it answers over HTTP; off: nowhere (127.0.0.1:9837). May be given several times")
      .value_name("ADDRESS|off");
  list.each_time("--allowed-host", options.allowed_hosts, "another name by which this machine may be asked over HTTP")
      .value_name("NAME");
  list.each_time("--frame-origin", options.frame_origins,
                 "a site whose pages may show the page in a frame, such as https://hub.example; self: the page's own")
      .value_name("ORIGIN|self");
  list.text("--token-file", options.token_file, "who asks over HTTP has to show what stands in this file")
      .value_name("FILE");
  list.text("--base-path", options.base_path,
            "what paths begin with behind a proxy that leaves it there, such as /gpulse")
      .value_name("PATH");
  list.text("--remote-write", options.remote_write,
            "write what the history keeps to this Prometheus, VictoriaMetrics or the like, such as\n"
            "https://metrics.example/api/v1/write")
      .value_name("URL");
  list.text("--remote-write-token-file", options.remote_write_token_file, "the bearer token for it").value_name("FILE");
  list.text("--remote-write-user", options.remote_write_user, "or the user").value_name("NAME");
  list.text("--remote-write-password-file", options.remote_write_password_file, "and the password of that user")
      .value_name("FILE");
  list.text("--remote-write-ca-file", options.remote_write_ca_file,
            "the authorities that it is trusted by (those of this system)")
      .value_name("FILE");
  list.each_time("--remote-write-label", options.remote_write_labels,
                 "a label of every series. May be given several times")
      .value_name("NAME=VALUE");
  list.text("--remote-write-instance", options.remote_write_instance,
            "the label instance (this machine and its port, as a scraper has it)")
      .value_name("TEXT");
  list.text("--remote-write-job", options.remote_write_job, "the label job (gpulse)").value_name("TEXT");
  list.comma_list("--remote-write-metrics", options.remote_write_metrics,
                  "how much of it: usual, for at most 60 series per GPU; all; or usual and further metrics (usual)")
      .value_name("usual|all|LIST");
  list.duration("--remote-write-interval", options.remote_write_interval, "time between two values of a series (10s)",
                1s);
  list.duration("--remote-write-since", options.remote_write_since,
                "so much of the past goes to an engine that has nothing yet (none)");
  const auto fleet =
      list.maybe_text("--fleet", options.serves_fleet, options.url,
                      "in place of this machine show all hosts that this Prometheus, VictoriaMetrics or\n"
                      "the like knows (url in [fleet]), at 127.0.0.1:9838; asked every --interval (15s)")
          .value_name("[URL]")
          .command_line_only();
  add_engine_rights(list, options, fleet);
  list.flag("--open", options.open_page, "show the page in this user's browser");
  list.flag("--insecure-no-auth", options.insecure_no_auth, "let everybody read who can reach the address");
  list.footer(
      "One agent per machine, or per user, reads the GPUs; every other gpulse takes its samples from memory.\n"
      "Runs until SIGTERM; SIGHUP reads the configuration again ([serve] in config.toml).\n"
      "GPULSE_AGENT=DIR names another folder than /run/gpulse or the user's own.");
}

void add_history(OptionList &list, Options &options) {
  list.text("--history", options.history, "the file, instead of that of the agent").value_name("FILE");
  const auto since = list.duration("--since", options.since, "how far back from --to (1h)").command_line_only();
  list.text("--from", options.from, "where it begins: 2026-11-16 01:00, 01:00, yesterday 18:00, -3h")
      .value_name("WHEN")
      .command_line_only()
      .excludes(since);
  list.text("--to", options.to, "where it ends (now)").value_name("WHEN").command_line_only();
  list.duration("--step", options.step, "one value for so much time (as fits the plot; 1000 values)", 1s);
  list.comma_list("--metrics", options.fields, "these, by name (use, memory, power, temperature)").value_name("LIST");
  add_devices(list, options);
  list.flag("--processes", options.processes, "who was there: memory, GPU time, from when to when");
  list.flag("--users", options.users, "GPU hours of each user");
  list.flag("--jobs", options.jobs, "GPU hours of each job, pod or container");
  list.flag("--events", options.events, "what happened");
  list.text("--user", options.user, "only processes of this user").value_name("NAME");
  const auto csv = list.flag("--csv", options.csv, "comma-separated values");
  list.flag("--range", options.range, "with the least and the greatest of each step").needs(csv);
  const auto jsonl = list.flag("--jsonl", options.jsonl, "JSON, an object per line").excludes(csv);
  const auto file = list.text("--export", options.export_to, "the samples as a recording; -: the standard output")
                        .value_name("FILE.gpr")
                        .command_line_only()
                        .excludes(csv)
                        .excludes(jsonl);
  list.flag("--force", options.force, "overwrite a file that is there").needs(file);
  list.number("--width", options.width, "columns to use", {"1", "10000"}).value_name("N");
  const auto colour = list.flag("--color", options.colour, "colours even when not on a terminal");
  list.flag("--no-color", options.no_colour, "no colours (also: NO_COLOR)").excludes(colour);
  list.flag("--ascii", options.ascii, "plain ASCII");
  list.footer(
      "  gpulse history                                                     the last hour\n"
      "  gpulse history -i 3 --from 01:00 --to 04:00 --processes            who used GPU 3 last night\n"
      "  gpulse history --since 7d --users                                  GPU hours of each user\n"
      "  gpulse history --since 2h --metrics power_draw_watts,host.cpu_percent --csv\n"
      "  gpulse history --from 01:00 --to 02:00 --export night.gpr          then: gpulse top --replay night.gpr\n"
      "\n"
      "Times are local unless they say otherwise: 2026-11-16T01:00:00Z, 2026-11-16 01:00 +02:00. 01:00 alone is the\n"
      "last one before now, behind --to the first one after --from.\n"
      "Exit: 1 there is no history, or nothing in it of that time.");
}

void add_diagnose(OptionList &list, Options &options) {
  list.duration("--for", options.for_time, "watch for so long (30s; nothing where an agent has watched already)", 3s)
      .command_line_only();
  list.duration("--since", options.since, "of the agent's history, so far back").command_line_only();
  list.text("--history", options.history, "the file, instead of that of the agent").value_name("FILE");
  list.text("--from", options.from, "of a recording, from here on: 30s after its start")
      .value_name("TIME")
      .command_line_only();
  list.text("--to", options.to, "of a recording, up to here").value_name("TIME").command_line_only();
  list.text("--by", options.by, "one diagnosis for each stretch of a trace with the same label").value_name("phase");
  add_devices(list, options);
  list.flag("--json", options.json, "JSON");
  list.number("--width", options.width, "columns to use", {"1", "10000"}).value_name("N");
  list.footer(
      "  gpulse diagnose                                     why the GPUs are not busy, now\n"
      "  gpulse diagnose --since 8h                          what went wrong last night\n"
      "  gpulse diagnose --replay night.gpr --from 30s --to 55s --json\n"
      "\n"
      "Each finding comes with the numbers it rests on and what to try; gpulse explain FINDING says more.\n"
      "Exit: 0 also where there are problems; 1 nothing could be judged, 3 no GPU found.");
}

void add_agent(OptionList &list, Options &options) {
  list.positional("request", options.request, "status, release TIME or resume")
      .value_name("WHAT")
      .offers({"status", "release", "resume"});
  list.flag("--json", options.json, "status as JSON");
  list.footer(
      "  gpulse agent status         who reads the GPUs for everybody, how often, for whom, at what cost\n"
      "  gpulse agent release 60s    let go of the drivers for so long: for a reset, a MIG change, an update\n"
      "  gpulse agent resume         take them up again now");
}

void add_explain(OptionList &list, Options &options) {
  list.positional("topic", options.topic, "a metric by any of its names, a finding, or: xid N")
      .value_name("METRIC|FINDING|xid N");
  list.flag("--all", options.all, "every metric and finding, a line each");
  list.flag("--json", options.json, "the whole tables as JSON");
  list.flag("--markdown", options.markdown, "the reference page: of metrics, or of findings");
  list.flag("--schema", options.schema, "the JSON Schema of gpulse --json");
  list.flag("--openapi", options.openapi, "the OpenAPI document of the agent's API");
  list.flag("--no-color", options.no_colour, "no colours");
  list.flag("--ascii", options.ascii, "plain ASCII");
}

void add_rules(OptionList &list, Options &options) {
  const auto hosts =
      list.positional("host", options.hosts, "for scrape and file-sd, the machines: gpu7, gpu7:9900, node[001-128]")
          .value_name("HOST…");
  add_choice(list, "--format", options.rules_format, kRuleFormats, "").value_name("FORMAT");
  list.text("--hosts", options.hosts_file, "the machines, one per line; -: the standard input")
      .value_name("FILE")
      .command_line_only()
      .excludes(hosts);
  list.text("--token-file", options.token_file, "for scrape: where the scraping machine has the agents' token")
      .value_name("FILE");
  list.flag("--tls", options.tls, "for scrape: over TLS");
  list.text("--ca-file", options.ca_file, "for scrape: over TLS, trusted by these authorities of the scraping machine")
      .value_name("FILE");
  static constexpr std::string_view kMetrics[] = {"usual", "all"};
  add_choice(list, "--metrics", options.rules_metrics, kMetrics,
             "for scrape (all) and grafana (usual), how much of what the agents tell: ");
  list.footer(
      "  gpulse rules                                           what deserves an alert, a line each\n"
      "  gpulse rules --format prometheus > gpulse.rules.yml    alerts, for rule_files of Prometheus or vmalert\n"
      "  gpulse rules --format recording > sums.rules.yml       hosts, clusters, users and jobs summed up, once a "
      "minute\n"
      "  gpulse rules --format grafana > gpulse.json            a dashboard to import\n"
      "  gpulse rules --format scrape 'node[001-128]' login1    scrape_configs for the agents of these machines\n"
      "  gpulse rules --format file-sd --hosts hosts.txt        the same machines, for file_sd_configs\n"
      "\n"
      "All but the first are about what gpulse serve shows at /metrics: docs/prometheus.md, docs/cluster.md. Rules "
      "are\n"
      "changed, and new ones made, in [alerts] of the configuration: docs/alerts.md.");
}

void add_alert(OptionList &list, Options &options) {
  list.positional("request", options.request, "list, test [RECEIVER], silence RULE or unsilence RULE")
      .value_name("WHAT")
      .offers({"list", "test", "silence", "unsilence"});
  list.duration("--for", options.for_time, "how long to be silent (2h)", 1s).command_line_only();
  add_devices(list, options, "silent about these devices only: index, UUID or its start");
  list.flag("--json", options.json, "list as JSON");
  list.footer(
      "  gpulse alert list                          what fires, and who has not been told yet\n"
      "  gpulse alert test                          one message to each receiver, now\n"
      "  gpulse alert silence GpuLost -i 3 --for 8h nothing about that for so long\n"
      "  gpulse alert unsilence GpuLost -i 3        from now on again\n"
      "\n"
      "The agent sends alerts where [alerts] stands in its configuration: docs/alerts.md. A name of a rule may hold\n"
      "stars: \"GpuXid*\". Exit: 1 no agent runs, or a receiver was not reached.");
}

void add_set(OptionList &list, Options &options) {
  list.positional("setting", options.setting, "what to set, and to what").value_name("WHAT VALUE");
  add_devices(list, options);
  list.flag("-y,--yes", options.yes, "do not ask").command_line_only();
  add_machine(list, options);
  list.flag("--ascii", options.ascii, "plain ASCII");
  list.footer(control::settings_help());
}

void add_pick(OptionList &list, Options &options) {
  list.number("-n,--count", options.wanted, "how many GPUs (1)", {"1", "1024"}).value_name("N");
  list.text("--min-free", options.min_free, "free memory that each must have, or its share (90%)")
      .value_name("SIZE")
      .check([](const std::string &text) {
        return pick::parse_size(text) ? std::string() : "\"" + text + "\" is not a size: 20GiB, 500MB, 50%";
      });
  list.number("--max-util", options.max_util, "how busy each may be, in percent (10)", {"0", "100"})
      .value_name("PERCENT");
  list.duration("--wait", options.wait, "wait so long for GPUs to become free, instead of giving up at once");
  list.flag("--json", options.json, "the GPUs and the variables as JSON");
  add_source(list, options);
  list.footer(
      "  gpulse pick -n 2 --wait 10m -- python train.py    two free GPUs, for as long as the program runs\n"
      "  export $(gpulse pick)                             one that is free now; the lease ends with gpulse\n"
      "\n"
      "Chooses among the GPUs that CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or\n"
      "ZE_AFFINITY_MASK leave, and holds a lease on each that no other gpulse pick can have, whoever's it is.\n"
      "GPULSE_LEASES=DIR names another folder for the leases than /run/lock/gpulse.\n"
      "Exit: the program's own; 1 no GPU is free, with a reason for each; 3 no GPU found; 126, 127 the program\n"
      "cannot be run, is not there.");
}

void add_run(OptionList &list, Options &options) {
  add_report(list, options);
  add_machine(list, options);
  list.flag("--no-agent", options.no_agent, "read the GPUs here, even where an agent does (also: GPULSE_AGENT=off)");
  list.number("--width", options.width, "columns to use", {"1", "10000"}).value_name("N");
  const auto colour = list.flag("--color", options.colour, "colours even when not on a terminal");
  list.flag("--no-color", options.no_colour, "no colours (also: NO_COLOR)").excludes(colour);
  list.flag("--ascii", options.ascii, "plain ASCII");
}

void add_help(OptionList &list, Options &options) {
  list.positional("command", options.topic, "the command; none: all of them, a line each").value_name("COMMAND");
  list.flag("--man", options.manual, "as a manual page: gpulse help --man top | man -l -").command_line_only();
  list.text("--pages", options.pages, "for packages: write all manual pages and completions below this folder")
      .value_name("DIR")
      .command_line_only();
}

void add_completion(OptionList &list, Options &options) {
  const std::vector<std::string> shells{std::begin(kShells), std::end(kShells)};
  list.positional("shell", options.topic, fmt::format("{}", fmt::join(shells, ", ")))
      .value_name("SHELL")
      .one_of(shells);
  list.footer(
      "  source <(gpulse completion bash)                                     in this shell; for all: in ~/.bashrc\n"
      "  source <(gpulse completion zsh)                                      the same, behind compinit in ~/.zshrc\n"
      "  gpulse completion fish > ~/.config/fish/completions/gpulse.fish\n"
      "\n"
      "make install and the packages put them where shells look.");
}

constexpr std::array kCommands{
    Command{"status", "one look at GPUs, processes and host (also without the word)", add_status_options, run_status},
    Command{"top", "the live view: GPUs, plots, processes, host; ? shows the keys",
            [](OptionList &list, Options &options) {
              add_everywhere(list, options);
              add_top(list, options);
            },
            run_top},
    Command{"record", "record everything into a file, for --replay",
            [](OptionList &list, Options &options) {
              add_everywhere(list, options);
              add_record(list, options);
            },
            run_record},
    Command{"pick", "choose free GPUs without a race, and run a program on them", add_pick, run_pick, true},
    Command{"run", "run a job, and report what it did with the GPUs: use, memory, energy, findings", add_run, run_run,
            true},
    Command{"log", "samples into files: TensorBoard, CSV, JSON lines; -- CMD: while it runs",
            [](OptionList &list, Options &options) {
              add_everywhere(list, options);
              add_log(list, options);
            },
            run_log, true},
    Command{"diagnose", "why the GPUs are not busy, with the evidence, and what to try",
            [](OptionList &list, Options &options) {
              add_everywhere(list, options);
              add_diagnose(list, options);
            },
            run_diagnose},
    Command{"doctor", "why is my GPU not seen, which readings are missing, what gpulse costs", add_everywhere,
            run_doctor},
    Command{"serve", "the agent: reads the GPUs once, for every program of the machine", add_serve, run_serve},
    Command{"history", "what was: plots, who was on which GPU, events; of what the agent kept", add_history,
            run_history},
    Command{"report", "what was used and wasted: GPU-hours, energy and cost of users, jobs, hosts or models",
            add_usage_report, run_report},
    Command{"fleet", "all hosts whose agents a metrics engine hears from: what is wrong, wasted, used, by whom",
            add_fleet, run_fleet},
    Command{"agent", "ask the agent: status, release TIME, resume", add_agent, run_agent},
    Command{"explain", "what a metric, a finding or a driver error means", add_explain, run_explain},
    Command{"rules", "what deserves an alert; rules and scrape configurations for Prometheus, a dashboard for Grafana",
            add_rules, run_rules},
    Command{"alert", "alerts that the agent sends by itself: what fires, a test, silence", add_alert, run_alert},
    Command{"set", "change a setting: power limit, clocks, modes; or reset a GPU", add_set, run_set},
    Command{"completion", "what a shell needs to complete gpulse's commands and options: bash, zsh, fish",
            add_completion, run_completion},
    Command{"help", "the help of a command, or its manual page", add_help, run_help},
    Command{"version", "which version this is", [](OptionList &, Options &) {}, run_version},
};

constexpr std::array kDropIns{
    DropIn{"nvidia-smi", "smi", "nvidia-smi's own options and formats (also when called nvidia-smi)", run_smi},
    DropIn{"gpustat", "gpustat", "a line per GPU, with gpustat's own options (also when called gpustat)", run_gpustat},
};

}  // namespace

void add_status_options(OptionList &list, Options &options) {
  add_everywhere(list, options);
  add_status(list, options);
}

std::span<const Command> commands() { return kCommands; }

std::span<const DropIn> drop_ins() { return kDropIns; }

}  // namespace gpulse::cli
