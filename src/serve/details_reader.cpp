// SPDX-License-Identifier: Apache-2.0
#include "serve/details_reader.hpp"

#include "base/clock.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostRequests = 64;
// Details of this age are good enough for the next one who asks.
constexpr auto kHolds = 1s;
constexpr auto kLetGoAfter = 30s;

}  // namespace

DetailsReader::DetailsReader(feed::Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token &stop) { work(stop); }) {}

DetailsReader::~DetailsReader() = default;

bool DetailsReader::ask(const MetricSet &set, Answer answer) {
  const std::lock_guard lock(mutex_);
  if (requests_.size() >= kMostRequests) return false;
  requests_.push_back({set, std::move(answer)});
  changed_.notify_all();
  return true;
}

void DetailsReader::release(Monotonic until) {
  std::unique_lock lock(mutex_);
  released_until_ = until;
  changed_.notify_all();
  if (monotonic_now() >= until) return;
  changed_.wait(lock, [&] { return !open_; });
}

Result<share::DetailsAnswer> DetailsReader::read(const MetricSet &set, const std::stop_token &stop) {
  const auto now = monotonic_now();
  if (feed_ && read_set_ == set && now - last_at_ < kHolds) {
    last_.age = now - last_at_;
    return last_;
  }
  if (!feed_ || read_set_ != set) {
    feed_.reset();
    auto options = options_;
    options.only = set;
    auto opened = feed::open(options, stop);
    if (!opened) return std::unexpected(opened.error());
    feed_ = std::move(*opened);
    read_set_ = set;
    last_at_ = {};
  }
  const auto sample = last_at_ == Monotonic{} ? feed_->once(stop) : feed_->again(stop);
  if (!sample) return std::unexpected(sample.error());
  if (*sample == nullptr) return failure("the agent ends");
  last_ = {};
  last_at_ = monotonic_now();
  for (const auto &device : (*sample)->devices) {
    if (device.identity != nullptr && device.details != nullptr)
      last_.devices.push_back({.uuid = device.identity->uuid, .details = *device.details});
  }
  return last_;
}

void DetailsReader::work(const std::stop_token &stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto is_released = [&] { return monotonic_now() < released_until_; };
    const auto wanted = [&] { return !requests_.empty() || (open_ && is_released()); };
    if (!changed_.wait_for(lock, stop, kLetGoAfter, wanted) || is_released()) {
      lock.unlock();
      feed_.reset();
      last_at_ = {};
      lock.lock();
      open_ = false;
      changed_.notify_all();
    }
    if (requests_.empty()) continue;
    const auto request = std::move(requests_.front());
    requests_.pop_front();
    const bool released = is_released();
    open_ = !released;
    lock.unlock();
    request.answer(released ? Result<share::DetailsAnswer>(failure("the agent has let go of the GPUs"))
                            : read(request.set, stop));
    lock.lock();
  }
}

}  // namespace gpulse::serve
