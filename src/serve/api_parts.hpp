// SPDX-License-Identifier: Apache-2.0
// What several answers of the API have in common. Pure; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "base/result.hpp"
#include "history/reader.hpp"
#include "http/message.hpp"
#include "insight/watch.hpp"
#include "model/snapshot.hpp"

namespace gpulse::serve {

// Of what changes all the time: nobody keeps it.
http::Response live_answer(std::string body);
// Of what stays as it is: who has it need not be sent it again.
http::Response lasting_answer(std::string body, std::string cache_control);

// How old a sample of this origin is by the server's clock; none: it is of a recording.
std::optional<Seconds> age_of(const Text &origin, WallTime taken, WallTime now);

// There is nothing yet: when to ask again.
http::Response try_later(std::string_view message, int seconds = 2);
// Of an engine that takes longer than a client waits. The question goes on.
http::Response no_answer_yet(const Text &place, std::chrono::nanoseconds patience);
http::Response too_many_questions();
// Of one that was given up on.
std::string too_long_words(const Text &place, std::chrono::nanoseconds limit);
// What every site has: the table of metrics, and the description of the API. None: the path is another one.
std::optional<http::Response> table_answer(std::string_view name, const http::Request &request);

// Of a selector that fits no device.
http::Response no_device(const Error &error);

void write_span(JsonWriter &json, const history::Span &span);
// What every answer about the past begins with; whoever calls it ends the object.
void begin_answer(JsonWriter &json, std::string_view schema, std::string_view hostname, const history::Span &span);
// A finding that lasts, with its number, what it is called and what it costs.
void write_lasting(JsonWriter &json, const insight::LastingFinding &lasting, WallTime now);
// Whether it is about one of these devices, or about the machine.
bool concerns(const insight::Finding &finding, const Snapshot &part);

// What those see who may not see the arguments of processes.
SnapshotPtr without_commands(const SnapshotPtr &snapshot);
void hide_command(TextRow &texts);

}  // namespace gpulse::serve
