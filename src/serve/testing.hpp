// SPDX-License-Identifier: Apache-2.0
// For tests: an engine with made-up series. It takes no query apart: a series answers where its name stands in the
// query, and its host.
#pragma once

#include <fmt/format.h>

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/json_writer.hpp"
#include "base/text.hpp"
#include "fleet/engine.hpp"
#include "http/server.hpp"
#include "http/target.hpp"

namespace gpulse::serve::testing {

inline double seconds_of(WallTime time) { return Seconds(time.time_since_epoch()).count(); }

struct MadeSeries {
  std::vector<std::pair<std::string, std::string>> labels{};  // with __name__, and instance
  std::function<std::optional<double>(double)> value{};       // at a time; none: there is nothing

  std::string label(std::string_view name) const {
    for (const auto &[key, text] : labels) {
      if (key == name) return text;
    }
    return {};
  }
};

class FakeEngine {
 public:
  struct Question {
    std::string path{}, query{};
    double start = 0, end = 0, step = 0;  // of one moment: both are that moment
  };

  FakeEngine()
      : server_({.workers = 8}, *http::listen_on(*http::parse_address("127.0.0.1:0")),
                [this](const http::Request &request, const http::Answer &answer) { handle(request, answer); }) {}
  FakeEngine(const FakeEngine &) = delete;
  FakeEngine &operator=(const FakeEngine &) = delete;
  ~FakeEngine() { hang(false); }

  fleet::EngineOptions options(std::chrono::milliseconds total_time = std::chrono::seconds(5)) const {
    return {.url = *fleet::parse_engine_url("http://" + server_.addresses().front()),
            .client = {.total_time = total_time}};
  }
  void set(std::vector<MadeSeries> series) {
    const std::lock_guard lock(mutex_);
    series_ = std::move(series);
  }
  // Queries with this in them are refused; empty: none is.
  void refuse(std::string part) {
    const std::lock_guard lock(mutex_);
    refused_ = std::move(part);
  }
  // Nothing is answered until it is over.
  void hang(bool hangs) {
    const std::lock_guard lock(mutex_);
    hangs_ = hangs;
    changed_.notify_all();
  }
  // How often something with this in it was asked.
  std::size_t asked(std::string_view part = "") {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const auto &question : asked_) count += question.query.contains(part) ? 1U : 0U;
    return count;
  }

 private:
  static Question question_of(const http::Request &request) {
    const auto form = http::parse_target("/?" + request.body);
    Question question{.path = request.path};
    for (const auto &[name, text] : form ? form->query : http::Fields()) {
      const auto number = [&] { return std::stod(text); };
      if (name == "query" || name == "match[]") question.query = text;
      if (name == "time") question.start = question.end = number();
      if (name == "start") question.start = number();
      if (name == "end") question.end = number();
      if (name == "step") question.step = number();
    }
    return question;
  }

  static std::optional<double> value_of(const MadeSeries &series, const Question &question, double time) {
    const bool looks_back = question.query.contains("last_over_time(") && question.query.contains("[1d]");
    constexpr double kDay = 86'400, kStep = 60;
    for (double back = 0; back <= (looks_back ? kDay : 0); back += kStep) {
      if (const auto value = series.value(time - back)) return value;
    }
    return std::nullopt;
  }

  static bool fits(const MadeSeries &series, const std::string &query) {
    const auto own = fmt::format("instance=\"{}\"", series.label("instance"));
    return query.contains(series.label("__name__")) && (!query.contains("instance=\"") || query.contains(own));
  }

  static void write(JsonWriter &json, const MadeSeries &series, const Question &question) {
    const auto labels = [&] {
      json.begin_object();
      for (const auto &[name, text] : series.labels) json.member(name, text);
      json.end_object();
    };
    const auto point = [&](double time, double value) {
      json.begin_array();
      json.value(time);
      json.value(fmt::format("{}", value));
      json.end_array();
    };
    if (question.path.ends_with("/series")) return labels();
    std::vector<std::pair<double, double>> points;
    for (double time = question.start; time <= question.end; time += std::max(question.step, 1.0)) {
      if (const auto value = value_of(series, question, time)) points.emplace_back(time, *value);
    }
    if (points.empty()) return;
    json.begin_object();
    json.key("metric");
    labels();
    if (question.step > 0) {
      json.key("values");
      json.begin_array();
      for (const auto &[time, value] : points) point(time, value);
      json.end_array();
    } else {
      json.key("value");
      point(points.front().first, points.front().second);
    }
    json.end_object();
  }

  void handle(const http::Request &request, const http::Answer &answer) {
    const auto question = question_of(request);
    std::unique_lock lock(mutex_);
    asked_.push_back(question);
    changed_.wait(lock, [this] { return !hangs_; });
    if (!refused_.empty() && question.query.contains(refused_)) {
      return answer({.status = 422,
                     .body = std::make_shared<const std::string>(
                         R"({"status":"error","errorType":"execution","error":"no such thing"})")});
    }
    std::string body;
    JsonWriter json(body);
    json.begin_object();
    json.member("status", "success");
    json.key("data");
    const bool is_list = question.path.ends_with("/series");
    if (!is_list) {
      json.begin_object();
      json.member("resultType", question.step > 0 ? "matrix" : "vector");
      json.key("result");
    }
    json.begin_array();
    for (const auto &series : series_) {
      if (fits(series, question.query)) write(json, series, question);
    }
    json.end_array();
    if (!is_list) json.end_object();
    json.end_object();
    lock.unlock();
    answer({.body = std::make_shared<const std::string>(std::move(body))});
  }

  std::mutex mutex_;  // guards what follows, down to the server
  std::condition_variable changed_;
  bool hangs_ = false;
  std::string refused_;
  std::vector<Question> asked_;
  std::vector<MadeSeries> series_;
  http::Server server_;  // ends first
};

// A host whose agent takes a sample every so many seconds until it ends; 0: it goes on. An engine goes on with the
// last for five minutes.
struct MadeHost {
  std::string name = "n1", cluster{};
  double every = 15, end = 0;
  std::vector<std::string> gpus{"GPU-0", "GPU-1"};
  std::function<bool(const std::string &, double)> has = [](const std::string &, double) { return true; };

  bool is_there(double time) const {
    constexpr double kGoesOn = 300;
    return end <= 0 || time <= end + kGoesOn;
  }
  MadeSeries series(std::string_view family, std::vector<std::pair<std::string, std::string>> labels,
                    std::function<std::optional<double>(double)> value) const {
    labels.emplace_back("__name__", family);
    labels.emplace_back("instance", name + ":9837");
    if (!cluster.empty()) labels.emplace_back("cluster", cluster);
    return {.labels = std::move(labels), .value = [host = *this, value = std::move(value)](double time) {
              return host.is_there(time) ? value(time) : std::nullopt;
            }};
  }
  std::vector<MadeSeries> all() const {
    std::vector<MadeSeries> made;
    made.push_back(series("gpulse_sample_timestamp_seconds", {}, [host = *this](double time) {
      const auto last = host.end > 0 ? std::min(time, host.end) : time;
      return std::optional(std::floor(last / host.every) * host.every);
    }));
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const auto of_gpu = [&, uuid = gpus[i]](std::string_view family, std::string extra, std::string text,
                                              double value) {
        std::vector<std::pair<std::string, std::string>> labels{
            {"uuid", uuid}, {"gpu", fmt::format("{}", i)}, {"vendor", "nvidia"}};
        if (!extra.empty()) labels.emplace_back(std::move(extra), std::move(text));
        made.push_back(series(family, std::move(labels), [host = *this, uuid, value](double time) {
          return host.has(uuid, time) ? std::optional(value) : std::nullopt;
        }));
      };
      of_gpu("gpulse_gpu_info", "name", "NVIDIA H100", 1);
      of_gpu("gpulse_gpu_state", "state", "ok", 1);
      of_gpu("gpulse_power_draw_watts", "", "", 300 + 10.0 * static_cast<double>(i));
    }
    return made;
  }
};

// What an answer would be sent as. Waits for it.
template <class Handle>
http::Response ask(Handle handle, const std::string &target) {
  const auto parsed = http::parse_target(target);
  auto answered = std::make_shared<std::promise<http::Response>>();
  auto coming = answered->get_future();
  handle(http::Request{.path = parsed->path, .query = parsed->query},
         [answered](http::Response response) { answered->set_value(std::move(response)); });
  return coming.get();
}
inline std::string body_of(const http::Response &response) { return response.body ? *response.body : std::string(); }

}  // namespace gpulse::serve::testing
