// SPDX-License-Identifier: Apache-2.0
// What programs and the page ask about a machine: /api/v1/…, described in docs/openapi.json. Called on the server's
// workers, several at a time; what was is answered from threads of its own.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "serve/api_query.hpp"
#include "serve/board.hpp"
#include "serve/past_source.hpp"
#include "serve/stream.hpp"

namespace gpulse::serve {

inline constexpr std::string_view kApiPrefix = "/api/v1/";

struct ApiOptions {
  std::string version{};
  std::function<WallTime()> now = wall_now;
};

class Api {
 public:
  // Before the first sample is posted.
  Api(Board &board, ApiOptions options, std::unique_ptr<PastSource> past);
  Api(const Api &) = delete;
  Api &operator=(const Api &) = delete;

  // A path below kApiPrefix. `sees_commands`: the one who asks may know the arguments of processes.
  void handle(const http::Request &request, bool sees_commands, const http::Answer &answer);
  // How many follow the stream.
  std::size_t followers() { return stream_.clients(); }

 private:
  http::Response snapshot(const http::Request &request, bool sees_commands);
  std::string snapshot_text(SnapshotPtr sample, const SampleFilter &filter, bool sees_commands) const;
  http::Response devices(const http::Request &request) const;
  void history(const http::Request &request, const http::Answer &answer);
  void processes(const http::Request &request, bool sees_commands, const http::Answer &answer);
  void events(const http::Request &request, const http::Answer &answer);
  void findings(const http::Request &request, const http::Answer &answer);

  const Board &board_;
  const ApiOptions options_;
  // A whole sample as it was asked for last.
  struct Made {
    SnapshotPtr sample;
    std::shared_ptr<const std::string> text;
  };
  std::mutex mutex_;
  std::array<Made, 2> whole_;  // without and with command lines; guarded by the mutex
  std::unique_ptr<PastSource> past_;
  Stream stream_;
};

}  // namespace gpulse::serve
