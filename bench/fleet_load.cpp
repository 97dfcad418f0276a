// SPDX-License-Identifier: Apache-2.0
// Writes what the agents of a made-up fleet would have written over a stretch of time into an engine, as fast as both
// can: readings become the text that scrapers get, that becomes series, and these go over the wire, all by the code
// that an agent runs. Prints what it took as JSON.
//
//   fleet_load URL [--nodes 1000] [--gpus 8] [--span 1h] [--step 15s] [--end UNIX] [--connections 2] [--at-once 4]
//
// At once: steps of a machine in a request. An agent sends a step as soon as it is over, so one each.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "fleet/answer.hpp"
#include "fleet/series.hpp"
#include "fleet/write_request.hpp"
#include "fleet_node.hpp"
#include "http/client.hpp"
#include "insight/owners.hpp"
#include "insight/tally.hpp"
#include "view/scrape.hpp"

namespace gpulse::bench {

namespace {

using namespace std::chrono_literals;

struct LoadOptions {
  http::Url url{};
  std::uint32_t nodes = 1000, gpus = 8, connections = 2, at_once = 4;
  std::chrono::seconds span{1h}, step{15s};
  std::int64_t end = ::time(nullptr);
  std::int64_t steps() const { return span / step; }
};

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Processor time of what an agent does for remote write; readings are made up, so theirs is apart.
struct Cost {
  double readings = 0, text = 0, series = 0, request = 0, sending = 0;
  void add(const Cost &more) {
    readings += more.readings, text += more.text, series += more.series;
    request += more.request, sending += more.sending;
  }
};

// The processor time since the one before.
class Lap {
 public:
  void operator()(double &to) {
    const auto now = processor_seconds();
    to += now - last_;
    last_ = now;
  }

 private:
  double last_ = processor_seconds();
};

struct Counts {
  std::uint64_t samples = 0, requests = 0, bytes = 0, retries = 0;
  std::map<std::string, std::size_t> of_gpu{};  // series with its uuid, of the last step
  std::size_t of_hosts = 0, hosts = 0;          // other series
};

// One machine with what its agent keeps.
class Writer {
 public:
  Writer(std::uint32_t number, const LoadOptions &options)
      : options_(options),
        node_(number, options.gpus),
        view_(view::Exposition::text, false, view::usual_page()),
        series_({{"instance", node_.instance()}, {"job", "gpulse"}, {"cluster", node_.cluster()}}) {
    agent_.version = "0.1.0";
    agent_.history.emplace();
    agent_.remote_write.emplace();
  }

  // The steps from the first on; fewer where the machine fell silent.
  std::vector<fleet::Step> next(std::int64_t first, std::int64_t count, Cost &cost, Counts &counts) {
    std::vector<fleet::Step> steps;
    Lap lap;
    for (auto number = first; number < first + count; ++number) {
      const auto share = static_cast<double>(number) / static_cast<double>(options_.steps());
      if (node_.is_silent(share)) break;
      const auto second = options_.end - options_.span.count() + number * options_.step.count();
      const WallTime time{std::chrono::seconds(second)};
      const auto sample = node_.next(time, static_cast<double>(options_.step.count()), share);
      lap(cost.readings);
      tally_.add(*sample, options_.step, Monotonic(time.time_since_epoch()));
      tally_.set_findings(node_.findings());
      agent_.remote_write->up_to = time;
      const auto owners = insight::owners(*sample, {});
      const auto tally = tally_.report();
      const auto text =
          view_.write({.snapshot = sample.get(), .is_fresh = true, .tally = tally, .owners = owners, .agent = agent_});
      lap(cost.text);
      steps.push_back({.time_ms = second * 1000, .samples = series_.take(text)});
      counts.samples += steps.back().samples.size();
      lap(cost.series);
      if (number + 1 == options_.steps()) count_series(text, counts);
    }
    return steps;
  }

 private:
  static void count_series(std::string_view text, Counts &counts) {
    ++counts.hosts;
    fleet::SeriesLine line;
    while (!text.empty()) {
      const auto end = text.find('\n');
      if (fleet::parse_series(text.substr(0, end), line)) {
        const auto uuid = std::ranges::find(line.labels, "uuid", &fleet::Label::first);
        uuid == line.labels.end() ? ++counts.of_hosts : ++counts.of_gpu[uuid->second];
      }
      text.remove_prefix(end + 1);
    }
  }

  const LoadOptions &options_;
  FleetNode node_;
  insight::Tally tally_;
  view::ScrapeView view_;
  view::AgentNumbers agent_;
  fleet::SeriesTable series_;
};

std::atomic<std::uint64_t> samples_sent = 0;
std::atomic<bool> has_failed = false;

// False: it is refused for good.
bool post(http::Client &client, const http::Url &url, const std::string &body, Counts &counts) {
  const http::ClientRequest request{.method = "POST",
                                    .url = url,
                                    .headers = {{"content-type", "application/x-protobuf"},
                                                {"content-encoding", "snappy"},
                                                {"x-prometheus-remote-write-version", "0.1.0"}},
                                    .body = body};
  std::chrono::seconds wait = 1s;
  for (int tries = 0; tries < 60; ++tries, wait = std::min<std::chrono::seconds>(wait * 2, 30s)) {
    const auto response = client.send(request);
    fleet::Answer answer{.words = "nobody answers"};
    if (response) answer = fleet::judge(*response, std::chrono::floor<std::chrono::seconds>(wall_now()));
    if (answer.verdict == fleet::Verdict::taken) return true;
    if (answer.verdict != fleet::Verdict::later) {
      fmt::print(stderr, "fleet_load: {}\n", answer.words);
      return false;
    }
    ++counts.retries;
    std::this_thread::sleep_for(std::max(wait, answer.wait));
  }
  return false;
}

// Every so manieth machine, all of them one stretch after the other.
void write(const LoadOptions &options, std::uint32_t first, Cost &cost, Counts &counts) {
  std::vector<std::unique_ptr<Writer>> writers;
  for (auto number = first; number < options.nodes; number += options.connections) {
    writers.push_back(std::make_unique<Writer>(number, options));
  }
  http::Client client({.total_time = 120s});
  for (std::int64_t step = 0; step < options.steps(); step += options.at_once) {
    for (auto &writer : writers) {
      if (has_failed) return;
      const auto before = counts.samples;
      const auto steps =
          writer->next(step, std::min<std::int64_t>(options.at_once, options.steps() - step), cost, counts);
      if (steps.empty()) continue;
      Lap lap;
      const auto body = fleet::encode_write_request(steps);
      lap(cost.request);
      if (!post(client, options.url, body, counts)) has_failed = true;
      lap(cost.sending);
      counts.bytes += body.size();
      ++counts.requests;
      samples_sent += counts.samples - before;
    }
  }
}

void show_progress(const LoadOptions &options, const std::stop_token &stop) {
  const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  // About 8 series of a host for each of its GPUs, and 51 of its own.
  const auto about = static_cast<double>(options.steps() * options.nodes) * (51.0 * options.gpus + 30);
  const auto begun = monotonic_now();
  while (sleep_until(monotonic_now() + (is_terminal ? 1s : 30s), stop)) {
    const auto sent = static_cast<double>(samples_sent);
    fmt::print(stderr, "{}{:3.0f} %, {:.1f} M samples, {:.0f} k a second{}", is_terminal ? "\r" : "",
               100 * sent / about, sent / 1e6, sent / 1e3 / Seconds(monotonic_now() - begun).count(),
               is_terminal ? "  " : "\n");
  }
  if (is_terminal) fmt::print(stderr, "\n");
}

std::optional<LoadOptions> parse(std::span<char *> words) {
  if (words.size() < 2) return std::nullopt;
  LoadOptions options;
  auto url = http::parse_url(words[1]);
  if (!url) return std::nullopt;
  options.url = std::move(*url);
  const auto whole = [](std::string_view text, auto &to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc() && end == text.data() + text.size() && to > 0;
  };
  const auto time = [](std::string_view text, std::chrono::seconds &to) {
    std::chrono::nanoseconds told{};
    if (!parse_duration(text, told)) return false;
    to = std::chrono::floor<std::chrono::seconds>(told);
    return to > 0s;
  };
  for (std::size_t i = 2; i < words.size(); i += 2) {
    const std::string_view name = words[i], text = i + 1 < words.size() ? words[i + 1] : "";
    const bool good = name == "--nodes"         ? whole(text, options.nodes)
                      : name == "--gpus"        ? whole(text, options.gpus)
                      : name == "--connections" ? whole(text, options.connections)
                      : name == "--at-once"     ? whole(text, options.at_once)
                      : name == "--end"         ? whole(text, options.end)
                      : name == "--span"        ? time(text, options.span)
                      : name == "--step"        ? time(text, options.step)
                                                : false;
    if (!good) return std::nullopt;
  }
  options.end -= options.end % options.step.count();
  return options;
}

int run(const LoadOptions &options) {
  const auto begun = monotonic_now();
  std::vector<Cost> costs(options.connections);
  std::vector<Counts> counts(options.connections);
  {
    const std::jthread progress([&](const std::stop_token &stop) { show_progress(options, stop); });
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < options.connections; ++i) {
      threads.emplace_back([&, i] { write(options, i, costs[i], counts[i]); });
    }
  }
  Cost cost;
  Counts all;
  std::size_t of_gpus = 0, most = 0;
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    cost.add(costs[i]);
    all.samples += counts[i].samples, all.requests += counts[i].requests;
    all.bytes += counts[i].bytes, all.retries += counts[i].retries;
    all.of_hosts += counts[i].of_hosts, all.hosts += counts[i].hosts;
    for (const auto &[uuid, series] : counts[i].of_gpu) of_gpus += series, most = std::max(most, series);
  }
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto hosts = static_cast<double>(std::max<std::size_t>(all.hosts, 1));
  fmt::print(
      "{{\"samples\":{},\"requests\":{},\"retries\":{},\"bytes\":{},\"seconds\":{:.2f},\"end\":{},"
      "\"series_per_gpu\":{:.2f},\"most_series_per_gpu\":{},\"series_per_host\":{:.2f},"
      "\"processor\":{{\"readings\":{:.2f},\"text\":{:.2f},\"series\":{:.2f},\"request\":{:.2f},\"sending\":{:.2f}}},"
      "\"most_memory_kib\":{}}}\n",
      all.samples, all.requests, all.retries, all.bytes, Seconds(monotonic_now() - begun).count(), options.end,
      static_cast<double>(of_gpus) / hosts / options.gpus, most, static_cast<double>(all.of_hosts) / hosts,
      cost.readings, cost.text, cost.series, cost.request, cost.sending, used.ru_maxrss);
  return has_failed ? 1 : 0;
}

}  // namespace

}  // namespace gpulse::bench

int main(int argc, char **argv) {
  const auto options = gpulse::bench::parse({argv, static_cast<std::size_t>(argc)});
  if (!options) {
    fmt::print(stderr,
               "fleet_load URL [--nodes 1000] [--gpus 8] [--span 1h] [--step 15s] [--end UNIX] [--connections 2] "
               "[--at-once 4]\n");
    return 2;
  }
  return gpulse::bench::run(*options);
}
