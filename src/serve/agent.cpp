// SPDX-License-Identifier: Apache-2.0
#include "serve/agent.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/program_pages.hpp"
#include "base/sysroot.hpp"
#include "base/text.hpp"
#include "feed/live_feed.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestRelease = 3600s;
// A sample that comes so late, whatever hangs, will not come any more.
constexpr auto kOverdue = 10s;
constexpr auto kNumbersEvery = 950ms;
// Whatever happens only once has happened by then.
constexpr auto kSettlesWithin = 10s;
// A driver that waits for events comes back within five seconds.
constexpr auto kClosesWithin = 6s;

std::chrono::nanoseconds processor_time() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto time = [](const timeval &value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(use.ru_utime) + time(use.ru_stime);
}

std::uint64_t memory_bytes() {
  const auto text = Sysroot().read("/proc/self/statm", 256).value_or("");
  std::string_view rest = text;
  next_piece(rest, ' ');
  return parse_integer<std::uint64_t>(next_piece(rest, ' ')).value_or(0) *
         static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
}

std::vector<share::CallCost> costs_of(const feed::Feed &feed) {
  std::vector<share::CallCost> all;
  for (const auto &cost : feed.costs()) {
    all.push_back({.source = cost.source,
                   .call = cost.call,
                   .tier = static_cast<std::uint8_t>(cost.tier),
                   .slowed = cost.slowed,
                   .mean = cost.mean,
                   .calls = cost.calls});
  }
  return all;
}

// Several readers may make the same call.
std::vector<view::CallTotal> call_totals(const feed::Feed &feed) {
  std::vector<view::CallTotal> all;
  for (const auto &cost : feed.costs()) {
    const auto known = std::ranges::find_if(
        all, [&](const view::CallTotal &one) { return one.source == cost.source && one.call == cost.call; });
    auto &one = known != all.end() ? *known : all.emplace_back();
    one.source = cost.source;
    one.call = cost.call;
    one.calls += cost.calls;
    one.time += cost.total;
  }
  return all;
}

feed::Options for_details(feed::Options options) {
  options.continuous = false;
  options.rates = feed::Rates::if_needed;
  options.all_each_time = true;
  return options;
}

// A folder that is full is said where samples are published.
void publish_findings(const share::FindingsFile &file, const insight::Watch &watch) {
  share::PublishedFindings published{.judged = watch.last().to};
  for (const auto &lasting : watch.current()) published.findings.push_back(lasting.finding);
  static_cast<void>(file.write(published));
}

}  // namespace

Agent::Agent(AgentOptions options, share::PlaceLock lock, std::unique_ptr<SocketServer> server)
    : options_(std::move(options)),
      place_(std::move(lock)),
      server_(std::move(server)),
      publisher_(options_.place.folder),
      details_(for_details(options_.feed)),
      findings_file_(options_.place.folder),
      findings_([this](const insight::Watch &watch) {
        publish_findings(findings_file_, watch);
        board_.post(watch.current());
      }),
      limits_(options_.limits) {
  if (!options_.history.empty()) history_ = std::make_unique<history::Writer>(options_.history, options_.keep);
}

Result<std::unique_ptr<Agent>> Agent::open(AgentOptions options) {
  if (auto good = share::prepare_folder(options.place); !good) return std::unexpected(good.error());
  auto lock = share::PlaceLock::take(options.place);
  if (!lock) return std::unexpected(lock.error());
  auto server = SocketServer::open(options.place.folder + "/" + share::kSocketFile);
  if (!server) return std::unexpected(server.error());
  return std::unique_ptr<Agent>(new Agent(std::move(options), std::move(*lock), std::move(*server)));
}

void Agent::change() {
  const std::lock_guard lock(mutex_);
  round_.request_stop();
}

void Agent::set_limits(const Limits &limits, const history::Keep &keep) {
  if (history_) history_->set_keep(keep);
  {
    const std::lock_guard lock(mutex_);
    limits_ = limits;
  }
  change();
}

Result<void> Agent::run(const std::stop_token &stop, const ServiceManager &manager) {
  const std::jthread socket([&](const std::stop_token &end) {
    server_->run(
        end, [&](const Client &client, const share::Frame &frame) { handle(client, frame); },
        [&](const Client &client) { drop(client); });
  });
  // Samples may be rarer than signs of life; these end when the samples do.
  const std::jthread watchdog([&](const std::stop_token &end) {
    const auto every = manager.alive_interval();
    while (every && sleep_until(monotonic_now() + *every, end)) {
      if (is_sampling()) static_cast<void>(manager.alive());
    }
  });
  const std::stop_callback wake(stop, [this] { change(); });
  return sample(stop, manager);
}

bool Agent::is_sampling() {
  const std::lock_guard lock(mutex_);
  return monotonic_now() < overdue_;
}

Result<void> Agent::sample(const std::stop_token &stop, const ServiceManager &manager) {
  std::shared_ptr<feed::Feed> feed;
  bool was_released = false;
  bool is_shown = false;  // readers have seen a sample of this feed
  std::vector<Waiting> waiting;
  while (!stop.stop_requested()) {
    std::optional<MetricSet> focus;
    bool released = false;
    std::stop_token round;
    {
      const std::lock_guard lock(mutex_);
      round_ = {};
      round = round_.get_token();
      interval_ = demand_.interval(limits_);
      focus = demand_.focus(limits_);
      released = rest_of_release() > 0s;
      waiting.insert(waiting.end(), waiting_.begin(), waiting_.end());
      waiting_.clear();
    }
    // A stop that was asked for just before has met the round before.
    if (stop.stop_requested()) break;
    if (feed && released != was_released) {
      auto former = std::exchange(feed, nullptr);
      if (released) close(std::move(former));
    }
    was_released = released;
    if (!feed) {
      auto options = options_.feed;
      options.interval = interval_;
      // A machine without its GPUs still has something to tell.
      if (released) options.source = "host";
      auto opened = released ? feed::open_live(options) : feed::open(options, round);
      if (round.stop_requested()) continue;
      if (!opened) return std::unexpected(opened.error());
      feed = std::move(*opened);
      is_shown = false;
      const std::lock_guard lock(mutex_);
      feed_ = feed;
    }
    if (is_shown && has_closed()) answer(waiting, released);
    feed->set_interval(interval_);
    feed->focus(focus.value_or(MetricSet::all()));
    const auto followed = feed->follow(round, [&](const SnapshotPtr &snapshot) {
      const bool more = publish(snapshot, released, manager);
      if (more && !std::exchange(is_shown, true) && has_closed()) answer(waiting, released);
      return more;
    });
    if (!followed) return followed;
    // A recording is played again from its beginning.
    if (!feed->is_live() && sleep_until(monotonic_now() + interval_, round)) feed.reset();
  }
  return {};
}

// A driver may take seconds, in which readers go on.
void Agent::close(std::shared_ptr<feed::Feed> feed) {
  closer_ = {};
  {
    const std::lock_guard lock(mutex_);
    closing_ = Closing::going_on;
  }
  closer_ = std::jthread([this, feed = std::move(feed)](const std::stop_token &stop) {
    const auto limit = monotonic_now() + kClosesWithin;
    bool closed = feed->try_close();
    while (!closed && monotonic_now() < limit && sleep_until(monotonic_now() + 20ms, stop)) closed = feed->try_close();
    {
      const std::lock_guard lock(mutex_);
      closing_ = closed ? Closing::done : Closing::failed;
      // The time that was asked for begins when it is done.
      if (released_until_ != Monotonic{}) released_until_ = monotonic_now() + release_time_;
    }
    change();
  });
}

std::chrono::nanoseconds Agent::rest_of_release() const {
  if (released_until_ == Monotonic{}) return 0s;
  if (closing_ == Closing::going_on) return release_time_;
  return std::max<std::chrono::nanoseconds>(released_until_ - monotonic_now(), 0s);
}

bool Agent::has_closed() {
  const std::lock_guard lock(mutex_);
  return closing_ != Closing::going_on;
}

void Agent::answer(std::vector<Waiting> &waiting, bool released) {
  const std::lock_guard lock(mutex_);
  const auto problem = [&](bool for_release) {
    if (for_release != released) return "somebody has told the agent otherwise since";
    return released && closing_ == Closing::failed ? "a call to a driver hangs: it cannot be let go of" : "";
  };
  for (const auto &[client, for_release] : waiting) {
    const Text why = problem(for_release);
    server_->send(client, why.empty() ? share::encode(share::MessageKind::done) : share::encode(share::Refused{why}));
  }
  waiting.clear();
}

SnapshotPtr Agent::released_words(const Snapshot &snapshot, std::chrono::nanoseconds rest) const {
  auto told = std::make_shared<Snapshot>(snapshot);
  auto sources = told->sources.get();
  sources.push_back(
      {.name = "agent",
       .problem = fmt::format("the agent has let go of the GPUs for another {:.0f} s", Seconds(rest).count()),
       .remedy = "gpulse --no-agent reads them all the same"});
  told->sources = std::move(sources);
  return told;
}

// False: the drivers are to be taken up again.
bool Agent::publish(const SnapshotPtr &snapshot, bool released, const ServiceManager &manager) {
  std::chrono::nanoseconds rest{0};
  std::chrono::nanoseconds interval{0};
  {
    const std::lock_guard lock(mutex_);
    rest = rest_of_release();
    interval = interval_;
  }
  if (released && rest <= 0s) {
    details_.release({});
    return false;
  }
  const auto told = findings_.add(snapshot);
  if (history_) history_->add(told, interval);
  const auto shown = released ? released_words(*told, rest) : told;
  const auto published = publisher_.publish(shown, interval);
  board_.post(shown, interval);
  post_numbers(released);
  const std::lock_guard lock(mutex_);
  overdue_ = monotonic_now() + interval + kOverdue;
  segment_bytes_ = publisher_.bytes();
  if (!published) {
    // Once: a file system that is full stays so for a while.
    auto line = published.error().line();
    if (line != complaint_) log_line(LogLevel::error, line);
    complaint_ = std::move(line);
    return true;
  }
  complaint_.clear();
  ++samples_;
  if (!is_ready_) is_ready_ = manager.ready();
  return true;
}

// Once a second is often enough for a list of all calls.
void Agent::post_numbers(bool released) {
  const auto now = monotonic_now();
  if (now - numbers_posted_ < kNumbersEvery && released == numbers_released_) return;
  if (numbers_posted_ - started_ < kSettlesWithin && now - started_ >= kSettlesWithin) release_program_pages();
  numbers_posted_ = now;
  numbers_released_ = released;
  view::AgentNumbers numbers{.version = options_.version, .released = released};
  std::shared_ptr<const feed::Feed> feed;
  {
    const std::lock_guard lock(mutex_);
    feed = feed_.lock();
  }
  if (feed) numbers.calls = call_totals(*feed);
  if (history_) {
    const auto status = history_->status();
    numbers.history = {.kept = status.samples, .lost = status.lost, .waiting = status.waiting};
  }
  if (options_.alerts.numbers) numbers.alerts = options_.alerts.numbers();
  board_.post(std::move(numbers));
}

void Agent::handle(const Client &client, const share::Frame &frame) {
  const auto refuse = [&](std::string why) {
    server_->send(client.number, share::encode(share::Refused{std::move(why)}));
  };
  switch (frame.kind) {
    case share::MessageKind::want:
      return want(client, frame);
    case share::MessageKind::details:
      return details(client, frame);
    case share::MessageKind::status:
      return server_->send(client.number, share::encode(status()));
    case share::MessageKind::alerts:
      return server_->send(client.number,
                           share::encode(options_.alerts.report ? options_.alerts.report() : share::AlertsAnswer{}));
    case share::MessageKind::silence:
      return silence(client, frame);
    case share::MessageKind::release:
    case share::MessageKind::resume: {
      if (client.user != 0 && client.user != ::geteuid())
        return refuse("only root and the agent's own user may do that");
      if (frame.kind == share::MessageKind::resume) return release(client, 0s);
      const auto request = share::decode<share::Release>(frame.body);
      return request ? release(client, std::min<std::chrono::nanoseconds>(request->time, kLongestRelease))
                     : refuse("the request makes no sense");
    }
    default:
      return refuse("this agent does not know what is asked for");
  }
}

void Agent::silence(const Client &client, const share::Frame &frame) {
  const auto refuse = [&](Text why) { server_->send(client.number, share::encode(share::Refused{std::move(why)})); };
  if (client.user != 0 && client.user != ::geteuid()) return refuse("only root and the agent's own user may do that");
  const auto request = share::decode<share::SilenceRequest>(frame.body);
  if (!request) return refuse("the request makes no sense");
  if (!options_.alerts.silence) return refuse("this agent sends no alerts");
  const auto done = options_.alerts.silence(*request);
  if (!done) return refuse(done.error().line());
  server_->send(client.number, share::encode(share::MessageKind::done));
}

void Agent::drop(const Client &client) {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto before = asked_for();
    demand_.drop(client.number);
    changed = before != asked_for();
  }
  if (changed) change();
}

void Agent::want(const Client &client, const share::Frame &frame) {
  auto request = share::decode<share::Want>(frame.body);
  if (!request) return server_->send(client.number, share::encode(share::Refused{"the request makes no sense"}));
  std::chrono::nanoseconds granted{0};
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto before = asked_for();
    Demand::Reader reader{.who = {.pid = client.pid,
                                  .user = client.user,
                                  .program = std::move(request->program),
                                  .interval = std::max(request->interval, limits_.fastest)},
                          .since = monotonic_now()};
    if (!request->metrics.empty()) reader.metrics = share::metric_set(request->metrics);
    granted = std::min(reader.who.interval, limits_.interval);
    demand_.set(client.number, std::move(reader));
    changed = before != asked_for();
  }
  if (changed) change();
  server_->send(client.number, share::encode(share::Granted{granted}));
}

void Agent::details(const Client &client, const share::Frame &frame) {
  const auto request = share::decode<share::DetailsRequest>(frame.body);
  const auto refuse = [&](Text why) { server_->send(client.number, share::encode(share::Refused{std::move(why)})); };
  if (!request) return refuse("the request makes no sense");
  const auto answer = [this, number = client.number](const Result<share::DetailsAnswer> &read) {
    server_->send(number, read ? share::encode(*read) : share::encode(share::Refused{read.error().line()}));
  };
  if (!details_.ask(share::metric_set(request->metrics), answer)) refuse("too many have asked the agent for details");
}

void Agent::release(const Client &client, std::chrono::nanoseconds time) {
  const auto until = time > 0s ? monotonic_now() + time : Monotonic{};
  // May wait for a driver; who asks waits with it, and so does everybody else who asks.
  details_.release(time > 0s ? until + kClosesWithin : until);
  {
    const std::lock_guard lock(mutex_);
    released_until_ = until;
    release_time_ = time;
    waiting_.push_back({client.number, time > 0s});
  }
  log_line(LogLevel::notice, time > 0s ? fmt::format("lets go of the GPUs for {:.0f} s, as asked by pid {}",
                                                     Seconds(time).count(), client.pid)
                                       : fmt::format("takes up the GPUs again, as asked by pid {}", client.pid));
  change();
}

share::RemoteWriteStatus Agent::remote_write_status() const {
  const auto writing = board_.numbers().remote_write;
  if (!writing) return {};
  return {.url = writing->url,
          .problem = writing->problem,
          .taken = writing->taken,
          .refused = writing->refused,
          .behind = std::max<std::chrono::nanoseconds>(std::chrono::system_clock::now() - writing->up_to, {})};
}

share::HistoryStatus Agent::history_status() const {
  if (!history_) return {};
  auto now = history_->status();
  return {.file = now.path, .problem = now.problem, .bytes = now.bytes, .samples = now.samples, .lost = now.lost};
}

share::AgentStatus Agent::status() {
  const std::lock_guard lock(mutex_);
  const auto feed = feed_.lock();
  const auto now = monotonic_now();
  return {.version = options_.version,
          .pid = static_cast<std::uint32_t>(::getpid()),
          .user = ::geteuid(),
          .running = now - started_,
          .interval = interval_,
          .usual_interval = limits_.interval,
          .fastest = limits_.fastest,
          .released_for = rest_of_release(),
          .processor_time = processor_time(),
          .memory_bytes = memory_bytes(),
          .segment_bytes = segment_bytes_,
          .samples = samples_,
          .readers = demand_.readers(now),
          .costs = feed ? costs_of(*feed) : std::vector<share::CallCost>{},
          .history = history_status(),
          .remote_write = remote_write_status()};
}

}  // namespace gpulse::serve
