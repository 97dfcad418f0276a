// SPDX-License-Identifier: Apache-2.0
#include "fleet/delivery.hpp"

#include "fleet/write_request.hpp"

namespace gpulse::fleet {

namespace {

// So many refusals without anything taken, and the rest of a moment is not tried: an engine that is asked for each of
// ten thousand series helps nobody. Fewer where the moment before was refused as a whole.
constexpr int kRefusals = 16, kRefusalsAfterAll = 4;

class Courier {
 public:
  explicit Courier(const Post &post) : post_(post) {}

  void bring(std::span<const Step> steps) {
    if (steps.empty() || done_.stopped) return;
    if (steps.size() == 1) return bring_one(steps.front());
    if (take(steps)) {
      done_.steps += steps.size();
      return;
    }
    if (done_.stopped) return;
    bring(steps.first(steps.size() / 2));
    bring(steps.subspan(steps.size() / 2));
  }
  Delivered take_result() { return std::move(done_); }

 private:
  static std::size_t count(std::span<const Step> steps) {
    std::size_t all = 0;
    for (const auto &step : steps) all += step.samples.size();
    return all;
  }

  // True: taken. Else what is to be done is in `done_`, or it is to be halved.
  bool take(std::span<const Step> steps) {
    auto answer = post_(encode_write_request(steps));
    switch (answer.verdict) {
      case Verdict::taken:
        done_.taken += count(steps);
        return true;
      case Verdict::refused:
      case Verdict::too_large:
        done_.refusal = std::move(answer);
        return false;
      case Verdict::later:
      case Verdict::wrong:
        done_.stopped = std::move(answer);
        return false;
    }
    return false;
  }

  void bring_one(const Step &step) {
    const auto taken = done_.taken, refused = done_.refused;
    refusals_left_ = all_refused_ ? kRefusalsAfterAll : kRefusals;
    halve(step);
    if (done_.stopped) {
      // It is sent again as a whole: what was taken of it is the same then, and engines keep it once.
      done_.taken = taken;
      done_.refused = refused;
      return;
    }
    ++done_.steps;
    all_refused_ = done_.taken == taken && !step.samples.empty();
  }

  void halve(const Step &part) {
    if (part.samples.empty() || done_.stopped) return;
    if (refusals_left_ == 0) {
      done_.refused += part.samples.size();
      return;
    }
    if (take({&part, 1})) {
      refusals_left_ = kRefusals;
      return;
    }
    if (done_.stopped) return;
    --refusals_left_;  // one bad series among thousands is found with fewer refusals in a row
    if (part.samples.size() == 1) {
      ++done_.refused;
      return;
    }
    const auto middle = part.samples.begin() + static_cast<std::ptrdiff_t>(part.samples.size() / 2);
    halve({.time_ms = part.time_ms, .samples = {part.samples.begin(), middle}});
    halve({.time_ms = part.time_ms, .samples = {middle, part.samples.end()}});
  }

  const Post &post_;
  Delivered done_;
  int refusals_left_ = kRefusals;
  bool all_refused_ = false;
};

}  // namespace

Delivered deliver(std::span<const Step> steps, const Post &post) {
  Courier courier(post);
  courier.bring(steps);
  return courier.take_result();
}

}  // namespace gpulse::fleet
