// SPDX-License-Identifier: Apache-2.0
#include "serve/finding_thread.hpp"

#include <utility>

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

// Samples that come faster say no more about half a minute, and each is held for that long.
constexpr auto kOften = 900ms;
constexpr std::size_t kMostWaiting = 60;

}  // namespace

FindingThread::FindingThread(Judged judged, insight::WatchOptions options)
    : judged_(std::move(judged)), findings_(options), thread_([this](const std::stop_token &stop) { work(stop); }) {}

SnapshotPtr FindingThread::add(const SnapshotPtr &sample) {
  const auto gap = sample->time - last_;
  const bool judged = gap < 0ns || gap >= kOften;
  std::vector<Event> news;
  {
    const std::lock_guard lock(mutex_);
    news = std::exchange(told_, {});
    if (judged && waiting_.size() == kMostWaiting) waiting_.pop_front();
    if (judged) waiting_.push_back(sample);
  }
  if (judged) {
    last_ = sample->time;
    changed_.notify_one();
  }
  return added_.add(sample, std::move(news));
}

void FindingThread::work(const std::stop_token &stop) {
  for (;;) {
    SnapshotPtr sample;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      sample = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const auto before = findings_.watch().last().to;
    auto news = findings_.judge(sample);
    if (judged_ && findings_.watch().last().to != before) judged_(findings_.watch());
    if (news.empty()) continue;
    const std::lock_guard lock(mutex_);
    for (auto &event : news) told_.push_back(std::move(event));
  }
}

}  // namespace gpulse::serve
