// SPDX-License-Identifier: Apache-2.0
// What a sample costs beyond the driver calls it makes, on the NVML simulator.
//
//   sampler_bench                                   the table of times: ours, the bare calls, their ratio
//   sampler_bench ours|bare everything|tick GPUS N  N samples and nothing else, for callgrind
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>

#include "bare_calls.hpp"
#include "sample/sampler.hpp"
#include "simulator.hpp"
#include "source/nvml/nvml_source.hpp"
#include "source/registry.hpp"

namespace gpulse::bench {

namespace {

using namespace std::chrono_literals;

// GPM gives numbers only for samples this far apart: quicker, and a sample would leave it out.
constexpr auto kPace = 100ms;
constexpr double kMostMeasured = 1.1;
// What a scheduled sample reads when nothing of the slower tiers is due; asked for by name, every sample is the same.
constexpr auto kTick = Pass::fast;

struct Case {
  std::uint32_t gpus;
  bool measured;  // calls take as long as on an H200, else nothing
  bool host;
  Pass pass;
  std::size_t rounds;
};

// One scenario with both ways to read it.
class Bench {
 public:
  Bench(const Simulator &simulator, const Case &what) : simulator_(simulator) {
    simulator.load(what.gpus, what.measured);
    auto api = nvml::load_library();
    if (!api || (*api)->init_v2() != nvml::Return::success) std::exit(1);
    api_ = std::move(*api);
    make_processes(folder_, what.gpus);
    // The host is read from the machine; the processes of the scenario, which it does not have, from the folder.
    const auto root = what.host ? Sysroot() : folder_.root();
    const SourceOptions options{.texts = false, .events = false};
    std::vector<std::shared_ptr<Source>> sources;
    if (what.host) {
      sources = *make_sources("nvml", root, options);
    } else {
      sources.push_back(nvml::make_source(root, options));
    }
    sampler_ = std::make_unique<Sampler>(std::move(sources), root, RunnerOptions{.tick = kPace});
    for (std::uint32_t i = 0; i < what.gpus; ++i) devices_.push_back(std::make_unique<BareDevice>(api_, i));
    // The first time finds devices and what they lack, the second is the first with GPM in it.
    for (int i = 0; i < 3; ++i) {
      ours(Pass::everything);
      bare(Pass::everything);
      pace();
    }
  }

  void ours(Pass pass) { sampler_->sample(pass); }
  void bare(Pass pass) {
    for (auto &device : devices_) pass == Pass::everything ? device->everything() : device->tick();
  }
  static void pace() { std::this_thread::sleep_for(kPace); }

  std::vector<std::uint64_t> counts() const {
    std::vector<std::uint64_t> all;
    for (const auto &symbol : api_->resolver.symbols()) all.push_back(simulator_.calls(symbol.name));
    return all;
  }
  const char *call(std::size_t place) const { return api_->resolver.symbols()[place].name; }

 private:
  const Simulator &simulator_;
  TemporaryFolder folder_;
  std::shared_ptr<nvml::Api> api_;
  std::unique_ptr<Sampler> sampler_;
  std::vector<std::unique_ptr<BareDevice>> devices_;
};

template <class Work>
std::chrono::nanoseconds time(Work work) {
  const auto begun = monotonic_now();
  work();
  return monotonic_now() - begun;
}

struct Least {
  double ours, bare;
};

// Microseconds of both, in turns. The rest of the machine can only add to a time: the least of many is the cost.
Least least_us(Bench &bench, const Case &what) {
  auto ours = std::chrono::nanoseconds::max();
  auto bare = ours;
  for (std::size_t round = 0; round < what.rounds; ++round) {
    Bench::pace();
    const bool bare_first = round % 2 == 0;
    if (bare_first) bare = std::min(bare, time([&] { bench.bare(what.pass); }));
    ours = std::min(ours, time([&] { bench.ours(what.pass); }));
    if (!bare_first) bare = std::min(bare, time([&] { bench.bare(what.pass); }));
  }
  using Micro = std::chrono::duration<double, std::micro>;
  return {Micro(ours).count(), Micro(bare).count()};
}

// How many calls either makes; nothing when they differ, since a comparison would then mean nothing.
std::optional<std::uint64_t> same_calls(Bench &bench, Pass pass) {
  const auto before = bench.counts();
  bench.ours(pass);
  const auto between = bench.counts();
  bench.bare(pass);
  const auto after = bench.counts();
  std::uint64_t total = 0;
  bool same = true;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto ours = between[i] - before[i];
    const auto bare = after[i] - between[i];
    total += bare;
    if (ours == bare) continue;
    fmt::print(stderr, "{}: a sample calls it {} times, the bare loop {} times\n", bench.call(i), ours, bare);
    same = false;
  }
  return same ? std::optional(total) : std::nullopt;
}

bool run(const Simulator &simulator, const Case &what) {
  Bench bench(simulator, what);
  const auto calls = same_calls(bench, what.pass);
  if (!calls) return false;
  const auto [mine, others] = least_us(bench, what);
  const bool judged = what.measured && what.pass == Pass::everything;
  const bool good = !judged || mine <= kMostMeasured * others;
  fmt::print("{:4}  {:5}  {:4}  {:10}  {:6}  {:10.1f}  {:10.1f}  {:8.1f}  {:5.3f}{}\n", what.gpus,
             what.measured ? "h200" : "none", what.host ? "yes" : "no",
             what.pass == Pass::everything ? "everything" : "tick", *calls, mine, others, mine - others, mine / others,
             good ? "" : "  over the limit");
  std::fflush(stdout);
  return good;
}

int table() {
  const Simulator simulator;
  fmt::print("Microseconds per sample, the least of many; cost: what the simulated calls take\n");
  fmt::print("GPUs  cost   host  pass         calls        ours        bare      more  ratio\n");
  bool good = true;
  for (const bool measured : {false, true}) {
    for (const bool host : {false, true}) {
      for (const auto pass : {Pass::everything, kTick}) {
        for (const std::uint32_t gpus : {1U, 8U, 128U}) {
          const std::size_t rounds = measured && gpus == 128 && pass == Pass::everything ? 4 : 40;
          good = run(simulator, {gpus, measured, host, pass, rounds}) && good;
        }
      }
    }
  }
  return good ? 0 : 1;
}

int repeat(bool ours, Pass pass, std::uint32_t gpus, std::size_t samples) {
  const Simulator simulator;
  Bench bench(simulator, {gpus, false, false, pass, 0});
  for (std::size_t i = 0; i < samples; ++i) {
    Bench::pace();
    ours ? bench.ours(pass) : bench.bare(pass);
  }
  return 0;
}

}  // namespace

}  // namespace gpulse::bench

int main(int argc, char **argv) {
  if (argc == 1) return gpulse::bench::table();
  if (argc != 5) return 2;
  const auto pass = std::strcmp(argv[2], "tick") == 0 ? gpulse::bench::kTick : gpulse::Pass::everything;
  return gpulse::bench::repeat(std::strcmp(argv[1], "ours") == 0, pass,
                               static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10)),
                               std::strtoul(argv[4], nullptr, 10));
}
