// SPDX-License-Identifier: Apache-2.0
#include "serve/stream.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>

#include "base/heap.hpp"
#include "base/text.hpp"
#include "insight/finding_events.hpp"
#include "model/select.hpp"
#include "serve/api_parts.hpp"

namespace gpulse::serve {

using namespace std::chrono_literals;

// Where the agent's thread leaves the newest sample. One that was not taken in time is gone.
struct Stream::Inbox {
  void put(const SnapshotPtr &sample) {
    {
      const std::lock_guard lock(mutex);
      newest = sample;
    }
    changed.notify_one();
  }
  // Null: a stop was asked for.
  SnapshotPtr take(const std::stop_token &stop) {
    std::unique_lock lock(mutex);
    if (!changed.wait(lock, stop, [this] { return newest != nullptr; })) return nullptr;
    return std::exchange(newest, nullptr);
  }

  std::mutex mutex;
  std::condition_variable_any changed;
  SnapshotPtr newest;
};

namespace {

constexpr int kBusy = 5;  // seconds

std::int64_t id_of(const Snapshot &sample) {
  return std::chrono::floor<std::chrono::milliseconds>(sample.time.time_since_epoch()).count();
}

WallTime time_of(std::int64_t id) { return WallTime(std::chrono::milliseconds(id)); }

std::shared_ptr<const std::string> sample_event(std::int64_t id, const std::string &json) {
  return std::make_shared<const std::string>(http::event_text("sample", json, fmt::format("{}", id)));
}

std::string finding_json(const insight::LastingFinding &finding, WallTime now) {
  std::string text;
  JsonWriter json(text);
  write_lasting(json, finding, now);
  return text;
}

http::Frame frame(std::string text) { return {.text = std::make_shared<const std::string>(std::move(text))}; }

bool is_of(const Event &event, const Snapshot &part) {
  return event.device.empty() || std::ranges::any_of(part.devices, [&](const Device &device) {
           return device.identity && device.identity->uuid == event.device;
         });
}

// Of a client that comes back: the last sample that it got.
std::optional<std::int64_t> last_id(const http::Request &request) {
  const auto text = request.header("last-event-id");
  return text ? parse_integer<std::int64_t>(*text) : std::nullopt;
}

}  // namespace

std::string Stream::Part::key() const {
  std::vector<std::uint16_t> ids;
  if (metrics) {
    for (std::uint16_t i = 0; i < kMetricCount; ++i) {
      if (metrics->contains(MetricId{i})) ids.push_back(i);
    }
  }
  return fmt::format("{}{}{} {} {}", metrics ? 'm' : '-', processes ? 'p' : '-', commands ? 'c' : '-',
                     fmt::join(ids, ","), fmt::join(uuids, ","));
}

SnapshotPtr Stream::Part::of(const SnapshotPtr &sample) const {
  auto part = sample;
  if (!uuids.empty()) {
    const auto is_wanted = [&](const Text &uuid) { return std::ranges::binary_search(uuids, uuid.str()); };
    auto some = std::make_shared<Snapshot>(*sample);
    std::erase_if(some->devices, [&](const Device &device) {
      return !device.identity || (!is_wanted(device.identity->uuid) && !is_wanted(device.identity->parent));
    });
    std::erase_if(some->processes, [&](const Process &process) {
      return std::ranges::find(some->devices, process.device, &Device::id) == some->devices.end();
    });
    part = std::move(some);
  }
  return commands || !processes ? part : without_commands(part);
}

std::string Stream::Part::text(const Snapshot &part, view::JsonMemory *memory) const {
  std::string json;
  view::write_json(part, json,
                   {.only = metrics ? &*metrics : nullptr, .memory = memory, .processes = processes, .events = false});
  return json;
}

Stream::Stream(Board &board, StreamOptions options)
    : board_(board), options_(std::move(options)), inbox_(std::make_shared<Inbox>()) {
  board_.listen([inbox = inbox_](const SnapshotPtr &sample) { inbox->put(sample); });
  thread_ = std::jthread([this](const std::stop_token &stop) { work(stop); });
}

Stream::~Stream() {
  thread_ = {};
  for (const auto &[key, line] : lines_) line->channel->close();
}

std::size_t Stream::channels() {
  const std::lock_guard lock(mutex_);
  return lines_.size();
}

std::size_t Stream::clients() {
  const std::lock_guard lock(mutex_);
  std::size_t all = 0;
  for (const auto &[key, line] : lines_) all += line->channel->subscribers();
  return all;
}

// With the mutex held.
Asked<Stream::Part> Stream::part_asked_for(const http::Request &request, bool sees_commands) const {
  auto filter = asked_sample(request);
  if (!filter) return std::unexpected(filter.error());
  Part part{.metrics = filter->metrics, .processes = filter->processes, .commands = sees_commands};
  if (filter->devices.empty()) return part;
  const auto some = select_devices(newest_, filter->devices);
  if (!some) return std::unexpected(Refusal{.message = some.error().line(), .field = "devices"});
  // By their lasting names, so that the same devices are one channel however they are called.
  for (const auto &device : (*some)->devices) {
    if (device.identity) part.uuids.push_back(device.identity->uuid);
  }
  std::ranges::sort(part.uuids);
  return part;
}

// With the mutex held. Null: there are too many.
std::shared_ptr<Stream::Line> Stream::line_for(const Part &part, const Snapshot &sample) {
  const auto key = part.key();
  if (const auto known = lines_.find(key); known != lines_.end()) return known->second;
  if (lines_.size() >= options_.channels) {
    std::erase_if(lines_, [](const auto &entry) { return entry.second->channel->subscribers() == 0; });
    if (lines_.size() >= options_.channels) return nullptr;
  }
  auto line = std::make_shared<Line>();
  line->part = part;
  line->channel = http::Channel::make();
  line->used = monotonic_now();
  keep(*line, {.id = id_of(sample), .text = sample_event(id_of(sample), part.text(sample, nullptr))});
  lines_.emplace(key, line);
  return line;
}

void Stream::keep(Line &line, Kept sample) const {
  line.kept_bytes += sample.text->size();
  line.kept.push_back(std::move(sample));
  while (line.kept.size() > 1 && (line.kept.size() > options_.kept_samples || line.kept_bytes > options_.kept_bytes)) {
    line.kept_bytes -= line.kept.front().text->size();
    line.kept.pop_front();
  }
}

// What a client gets first: who speaks, what it has missed or the newest, and what lasts. With the mutex held.
std::string Stream::greeting(const http::Request &request, const Line &line, const Snapshot &part) const {
  const auto last = last_id(request);
  const auto newest = line.kept.back().id;
  const bool is_whole = !last || (*last >= line.kept.front().id && *last <= newest);
  std::string hello;
  JsonWriter json(hello);
  json.begin_object();
  json.member("schema", "gpulse-stream/1");
  json.member("version", options_.version);
  json.member("hostname", part.hostname);
  json.member("interval_seconds", Seconds(board_.pace().interval).count());
  json.member("time", iso8601_utc(time_of(newest)));
  json.key("age_seconds");
  const auto age = age_of(part.origin, time_of(newest), options_.now());
  age ? json.value(age->count()) : json.null();
  json.key("missed_from");
  is_whole ? json.null() : json.value(iso8601_utc(time_of(std::clamp<std::int64_t>(*last, 0, newest))));
  json.end_object();
  auto text = http::event_text("hello", hello);
  for (const auto &sample : line.kept) {
    const bool is_missed = last && is_whole ? sample.id > *last : sample.id == newest;
    if (is_missed) text += *sample.text;
  }
  for (const auto &lasting : board_.findings()) {
    if (concerns(lasting.finding, part)) text += http::event_text("finding", finding_json(lasting, part.time));
  }
  return text;
}

void Stream::open(const http::Request &request, bool sees_commands, const http::Answer &answer) {
  // Held until it is answered, so that no sample is published in between.
  const std::lock_guard lock(mutex_);
  // The thread may not have come to the first one.
  if (!newest_) newest_ = greeted_ = board_.latest();
  if (!newest_) return answer(try_later("there is no sample yet", kBusy));
  const auto part = part_asked_for(request, sees_commands);
  if (!part) return answer(refuse(part.error()));
  const auto sample = part->of(newest_);
  const auto line = line_for(*part, *sample);
  if (!line) return answer(try_later(fmt::format("at most {} different streams at a time", options_.channels), kBusy));
  line->used = monotonic_now();
  answer({.content_type = "text/event-stream",
          .body = std::make_shared<const std::string>(greeting(request, *line, *sample)),
          .stream = line->channel});
}

Stream::News Stream::news_of(const Snapshot &sample) {
  News news;
  if (has_begun_ && !sample.events.is_same_as(events_)) {
    const auto more = insight::new_events(events_, sample.events);
    news.events.assign(more.begin(), more.end());
  }
  events_ = sample.events;
  std::map<std::uint64_t, insight::LastingFinding> now;
  for (auto &lasting : board_.findings()) now.emplace(lasting.number, std::move(lasting));
  for (const auto &[number, lasting] : now) {
    if (has_begun_ && !findings_.contains(number)) news.begun.push_back(lasting);
  }
  for (const auto &[number, lasting] : findings_) {
    if (!now.contains(number)) news.ended.push_back(lasting);
  }
  findings_ = std::move(now);
  has_begun_ = true;
  return news;
}

void Stream::publish(Line &line, const SnapshotPtr &sample, const News &news) {
  const auto part = line.part.of(sample);
  const auto id = id_of(*part);
  Kept made{.id = id, .text = sample_event(id, line.part.text(*part, &line.memory))};
  std::vector<http::Frame> more;
  for (const auto &event : news.events) {
    std::string text;
    JsonWriter json(text);
    view::write_event_json(json, event);
    if (is_of(event, *part)) more.push_back(frame(http::event_text("event", text)));
  }
  const auto tell = [&](std::string_view name, const std::vector<insight::LastingFinding> &findings) {
    for (const auto &lasting : findings) {
      if (concerns(lasting.finding, *part))
        more.push_back(frame(http::event_text(name, finding_json(lasting, part->time))));
    }
  };
  tell("finding", news.begun);
  tell("finding_ended", news.ended);
  const std::lock_guard lock(mutex_);
  line.channel->publish({.text = made.text, .may_be_replaced = true});
  keep(line, std::move(made));
  for (auto &each : more) line.channel->publish(std::move(each));
}

void Stream::work(const std::stop_token &stop) {
  while (const auto sample = inbox_->take(stop)) {
    const auto news = news_of(*sample);
    std::vector<std::shared_ptr<Line>> lines;
    std::size_t forgotten = 0;
    {
      // Whoever comes after this begins with this sample, and is not among those that it is published to.
      const std::lock_guard lock(mutex_);
      newest_ = sample;
      // Every client there is began with it.
      const bool is_known = std::exchange(greeted_, nullptr) == sample;
      const auto now = monotonic_now();
      forgotten = std::erase_if(lines_, [&](const auto &entry) {
        auto &line = *entry.second;
        if (line.channel->subscribers() > 0) line.used = now;
        return now - line.used > options_.linger;
      });
      for (const auto &[key, line] : lines_) {
        if (!is_known) lines.push_back(line);
      }
    }
    if (forgotten > 0) trim_heap();
    for (const auto &line : lines) publish(*line, sample, news);
    ++samples_;
  }
}

}  // namespace gpulse::serve
