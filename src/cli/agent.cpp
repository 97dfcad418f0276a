// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/json_writer.hpp"
#include "base/user.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "metric/format.hpp"
#include "share/connection.hpp"
#include "view/cell.hpp"

namespace gpulse::cli {

namespace {

struct Reached {
  share::Connection connection;
  std::string folder;
};

Result<Reached> reach() {
  if (share::is_off()) return failure("GPULSE_AGENT=off: no agent is looked for");
  std::string problem;
  for (const auto &place : share::places_to_look()) {
    auto connection = share::Connection::open(place);
    if (connection) return Reached{std::move(*connection), place.folder};
    if (problem.empty()) problem = connection.error().line();
  }
  return failure("no agent runs", "start one with gpulse serve, or the service of that name");
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

std::string user_words(std::uint32_t user) {
  const auto name = user_name(user).value_or("");
  return name.empty() ? std::to_string(user) : name;
}

// Of one processor, since it was started.
double share_of_processor(const share::AgentStatus &status) {
  return status.running.count() > 0 ? 100 * seconds(status.processor_time) / seconds(status.running) : 0;
}

std::string history_text(const share::HistoryStatus &history) {
  if (history.file.empty()) return "history   none is kept\n";
  auto out = fmt::format("history   {}, {}\n", history.file.str(), format_bytes(static_cast<double>(history.bytes)));
  if (history.lost > 0) out += fmt::format("lost      {}\n", counted(history.lost, "sample"));
  if (!history.problem.empty()) out += fmt::format("problem   {}\n", history.problem.str());
  return out;
}

std::string remote_write_text(const share::RemoteWriteStatus &writing) {
  if (writing.url.empty()) return {};
  auto out = fmt::format("writes to {}: {} taken, {} behind\n", writing.url.str(), counted(writing.taken, "value"),
                         view::short_duration(seconds(writing.behind)));
  if (writing.refused > 0) out += fmt::format("refused   {}\n", counted(writing.refused, "value"));
  if (!writing.problem.empty()) out += fmt::format("problem   {}\n", writing.problem.str());
  return out;
}

// A key with its object, or null where there is none.
template <class Write>
void part(JsonWriter &json, std::string_view key, bool is_there, const Write &write) {
  json.key(key);
  if (!is_there) return json.null();
  json.begin_object();
  write();
  json.end_object();
}

std::string status_text(const share::AgentStatus &status, const std::string &folder) {
  auto out = fmt::format("agent     pid {}, user {}, in {}, gpulse {}\n", status.pid, user_words(status.user), folder,
                         status.version.str());
  out += fmt::format("runs      for {}, {}\n", view::short_duration(seconds(status.running)),
                     counted(status.samples, "sample"));
  out += fmt::format("samples   every {:g} s{}; a reader may ask for {:g} s\n", seconds(status.interval),
                     status.interval < status.usual_interval
                         ? fmt::format(" for its readers, else every {:g} s", seconds(status.usual_interval))
                         : "",
                     seconds(status.fastest));
  out += fmt::format("costs     {:.2f} % of a processor, {} of memory, {} of it shared\n", share_of_processor(status),
                     format_bytes(static_cast<double>(status.memory_bytes)),
                     format_bytes(static_cast<double>(status.segment_bytes)));
  if (status.released_for.count() > 0) {
    out += fmt::format("released  the GPUs for another {}\n", view::short_duration(seconds(status.released_for)));
  }
  for (const auto &reader : status.readers) {
    out += fmt::format("reader    {} (pid {}, user {}): every {:g} s, for {}\n", reader.program.str(), reader.pid,
                       user_words(reader.user), seconds(reader.interval), view::short_duration(seconds(reader.since)));
  }
  out += history_text(status.history);
  out += remote_write_text(status.remote_write);
  if (status.readers.empty()) out += "readers   nobody has asked for a rate of his own\n";
  return out;
}

std::string status_json(const share::AgentStatus &status, const std::string &folder) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("folder", folder);
  json.member("version", status.version.str());
  json.member("pid", status.pid);
  json.member("user", user_words(status.user));
  json.member("running_seconds", seconds(status.running));
  json.member("samples", status.samples);
  json.member("interval_seconds", seconds(status.interval));
  json.member("usual_interval_seconds", seconds(status.usual_interval));
  json.member("fastest_seconds", seconds(status.fastest));
  json.member("released_seconds", seconds(status.released_for));
  json.member("cpu_seconds", seconds(status.processor_time));
  json.member("memory_bytes", status.memory_bytes);
  json.member("segment_bytes", status.segment_bytes);
  const auto problem = [&](const Text &text) {
    json.key("problem");
    text.empty() ? json.null() : json.value(text.str());
  };
  part(json, "history", !status.history.file.empty(), [&] {
    json.member("file", status.history.file.str());
    json.member("bytes", status.history.bytes);
    json.member("samples", status.history.samples);
    json.member("lost", status.history.lost);
    problem(status.history.problem);
  });
  part(json, "remote_write", !status.remote_write.url.empty(), [&] {
    json.member("url", status.remote_write.url.str());
    json.member("taken", status.remote_write.taken);
    json.member("refused", status.remote_write.refused);
    json.member("behind_seconds", seconds(status.remote_write.behind));
    problem(status.remote_write.problem);
  });
  json.key("readers");
  json.begin_array();
  for (const auto &reader : status.readers) {
    json.begin_object();
    json.member("program", reader.program.str());
    json.member("pid", reader.pid);
    json.member("user", user_words(reader.user));
    json.member("interval_seconds", seconds(reader.interval));
    json.member("connected_seconds", seconds(reader.since));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return out + "\n";
}

int show_status(const Options &options) {
  auto agent = reach();
  if (!agent) return fail(agent.error());
  const auto status = agent->connection.status();
  if (!status) return fail(status.error());
  const auto text = options.json ? status_json(*status, agent->folder) : status_text(*status, agent->folder);
  if (auto written = write_out(text); !written) return fail(written.error());
  return kGood;
}

int let_go(std::chrono::nanoseconds time) {
  auto agent = reach();
  if (!agent) return fail(agent.error());
  const bool release = time.count() > 0;
  const SlowNotice notice(release ? "waiting for the agent to let go of the drivers …"
                                  : "waiting for the agent to take up the drivers again …");
  const auto done = release ? agent->connection.release(time) : agent->connection.resume();
  return done ? kGood : fail(done.error());
}

}  // namespace

int run_agent(const Options &options) {
  const auto &words = options.request;
  if (words.empty() || (words.size() == 1 && words[0] == "status")) return show_status(options);
  if (words.size() == 1 && words[0] == "resume") return let_go({});
  if (words.size() == 2 && words[0] == "release") {
    std::chrono::nanoseconds time{};
    if (parse_duration(words[1], time) && time >= std::chrono::seconds(1) && time <= std::chrono::hours(1))
      return let_go(time);
    return fail({fmt::format("\"{}\" is not a length of time from 1s to 1h", words[1])}, kUsage);
  }
  if (words[0] == "release") return fail({"gpulse agent release needs a time", "60s for instance"}, kUsage);
  return fail({fmt::format("gpulse agent does not know \"{}\"", words[0]), "status, release TIME or resume"}, kUsage);
}

}  // namespace gpulse::cli
