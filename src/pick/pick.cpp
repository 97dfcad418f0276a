// SPDX-License-Identifier: Apache-2.0
#include "pick/pick.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace gpulse::pick {

namespace {

using namespace std::chrono_literals;

// Others may take what was free a moment ago, again and again; then it is time to say so.
constexpr int kMostRounds = 16;

class Picker {
 public:
  Picker(feed::Feed &feed, const Options &options, LeaseFolder folder)
      : feed_(feed), options_(options), folder_(std::move(folder)) {
    if (options.cuda_order) ask_ = [this] { return ask_once(); };
  }

  std::expected<Picked, NotPicked> run() {
    const auto begun = monotonic_now();
    auto pause = kFirstPause;
    if (auto taken = take_sample(feed_.once(options_.stop)); !taken) return std::unexpected(taken.error());
    for (;;) {
      auto picked = try_once();
      if (picked || picked.error().why != Why::none_free || !options_.wait) return picked;
      const auto waited = monotonic_now() - begun;
      if (waited >= *options_.wait) return picked;
      if (options_.progress) options_.progress({waited, options_.request.count, free_, picked.error().refused});
      const auto next = std::min(monotonic_now() + jittered(pause), begun + *options_.wait);
      if (!sleep_until(next, options_.stop)) return std::unexpected(stopped());
      pause = std::min(pause * 2, kLongestPause);
      if (auto taken = take_sample(feed_.again(options_.stop)); !taken) return std::unexpected(taken.error());
    }
  }

 private:
  static constexpr std::chrono::nanoseconds kFirstPause = 100ms, kLongestPause = 500ms;

  // Those who wait do not all look at the same moment.
  static std::chrono::nanoseconds jittered(std::chrono::nanoseconds pause) {
    return pause + pause * static_cast<int>(random_bits() % 256) / 512;
  }

  static NotPicked stopped() { return {.why = Why::stopped, .error = {"stopped, no GPU was taken"}}; }

  Result<std::vector<std::string>> ask_once() {
    if (!cuda_order_) cuda_order_ = options_.cuda_order();
    return *cuda_order_;
  }

  std::expected<void, NotPicked> take_sample(Result<SnapshotPtr> sample) {
    if (!sample) return std::unexpected(NotPicked{.why = Why::failed, .error = sample.error()});
    if (*sample == nullptr) return std::unexpected(stopped());
    snapshot_ = std::move(*sample);
    visible_ = visible(snapshot_->devices, options_.environment, ask_);
    return {};
  }

  // Of the newest sample.
  std::expected<Picked, NotPicked> try_once() {
    std::map<std::string, std::string> taken;
    for (int round = 0; round < kMostRounds; ++round) {
      if (auto good = check_visible(); !good) return std::unexpected(good.error());
      const auto choice = choose(*snapshot_, visible_, options_.request, taken);
      free_ = choice.free.size();
      if (free_ < options_.request.count) return std::unexpected(none_free(choice));
      auto leases = lock(choice.free, taken);
      if (!leases) return std::unexpected(NotPicked{.why = Why::failed, .error = leases.error()});
      if (leases->empty()) continue;
      // What was free when it was looked at may have been taken by somebody who asks nobody.
      if (auto sampled = take_sample(feed_.again(options_.stop)); !sampled) return std::unexpected(sampled.error());
      if (auto picked = confirm(*leases, taken)) return std::move(*picked);
    }
    return std::unexpected(NotPicked{.why = Why::none_free, .error = {"other programs take the GPUs all the time"}});
  }

  std::expected<void, NotPicked> check_visible() const {
    if (visible_.allowed.empty() || visible_.uncertain) {
      if (snapshot_->devices.empty())
        return std::unexpected(
            NotPicked{.why = Why::no_device, .error = {absence_words(*snapshot_), "gpulse doctor tells why"}});
      const auto problem =
          visible_.problem.empty() ? "no GPU that CUDA, HIP or Level Zero could use" : visible_.problem;
      return std::unexpected(NotPicked{.why = Why::hidden, .error = {problem}, .ignored = visible_.ignored});
    }
    return {};
  }

  NotPicked none_free(const Choice &choice) const {
    const auto wanted = options_.request.count;
    NotPicked out{.why = Why::none_free, .error = {"no GPU is free"}, .ignored = visible_.ignored};
    const auto allowed = visible_.allowed.size();
    if (wanted > allowed) {
      out.why = Why::too_few;
      out.error.what = fmt::format("{} GPUs were asked for, there {} {}", wanted, allowed == 1 ? "is" : "are", allowed);
    } else if (!choice.free.empty() || wanted > 1) {
      out.error.what = fmt::format("{} GPUs were asked for, {} {} free", wanted,
                                   choice.free.empty() ? "none" : std::to_string(choice.free.size()),
                                   choice.free.size() == 1 ? "is" : "are");
    }
    for (const auto &[device, reason] : choice.refused) {
      const auto &one = snapshot_->devices[device];
      out.refused.push_back({one.id, one.identity->uuid, one.identity->name, reason});
    }
    return out;
  }

  // None where there were not enough: `taken` then knows of those that were missed.
  Result<std::vector<Lease>> lock(const std::vector<std::size_t> &free, std::map<std::string, std::string> &taken) {
    std::vector<LeaseKey> keys;
    for (const auto i : free) {
      const auto &identity = *snapshot_->devices[i].identity;
      keys.push_back({identity.uuid, identity.parent});
    }
    auto got = folder_.take(keys, options_.request.count);
    if (!got) return std::unexpected(got.error());
    for (auto &[key, holder] : got->missed) taken[keys[key].uuid] = std::move(holder);
    return std::move(got->leases);
  }

  std::optional<Picked> confirm(std::vector<Lease> &leases, const std::map<std::string, std::string> &taken) {
    const auto choice = choose(*snapshot_, visible_, options_.request, taken);
    Picked picked;
    std::vector<std::size_t> chosen;
    for (const auto i : visible_.allowed) {
      const auto lease = std::find_if(leases.begin(), leases.end(), [&](const Lease &one) {
        return one.uuid() == snapshot_->devices[i].identity->uuid;
      });
      if (lease == leases.end() || std::find(choice.free.begin(), choice.free.end(), i) == choice.free.end()) continue;
      picked.leases.push_back(std::move(*lease));
      picked.devices.push_back(snapshot_->devices[i]);
      chosen.push_back(i);
    }
    if (chosen.size() < options_.request.count) return std::nullopt;
    picked.variables = variables_for(snapshot_->devices, chosen);
    picked.ignored = visible_.ignored;
    return picked;
  }

  feed::Feed &feed_;
  const Options &options_;
  LeaseFolder folder_;
  CudaOrder ask_;
  std::optional<Result<std::vector<std::string>>> cuda_order_;
  SnapshotPtr snapshot_;
  Visible visible_;
  std::size_t free_ = 0;
};

}  // namespace

feed::Options feed_options() {
  feed::Options options;
  options.only = needs_of_choice();
  options.instances = true;
  options.rates = feed::Rates::if_needed;
  // A GPU that sleeps is as free as can be, and about to be woken anyway.
  options.wake = true;
  options.all_each_time = true;
  return options;
}

std::expected<Picked, NotPicked> pick(feed::Feed &feed, const Options &options) {
  auto folder = LeaseFolder::open(options.place ? *options.place : lease_place(options.environment));
  if (!folder) return std::unexpected(NotPicked{.why = Why::failed, .error = folder.error()});
  return Picker(feed, options, std::move(*folder)).run();
}

}  // namespace gpulse::pick
