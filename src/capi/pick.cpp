// SPDX-License-Identifier: Apache-2.0
#include "pick/pick.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stop_token>

#include "base/signals_blocked.hpp"
#include "capi/handles.hpp"
#include "capi/options.hpp"
#include "pick/cuda_order.hpp"

// Also of one that was not had: then it has the reasons.
struct gpulse_lease {
  struct Entry {
    std::string id, uuid, name, reason;
  };
  std::vector<gpulse::pick::Lease> leases{};
  std::vector<Entry> devices{}, refused{};
  std::vector<std::pair<std::string, std::string>> variables{};
};

using namespace gpulse;

namespace {

gpulse_pick_options default_options() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {.size = sizeof(gpulse_pick_options),
          .count = 1,
          .min_free = kNone,
          .min_free_share = kNone,
          .max_util = kNone,
          .wait = 0,
          .pass_on = 0,
          .program = nullptr,
          .progress = nullptr,
          .context = nullptr};
}

std::optional<double> given(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

pick::Options pick_options(const gpulse_pick_options &from, std::stop_source &stop) {
  pick::Options options;
  options.request.count = from.count;
  options.request.min_free_bytes = given(from.min_free);
  if (const auto share = given(from.min_free_share)) options.request.min_free_share = *share;
  options.request.max_util_percent = given(from.max_util);
  if (from.wait > 0) options.wait = capi::nanoseconds_of(std::min(from.wait, 1e8));
  options.stop = stop.get_token();
  options.progress = [&stop, &from](const pick::Progress &progress) {
    const auto free = static_cast<std::uint32_t>(progress.free);
    if (from.progress != nullptr && from.progress(from.context, Seconds(progress.waited).count(), free) != 0)
      stop.request_stop();
  };
  options.cuda_order = [program = std::string(from.program == nullptr ? "gpulse" : from.program)] {
    return pick::ask_cuda_order(program);
  };
  return options;
}

// Reads may start threads, which must not get the program's signals. The wait between them can be interrupted.
class QuietFeed final : public feed::Feed {
 public:
  explicit QuietFeed(std::unique_ptr<feed::Feed> feed) : feed_(std::move(feed)) {}

  bool is_live() const override { return feed_->is_live(); }
  Result<SnapshotPtr> once(const std::stop_token &stop) override {
    const SignalsBlocked blocked;
    return feed_->once(stop);
  }
  Result<SnapshotPtr> again(const std::stop_token &stop) override {
    const SignalsBlocked blocked;
    return feed_->again(stop);
  }
  Result<SnapshotPtr> next(const std::stop_token &stop) override {
    const SignalsBlocked blocked;
    return feed_->next(stop);
  }

 private:
  std::unique_ptr<feed::Feed> feed_;
};

Result<std::unique_ptr<feed::Feed>> open_feed() {
  const SignalsBlocked blocked;
  auto feed = feed::open(pick::feed_options());
  if (!feed) return feed;
  return std::make_unique<QuietFeed>(std::move(*feed));
}

gpulse_status refuse(const pick::NotPicked &why, gpulse_lease &lease) {
  for (const auto &one : why.refused)
    lease.refused.push_back({text(one.id), one.uuid.str(), one.name.str(), Text(one.reason).str()});
  const bool gave_up = why.why == pick::Why::stopped;
  return capi::fail(why.why == pick::Why::failed ? GPULSE_FAILED
                    : gave_up                    ? GPULSE_CLOSED
                                                 : GPULSE_NO_GPU,
                    gave_up ? "waiting for a GPU was given up" : why.error.line());
}

gpulse_status take(const gpulse_pick_options &options, gpulse_lease &lease) {
  std::stop_source stop;
  const auto feed = open_feed();
  if (!feed) return capi::fail(feed.error());
  auto picked = pick::pick(**feed, pick_options(options, stop));
  if (!picked) return refuse(picked.error(), lease);
  for (auto &one : picked->leases) {
    if (options.pass_on == 0) continue;
    if (const auto passed = one.pass_on(); !passed) return capi::fail(passed.error());
  }
  lease.leases = std::move(picked->leases);
  lease.variables = std::move(picked->variables);
  for (const auto &device : picked->devices)
    lease.devices.push_back({text(device.id), device.identity->uuid.str(), device.identity->name.str(), ""});
  return GPULSE_OK;
}

gpulse_status hand_out(const std::vector<gpulse_lease::Entry> &entries, std::uint32_t index, gpulse_leased *out) {
  if (index >= entries.size()) return capi::fail(GPULSE_INVALID, fmt::format("the lease has no entry {}", index));
  const auto &one = entries[index];
  const gpulse_leased full{.size = 0,
                           .id = one.id.c_str(),
                           .uuid = one.uuid.c_str(),
                           .name = one.name.c_str(),
                           .reason = one.reason.c_str()};
  return capi::hand_out(full, out);
}

}  // namespace

// As with gpulse_options: an older caller's struct is no larger.
static_assert(sizeof(gpulse_pick_options) == 80, "of the first version; write no more than that");
void gpulse_pick_options_init(gpulse_pick_options *options) {
  if (options != nullptr) *options = default_options();
}

gpulse_status gpulse_pick(const gpulse_pick_options *given, gpulse_lease **lease) {
  return capi::guarded([&] {
    if (lease == nullptr) return capi::fail(GPULSE_INVALID, "no place for the lease");
    *lease = nullptr;
    const auto taken = capi::take_in(given, default_options());
    if (!taken) return capi::fail(GPULSE_INVALID, taken.error().line());
    const auto &options = *taken;
    if (options.count == 0) return capi::fail(GPULSE_INVALID, "no GPU is asked for");
    if (options.min_free < 0 || options.max_util < 0)
      return capi::fail(GPULSE_INVALID, "memory and utilisation cannot be asked for below 0");
    if (options.min_free_share < 0 || options.min_free_share > 1)
      return capi::fail(GPULSE_INVALID, "a share of the memory is between 0 and 1");
    auto made = std::make_unique<gpulse_lease>();
    const auto status = take(options, *made);
    if (status == GPULSE_OK || status == GPULSE_NO_GPU) *lease = made.release();
    return status;
  });
}

void gpulse_lease_free(gpulse_lease *lease) { delete lease; }

gpulse_status gpulse_get_lease(const gpulse_lease *lease, gpulse_lease_info *info) {
  return capi::guarded([&] {
    if (lease == nullptr) return capi::fail(GPULSE_INVALID, "no lease");
    const gpulse_lease_info full{.size = 0,
                                 .devices = static_cast<std::uint32_t>(lease->devices.size()),
                                 .variables = static_cast<std::uint32_t>(lease->variables.size()),
                                 .refused = static_cast<std::uint32_t>(lease->refused.size())};
    return capi::hand_out(full, info);
  });
}

gpulse_status gpulse_get_leased(const gpulse_lease *lease, uint32_t device, gpulse_leased *leased) {
  return capi::guarded([&] {
    if (lease == nullptr) return capi::fail(GPULSE_INVALID, "no lease");
    return hand_out(lease->devices, device, leased);
  });
}

gpulse_status gpulse_get_refused(const gpulse_lease *lease, uint32_t index, gpulse_leased *refused) {
  return capi::guarded([&] {
    if (lease == nullptr) return capi::fail(GPULSE_INVALID, "no lease");
    return hand_out(lease->refused, index, refused);
  });
}

const char *gpulse_lease_variable(const gpulse_lease *lease, uint32_t index, const char **value) {
  if (lease == nullptr || index >= lease->variables.size()) return nullptr;
  const auto &[name, text] = lease->variables[index];
  if (value != nullptr) *value = text.c_str();
  return name.c_str();
}
