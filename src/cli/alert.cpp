// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "alert/body.hpp"
#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/json_writer.hpp"
#include "base/nearest.hpp"
#include "cli/alerting.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "share/connection.hpp"
#include "term/table.hpp"
#include "view/cell.hpp"

namespace gpulse::cli {

namespace {

constexpr std::chrono::hours kUsualSilence{2};

Result<share::Connection> reach() {
  if (share::is_off()) return failure("GPULSE_AGENT=off: no agent is looked for");
  for (const auto &place : share::places_to_look()) {
    if (auto connection = share::Connection::open(place)) return connection;
  }
  return failure("no agent runs", "start one with gpulse serve, or the service of that name");
}

double seconds(std::chrono::nanoseconds time) { return Seconds(time).count(); }

std::string joined(const std::vector<Text> &texts) {
  std::string out;
  for (const auto &text : texts) out += (out.empty() ? "" : ", ") + text.str();
  return out;
}

std::string lines_of(const term::Table &table, const term::Style &style) {
  std::string out;
  for (const auto &line : table.lines(style)) out += line + "\n";
  return out;
}

std::string words_of(const share::AlertStatus &alert) {
  auto words = !alert.summary.empty() ? alert.summary.str()
               : !alert.gpu.empty()   ? "GPU " + alert.gpu
                                      : std::string("the machine");
  if (alert.summary.empty() && !alert.value.empty()) words += fmt::format(" ({})", alert.value);
  if (!alert.waiting.empty()) words += fmt::format("; not told yet: {}", joined(alert.waiting));
  return words;
}

std::string alerts_text(const share::AlertsAnswer &answer, const term::Style &style) {
  if (answer.alerts.empty()) return "nothing fires\n";
  term::Table table(
      {{.title = "RULE"}, {.title = "SEVERITY", .gap = 2}, {.title = "STATE", .gap = 2}, {.title = "SINCE", .gap = 2}});
  for (const auto &alert : answer.alerts) {
    const auto *const state = alert.is_silent ? "silent" : alert.is_firing ? "firing" : "pending";
    table.add({alert.rule.str(), alert.severity.str(), std::string(state), view::short_duration(seconds(alert.since))},
              "  " + words_of(alert));
  }
  return lines_of(table, style);
}

std::string receivers_text(const share::AlertsAnswer &answer, const term::Style &style) {
  if (answer.receivers.empty()) return "receiver  none\n";
  term::Table table({{.title = "RECEIVER"},
                     {.title = "KIND", .gap = 2},
                     {.title = "SENT", .align = term::Align::right, .gap = 2},
                     {.title = "FAILED", .align = term::Align::right, .gap = 2},
                     {.title = "GIVEN UP", .align = term::Align::right, .gap = 2},
                     {.title = "WAITING", .align = term::Align::right, .gap = 2}});
  for (const auto &one : answer.receivers) {
    const auto number = [](std::uint64_t count) { return std::to_string(count); };
    const auto again = one.next.count() > 0 ? fmt::format("; again in {:.0f} s", seconds(one.next)) : "";
    table.add({one.name.str(), one.kind.str(), number(one.sent), number(one.failed), number(one.given_up),
               number(one.waiting)},
              one.problem.empty() ? "" : "  " + one.problem.str() + again);
  }
  return lines_of(table, style);
}

std::string list_text(const share::AlertsAnswer &answer, const term::Style &style) {
  if (!answer.is_on) return "this agent sends no alerts: there is no [alerts] in its configuration\n";
  auto out = alerts_text(answer, style) + "\n" + receivers_text(answer, style);
  if (!answer.silences.empty()) out += '\n';
  for (const auto &silence : answer.silences) {
    out += fmt::format(
        "silent    {}{}, {}\n", silence.rule, silence.gpu.empty() ? "" : " of GPU " + silence.gpu.str(),
        silence.rest.count() == 0 ? "for good" : "for another " + view::short_duration(seconds(silence.rest)));
  }
  if (!answer.problem.empty()) out += fmt::format("\nproblem   {}\n", answer.problem);
  return out;
}

void text_or_null(JsonWriter &json, std::string_view name, const Text &text) {
  json.key(name);
  text.empty() ? json.null() : json.value(text.str());
}

void write_alert(JsonWriter &json, const share::AlertStatus &alert) {
  json.begin_object();
  json.member("rule", alert.rule.str());
  json.member("severity", alert.severity.str());
  json.member("state", alert.is_firing ? "firing" : "pending");
  json.member("silent", alert.is_silent);
  json.member("since_seconds", -seconds(alert.since));
  for (const auto &[name, text] :
       {std::pair("gpu", &alert.gpu), std::pair("uuid", &alert.uuid), std::pair("detail", &alert.detail),
        std::pair("value_text", &alert.value), std::pair("summary", &alert.summary)})
    text_or_null(json, name, *text);
  json.key("waiting");
  json.begin_array();
  for (const auto &receiver : alert.waiting) json.value(receiver.str());
  json.end_array();
  json.end_object();
}

void write_receiver(JsonWriter &json, const share::AlertReceiverStatus &receiver) {
  json.begin_object();
  json.member("name", receiver.name.str());
  json.member("kind", receiver.kind.str());
  json.member("sent", receiver.sent);
  json.member("failed", receiver.failed);
  json.member("given_up", receiver.given_up);
  json.member("waiting", receiver.waiting);
  json.member("next_try_seconds", seconds(receiver.next));
  text_or_null(json, "problem", receiver.problem);
  json.end_object();
}

std::string list_json(const share::AlertsAnswer &answer) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("on", answer.is_on);
  const auto list = [&](std::string_view name, const auto &all, auto write) {
    json.key(name);
    json.begin_array();
    for (const auto &each : all) write(json, each);
    json.end_array();
  };
  list("alerts", answer.alerts, write_alert);
  list("receivers", answer.receivers, write_receiver);
  list("silences", answer.silences, [](JsonWriter &to, const share::SilenceStatus &silence) {
    to.begin_object();
    to.member("rule", silence.rule.str());
    text_or_null(to, "gpu", silence.gpu);
    to.key("rest_seconds");
    silence.rest.count() == 0 ? to.null() : to.value(seconds(silence.rest));
    to.end_object();
  });
  text_or_null(json, "problem", answer.problem);
  json.end_object();
  return out + "\n";
}

int list_alerts(const Options &options) {
  auto agent = reach();
  if (!agent) return fail(agent.error());
  const auto answer = agent->alerts();
  if (!answer) return fail(answer.error());
  const auto text = options.json ? list_json(*answer) : list_text(*answer, whole_lines(options));
  if (auto written = write_out(text); !written) return fail(written.error());
  return kGood;
}

struct Tried {
  alert::Receiver receiver;
  alert::Delivery delivery{};
  std::chrono::nanoseconds took{0};
};

// All at once, so that a slow one keeps nobody waiting.
void try_all(std::vector<Tried> &all, const std::stop_token &stop) {
  std::array<char, 256> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  std::vector<std::jthread> threads;
  for (auto &tried : all) {
    threads.emplace_back([&tried, &stop, &host] {
      const auto begun = monotonic_now();
      alert::Sender sender(tried.receiver);
      tried.delivery = sender.send(alert::test_message(host.data(), wall_now()), stop);
      tried.took = monotonic_now() - begun;
    });
  }
}

int test_receivers(const Options &options) {
  const auto config = alert_config(options);
  if (!config) return fail(config.error(), kUsage);
  std::vector<Tried> all;
  std::vector<std::string_view> names;
  for (const auto &receiver : config->receivers) {
    names.push_back(receiver.name);
    if (options.request.size() < 2 || receiver.name == options.request[1]) all.push_back({receiver});
  }
  if (names.empty()) return fail({"no receiver of alerts is configured", "write [[alerts.receiver]] into config.toml"});
  if (all.empty())
    return fail({"there is no receiver " + options.request[1],
                 did_you_mean(options.request[1], names, fmt::format("one of {}", fmt::join(names, ", ")))},
                kUsage);
  const auto stop = stop_on_signals();
  {
    const SlowNotice notice("waiting for the receivers …");
    try_all(all, stop);
  }
  term::Table table({{.title = "RECEIVER"}, {.title = "KIND", .gap = 2}});
  bool all_arrived = true;
  for (const auto &[receiver, delivery, took] : all) {
    const bool arrived = delivery.end == alert::Delivery::End::arrived;
    all_arrived = all_arrived && arrived;
    table.add(
        {receiver.name, std::string(alert::kReceiverKinds[static_cast<std::size_t>(receiver.kind)])},
        arrived ? fmt::format("  arrived in {:.2f} s", seconds(took)) : "  failed: " + Text(delivery.words).str());
  }
  if (auto written = write_out(lines_of(table, whole_lines(options))); !written) return fail(written.error());
  return all_arrived ? kGood : kFailure;
}

int silence(const Options &options, bool is_on) {
  if (options.request.size() != 2)
    return fail({"which rule?", "gpulse alert silence GpuLost; gpulse rules lists them"}, kUsage);
  auto agent = reach();
  if (!agent) return fail(agent.error());
  const std::chrono::nanoseconds time = is_on ? options.for_time.value_or(kUsualSilence) : std::chrono::nanoseconds(0);
  const auto devices = options.devices.empty() ? std::vector<std::string>{""} : options.devices;
  for (const auto &device : devices) {
    const auto done = agent->silence({.rule = options.request[1], .gpu = device, .time = time});
    if (!done) return fail(done.error());
  }
  return kGood;
}

}  // namespace

int run_alert(const Options &options) {
  const auto &words = options.request;
  if (words.empty() || (words.size() == 1 && words[0] == "list")) return list_alerts(options);
  if (words[0] == "test" && words.size() <= 2) return test_receivers(options);
  if (words[0] == "silence") return silence(options, true);
  if (words[0] == "unsilence") return silence(options, false);
  return fail({fmt::format("gpulse alert does not know \"{}\"", words[words.size() > 1 ? 1 : 0]),
               "list, test [RECEIVER], silence RULE or unsilence RULE"},
              kUsage);
}

}  // namespace gpulse::cli
