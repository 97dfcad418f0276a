// SPDX-License-Identifier: Apache-2.0
#include "alert/receiver.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "alert/body.hpp"
#include "base/file.hpp"
#include "base/log.hpp"

namespace gpulse::alert {

namespace {

using namespace std::chrono_literals;
using End = Delivery::End;

constexpr std::size_t kMostWords = 200, kMostAnswer = std::size_t{1} << 20U;
constexpr std::int64_t kLongestWait = 600;

std::chrono::seconds asked_wait(const http::ClientResponse &response) {
  const auto text = response.header("retry-after");
  if (!text) return 0s;
  if (const auto seconds = parse_integer<std::int64_t>(*text)) {
    return std::chrono::seconds(std::clamp<std::int64_t>(*seconds, 0, kLongestWait));
  }
  const auto until = http::parse_http_date(*text);
  if (!until) return 0s;
  const auto now = std::chrono::floor<std::chrono::seconds>(wall_now());
  return std::chrono::seconds(std::clamp<std::int64_t>((*until - now).count(), 0, kLongestWait));
}

// `secret`: a path that is none for a log, though the receiver may repeat it; empty: there is none.
Delivery judge_answer(const http::ClientResponse &response, std::string_view secret) {
  const int status = response.status;
  if (status >= 200 && status < 300) return {};
  if (status >= 300 && status < 400)
    return {.end = End::wrong, .words = fmt::format("it answers {}: the address leads somewhere else now", status)};
  const std::string_view body(response.body);
  const auto line = body.substr(0, std::min(body.find_first_of("\r\n"), kMostWords));
  const bool is_told = secret.size() > 1 && body.contains(secret);
  auto words = line.empty() || is_told ? fmt::format("it answers {}", status)
                                       : fmt::format("it answers {}: {}", status, printable(line));
  const bool is_later = status >= 500 || status == 408 || status == 425 || status == 429;
  const bool is_refused = status == 400 || status == 409 || status == 413 || status == 415 || status == 422;
  const auto end = is_later ? End::later : is_refused ? End::refused : End::wrong;
  return {.end = end, .words = std::move(words), .wait = asked_wait(response)};
}

void log_message(const Message &message) {
  const auto level = !message.is_firing                      ? LogLevel::notice
                     : message.level == AlertLevel::critical ? LogLevel::error
                     : message.level == AlertLevel::warning  ? LogLevel::warning
                                                             : LogLevel::notice;
  // The title of several has the rule already.
  const auto rule = message.alerts.size() == 1 ? message.rule + ": " : std::string();
  log_line(level,
           fmt::format("alert: {}{} {}: {}{}", message.is_test ? "test, " : "",
                       message.is_firing ? "firing" : "resolved", insight::word(message.level), rule, title(message)));
}

}  // namespace

bool Receiver::wants(const Message &message) const {
  if (message.level < least || (!message.is_firing && !resolved)) return false;
  return rules.empty() || std::ranges::any_of(rules, [&](const auto &pattern) { return fits(pattern, message.rule); });
}

Result<std::string> read_secret_file(const std::string &file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) == 0 && (info.st_mode & S_IRWXO) != 0)
    return failure(fmt::format("the secret in {} can be read by everybody", file), "chmod o= " + file);
  auto text = read_small_file(file);
  if (!text) return text;
  auto secret = std::string(trim(*text));
  if (secret.empty()) return failure(fmt::format("{} is empty", file), "write the secret into it");
  return secret;
}

Sender::Sender(Receiver receiver) : receiver_(std::move(receiver)) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  auto &client = receiver_.client;
  client.total_time = duration_cast<milliseconds>(receiver_.time);
  client.connect_time = std::min(client.connect_time, client.total_time);
  client.most_bytes = kMostAnswer;
}

Result<http::Url> Sender::url() const {
  if (receiver_.url_file.empty()) return http::parse_url(receiver_.url);
  const auto text = read_secret_file(receiver_.url_file);
  if (!text) return std::unexpected(text.error());
  auto url = http::parse_url(*text);
  // What is wrong with a secret is not repeated.
  if (!url) return failure(fmt::format("what {} holds is no address", receiver_.url_file), "write https://… into it");
  return url;
}

Delivery Sender::post(const Message &message, const std::stop_token &stop) {
  const auto address = url();
  if (!address) return {.end = End::wrong, .words = address.error().line()};
  if (!client_) client_.emplace(receiver_.client);
  http::ClientRequest request{.method = "POST", .url = *address};
  request.headers = {{"Idempotency-Key", message.key.str()}};
  if (receiver_.kind == ReceiverKind::ntfy) {
    request.body = plain_text(message);
    request.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
    for (auto &header : ntfy_headers(message)) request.headers.push_back(std::move(header));
  } else {
    request.body = receiver_.kind == ReceiverKind::slack ? slack_body(message) : json_body(message);
    request.headers.emplace_back("Content-Type", "application/json");
  }
  const auto response = client_->send(request, stop);
  if (!response) return {.end = End::later, .words = response.error().line()};
  return judge_answer(*response, receiver_.url_file.empty() ? "" : std::string_view(address->target));
}

Delivery Sender::send(const Message &message, const std::stop_token &stop) {
  if (receiver_.kind == ReceiverKind::exec)
    return run_program(receiver_.command, json_body(message) + "\n", environment_of(message), receiver_.time, stop);
  if (receiver_.kind != ReceiverKind::log) return post(message, stop);
  log_message(message);
  return {};
}

}  // namespace gpulse::alert
