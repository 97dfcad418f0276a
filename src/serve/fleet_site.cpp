// SPDX-License-Identifier: Apache-2.0
#include "serve/fleet_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "fleet/fleet_curves.hpp"
#include "serve/about.hpp"
#include "serve/api.hpp"
#include "serve/api_parts.hpp"
#include "serve/deadline.hpp"
#include "serve/engine_ask.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHostPrefix = "/host/";
constexpr std::size_t kMostMade = 16;
constexpr int kHostsBusy = 10;  // seconds
constexpr std::chrono::seconds kMomentKept = 5min, kCurvesKept = 15s, kTooLongKept = 30s;
// Longer than a client waits before it asks again.
constexpr std::chrono::seconds kTroubleKept = 5s;
constexpr auto kTidied = 30s;
// Shorter than that nobody calls it slow.
constexpr auto kSlow = 2s;

// How long the engine has not answered the question that it is asked now.
std::optional<std::chrono::seconds> asking_time(const fleet::FleetNews &news) {
  if (!news.is_asking) return std::nullopt;
  const auto time = std::chrono::floor<std::chrono::seconds>(monotonic_now() - news.asking_since);
  return time < kSlow ? std::nullopt : std::optional(time);
}

// All curves, or why there is none.
SharedAsks<http::Response>::Told ask_curves(const fleet::EngineOptions &engine_options, const FleetCurvesAsked &asked,
                                            std::chrono::seconds least, const std::stop_token &stop) {
  fleet::Engine engine(engine_options);
  const auto axis = fleet::curve_axis(asked.span.from, asked.span.to, asked.points, least);
  std::vector<std::vector<double>> curves;
  for (const auto curve : fleet::kFleetCurves) {
    if (axis.count == 0) break;
    const auto query = fleet::curve_query(curve, asked.question.filters);
    if (!query) return {.value = refuse({.message = query.error().line(), .field = "filter"})};
    const auto answer = engine.range(*query, axis.first, axis.last(), axis.step, stop);
    if (!answer) return {.value = try_later(answer.error().error.line()), .kept_for = kTroubleKept};
    curves.push_back(fleet::curve_values(curve, axis, *answer));
  }
  return {.value = lasting_answer(fleet::fleet_curves_json(axis, curves), "no-cache"), .kept_for = kCurvesKept};
}

}  // namespace

FleetSite::FleetSite(FleetSiteOptions options)
    : options_(std::move(options)),
      place_(options_.engine.url.authority()),
      live_({.engine = options_.engine, .interval = options_.interval, .patience = options_.patience}) {
  tidy();
}

// What nobody asks for any more.
void FleetSite::tidy() {
  answers_.tidy();
  moments_.tidy();
  if (!live_.peek()) {
    const std::lock_guard lock(mutex_);
    made_.clear();
  }
  tidier_.call_at(monotonic_now() + kTidied, [this] { tidy(); });
}

http::Response FleetSite::health() {
  const auto news = live_.peek();
  std::string text = "ok\n";
  if (!news) {
    text += "nobody looks, so the engine is not asked\n";
  } else if (!news->trouble.empty() || (news->fleet == nullptr && asking_time(*news))) {
    text += "the engine does not answer\n";
  } else {
    text += "the engine answers\n";
  }
  return {.content_type = "text/plain; charset=utf-8", .body = std::make_shared<const std::string>(std::move(text))};
}

std::vector<Route> FleetSite::routes() {
  std::vector<Route> routes;
  routes.push_back({.path = std::string(kApiPrefix),
                    .handle = [this](const http::Request &request, const Reader &, const http::Answer &answer) {
                      handle(request, answer);
                    }});
  routes.push_back({.path = std::string(kHostPrefix),
                    .handle = [this](const http::Request &request, const Reader &reader, const http::Answer &answer) {
                      host(request, reader, answer);
                    }});
  return routes;
}

std::string_view FleetSite::folder(std::string_view path) const {
  if (!path.starts_with(kHostPrefix)) return {};
  const auto end = std::min(path.find('/', kHostPrefix.size()), path.size());
  return end == kHostPrefix.size() ? std::string_view() : path.substr(0, end);
}

http::Response FleetSite::about(const http::Request &request) const {
  return about_answer(request, options_.version, "fleet", [this](JsonWriter &json) {
    json.member("engine", place_.str());
    json.member("interval_seconds", Seconds(options_.interval).count());
  });
}

http::Response FleetSite::too_slow() const { return no_answer_yet(place_, options_.patience); }

std::shared_ptr<FleetSite::Made> FleetSite::made_of(const fleet::FleetPtr &fleet, std::string key) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(made_, [&](const auto &one) { return one->fleet == fleet && one->key == key; });
  if (found != made_.end()) return *found;
  auto made = std::make_shared<Made>();
  made->key = std::move(key);
  made->fleet = fleet;
  made_.push_back(made);
  if (made_.size() > kMostMade) made_.pop_front();
  return made;
}

void FleetSite::page(const fleet::FleetPtr &fleet, const fleet::FleetQuestion &question,
                     const fleet::FleetPageNotes &notes, const http::Answer &answer) {
  auto key = fmt::format("{} {} {}", notes.is_past ? 'p' : 'n', notes.trouble, key_of(question));
  const auto made = made_of(fleet, std::move(key));
  // `known`: none: it could not be made.
  const auto tell = [made](std::optional<http::Response> known) {
    std::vector<http::Answer> waiting;
    {
      const std::lock_guard lock(made->mutex);
      made->answer = known;
      waiting.swap(made->waiting);
    }
    for (const auto &one : waiting) one(known ? *known : try_later("too many views of the fleet are being made"));
  };
  {
    std::unique_lock lock(made->mutex);
    if (made->answer) {
      const auto known = *made->answer;
      lock.unlock();
      return answer(known);
    }
    made->waiting.push_back(answer);
    if (made->waiting.size() > 1) return;
  }
  const bool is_taken = makers_.post([made, question, notes, tell] {
    std::optional<http::Response> answer_now;
    try {
      const auto view = fleet::make_fleet_view(*made->fleet, question);
      answer_now = lasting_answer(fleet::fleet_page_json(*made->fleet, view, notes), "no-cache");
    } catch (const std::exception &fault) {
      log_line(LogLevel::error, std::string("a view of the fleet failed: ") + fault.what());
    }
    tell(std::move(answer_now));
  });
  if (!is_taken) tell(std::nullopt);
}

void FleetSite::live_page(const fleet::FleetNews &news, const fleet::FleetQuestion &question,
                          const http::Answer &answer) {
  if (news.fleet == nullptr) {
    return answer(news.trouble.empty() ? too_slow() : try_later(news.trouble.str()));
  }
  // Beside the page, which stays as it is meanwhile.
  const auto with_asking = [answer, asking = asking_time(news)](http::Response response) {
    if (asking) response.headers.emplace_back("X-Gpulse-Asking-Seconds", fmt::format("{}", asking->count()));
    answer(std::move(response));
  };
  page(news.fleet, question, {.trouble = news.trouble, .interval = options_.interval}, with_asking);
}

void FleetSite::overview(const http::Request &request, const http::Answer &answer) {
  auto asked = asked_fleet(request, wall_now());
  if (!asked) return answer(refuse(asked.error()));
  if (asked->at) return overview_then(*asked, answer);
  live_.look([this, answer, question = std::move(asked->question)](const fleet::FleetNews &news) {
    live_page(news, question, answer);
  });
}

void FleetSite::overview_then(const FleetAsked &asked, const http::Answer &answer) {
  using Moments = decltype(moments_);
  const auto at = *asked.at;
  const auto in = in_time(timer_, monotonic_now() + options_.patience, answer, [this] { return too_slow(); });
  const auto ask = [this, at](const std::stop_token &stop) -> Moments::Told {
    const Deadline deadline(timer_, options_.whole, stop);
    auto fleet = fleet::FleetAsker(options_.engine).ask(at, deadline.token());
    if (!fleet && deadline.is_over()) {
      return {.value = std::unexpected(
                  fleet::EngineError{fleet::EngineFault::too_late, {too_long_words(place_, options_.whole)}}),
              .kept_for = kTooLongKept};
    }
    const bool is_good = fleet.has_value();
    const auto kept_for = !is_good ? kTroubleKept : is_closed(at) ? kMomentKept : kCurvesKept;
    return {.value = std::move(fleet), .kept_for = kept_for};
  };
  const auto ready = [this, in, question = asked.question](const fleet::EngineResult<fleet::FleetPtr> &fleet) {
    if (!fleet) return in(try_later(fleet.error().error.line()));
    page(*fleet, question, {.interval = options_.interval, .is_past = true}, in);
  };
  if (!moments_.ask(fmt::format("{}", at.time_since_epoch().count()), ask, ready)) in(too_many_questions());
}

void FleetSite::curves(const http::Request &request, const http::Answer &answer) {
  const auto asked = asked_fleet_curves(request, wall_now());
  if (!asked) return answer(refuse(asked.error()));
  for (const auto curve : fleet::kFleetCurves) {
    const auto query = fleet::curve_query(curve, asked->question.filters);
    if (!query) return answer(refuse({.message = query.error().line(), .field = "filter"}));
  }
  const auto least = std::max(std::chrono::ceil<std::chrono::seconds>(options_.interval), 1s);
  const EngineAsk how{.place = place_, .patience = options_.patience, .whole = options_.whole};
  const auto key = fmt::format("curves {} {} {}", span_key(asked->span.from, asked->span.to, how), asked->points,
                               key_of(asked->question));
  const auto ask = [this, least, asked = *asked](const std::stop_token &stop) {
    return ask_curves(options_.engine, asked, least, stop);
  };
  ask_engine(answers_, timer_, how, key, ask, answer);
}

void FleetSite::host(const http::Request &request, const Reader &reader, const http::Answer &answer) {
  const auto folder = this->folder(request.path);
  if (folder.empty()) return answer(http::error(404, "there is nothing here"));
  const std::string key(folder.substr(kHostPrefix.size()));
  auto below = request;
  below.path = request.path.substr(folder.size());
  if (!below.path.starts_with(kApiPrefix)) return answer(http::error(404, "there is nothing here"));
  if (const auto known = hosts_.find(key)) {
    const auto news = live_.peek();
    const bool is_known = news && news->fleet != nullptr;
    if (!is_known || known->is_still_among(news->fleet->hosts))
      return known->handle(below, reader.sees_commands, answer);
    hosts_.let_go(key);
  }
  live_.look([this, key, below, sees_commands = reader.sees_commands, answer](const fleet::FleetNews &news) {
    open_host(news, key, below, sees_commands, answer);
  });
}

void FleetSite::open_host(const fleet::FleetNews &news, const std::string &key, const http::Request &request,
                          bool sees_commands, const http::Answer &answer) {
  if (news.fleet == nullptr) return answer(news.trouble.empty() ? too_slow() : try_later(news.trouble.str()));
  const auto place = fleet::find_host(*news.fleet, key);
  if (!place) return answer(http::error(404, "the engine knows of no such host"));
  const auto host = hosts_.open(key, {.version = options_.version,
                                      .engine = options_.engine,
                                      .host = news.fleet->hosts[*place],
                                      .interval = options_.interval,
                                      .patience = options_.patience});
  if (host == nullptr) return answer(try_later("too many hosts are looked at", kHostsBusy));
  host->handle(request, sees_commands, answer);
}

void FleetSite::handle(const http::Request &request, const http::Answer &answer) {
  const auto name = std::string_view(request.path).substr(kApiPrefix.size());
  if (name == "fleet") return overview(request, answer);
  if (name == "fleet/curves") return curves(request, answer);
  if (name == "about") return answer(about(request));
  if (auto table = table_answer(name, request)) return answer(std::move(*table));
  answer(http::error(404, "there is no such path: /api/v1/openapi.json lists them"));
}

}  // namespace gpulse::serve
