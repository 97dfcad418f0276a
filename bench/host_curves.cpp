// SPDX-License-Identifier: Apache-2.0
// How long an engine takes for the curves of one machine, asked as the host view asks for them: milliseconds of each
// run as a list in JSON.
//
//   host_curves URL INSTANCE END_UNIX HOURS STEP_SECONDS RUNS
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "fleet/host_asker.hpp"

int main(int argc, char **argv) {
  using namespace gpulse;
  if (argc != 7) {
    fmt::print(stderr, "host_curves URL INSTANCE END_UNIX HOURS STEP_SECONDS RUNS\n");
    return 2;
  }
  auto url = fleet::parse_engine_url(argv[1]);
  if (!url) return 2;
  fleet::HostAsker asker({.url = *url}, {.instance = argv[2], .name = Text(argv[2])});
  constexpr std::array kMain{
      role_metric<Scope::device>(Role::utilization), role_metric<Scope::device>(Role::true_activity),
      role_metric<Scope::device>(Role::memory_used), role_metric<Scope::device>(Role::power),
      role_metric<Scope::device>(Role::temperature), role_metric<Scope::device>(Role::clock)};
  const WallTime last{std::chrono::seconds(std::atoll(argv[3]))};
  const auto first = last - std::chrono::hours(std::atoll(argv[4]));
  std::string times;
  std::size_t curves = 0, points = 0;
  for (int run = 0; run < std::atoi(argv[6]); ++run) {
    const auto begun = monotonic_now();
    const auto got = asker.curves(first, last, std::chrono::seconds(std::atoll(argv[5])), kMain);
    if (!got) {
      fmt::print(stderr, "host_curves: {}\n", got.error().error.line());
      return 1;
    }
    times += fmt::format("{}{:.1f}", times.empty() ? "" : ",", Seconds(monotonic_now() - begun).count() * 1e3);
    curves = got->curves.size();
    points = 0;
    for (const auto &curve : got->curves) {
      for (const auto *values : {&curve.mean, &curve.least, &curve.greatest}) {
        points +=
            static_cast<std::size_t>(std::ranges::count_if(*values, [](double value) { return !std::isnan(value); }));
      }
    }
  }
  fmt::print("{{\"milliseconds\":[{}],\"curves\":{},\"points\":{}}}\n", times, curves, points);
  return 0;
}
