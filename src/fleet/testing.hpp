// SPDX-License-Identifier: Apache-2.0
// An engine for tests: a server that answers each question as it is told to.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fleet/engine.hpp"
#include "http/server.hpp"
#include "http/target.hpp"

namespace gpulse::fleet::testing {

inline constexpr const char *kNothing = R"({"status":"success","data":{"resultType":"matrix","result":[]}})";

struct Said {
  int status = 200;
  std::string body = kNothing;
  std::chrono::milliseconds pause{0};
  http::Fields headers{};
};

// A parameter of the form in the body: "query", "time", "step".
inline std::string form_value(const http::Request &request, std::string_view name) {
  const auto target = http::parse_target("/?" + request.body);
  if (!target) return {};
  for (const auto &[key, value] : target->query) {
    if (key == name) return value;
  }
  return {};
}

class FakeEngine {
 public:
  using Answerer = std::function<Said(const http::Request &)>;

  explicit FakeEngine(Said said = {}) : FakeEngine([said = std::move(said)](const http::Request &) { return said; }) {}
  explicit FakeEngine(Answerer answerer)
      : answerer_(std::move(answerer)),
        server_({}, *http::listen_on(*http::parse_address("127.0.0.1:0")),
                [this](const http::Request &request, const http::Answer &answer) {
                  const auto said = answer_to(request);
                  std::this_thread::sleep_for(said.pause);
                  answer({.status = said.status,
                          .body = std::make_shared<const std::string>(said.body),
                          .headers = said.headers});
                }) {}

  EngineOptions options(const std::string &path = "", http::ClientOptions client = {}) const {
    return {.url = *parse_engine_url("http://" + server_.addresses().front() + path), .client = std::move(client)};
  }
  Engine engine(const std::string &path = "", http::ClientOptions client = {}) const {
    return Engine(options(path, std::move(client)));
  }
  // From now on.
  void say(Answerer answerer) {
    const std::lock_guard lock(mutex_);
    answerer_ = std::move(answerer);
  }
  std::vector<http::Request> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  // The queries, in their order.
  std::vector<std::string> queries() const {
    std::vector<std::string> all;
    for (const auto &request : asked()) {
      if (auto query = form_value(request, "query"); !query.empty()) all.push_back(std::move(query));
    }
    return all;
  }

 private:
  Said answer_to(const http::Request &request) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(request);
    return answerer_(request);
  }

  mutable std::mutex mutex_;  // guards what follows
  std::vector<http::Request> asked_{};
  Answerer answerer_;
  http::Server server_;  // ends first
};

}  // namespace gpulse::fleet::testing
