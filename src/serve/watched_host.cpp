// SPDX-License-Identifier: Apache-2.0
#include "serve/watched_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fleet/fleet_page.hpp"
#include "serve/about.hpp"
#include "serve/api_parts.hpp"
#include "serve/engine_past.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestQuestion = 10s;

// Somebody waits for it.
fleet::EngineOptions in_short(fleet::EngineOptions engine) {
  engine.client.total_time = std::min<decltype(engine.client.total_time)>(engine.client.total_time, kLongestQuestion);
  return engine;
}

fleet::HostPlace place_of(const fleet::FleetHost &host) {
  return {.instance = host.instance, .name = host.name, .exporter = host.exporter};
}

std::chrono::seconds whole_seconds(std::chrono::nanoseconds time) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(time), std::chrono::seconds(1));
}

std::string_view name_of(const http::Request &request) {
  const std::string_view path = request.path;
  return path.starts_with(kApiPrefix) ? path.substr(kApiPrefix.size()) : std::string_view();
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
                        .host = place_of(options_.host),
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

http::Response WatchedHost::about(const http::Request &request) const {
  return about_answer(request, options_.version, "host", [this](JsonWriter &json) {
    json.member("engine", Text(options_.engine.url.authority()).str());
    json.member("interval_seconds", Seconds(options_.interval).count());
    json.key("host");
    json.begin_object();
    fleet::write_page_host(json, options_.host);
    json.end_object();
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
    return answer(try_later(trouble_.str()));
  }
  api_.handle(request, sees_commands, answer);
}

void WatchedHost::run(const std::stop_token &stop) {
  fleet::HostAsker asker(in_short(options_.engine), place_of(options_.host));
  auto due = monotonic_now();
  do {
    ask(asker, stop);
    due = next_turn(due, options_.interval, monotonic_now());
  } while (sleep_until(due, stop));
}

void WatchedHost::ask(fleet::HostAsker &asker, const std::stop_token &stop) {
  auto sample = asker.sample(wall_now(), stop);
  // Of one that is silent at least the last that was heard, with its own time.
  const bool is_silent = sample && sample->snapshot == nullptr && newest_ == WallTime() && options_.host.last;
  if (is_silent) sample = asker.sample(*options_.host.last + 1s, stop);
  if (stop.stop_requested()) return;
  if (!sample) return settle(sample.error().error.line());
  if (sample->snapshot == nullptr) {
    return settle(fmt::format("{} is silent: the engine has nothing of it any more", options_.host.name));
  }
  if (sample->snapshot->time > newest_) post(*sample);
  settle({});
}

void WatchedHost::post(const fleet::HostSample &sample) {
  newest_ = sample.snapshot->time;
  std::vector<insight::LastingFinding> now;
  for (const auto &found : sample.findings) {
    const auto before = std::ranges::find_if(lasting_, [&](const insight::LastingFinding &one) {
      return one.finding.id == found.id && one.finding.devices == found.devices;
    });
    const bool is_known = before != lasting_.end();
    now.push_back({.number = is_known ? before->number : ++last_number_, .finding = found});
    if (is_known) now.back().finding.since = before->finding.since;
  }
  lasting_ = now;
  // Those who see the sample see its findings.
  board_.post(std::move(now));
  board_.post(sample.snapshot, options_.interval);
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
