// SPDX-License-Identifier: Apache-2.0
#include "serve/fleet_live.hpp"

#include <utility>

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr auto kAsGoodAsNever = 24h;

}  // namespace

FleetLive::~FleetLive() {
  // Its thread calls back here, and must not meet what is gone.
  std::unique_ptr<fleet::FleetWatch> watch;
  {
    const std::lock_guard lock(mutex_);
    watch = std::move(watch_);
  }
}

void FleetLive::look(Ready ready) {
  const auto now = monotonic_now();
  std::unique_lock lock(mutex_);
  looked_ = now;
  if (is_resting_) {
    if (watch_) {
      // What it had before is old by now.
      watch_->look_at(std::nullopt);
      watch_->set_interval(options_.interval);
    } else {
      watch_ = std::make_unique<fleet::FleetWatch>(fleet::FleetWatchOptions{
          .engine = options_.engine, .interval = options_.interval, .changed = [this] { changed(); }});
    }
    // Not before: where no thread could be started, the next one who looks tries again.
    is_resting_ = false;
    woken_ = now;
    is_settled_ = false;
  }
  if (!is_settled_ && now < woken_ + options_.patience) {
    waiting_.push_back(std::move(ready));
    if (waiting_.size() == 1) timer_.call_at(woken_ + options_.patience, [this] { tell_all(); });
    return;
  }
  const auto news = watch_->news();
  lock.unlock();
  ready(news);
}

std::optional<fleet::FleetNews> FleetLive::peek() const {
  const std::lock_guard lock(mutex_);
  if (is_resting_ || !watch_) return std::nullopt;
  return watch_->news();
}

// On the thread that asks.
void FleetLive::changed() {
  {
    const std::lock_guard lock(mutex_);
    if (!watch_) return;
    if (monotonic_now() - looked_ > options_.rests_after) {
      is_resting_ = true;
      watch_->set_interval(kAsGoodAsNever);
    }
    if (watch_->news().is_asking) return;
    is_settled_ = true;
  }
  tell_all();
}

void FleetLive::tell_all() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty() || !watch_) return;
  tellers_.post([news = watch_->news(), waiting = std::exchange(waiting_, {})] {
    for (const auto &ready : waiting) ready(news);
  });
}

}  // namespace gpulse::serve
