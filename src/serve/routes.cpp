// SPDX-License-Identifier: Apache-2.0
#include "serve/routes.hpp"

namespace gpulse::serve {

const Route *Routes::find(std::string_view path) const {
  const Route *best = nullptr;
  for (const auto &route : routes_) {
    // The page's own place is not that of everything.
    const bool has_more = route.path.ends_with('/') && route.path != "/";
    const bool fits = route.path == path || (has_more && path.starts_with(route.path));
    if (fits && (best == nullptr || route.path.size() > best->path.size())) best = &route;
  }
  return best;
}

std::optional<http::Response> refuse_method(const Route &route, http::Method method) {
  using enum http::Method;
  if (method == get || method == head || (method == post && route.takes_post)) return std::nullopt;
  auto refusal = http::error(405, "this is only for reading");
  refusal.headers.emplace_back("Allow", route.takes_post ? "GET, HEAD, POST" : "GET, HEAD");
  return refusal;
}

}  // namespace gpulse::serve
