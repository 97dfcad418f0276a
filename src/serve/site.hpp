// SPDX-License-Identifier: Apache-2.0
// What a server shows: a machine, or a fleet. Rights, page, login and connections are the server's. Answers on the
// server's threads, from its first request to its last.
#pragma once

#include <string_view>
#include <vector>

#include "http/message.hpp"
#include "serve/routes.hpp"

namespace gpulse::serve {

class Site {
 public:
  Site() = default;
  Site(const Site &) = delete;
  Site &operator=(const Site &) = delete;
  virtual ~Site() = default;

  // For whoever watches over the server: 200, or 503 and what does not work, and nothing that is worth knowing.
  virtual http::Response health() = 0;
  // One row per part that answers.
  virtual std::vector<Route> routes() = 0;
  // The part of the path that is a folder with the same page in it: "/host/n1" of "/host/n1/assets/a.js". Empty: none.
  virtual std::string_view folder(std::string_view path) const = 0;
};

}  // namespace gpulse::serve
