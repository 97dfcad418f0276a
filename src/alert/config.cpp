// SPDX-License-Identifier: Apache-2.0
#include "alert/config.hpp"

#include <array>
#include <cctype>

#include "alert/toml_rows.hpp"
#include "base/moment.hpp"

namespace gpulse::alert {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostReceivers = 32, kLongestName = 64;

std::string take_length(const toml::node &node, std::chrono::nanoseconds &target, std::chrono::nanoseconds least = {}) {
  std::optional<std::chrono::nanoseconds> time;
  auto problem = take_time(node, time, least);
  if (time) target = *time;
  return problem;
}

std::string take_level(const toml::node &node, AlertLevel &target) {
  const auto level = insight::alert_level_named(node.value<std::string>().value_or(""));
  if (!level) return "is neither info, warning nor critical";
  target = *level;
  return {};
}

std::string take_kind(const toml::node &node, ReceiverKind &target) {
  const auto word = node.value<std::string>().value_or("");
  const auto *const found = std::ranges::find(kReceiverKinds, word);
  if (found == std::end(kReceiverKinds)) return fmt::format("is none of {}", fmt::join(kReceiverKinds, ", "));
  target = static_cast<ReceiverKind>(found - std::begin(kReceiverKinds));
  return {};
}

std::string take_name(const toml::node &node, std::string &target) {
  if (auto problem = take(node, target); !problem.empty()) return problem;
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  return target.size() <= kLongestName && std::ranges::all_of(target, fits) ? ""
                                                                            : "is no name of letters, digits, - and _";
}

constexpr std::array kReceiverRows{
    TomlRow<Receiver>{"name", [](const toml::node &node, Receiver &to) { return take_name(node, to.name); }},
    TomlRow<Receiver>{"kind", [](const toml::node &node, Receiver &to) { return take_kind(node, to.kind); }},
    TomlRow<Receiver>{"url", [](const toml::node &node, Receiver &to) { return take(node, to.url); }},
    TomlRow<Receiver>{"url_file", [](const toml::node &node, Receiver &to) { return take(node, to.url_file); }},
    TomlRow<Receiver>{"token_file",
                      [](const toml::node &node, Receiver &to) { return take(node, to.client.bearer_file); }},
    TomlRow<Receiver>{"user", [](const toml::node &node, Receiver &to) { return take(node, to.client.user); }},
    TomlRow<Receiver>{"password_file",
                      [](const toml::node &node, Receiver &to) { return take(node, to.client.password_file); }},
    TomlRow<Receiver>{"ca_file", [](const toml::node &node, Receiver &to) { return take(node, to.client.ca_file); }},
    TomlRow<Receiver>{"cert", [](const toml::node &node, Receiver &to) { return take(node, to.client.certificate); }},
    TomlRow<Receiver>{"key", [](const toml::node &node, Receiver &to) { return take(node, to.client.key); }},
    TomlRow<Receiver>{"command", [](const toml::node &node, Receiver &to) { return take(node, to.command); }},
    TomlRow<Receiver>{"timeout",
                      [](const toml::node &node, Receiver &to) { return take_length(node, to.time, 100ms); }},
    TomlRow<Receiver>{"severity", [](const toml::node &node, Receiver &to) { return take_level(node, to.least); }},
    TomlRow<Receiver>{"rules", [](const toml::node &node, Receiver &to) { return take(node, to.rules); }},
    TomlRow<Receiver>{"resolved", [](const toml::node &node, Receiver &to) { return take(node, to.resolved); }},
};

std::string take_until(const toml::node &node, Silence &to) {
  const auto text = node.value<std::string>().value_or("");
  const auto until = parse_moment(text, wall_now());
  if (!node.is_string() || !until) return "is no time, such as \"2026-11-20 18:00\"";
  to.until = *until;
  return {};
}

std::string take_text(const toml::node &node, Text &target) {
  std::string text;
  auto problem = take(node, text);
  target = std::move(text);
  return problem;
}

constexpr std::array kSilenceRows{
    TomlRow<Silence>{"rule", [](const toml::node &node, Silence &to) { return take_text(node, to.rule); }},
    TomlRow<Silence>{"gpu", [](const toml::node &node, Silence &to) { return take_text(node, to.gpu); }},
    TomlRow<Silence>{"until", [](const toml::node &node, Silence &to) { return take_until(node, to); }},
};

constexpr auto kElsewhere = [](const toml::node &, Config &) { return std::string(); };
constexpr std::array kRows{
    TomlRow<Config>{"keep_firing_for", [](const toml::node &node, Config &to) { return take_length(node, to.keep); }},
    TomlRow<Config>{"group", [](const toml::node &node, Config &to) { return take_length(node, to.group); }},
    TomlRow<Config>{"give_up", [](const toml::node &node, Config &to) { return take_length(node, to.give_up, 1s); }},
    TomlRow<Config>{"state", [](const toml::node &node, Config &to) { return take(node, to.state); }},
    TomlRow<Config>{"rule", kElsewhere},
    TomlRow<Config>{"own", kElsewhere},
    TomlRow<Config>{"receiver", kElsewhere},
    TomlRow<Config>{"silence", kElsewhere},
};

bool is_over_http(const Receiver &receiver) {
  return receiver.kind != ReceiverKind::exec && receiver.kind != ReceiverKind::log;
}

Result<void> check_address(const Receiver &receiver, const std::string &where) {
  const bool has_one = receiver.url.empty() != receiver.url_file.empty();
  if (!is_over_http(receiver)) {
    if (receiver.url.empty() && receiver.url_file.empty()) return {};
    return failure(where + " has an address, which its kind does not use");
  }
  if (receiver.kind == ReceiverKind::slack && !receiver.url.empty())
    return failure(where + ": the address of a Slack webhook is a secret",
                   "write it into a file, and name that: url_file");
  if (!has_one) return failure(where + " needs url or url_file");
  if (!receiver.url.empty()) {
    if (auto url = http::parse_url(receiver.url); !url) return std::unexpected(url.error());
  } else if (auto secret = read_secret_file(receiver.url_file); !secret) {
    return std::unexpected(secret.error());
  }
  for (const auto *file : {&receiver.client.bearer_file, &receiver.client.password_file}) {
    if (file->empty()) continue;
    if (auto secret = read_secret_file(*file); !secret) return std::unexpected(secret.error());
  }
  if (receiver.client.user.empty() != receiver.client.password_file.empty())
    return failure(where + " needs user and password_file, or neither");
  if (!receiver.client.user.empty() && !receiver.client.bearer_file.empty())
    return failure(where + " takes a token or a user, not both");
  return {};
}

Result<void> check(const Receiver &receiver, const std::string &where) {
  const bool runs = receiver.kind == ReceiverKind::exec;
  if (runs == receiver.command.empty())
    return failure(where + (runs ? " needs a command" : " has a command, which its kind does not run"),
                   runs ? "command = [\"/path/to/program\", \"argument\"]" : "kind = \"exec\" does");
  if (runs && !receiver.command.front().starts_with('/'))
    return failure(fmt::format("{} runs {}, which is no whole path", where, receiver.command.front()),
                   "begin with a slash: nothing is looked for");
  return check_address(receiver, where);
}

Result<void> read_receivers(const toml::table &alerts, Config &config) {
  const auto tables = tables_of(alerts, "receiver");
  if (!tables) return std::unexpected(tables.error());
  if (tables->size() > kMostReceivers) return failure(fmt::format("there are more than {} receivers", kMostReceivers));
  for (const auto *table : *tables) {
    Receiver receiver;
    const auto name = table->get("name") != nullptr ? table->get("name")->value<std::string>().value_or("") : "";
    const auto where = fmt::format("[[alerts.receiver]]{}{}", name.empty() ? "" : " ", name);
    if (auto good = take_rows<Receiver>(*table, kReceiverRows, receiver, where); !good) return good;
    if (receiver.name.empty()) return failure("[[alerts.receiver]] needs a name");
    if (table->get("kind") == nullptr)
      return failure(where + " needs a kind", fmt::format("one of {}", fmt::join(kReceiverKinds, ", ")));
    if (auto good = check(receiver, where); !good) return good;
    const auto has_name = [&](const Receiver &other) { return other.name == receiver.name; };
    if (std::ranges::any_of(config.receivers, has_name)) return failure(where + " is there twice");
    config.receivers.push_back(std::move(receiver));
  }
  return {};
}

// A name with a star may be for rules to come.
Result<void> check_rule_name(const Config &config, std::string_view name, std::string_view where) {
  std::vector<std::string_view> names;
  for (const auto &rule : config.rules) names.push_back(rule.name);
  const auto is_named = [&](std::string_view known) { return fits(name, known); };
  if (name.contains('*') || std::ranges::any_of(names, is_named)) return {};
  return failure(fmt::format("{}: there is no rule {}", where, name),
                 did_you_mean(name, names, "gpulse rules lists them"));
}

Result<void> read_silences(const toml::table &alerts, Config &config) {
  const auto tables = tables_of(alerts, "silence");
  if (!tables) return std::unexpected(tables.error());
  for (const auto *table : *tables) {
    Silence silence;
    if (auto good = take_rows<Silence>(*table, kSilenceRows, silence, "[[alerts.silence]]"); !good) return good;
    if (silence.rule.empty()) return failure("[[alerts.silence]] needs a rule", "rule = \"*\" is all of them");
    if (auto good = check_rule_name(config, silence.rule, "[[alerts.silence]]"); !good) return good;
    config.silences.push_back(std::move(silence));
  }
  return {};
}

Result<Config> read_alerts(const toml::table &alerts) {
  Config config{.is_there = true, .rules = insight::alert_rules()};
  if (auto good = take_rows<Config>(alerts, kRows, config, "[alerts]"); !good) return std::unexpected(good.error());
  if (auto good = configure_rules(alerts, config.rules); !good) return std::unexpected(good.error());
  if (auto good = read_receivers(alerts, config); !good) return std::unexpected(good.error());
  for (const auto &receiver : config.receivers) {
    for (const auto &rule : receiver.rules) {
      const auto where = "[[alerts.receiver]] " + receiver.name;
      if (auto good = check_rule_name(config, rule, where); !good) return std::unexpected(good.error());
    }
  }
  if (auto good = read_silences(alerts, config); !good) return std::unexpected(good.error());
  return config;
}

// How long the quotes are that a string begins with here; 0: none does. Behind a word they are no string.
std::size_t quotes_at(std::string_view text, char before) {
  constexpr std::string_view kBefore = " \t\n=[,{.";
  const char c = text.front();
  if ((c != '"' && c != '\'') || !kBefore.contains(before)) return 0;
  return text.starts_with(std::string(3, c)) ? 3 : 1;
}

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// The line of the first byte outside of strings and comments that cannot be there: version 3.3 of the parser does not
// always survive it. 0: there is none.
std::size_t stray_line(std::string_view text) {
  std::size_t line = 1;
  std::string_view closing;  // of the string that goes on; a line's end closes what is no string of many
  char before = '\n';
  for (std::size_t used = 1; !text.empty(); text.remove_prefix(used)) {
    const char c = text.front();
    used = 1;
    if (c == '\0') return line;
    if (c == '\n') {
      ++line;
      if (closing.size() < 3) closing = {};
    } else if (!closing.empty()) {
      const bool escapes = c == '\\' && closing.front() == '"';
      // Behind it stands what is meant, or a line's end that is taken away with all blanks that follow.
      const auto next = escapes ? text.find_first_not_of(" \t\r\n", 1) : std::string_view::npos;
      if (next != std::string_view::npos && is_beyond_ascii(text[next])) return line;
      if (escapes && text.size() > 1 && text[1] != '\n') used = 2;
      if (text.starts_with(closing)) {
        used = closing.size();
        // Of one of many lines, two more are its own.
        while (closing.size() == 3 && used < 5 && text.substr(used).starts_with(c)) ++used;
        closing = {};
      }
    } else if (c == '#') {
      closing = "\n";
    } else if (const auto quotes = quotes_at(text, before)) {
      used = quotes;
      closing = text.substr(0, quotes);
    } else if (is_beyond_ascii(c) || c == '"' || c == '\'') {
      return line;
    }
    before = text[used - 1];
  }
  return 0;
}

}  // namespace

Result<Config> parse_config(std::string_view text) {
  if (const auto line = stray_line(text); line > 0)
    return failure(fmt::format("the configuration, line {}: something outside of quotes is no TOML", line),
                   "letters beyond ASCII need quotes");
  try {
    const auto table = toml::parse(text);
    const auto *alerts = table["alerts"].as_table();
    return alerts == nullptr ? Config{.rules = insight::alert_rules()} : read_alerts(*alerts);
  } catch (const toml::parse_error &error) {
    return failure(fmt::format("the configuration, line {}: {}", error.source().begin.line, error.description()));
  }
}

}  // namespace gpulse::alert
