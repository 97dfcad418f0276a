// SPDX-License-Identifier: Apache-2.0
// A long run on the simulator, published as an agent does: processes come and go, a device falls off the bus and
// returns, events arrive. Memory and open files must not grow. GPULSE_SOAK_TICKS makes it longer.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "share/segment.hpp"
#include "sim/testing/sim_machine.hpp"

namespace gpulse::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

int asked_ticks() {
  const char *asked = std::getenv("GPULSE_SOAK_TICKS");
  return parse_integer<int>(asked == nullptr ? "" : asked).value_or(kSanitized ? 4'000 : 100'000);
}
const int kTicks = asked_ticks();
const int kWarm = kTicks / 10;
constexpr double kStep = 0.1;  // seconds of the scenario per tick

std::string soak_scenario() {
  std::string text = full_device(58, 612) + "lost = [";
  for (int i = 1; i <= 10; ++i) {
    const int from = static_cast<int>(kTicks * kStep) * i / 11;
    text += (i > 1 ? ", [" : "[") + std::to_string(from) + ", " + std::to_string(from + 2) + "]";
  }
  text += "]\n" + full_device(61, 433);
  for (int i = 0; i < 20; ++i) {
    text += "[[process]]\ndevice = " + std::to_string(i % 2) + "\npid = " + std::to_string(50'000 + i) +
            "\nmemory_mib = 100\nsm = 5\npresent = { steps = [[0, 0], [" + std::to_string(i + 1) + ", 1], [" +
            std::to_string(i + 8) + ", 0]], period = 30 }\n";
  }
  for (int i = 1; i < 500; ++i) {
    text += "[[event]]\ntime = " + std::to_string(kTicks * kStep * i / 500) + "\ndevice = " + std::to_string(i % 2) +
            "\ntype = \"xid\"\ndata = " + std::to_string(i % 120) + "\n";
  }
  return text;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t entries(const char *folder) {
  const auto all = std::filesystem::directory_iterator(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(Soak, MemoryAndOpenFilesStayFlat) {
  if (kSanitized) std::printf("with a sanitizer: %d ticks only, and memory is not judged\n", kTicks);
  sim_load(soak_scenario());
  sim_time(0);
  auto options = patient();
  options.retry = 1ms;
  options.tick = 1ms;
  auto sampler = make_sampler(options, true, Sysroot());
  const TemporaryFolder folder;
  std::optional<share::Publisher> publisher(folder.path());
  std::size_t resident = 0;
  std::size_t files = 0;
  std::size_t threads = 0;
  std::size_t most_processes = 0;
  std::size_t lost = 0;
  for (int tick = 0; tick < kTicks; ++tick) {
    if (tick == kWarm) {
      resident = resident_bytes();
      files = entries("/proc/self/fd");
      threads = entries("/proc/self/task");
    }
    sim_time(tick * kStep);
    const auto now = sampler->sample(Pass::scheduled);
    ASSERT_EQ(now->devices.size(), 2U);
    ASSERT_LE(now->processes.size(), 20U);
    ASSERT_TRUE(publisher->publish(now, 1s));
    if (tick % 1000 == 0) {
      const auto reader = share::SegmentReader::open({folder.path(), share::Trust::named});
      ASSERT_TRUE(reader);
      const auto taken = reader->latest();
      ASSERT_TRUE(taken);
      ASSERT_EQ(taken->snapshot->time, now->time);
    }
    most_processes = std::max(most_processes, now->processes.size());
    lost += now->devices[0].state == DeviceState::lost ? 1U : 0U;
  }
  const auto grown = static_cast<double>(resident_bytes()) - static_cast<double>(resident);
  std::printf("%d ticks: resident %.1f MiB, grown by %.2f MiB since tick %d; %zu files open\n", kTicks,
              static_cast<double>(resident_bytes()) / 1048576, grown / 1048576, kWarm, entries("/proc/self/fd"));
  EXPECT_GE(most_processes, 7U);  // one a second, each for seven; where one ends as the next begins, both may be seen
  EXPECT_LE(most_processes, 8U);
  EXPECT_GE(lost, 10U);
  // A sanitizer keeps what was freed for a while.
  if (!kSanitized) {
    EXPECT_LT(grown, 1e6);
  }
  EXPECT_EQ(entries("/proc/self/fd"), files);
  EXPECT_LE(entries("/proc/self/task"), threads + 1);
}

}  // namespace
}  // namespace gpulse::test
