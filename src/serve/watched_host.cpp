// SPDX-License-Identifier: Apache-2.0
#include "serve/watched_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "fleet/fleet_json_parts.hpp"
#include "fleet/fleet_page.hpp"
#include "fleet/host_past.hpp"
#include "insight/catalogue.hpp"
#include "serve/about.hpp"
#include "serve/api_parts.hpp"
#include "serve/engine_past.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestPace = 5min;
constexpr auto kPaceOver = 10min;  // what is looked at to learn it
constexpr auto kSinceOver = 24h;
constexpr auto kSinceStep = 1min;

std::chrono::seconds whole_seconds(std::chrono::nanoseconds time) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(time), std::chrono::seconds(1));
}

std::string_view name_of(const http::Request &request) {
  const std::string_view path = request.path;
  return path.starts_with(kApiPrefix) ? path.substr(kApiPrefix.size()) : std::string_view();
}

// Empty: it is about the machine.
Text uuid_of(const Snapshot &sample, const insight::Finding &finding) {
  if (finding.devices.empty()) return {};
  const auto device = std::ranges::find(sample.devices, finding.devices.front(), &Device::id);
  return device == sample.devices.end() || !device->identity ? Text() : device->identity->uuid;
}

// By the word that the engine has of it.
bool is_called(const insight::Finding &finding, const Text &name) {
  const auto known = insight::finding_named(name.str());
  return known ? *known == finding.id : finding.id == insight::FindingId::unknown && finding.text == name.str();
}

bool is_of_samples(std::string_view name) {
  return name == "snapshot" || name == "devices" || name == "processes" || name == "events" || name == "findings" ||
         name == "stream";
}

}  // namespace

WatchedHost::WatchedHost(WatchedHostOptions options, SharedAsks<http::Response> &asks, Timer &timer)
    : options_(std::move(options)),
      api_(board_, {.version = options_.version},
           engine_past({.engine = options_.engine,
                        .host = fleet::place_of(options_.host),
                        .least_step = whole_seconds(options_.interval),
                        .patience = options_.patience},
                       board_, asks, timer)),
      timer_(timer),
      thread_([this](const std::stop_token &stop) { run(stop); }) {}

Monotonic WatchedHost::used() {
  const bool is_followed = has_followers();
  const std::lock_guard lock(mutex_);
  if (is_followed) used_ = monotonic_now();
  return used_;
}

Text WatchedHost::trouble() const {
  if (is_settled_ || monotonic_now() < begun_ + options_.patience) return trouble_;
  return fmt::format("the engine at {} has not answered yet", Text(options_.engine.url.authority()));
}

http::Response WatchedHost::about(const http::Request &request) {
  return about_answer(request, options_.version, "host", [this](JsonWriter &json) {
    json.member("engine", Text(options_.engine.url.authority()).str());
    json.member("interval_seconds", Seconds(options_.interval).count());
    // What never changes of it: how long it has been silent is told by the age of its newest sample.
    json.key("host");
    json.begin_object();
    json.member("key", fleet::host_key(options_.host));
    json.member("name", options_.host.name.str());
    json.member("instance", printable(options_.host.instance));
    fleet::write_text(json, "cluster", options_.host.cluster.str());
    json.member("exporter", word(options_.host.exporter));
    json.end_object();
    {
      const std::lock_guard lock(mutex_);
      fleet::write_text(json, "trouble", trouble().str());
    }
    json.member("fleet", "../../");
  });
}

void WatchedHost::handle(const http::Request &request, bool sees_commands, const http::Answer &answer) {
  const auto name = name_of(request);
  const bool needs_sample = is_of_samples(name) || name == "history";
  {
    const std::lock_guard lock(mutex_);
    used_ = monotonic_now();
    if (needs_sample && !is_settled_) {
      const auto late = [place = Text(options_.engine.url.authority()), patience = options_.patience] {
        return no_answer_yet(place, patience);
      };
      const auto in = in_time(timer_, used_ + options_.patience, answer, late);
      waiting_.push_back({.request = request, .sees_commands = sees_commands, .answer = in});
      return;
    }
  }
  handle_now(request, sees_commands, answer);
}

void WatchedHost::handle_now(const http::Request &request, bool sees_commands, const http::Answer &answer) {
  const auto name = name_of(request);
  if (name == "about") return answer(about(request));
  const bool is_past = request.parameter("from") || request.parameter("since");
  if (is_of_samples(name) && !is_past && board_.latest() == nullptr) {
    const std::lock_guard lock(mutex_);
    return answer(try_later(trouble().str()));
  }
  api_.handle(request, sees_commands, answer);
}

void WatchedHost::run(const std::stop_token &stop) {
  fleet::HostAsker asker(fleet::in_short(options_.engine), fleet::place_of(options_.host));
  auto due = monotonic_now();
  do {
    try {
      ask(asker, stop);
    } catch (const std::exception &fault) {
      settle(Text(fmt::format("the engine was not asked: {}", fault.what())));
    }
    due = next_turn(due, options_.interval, monotonic_now());
  } while (sleep_until(due, stop));
}

void WatchedHost::ask(fleet::HostAsker &asker, const std::stop_token &stop) {
  auto at = wall_now();
  auto sample = asker.sample(at, stop);
  // Of one that is silent at least the last that was heard, with its own time.
  const bool is_silent = sample && sample->snapshot == nullptr;
  if (is_silent && newest_ == WallTime() && options_.host.last) {
    at = *options_.host.last + 1s;
    sample = asker.sample(at, stop);
  }
  if (stop.stop_requested()) return;
  if (!sample) return settle(sample.error().error.line());
  if (sample->snapshot != nullptr && sample->snapshot->time > newest_) {
    pace_ = pace_at(asker, sample->snapshot->time, at, stop);
    post(*sample, at, stop);
  }
  if (stop.stop_requested()) return;
  if (is_silent) return settle(fmt::format("the engine has nothing new of {}", options_.host.name));
  settle({});
}

std::chrono::nanoseconds WatchedHost::pace_at(fleet::HostAsker &asker, WallTime taken, WallTime at,
                                              const std::stop_token &stop) {
  auto before = newest_;
  if (before == WallTime()) {
    const auto moments = asker.moments(at - kPaceOver, at, whole_seconds(options_.interval), stop);
    if (!moments || moments->size() < 2) return options_.interval;
    before = (*moments)[moments->size() - 2].taken;
    taken = moments->back().taken;
  }
  return std::clamp<std::chrono::nanoseconds>(taken - before, options_.interval,
                                              std::max<std::chrono::nanoseconds>(options_.interval, kLongestPace));
}

void WatchedHost::post(const fleet::HostSample &sample, WallTime at, const std::stop_token &stop) {
  const auto is_same = [](const insight::Finding &a, const insight::Finding &b) {
    // Those of another version have nothing but their text.
    return a.id == b.id && a.devices == b.devices && a.text == b.text;
  };
  const auto &taken = sample.snapshot->time;
  // Without a sample shortly before, it may have begun at any time.
  const bool has_gap = newest_ == WallTime() || taken - newest_ > 3 * pace_;
  newest_ = taken;
  std::vector<insight::LastingFinding> now;
  bool asks_since = false;
  for (const auto &found : sample.findings) {
    const auto before = std::ranges::find_if(lasting_, [&](const auto &one) { return is_same(one.finding, found); });
    const bool is_known = before != lasting_.end();
    now.push_back({.number = is_known ? before->number : ++last_number_, .finding = found});
    auto &finding = now.back().finding;
    finding.confidence = std::numeric_limits<double>::quiet_NaN();
    finding.since = is_known ? before->finding.since : has_gap ? WallTime() : taken;
    asks_since = asks_since || (!is_known && has_gap);
  }
  if (asks_since) learn_since(now, *sample.snapshot, at, stop);
  lasting_ = now;
  // Those who see the sample see its findings.
  board_.post(std::move(now));
  board_.post(sample.snapshot, pace_);
}

void WatchedHost::learn_since(std::vector<insight::LastingFinding> &findings, const Snapshot &sample, WallTime at,
                              const std::stop_token &stop) {
  if (options_.host.exporter != fleet::Exporter::gpulse) return;
  const auto first = at - kSinceOver;
  const auto answer = fleet::Engine(fleet::in_short(options_.engine))
                          .range(fleet::findings_query(place_of(options_.host)), first, at, kSinceStep, stop);
  if (!answer) return;
  const auto stretches = fleet::finding_stretches(*answer, first, at, kSinceStep);
  for (auto &[number, over, finding] : findings) {
    if (finding.since != WallTime()) continue;
    const auto uuid = uuid_of(sample, finding);
    const auto found = std::ranges::find_if(stretches, [&](const fleet::FindingStretch &one) {
      return !one.end && one.uuid == uuid && is_called(finding, one.id);
    });
    // One that was there at no step has begun since the last of them.
    if (found == stretches.end()) {
      finding.since = sample.time;
    } else if (found->begin) {
      finding.since = *found->begin;
    }
  }
}

bool WatchedHost::is_still_among(std::span<const fleet::FleetHost> hosts) const {
  const auto &own = options_.host;
  bool has_other = false;
  for (const auto &host : hosts) {
    if (host.instance != own.instance) continue;
    const bool is_same = host.exporter == own.exporter && host.shares_instance == own.shares_instance &&
                         host.cluster_label == own.cluster_label;
    if (is_same) return true;
    has_other = true;
  }
  return !has_other;
}

void WatchedHost::settle(Text trouble) {
  std::vector<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    is_settled_ = true;
    trouble_ = std::move(trouble);
    waiting.swap(waiting_);
  }
  for (const auto &one : waiting) handle_now(one.request, one.sees_commands, one.answer);
}

}  // namespace gpulse::serve
