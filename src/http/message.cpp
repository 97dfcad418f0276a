// SPDX-License-Identifier: Apache-2.0
#include "http/message.hpp"

#include <algorithm>

#include "base/json_writer.hpp"

namespace gpulse::http {

namespace {

std::optional<std::string_view> find(const Fields &fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, [](const auto &field) { return std::string_view(field.first); });
  if (found == fields.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<std::string_view> Request::header(std::string_view name) const { return find(headers, name); }
std::optional<std::string_view> Request::parameter(std::string_view name) const { return find(query, name); }

Response error(int status, std::string_view message, std::string_view field) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("error");
  json.begin_object();
  json.member("message", message);
  if (!field.empty()) json.member("field", field);
  json.end_object();
  json.end_object();
  text += '\n';
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace gpulse::http
