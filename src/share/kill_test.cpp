// SPDX-License-Identifier: Apache-2.0
// Agents that are killed at any moment, and processes that go on reading. GPULSE_KILLS says how many are killed; a
// thousand take half a minute.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "share/segment.hpp"
#include "share/testing.hpp"

namespace gpulse::share {
namespace {

using namespace std::chrono_literals;
using testing::mark_of;
using testing::marked_snapshot;

constexpr std::size_t kReaders = 8;
// What one agent publishes at most; marks are its number times this and more.
constexpr std::uint64_t kMarksEach = 1'000'000;

// What all the processes see.
struct Shared {
  struct Reader {
    std::atomic<std::uint64_t> samples{0};
    std::atomic<std::uint64_t> wrong{0};
    std::atomic<std::uint64_t> unreadable{0};  // a file that was there, but could not be used
    std::atomic<std::uint64_t> files{0};
    std::atomic<std::uint64_t> agent{0};  // the last one that it has a sample of
  };
  std::array<Reader, kReaders> readers{};
  std::atomic<std::uint64_t> published{0};
  std::atomic<bool> stop{false};
};

class SharedPage {
 public:
  SharedPage()
      : memory_(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        shared_(new(memory_) Shared) {}
  SharedPage(const SharedPage &) = delete;
  SharedPage &operator=(const SharedPage &) = delete;
  ~SharedPage() { ::munmap(memory_, sizeof(Shared)); }
  Shared *operator->() const { return shared_; }

 private:
  void *memory_;
  Shared *shared_;
};

// Two of the first samples need more room, so that files are made and replaced all the time.
void publish_without_pause(const std::string &folder, std::uint64_t agent, std::atomic<std::uint64_t> &published,
                           const std::atomic<bool> &stop) {
  Publisher publisher(folder);
  for (std::uint64_t i = 0; i < kMarksEach && !stop; ++i) {
    auto snapshot = marked_snapshot(agent * kMarksEach + i);
    if (i == 2 || i == 5) {
      auto grown = *snapshot;
      grown.origin = std::string(50'000 * i, 'x');
      snapshot = std::make_shared<const Snapshot>(std::move(grown));
    }
    // None of them is ever stale, however busy the machine is.
    if (!publisher.publish(snapshot, 1h)) ::_exit(1);
    ++published;
  }
}

void read_without_pause(const Place &place, Shared::Reader &own, const std::atomic<bool> &stop) {
  std::optional<SegmentReader> reader;
  std::uint64_t number = 0;
  while (!stop) {
    if (!reader) {
      auto opened = SegmentReader::open(place);
      if (!opened) {
        if (!opened.error().what.empty()) ++own.unreadable;
        continue;
      }
      reader.emplace(std::move(*opened));
      number = 0;
      ++own.files;
    }
    const auto taken = reader->latest();
    if (!taken) {
      ++own.unreadable;
      reader.reset();
      continue;
    }
    const auto mark = mark_of(*taken->snapshot);
    if (!mark || taken->number < number) {
      ++own.wrong;
      continue;
    }
    number = taken->number;
    ++own.samples;
    own.agent = *mark / kMarksEach;
    // One that was killed says nothing: what is there now may be another's.
    if (!reader->wait_beyond(number, monotonic_now() + 2ms, {}) || !reader->check()) reader.reset();
  }
}

template <class Work>
pid_t start(Work work) {
  const auto pid = ::fork();
  if (pid == 0) {
    work();
    ::_exit(0);
  }
  return pid;
}

TEST(Kill, NoReaderSeesATornSampleOrIsStuck) {
  const char *asked = std::getenv("GPULSE_KILLS");
  const auto kills = parse_integer<std::uint64_t>(asked == nullptr ? "" : asked).value_or(60);
  const TemporaryFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  const Place place{folder.path(), Trust::named};
  const SharedPage shared;

  std::vector<std::unique_ptr<Child>> readers;
  for (std::size_t i = 0; i < kReaders; ++i)
    readers.push_back(
        std::make_unique<Child>(start([&] { read_without_pause(place, shared->readers[i], shared->stop); })));

  std::minstd_rand random(1);
  std::uint64_t cut_short = 0;  // before they had published anything
  for (std::uint64_t agent = 1; agent <= kills; ++agent) {
    const auto before = shared->published.load();
    Child writer(start([&] { publish_without_pause(folder.path(), agent, shared->published, shared->stop); }));
    // Some while they begin, the others after a number of samples, however busy the machine is.
    const auto samples = agent % 4 == 0 ? 0 : random() % 40;
    while (shared->published < before + samples && writer.runs()) std::this_thread::sleep_for(50us);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % (samples == 0 ? 3000 : 300)));
    if (shared->published == before) ++cut_short;
    ASSERT_TRUE(writer.runs()) << "it could not publish";
    ::kill(writer.id(), SIGKILL);
    ASSERT_EQ(writer.wait(), SIGKILL);
  }

  const auto last = kills + 1;
  const Child writer(start([&] { publish_without_pause(folder.path(), last, shared->published, shared->stop); }));
  const auto until = monotonic_now() + 60s;
  const auto all_see_the_last = [&] {
    return std::ranges::all_of(shared->readers, [&](const auto &reader) { return reader.agent == last; });
  };
  while (!all_see_the_last() && monotonic_now() < until) std::this_thread::sleep_for(1ms);
  shared->stop = true;
  for (const auto &reader : readers) EXPECT_EQ(reader->wait(), 0);

  std::uint64_t samples = 0;
  for (const auto &reader : shared->readers) {
    EXPECT_EQ(reader.wrong, 0);
    EXPECT_EQ(reader.unreadable, 0);
    EXPECT_EQ(reader.agent, last);
    EXPECT_GT(reader.samples, kills / 10);
    EXPECT_GT(reader.files, kills / 10);
    samples += reader.samples;
  }
  RecordProperty("samples_read", static_cast<int>(samples));
  RecordProperty("samples_published", static_cast<int>(shared->published));
  RecordProperty("killed_while_they_began", static_cast<int>(cut_short));
}

}  // namespace
}  // namespace gpulse::share
