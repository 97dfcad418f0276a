// SPDX-License-Identifier: Apache-2.0
#include "alert/alerts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.hpp"
#include "base/log.hpp"
#include "base/random.hpp"

namespace gpulse::alert {

namespace {

using namespace std::chrono_literals;

// What began to hold, and counters, may wait so long for the disk: what is lost of them is seen again.
constexpr auto kSaveWithin = 10s;
// The clock was set where it moved by more than this against the other one.
constexpr auto kClockStep = 2s;
constexpr auto kLongestWait = 300s;
constexpr unsigned kMostTries = 5;
// A token or an address is mended within this time, or what was to be sent is given up.
constexpr auto kMendedWithin = 1h;
constexpr auto kSayAgain = 1h;
constexpr std::size_t kMostSilences = 1000;

EvaluatorOptions evaluator_options(const Config &config, const std::vector<Silence> &more, const std::string &host) {
  EvaluatorOptions options{.rules = config.rules, .silences = config.silences, .keep = config.keep, .host = host};
  options.silences.insert(options.silences.end(), more.begin(), more.end());
  return options;
}

// Twice as long each time, and for each receiver a little different.
std::chrono::nanoseconds wait_after(std::chrono::milliseconds first, unsigned tries) {
  const auto usual = std::min<std::chrono::milliseconds>(first * (1U << std::min(tries - 1, 10U)), kLongestWait);
  return usual * (800 + random_bits() % 400) / 1000;
}

}  // namespace

Alerts::Alerts(AlertsOptions options)
    : see_(std::move(options.look)),
      every_(options.every),
      first_wait_(options.first_wait),
      config_(std::move(options.config)),
      host_(std::move(options.host)),
      evaluator_({}) {
  State state;
  if (!options.state_file.empty()) {
    auto file = StateFile::open(options.state_file);
    if (file) {
      if (!file->problem().empty()) log_line(LogLevel::error, "alerts: " + file->problem());
      state = file->take();
      file_.emplace(std::move(*file));
    } else {
      complain(file.error().line());
    }
  }
  outbox_ = std::move(state.outbox);
  silences_ = std::move(state.silences);
  evaluator_ = Evaluator(evaluator_options(config_, silences_, host_), std::move(state.memory));
  {
    const std::lock_guard lock(mutex_);
    configure();
    start_couriers();
    count();
  }
  thread_ = std::jthread([this](const std::stop_token &stop) { work(stop); });
}

// What has arrived meanwhile is noted before the file is written for the last time.
Alerts::~Alerts() {
  for (auto &courier : couriers_) courier.thread.request_stop();
  for (auto &courier : couriers_) courier.thread.join();
  thread_.request_stop();
}

void Alerts::configure() {
  evaluator_.configure(evaluator_options(config_, silences_, host_));
  std::vector<Text> names;
  for (const auto &receiver : config_.receivers) names.emplace_back(receiver.name);
  if (const auto dropped = outbox_.drop_others(names); dropped > 0)
    log_line(LogLevel::warning,
             fmt::format("alerts: {} dropped, for receivers that are not there any more", counted(dropped, "message")));
  must_save_ = true;
}

void Alerts::start_couriers() {
  for (const auto &receiver : config_.receivers) {
    auto &courier = couriers_.emplace_back(receiver);
    courier.thread = std::jthread([this, &courier](const std::stop_token &stop) { carry(courier, stop); });
  }
}

void Alerts::reload(Config config) {
  std::list<Courier> former;
  {
    const std::lock_guard lock(mutex_);
    former.swap(couriers_);
  }
  for (auto &courier : former) courier.thread.request_stop();
  for (auto &courier : former) courier.thread.join();
  const std::lock_guard lock(mutex_);
  config_ = std::move(config);
  configure();
  start_couriers();
  for (auto &courier : couriers_) {
    const auto before = std::ranges::find(former, courier.name, &Courier::name);
    if (before == former.end()) continue;
    courier.sent = before->sent;
    courier.failed = before->failed;
    courier.given_up = before->given_up;
  }
  count();
  changed_.notify_all();
}

std::vector<Text> Alerts::audience(const Message &message) const {
  std::vector<Text> names;
  for (const auto &receiver : config_.receivers) {
    if (receiver.wants(message)) names.emplace_back(receiver.name);
  }
  return names;
}

void Alerts::work(const std::stop_token &stop) {
  auto due = monotonic_now();
  while (!stop.stop_requested()) {
    bool is_due = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, stop, due, [this] { return must_save_; });
      if (stop.stop_requested()) break;
      is_due = monotonic_now() >= due;
    }
    if (is_due) {
      look();
      due = next_turn(due, every_, monotonic_now());
    }
    save();
  }
  const std::lock_guard lock(mutex_);
  must_save_ = must_save_ || may_save_ || evaluator_.take_changed();
  if (file_ && must_save_) static_cast<void>(file_->write(encode_state(evaluator_.memory(), outbox_, silences_)));
}

// A clock that is set moves all times along, so that nothing ends or begins because of it.
void Alerts::follow_clock(WallTime now) {
  const auto ahead = now.time_since_epoch() - monotonic_now().time_since_epoch();
  const auto before = std::exchange(clock_, ahead);
  if (!before || (ahead - *before < kClockStep && *before - ahead < kClockStep)) return;
  evaluator_.shift(ahead - *before);
  outbox_.shift(ahead - *before);
}

void Alerts::look() {
  auto sight = see_();
  sight.now = wall_now();
  const std::lock_guard lock(mutex_);
  follow_clock(sight.now);
  if (sight.snapshot != nullptr && !sight.snapshot->hostname.empty()) host_ = sight.snapshot->hostname.str();
  const auto changes = evaluator_.look(sight);
  outbox_.add(changes, host_, sight.now);
  const bool is_closed =
      outbox_.close(sight.now, config_.group, [this](const Message &message) { return audience(message); });
  if (const auto lost = outbox_.take_overflow(); lost > 0)
    log_line(LogLevel::error, fmt::format("alerts: too many messages wait: the oldest are given up ({})", lost));
  must_save_ = must_save_ || !changes.empty() || is_closed;
  may_save_ = evaluator_.take_changed() || may_save_;
  if (may_save_ && monotonic_now() - saved_ >= kSaveWithin) must_save_ = true;
  count();
}

void Alerts::save() {
  std::vector<std::byte> bytes;
  {
    const std::lock_guard lock(mutex_);
    if (!must_save_) return;
    must_save_ = may_save_ = false;
    saved_ = monotonic_now();
    if (file_) bytes = encode_state(evaluator_.memory(), outbox_, silences_);
  }
  const auto written = file_ ? file_->write(bytes) : Result<void>{};
  const std::lock_guard lock(mutex_);
  // A full disk is no reason to say nothing.
  may_save_ = may_save_ || !written;
  if (!written) complain(written.error().line());
  if (written && file_) problem_.clear();
  outbox_.set_kept();
  changed_.notify_all();
}

void Alerts::complain(const std::string &problem) {
  if (problem == problem_) return;
  problem_ = problem;
  log_line(LogLevel::error, "alerts: " + problem + ": they do not outlast this agent");
}

void Alerts::carry(Courier &courier, const std::stop_token &stop) {
  Sender sender(courier.receiver);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto *next = outbox_.next(courier.name);
    if (next == nullptr) {
      changed_.wait(lock, stop, [&] { return outbox_.next(courier.name) != nullptr; });
      continue;
    }
    if (monotonic_now() < courier.next) {
      changed_.wait_until(lock, stop, courier.next, [] { return false; });
      continue;
    }
    const auto waiting = *next;
    lock.unlock();
    const auto delivery = sender.send(waiting.message, stop);
    lock.lock();
    // Cut short, it says nothing of the receiver.
    if (delivery.end != Delivery::End::arrived && stop.stop_requested()) return;
    note(courier, waiting, delivery);
  }
}

void Alerts::note(Courier &courier, const Waiting &waiting, const Delivery &delivery) {
  if (delivery.end != Delivery::End::arrived) return note_failure(courier, waiting, delivery);
  if (!courier.problem.empty()) log_line(LogLevel::notice, fmt::format("alerts: {} is reached again", courier.name));
  ++courier.sent;
  courier.tries = 0;
  courier.problem = {};
  outbox_.done(courier.name, waiting.message.key);
  must_save_ = true;
  changed_.notify_all();
}

void Alerts::note_failure(Courier &courier, const Waiting &waiting, const Delivery &delivery) {
  const auto &message = waiting.message;
  const auto now = monotonic_now();
  ++courier.failed;
  ++courier.tries;
  courier.next = now + std::max<std::chrono::nanoseconds>(wait_after(first_wait_, courier.tries), delivery.wait);
  const Text words = delivery.words;
  if (words != courier.problem || now - courier.said >= kSayAgain) {
    log_line(LogLevel::warning, fmt::format("alerts: {}: {}", courier.name, words));
    courier.said = now;
  }
  courier.problem = words;
  const auto age = wall_now() - waiting.since;
  const bool is_refused = delivery.end == Delivery::End::refused && courier.tries >= kMostTries;
  const bool is_wrong = delivery.end == Delivery::End::wrong && courier.tries >= kMostTries && age >= kMendedWithin;
  if (!is_refused && !is_wrong && age < config_.give_up) return;
  log_line(LogLevel::error, fmt::format("alerts: {} is not told of {}, {}: given up after {} tries: {}", courier.name,
                                        message.rule, message.is_firing ? "firing" : "resolved", courier.tries, words));
  ++courier.given_up;
  courier.tries = 0;
  courier.next = {};
  outbox_.done(courier.name, message.key);
  must_save_ = true;
  changed_.notify_all();
}

Result<void> Alerts::silence(const share::SilenceRequest &request) {
  const std::lock_guard lock(mutex_);
  const auto is_named = [&](const insight::AlertRule &rule) { return fits(request.rule, rule.name); };
  if (std::ranges::none_of(config_.rules, is_named))
    return failure(fmt::format("there is no rule {}", request.rule), "gpulse rules lists them");
  const auto now = wall_now();
  const auto is_same = [&](const Silence &silence) {
    return silence.until <= now || (silence.rule == request.rule && silence.gpu == request.gpu);
  };
  const auto before = silences_.size();
  std::erase_if(silences_, is_same);
  const bool any = silences_.size() < before;
  if (request.time <= 0s && !any)
    return failure(fmt::format("no command has silenced {}", request.rule), "gpulse alert list shows what is silent");
  if (silences_.size() >= kMostSilences) return failure("there are too many silences", "end some of them");
  if (request.time > 0s) silences_.push_back({.rule = request.rule, .gpu = request.gpu, .until = now + request.time});
  evaluator_.configure(evaluator_options(config_, silences_, host_));
  must_save_ = true;
  changed_.notify_all();
  return {};
}

// With the mutex held.
void Alerts::count() {
  Numbers now;
  for (const auto &alert : evaluator_.memory().alerts) now.firing += alert.phase == Phase::firing ? 1 : 0;
  for (const auto &courier : couriers_) {
    now.receivers.push_back({.name = courier.name.str(),
                             .sent = courier.sent,
                             .failed = courier.failed,
                             .given_up = courier.given_up,
                             .waiting = outbox_.waiting(courier.name)});
  }
  const std::lock_guard lock(numbers_mutex_);
  numbers_ = std::move(now);
}

Numbers Alerts::numbers() const {
  const std::lock_guard lock(numbers_mutex_);
  return numbers_;
}

share::AlertsAnswer Alerts::report() const {
  const std::lock_guard lock(mutex_);
  const auto now = wall_now();
  const auto monotonic = monotonic_now();
  share::AlertsAnswer answer{.is_on = true, .problem = problem_};
  auto silences = config_.silences;
  silences.insert(silences.end(), silences_.begin(), silences_.end());
  for (const auto &alert : evaluator_.memory().alerts) {
    if (alert.phase == Phase::over) continue;
    auto &status = answer.alerts.emplace_back();
    status = {.rule = alert.rule,
              .severity = insight::word(alert.level),
              .gpu = alert.gpu,
              .uuid = alert.uuid,
              .detail = alert.detail,
              .summary = alert.summary,
              .value = alert.value_text};
    status.is_firing = alert.phase == Phase::firing;
    status.is_silent = std::ranges::any_of(silences, [&](const auto &each) { return covers(each, alert, now); });
    status.since = now - (status.is_firing ? alert.fired : alert.since);
    for (const auto &courier : couriers_) {
      if (outbox_.is_waiting(courier.name, alert.id)) status.waiting.push_back(courier.name);
    }
  }
  for (const auto &courier : couriers_) {
    answer.receivers.push_back({.name = courier.name,
                                .kind = kReceiverKinds[static_cast<std::size_t>(courier.receiver.kind)],
                                .problem = courier.problem,
                                .sent = courier.sent,
                                .failed = courier.failed,
                                .given_up = courier.given_up,
                                .waiting = outbox_.waiting(courier.name),
                                .next = std::max<std::chrono::nanoseconds>(courier.next - monotonic, 0ns)});
  }
  for (const auto &silence : silences) {
    if (silence.until != WallTime{} && silence.until <= now) continue;
    const auto rest = silence.until == WallTime{} ? 0ns : silence.until - now;
    answer.silences.push_back({.rule = silence.rule, .gpu = silence.gpu, .rest = rest});
  }
  return answer;
}

}  // namespace gpulse::alert
