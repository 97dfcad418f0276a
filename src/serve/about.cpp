// SPDX-License-Identifier: Apache-2.0
#include "serve/about.hpp"

#include "serve/api_parts.hpp"
#include "serve/api_query.hpp"

namespace gpulse::serve {

http::Response about_answer(const http::Request &request, std::string_view version, std::string_view kind,
                            const std::function<void(JsonWriter &)> &more) {
  if (const auto good = check_parameters(request, {}); !good) return refuse(good.error());
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  json.member("schema", "gpulse-about/1");
  json.member("version", version);
  json.member("kind", kind);
  if (more) more(json);
  json.end_object();
  return lasting_answer(std::move(body), "no-cache");
}

}  // namespace gpulse::serve
