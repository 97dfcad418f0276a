// SPDX-License-Identifier: Apache-2.0
#include "cli/feed.hpp"

#include "cli/output.hpp"
#include "source/registry.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

// The demo's most telling moment: a matrix product at full load.
constexpr auto kDemoMoment = 15s;

// A laptop's GPU that nobody uses for so long is let go of, so that it can fall asleep.
constexpr auto kIdleReleaseAfter = 15s;

}  // namespace

Result<Feed *> Feed::open(const Options &options) {
  static std::unique_ptr<Feed> kept;
  kept.reset(new Feed(options));
  auto &feed = *kept;
  if (options.demo || !options.replay.empty()) {
    auto replay = options.demo ? record::ReplayFeed::demo() : record::ReplayFeed::open(options.replay);
    if (!replay) return std::unexpected(replay.error());
    feed.replay_ = std::move(*replay);
    if (feed.replay_->skipped() > 0) {
      complain("the recording is damaged: " + std::to_string(feed.replay_->skipped()) + " blocks were skipped");
    }
    return &feed;
  }
  const Sysroot root(options.sysroot);
  if (!root.is_machine() && !root.exists("/")) return failure("no folder " + options.sysroot, "give one to --sysroot");
  const bool goes_on = options.watch || !options.output.empty();
  auto sources = make_sources(options.source, root,
                              {.texts = !options.fast,
                               .only = options.only,
                               .fast_start = options.fast && !goes_on,
                               .events = goes_on,
                               .wake = options.wake,
                               .idle_release_after = goes_on ? kIdleReleaseAfter : 0s});
  if (!sources) return std::unexpected(sources.error());
  feed.sampler_ = std::make_unique<Sampler>(std::move(*sources), root,
                                            RunnerOptions{.tick = options.interval, .only = options.only});
  return &feed;
}

Result<SnapshotPtr> Feed::once_live() {
  std::optional<SlowNotice> notice;
  if (!options_.own_screen) notice.emplace("waiting for the driver to answer …");
  // What a command names is read at once, however seldom it would be otherwise.
  auto first = sampler_->sample(options_.fast && !options_.only ? Pass::fast : Pass::everything);
  for (const auto &source : first->sources) {
    if (source.mistake) return failure(source.problem, source.remedy);
  }
  if (options_.fast) return first;
  sleep_until(monotonic_now() + options_.window);
  return sampler_->sample(Pass::rates);
}

Result<SnapshotPtr> Feed::once() {
  if (sampler_ != nullptr) return once_live();
  if (options_.at || options_.demo) {
    return replay_->at(replay_->find(replay_->first_time() + options_.at.value_or(kDemoMoment)));
  }
  return replay_->at(replay_->size() - 1);
}

Result<SnapshotPtr> Feed::again() {
  if (sampler_ != nullptr) return sampler_->sample(Pass::everything);
  return once();
}

Result<SnapshotPtr> Feed::next() {
  if (sampler_ == nullptr) {
    if (!started_) {
      const auto from = options_.at ? replay_->find(replay_->first_time() + *options_.at) : 0;
      if (!replay_->play(options_.speed, from)) return failure("--speed must be above 0");
      started_ = true;
    }
    while (!asked_to_stop() && replay_->position() < replay_->size() && !sleep_until(replay_->due())) continue;
    if (asked_to_stop()) return SnapshotPtr{};
    return replay_->wait_next();
  }
  if (!started_) {
    started_ = true;
    auto first = once_live();
    if (!first) return first;
    last_ = *first;
    sampler_->start(options_.interval, last_);
    if (!asked_to_stop()) return last_;
  }
  while (!asked_to_stop()) {
    if (auto newer = sampler_->wait_newer(last_, monotonic_now() + 100ms)) return last_ = std::move(newer);
  }
  return SnapshotPtr{};
}

void Feed::stream(const std::function<void(Result<SnapshotPtr>)> &taker) {
  auto first = once_live();
  taker(first);
  if (first) sampler_->start(options_.interval, *first, taker);
}

}  // namespace gpulse::cli
