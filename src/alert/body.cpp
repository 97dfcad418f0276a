// SPDX-License-Identifier: Apache-2.0
#include "alert/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/json_writer.hpp"

namespace gpulse::alert {

namespace {

constexpr std::size_t kLongestTitle = 250;

std::string_view status_word(const Message &message) { return message.is_firing ? "firing" : "resolved"; }

std::string joined(const std::vector<Alert> &alerts, const Text Alert::*part) {
  std::string out;
  for (const auto &alert : alerts) {
    if (!(alert.*part).empty()) out += (out.empty() ? "" : ", ") + (alert.*part).str();
  }
  return out;
}

std::string line_of(const Alert &alert) {
  return alert.ending.empty() ? alert.summary.str() : fmt::format("{} ({})", alert.summary.str(), alert.ending.str());
}

void text_member(JsonWriter &json, std::string_view name, const Text &text) {
  json.key(name);
  text.empty() ? json.null() : json.value(text.str());
}

void time_member(JsonWriter &json, std::string_view name, WallTime time) {
  json.key(name);
  time == WallTime{} ? json.null() : json.value(iso8601_utc(time));
}

void write_alert(JsonWriter &json, const Alert &alert) {
  json.begin_object();
  json.member("id", alert.id.str());
  json.member("summary", alert.summary.str());
  text_member(json, "gpu", alert.gpu);
  text_member(json, "uuid", alert.uuid);
  text_member(json, "name", alert.name);
  text_member(json, "detail", alert.detail);
  json.key("value");
  alert.value ? json.value(alert.value.value()) : json.null();
  text_member(json, "value_text", Text(alert.value_text));
  time_member(json, "since", alert.since);
  time_member(json, "fired", alert.fired);
  time_member(json, "ended", alert.ended);
  text_member(json, "ending", alert.ending);
  json.end_object();
}

// What begins something of Slack's own: links, mentions, commands.
std::string slack_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string base64(std::string_view text) {
  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > text.size() ? '=' : kLetters[bits >> (18 - 6 * k) & 63U];
  }
  return out;
}

// A header field holds ASCII; ntfy reads anything else as mails have it (RFC 2047).
std::string header_text(std::string_view text) {
  const bool is_ascii = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  return is_ascii ? std::string(text) : "=?UTF-8?B?" + base64(text) + "?=";
}

struct NtfyLook {
  std::string_view priority, tags;
};
NtfyLook look_of(const Message &message) {
  if (message.is_test) return {"default", "test_tube"};
  if (!message.is_firing) return {"default", "white_check_mark"};
  static constexpr std::array<NtfyLook, insight::kAlertLevels> kLooks{
      {{"low", "information_source"}, {"high", "warning"}, {"urgent", "rotating_light"}}};
  return kLooks[static_cast<std::size_t>(message.level)];
}

}  // namespace

std::string title(const Message &message) {
  const auto &alerts = message.alerts;
  if (alerts.empty()) return message.rule.str();
  if (alerts.size() == 1) return line_of(alerts.front());
  const bool on_gpus = std::ranges::all_of(alerts, [](const Alert &alert) { return !alert.gpu.empty(); });
  if (!on_gpus) return fmt::format("{}: {} alerts of {}", message.rule, alerts.size(), message.host);
  const bool same = std::ranges::all_of(alerts, [&](const Alert &alert) { return alert.gpu == alerts.front().gpu; });
  if (same)
    return fmt::format("{}: GPU {} of {}: {}", message.rule, alerts.front().gpu, message.host,
                       joined(alerts, &Alert::detail));
  return fmt::format("{}: {} GPUs of {}: {}", message.rule, alerts.size(), message.host, joined(alerts, &Alert::gpu));
}

std::string plain_text(const Message &message) {
  std::string out;
  for (const auto &alert : message.alerts) out += line_of(alert) + "\n";
  if (message.is_firing && !message.alerts.empty()) out += message.alerts.front().description.str() + "\n";
  return out;
}

std::string json_body(const Message &message) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", "gpulse.alert/1");
  json.member("key", message.key.str());
  json.member("status", status_word(message));
  json.member("test", message.is_test);
  json.member("rule", message.rule.str());
  json.member("severity", insight::word(message.level));
  json.member("host", message.host.str());
  json.member("time", iso8601_utc(message.time));
  json.member("summary", title(message));
  json.member("description", message.alerts.empty() ? std::string() : message.alerts.front().description.str());
  json.key("alerts");
  json.begin_array();
  for (const auto &alert : message.alerts) write_alert(json, alert);
  json.end_array();
  json.end_object();
  return out;
}

std::string slack_body(const Message &message) {
  std::vector<std::string> lines{
      fmt::format("*[{}] {}* {}", status_word(message), insight::word(message.level), slack_escape(title(message)))};
  if (message.alerts.size() > 1) {
    for (const auto &alert : message.alerts) lines.push_back("• " + slack_escape(line_of(alert)));
  }
  if (message.is_firing && !message.alerts.empty())
    lines.push_back(slack_escape(message.alerts.front().description.str()));
  std::string out = "{\"text\":\"";
  // What comes from outside is one line each; the breaks between them are ours.
  for (const auto &line : lines) {
    std::string quoted;
    JsonWriter(quoted).value(line);
    out += (&line == lines.data() ? "" : "\\n") + quoted.substr(1, quoted.size() - 2);
  }
  return out + "\"}";
}

Headers ntfy_headers(const Message &message) {
  const auto [priority, tags] = look_of(message);
  const auto words = fmt::format("[{}] {}", status_word(message), title(message));
  return {{"Title", header_text(first_bytes(printable(words), kLongestTitle))},
          {"Priority", std::string(priority)},
          {"Tags", fmt::format("{},{}", tags, insight::word(message.level))}};
}

Headers environment_of(const Message &message) {
  const auto &alerts = message.alerts;
  return {{"GPULSE_ALERT_KEY", message.key.str()},
          {"GPULSE_ALERT_STATUS", std::string(status_word(message))},
          {"GPULSE_ALERT_TEST", message.is_test ? "1" : ""},
          {"GPULSE_ALERT_RULE", message.rule.str()},
          {"GPULSE_ALERT_SEVERITY", std::string(insight::word(message.level))},
          {"GPULSE_ALERT_HOST", message.host.str()},
          {"GPULSE_ALERT_TIME", iso8601_utc(message.time)},
          {"GPULSE_ALERT_SUMMARY", title(message)},
          {"GPULSE_ALERT_DESCRIPTION", alerts.empty() ? "" : alerts.front().description.str()},
          {"GPULSE_ALERT_GPUS", joined(alerts, &Alert::gpu)},
          {"GPULSE_ALERT_UUIDS", joined(alerts, &Alert::uuid)}};
}

Message test_message(const std::string &host, WallTime now) {
  Alert alert{.rule = "GpulseTest",
              .id = random_word(16),
              .phase = Phase::firing,
              .since = now,
              .fired = now,
              .summary = "A test of gpulse's alerts on " + host,
              .description = "Nothing is wrong: somebody has called gpulse alert test."};
  return {.key = random_word(32),
          .is_test = true,
          .rule = alert.rule,
          .host = host,
          .time = now,
          .alerts = {std::move(alert)}};
}

}  // namespace gpulse::alert
