// SPDX-License-Identifier: Apache-2.0
// Which part answers which path. Rows are added before the server starts; any thread looks them up.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"
#include "serve/access.hpp"

namespace gpulse::serve {

struct Route {
  // Of a path that ends in a slash, but is no mere slash, everything below it too.
  std::string path;
  // Of several at a time; must not wait for a driver.
  std::function<void(const http::Request &, const Reader &, const http::Answer &)> handle;
  bool is_slow = false;    // reads from the disk: done on threads of its own, so that the others need not wait
  bool is_public = false;  // for everybody, also one who may not read
  bool takes_post = false;
};

class Routes {
 public:
  void add(Route route) { routes_.push_back(std::move(route)); }
  // The one that fits best; null: none.
  const Route *find(std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

// None where the method is one that the route takes; else what to answer.
std::optional<http::Response> refuse_method(const Route &route, http::Method method);

}  // namespace gpulse::serve
