// SPDX-License-Identifier: Apache-2.0
#include "share/segment.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"
#include "codec/testing.hpp"
#include "share/testing.hpp"

namespace gpulse::share {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::mark_of;
using testing::marked_snapshot;
using ::testing::MatchesRegex;

constexpr std::uint64_t kSecond = 1'000'000'000;

std::string why(const auto &result) { return result ? "" : result.error().line(); }

// A folder with an agent in it.
class Segment : public ::testing::Test {
 protected:
  Segment() { ::chmod(folder_.path().c_str(), 0755); }

  std::string file() const { return folder_.path("/segment"); }
  Result<SegmentReader> open(BootClock clock = boot_clock) const { return SegmentReader::open(place_, clock); }
  // Why it cannot be opened, or is not to be used.
  std::string refusal(BootClock clock = boot_clock) const {
    const auto reader = open(clock);
    return reader ? why(reader->check()) : why(reader);
  }
  std::string refusal_of_copy(auto change) {
    Publisher publisher(folder_.path());
    EXPECT_TRUE(publisher.publish(marked_snapshot(1), 1s));
    EXPECT_EQ(refusal(), "");
    const UniqueFd fd(::open(file().c_str(), O_RDWR));
    void *memory = ::mmap(nullptr, publisher.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    EXPECT_NE(memory, MAP_FAILED);
    const Mapping mapping(memory, publisher.bytes());
    change(mapping.words(), fd.get());
    return refusal();
  }

  TemporaryFolder folder_;
  Place place_{folder_.path(), Trust::named};
};

// With so many bytes of text that no smaller room will do.
SnapshotPtr grown(std::uint64_t mark, std::size_t bytes) {
  Snapshot snapshot = *marked_snapshot(mark);
  snapshot.origin = std::string(bytes, 'x');
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

TEST_F(Segment, WhatIsPublishedIsTakenByOthers) {
  EXPECT_FALSE(open());
  EXPECT_EQ(refusal(), "");  // no agent: nothing to say
  Publisher publisher(folder_.path());
  ASSERT_TRUE(publisher.publish(marked_snapshot(1), 1s));
  const auto reader = open();
  ASSERT_TRUE(reader) << why(reader);
  EXPECT_EQ(reader->interval(), 1s);
  EXPECT_EQ(reader->layout().pid, static_cast<std::uint64_t>(::getpid()));
  codec::testing::RandomMachine machine(5);
  for (std::uint64_t number = 2; number < 50; ++number) {
    machine.next();
    const auto snapshot = std::make_shared<const Snapshot>(machine.with_live_parts());
    ASSERT_TRUE(publisher.publish(snapshot, 100ms));
    ASSERT_EQ(why(reader->check()), "");
    const auto taken = reader->latest();
    ASSERT_TRUE(taken) << why(taken);
    EXPECT_EQ(taken->number, number);
    EXPECT_GE(taken->age, 0ns);
    EXPECT_LT(taken->age, 2s);
    EXPECT_TRUE(codec::testing::same(*taken->snapshot, *snapshot));
    EXPECT_TRUE(codec::testing::same_live_parts(*taken->snapshot, *snapshot));
  }
  EXPECT_EQ(reader->interval(), 100ms);
  const auto past = reader->past();
  ASSERT_FALSE(past.empty());
  EXPECT_EQ(mark_of(*past.front().snapshot, false), 1);
}

TEST_F(Segment, OneReadingNeedsNoSnapshot) {
  Publisher publisher(folder_.path());
  auto snapshot = std::make_shared<Snapshot>(*marked_snapshot(1));
  constexpr auto kPower = device_metric("power_draw_watts");
  constexpr auto kBusy = device_metric("gpu_utilization_percent");
  snapshot->devices[1].row[kPower] = 321.5;
  snapshot->devices[1].row[kBusy] = Reason::asleep;
  ASSERT_TRUE(publisher.publish(snapshot, 1s));
  const auto reader = open();
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->device_reading(1, kPower), Reading(321.5));
  EXPECT_EQ(reader->device_reading(1, kBusy), Reading(Reason::asleep));
  EXPECT_FALSE(reader->device_reading(2, kPower));
}

TEST_F(Segment, WhatNeedsMoreRoomGetsANewFile) {
  Publisher publisher(folder_.path());
  ASSERT_TRUE(publisher.publish(marked_snapshot(1), 1s));
  const auto before = publisher.bytes();
  const auto old = open();
  ASSERT_TRUE(old);
  ASSERT_TRUE(publisher.publish(grown(2, 200'000), 1s));
  EXPECT_GT(publisher.bytes(), before);
  EXPECT_EQ(why(old->check()), "the agent in " + folder_.path() + " has begun another file");
  EXPECT_FALSE(old->wait_beyond(1, monotonic_now() + 1h, {}));  // at once
  const auto latest = old->latest();
  ASSERT_TRUE(latest);
  EXPECT_EQ(mark_of(*latest->snapshot), 1);
  // Whoever opens it again goes on, for the rest of the time in the same file.
  const auto reader = open();
  ASSERT_TRUE(reader);
  for (std::uint64_t mark = 2; mark < 20; ++mark) {
    ASSERT_TRUE(publisher.publish(grown(mark, 200'000 + mark), 1s));
    ASSERT_EQ(why(reader->check()), "");
    const auto taken = reader->latest();
    ASSERT_TRUE(taken);
    EXPECT_EQ(mark_of(*taken->snapshot), mark);
    EXPECT_EQ(taken->snapshot->origin.size(), 200'000 + mark);
  }
  EXPECT_FALSE(std::filesystem::exists(file() + ".new"));
}

TEST_F(Segment, ManyDevicesGetRoom) {
  Publisher publisher(folder_.path());
  for (const std::size_t devices : {0U, 8U, 64U, 500U}) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->time = wall_now();
    snapshot->devices.resize(devices);
    ASSERT_TRUE(publisher.publish(snapshot, 1s)) << devices;
    const auto reader = open();
    ASSERT_TRUE(reader);
    const auto taken = reader->latest();
    ASSERT_TRUE(taken) << why(taken);
    EXPECT_EQ(taken->snapshot->devices.size(), devices);
    EXPECT_EQ(reader->device_reading(devices, device_metric("power_draw_watts")), std::nullopt);
  }
}

TEST_F(Segment, AnAgentThatHasEndedIsToldOf) {
  std::optional<Publisher> publisher(folder_.path());
  ASSERT_TRUE(publisher->publish(marked_snapshot(1), 1s));
  const auto reader = open();
  ASSERT_TRUE(reader);
  publisher.reset();
  EXPECT_EQ(why(reader->check()), "the agent in " + folder_.path() + " has ended");
  EXPECT_FALSE(open());
  EXPECT_EQ(refusal(), "");  // no agent, nothing to say
  // The next one takes its place.
  publisher.emplace(folder_.path());
  ASSERT_TRUE(publisher->publish(marked_snapshot(2), 1s));
  EXPECT_EQ(refusal(), "");
}

TEST_F(Segment, AnOldSampleIsNotShownAsThatOfNow) {
  Publisher publisher(folder_.path());
  ASSERT_TRUE(publisher.publish(marked_snapshot(1), 1s));
  // Late is not gone: three intervals, and at least two seconds more than one.
  const auto late = open([] { return boot_clock() + 2 * kSecond; });
  ASSERT_TRUE(late);
  EXPECT_EQ(why(late->check()), "");
  EXPECT_GE(late->latest()->age, 2s);
  const auto stale = open([] { return boot_clock() + 60 * kSecond; });
  ASSERT_TRUE(stale);
  EXPECT_EQ(why(stale->check()), "the agent in " + folder_.path() + " has had nothing new for 60 s");
  EXPECT_EQ(why(stale->latest()), why(stale->check()));
  ASSERT_TRUE(publisher.publish(marked_snapshot(2), 1min));
  EXPECT_EQ(why(stale->check()), "");
}

TEST_F(Segment, AnotherClockIsNotBelieved) {
  Publisher publisher(folder_.path());
  ASSERT_TRUE(publisher.publish(marked_snapshot(1), 1s));
  EXPECT_EQ(refusal([] { return std::uint64_t{1}; }),
            "the agent's time in " + folder_.path() + " is not that of this machine");
}

TEST_F(Segment, WhatIsWrongWithAFileIsSaidInOneLine) {
  EXPECT_EQ(refusal_of_copy([](auto words, int) { words[head::kMagicAt] = 1; }), file() + " is not one of gpulse's");
  EXPECT_EQ(refusal_of_copy([](auto words, int) { words[head::kVersionAt] = 2; }),
            file() + " is of another version of gpulse");
  EXPECT_EQ(refusal_of_copy([](auto words, int) { words[head::kLayoutAt + 3] = 5; }), file() + " is damaged");
  EXPECT_EQ(refusal_of_copy([](auto words, int) { words[head::state] = 99; }), file() + " is damaged");
  EXPECT_EQ(refusal_of_copy([](auto words, int) { words[kHeadWords + 2] ^= 1; }), file() + " is damaged");  // keys
  EXPECT_EQ(refusal_of_copy([](auto words, int) {
              auto layout = read_head(words, ~std::uint64_t{0}).layout;
              layout.boot_low ^= 1;
              write_head(words, layout);
            }),
            folder_.path() + " is from before the machine was started");
  EXPECT_EQ(refusal_of_copy([](auto words, int) { words[head::newest] = 77; }),
            "the agent in " + folder_.path() + " has no whole sample");
  EXPECT_EQ(refusal_of_copy([](auto words, int fd) {
              words[head::newest] = 0;  // its pages are gone from now on
              EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(words.size_bytes() - 4096)), 0);
            }),
            file() + " is cut off");
}

TEST_F(Segment, WhatNobodyOfUsHasWrittenIsRefused) {
  folder_.write("/segment", "");
  EXPECT_EQ(refusal(), file() + " is cut off");
  folder_.write("/segment", std::string(1000, 'x'));
  EXPECT_EQ(refusal(), file() + " is not one of gpulse's");
  // A terabyte of nothing.
  ASSERT_EQ(::truncate(file().c_str(), off_t{1} << 40U), 0);
  EXPECT_EQ(refusal(), file() + " is not one of gpulse's");
  folder_.remove("/segment");
  folder_.make_folder("/segment");
  EXPECT_EQ(refusal(), file() + " is not a file");
}

TEST_F(Segment, WhatIsNoFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0644), 0);
  EXPECT_EQ(refusal(), file() + " is not a file");
  folder_.remove("/segment");
  folder_.link("/segment", "/dev/zero");
  EXPECT_EQ(refusal(), "cannot open " + file() + ": Too many levels of symbolic links");
  folder_.remove("/segment");
  if (::mknod(file().c_str(), S_IFCHR | 0644, makedev(1, 5)) != 0) GTEST_SKIP() << "only root can make a device";
  EXPECT_THAT(refusal(), ::testing::AnyOf(EndsWith(" is not a file"), HasSubstr("cannot open ")));
}

TEST_F(Segment, OthersMustNotBeAbleToWrite) {
  Publisher publisher(folder_.path());
  const auto mask = ::umask(0);
  ASSERT_TRUE(publisher.publish(marked_snapshot(1), 1s));
  ::umask(mask);
  EXPECT_EQ(refusal(), "");
  ::chmod(file().c_str(), 0664);
  EXPECT_EQ(refusal(), file() + " can be written by others");
  ::chmod(file().c_str(), 0644);
  ::chmod(folder_.path().c_str(), 0777);
  EXPECT_THAT(refusal(), HasSubstr(folder_.path() + " can be written by others"));
  ::chmod(folder_.path().c_str(), 0755);
  EXPECT_EQ(refusal(), "");
  if (::chown(file().c_str(), 4321, 4321) != 0) GTEST_SKIP() << "only root can give a file away";
  EXPECT_EQ(refusal(), file() + " is not its folder's owner's: it belongs to user 4321");
  ASSERT_EQ(::chown(folder_.path().c_str(), 4321, 4321), 0);
  EXPECT_EQ(refusal(), "");  // another user's agent, and the user has named it
  place_.trust = Trust::own;
  EXPECT_EQ(refusal(), folder_.path() + " is not ours: it belongs to user 4321");
}

TEST_F(Segment, IsReadableWhateverTheMask) {
  Publisher publisher(folder_.path());
  const auto mask = ::umask(077);
  ASSERT_TRUE(publisher.publish(marked_snapshot(1), 1s));
  ::umask(mask);
  struct stat status{};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0644U);
}

TEST_F(Segment, AnAgentThatWasKilledIsToldOfAtOnce) {
  Child agent(::fork());
  if (agent.id() == 0) {
    Publisher publisher(folder_.path());
    if (!publisher.publish(marked_snapshot(1), 60s)) ::_exit(1);
    for (;;) ::pause();
  }
  const auto reader = [&] {
    for (const auto end = monotonic_now() + 10s; monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
      if (auto opened = open()) return opened;
    }
    return open();
  }();
  ASSERT_TRUE(reader);
  EXPECT_EQ(why(reader->check()), "");
  ::kill(agent.id(), SIGKILL);
  agent.wait();
  // Its sample would be fresh for minutes.
  EXPECT_EQ(why(reader->check()), "the agent in " + folder_.path() + " was killed");
  const auto begun = monotonic_now();
  EXPECT_FALSE(reader->wait_beyond(1, begun + 30s, {}));
  EXPECT_LT(monotonic_now() - begun, 5s);
}

TEST_F(Segment, FindTakesTheFirstThatIsFresh) {
  const auto find = [&](const std::string &value) {
    return in_child([&] {
      ::setenv("GPULSE_AGENT", value.c_str(), 1);
      std::string problem;
      const auto reader = SegmentReader::find(problem);
      return reader ? "found in " + reader->place().folder : problem;
    });
  };
  EXPECT_EQ(find(folder_.path()), "");  // no agent, no problem
  {
    Publisher publisher(folder_.path());
    ASSERT_TRUE(publisher.publish(marked_snapshot(1), 1s));
    EXPECT_EQ(find(folder_.path()), "found in " + folder_.path());
    EXPECT_EQ(find("off"), "");
  }
  EXPECT_EQ(find(folder_.path()), "");
}

TEST_F(Segment, AFullFileSystemIsAnError) {
  const auto said = in_child([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1536k,mode=755") != 0)
      return "skipped";
    Publisher publisher(folder_.path());
    if (const auto first = publisher.publish(marked_snapshot(1), 1s); !first) return "first: " + why(first);
    const auto reader = open();
    if (!reader) return why(reader);
    const auto grow = why(publisher.publish(grown(2, 400'000), 1s));
    // What was there stays, and goes on.
    if (const auto third = publisher.publish(marked_snapshot(3), 1s); !third) return "third: " + why(third);
    if (const auto good = reader->check(); !good) return why(good);
    const auto taken = reader->latest();
    if (!taken || mark_of(*taken->snapshot) != 3) return "not the third: " + why(taken);
    if (::access((file() + ".new").c_str(), F_OK) == 0) return "something was left behind";
    return grow;
  });
  if (said == "skipped") GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_THAT(said, MatchesRegex("no room for [0-9]+ bytes in .*/segment.new: No space left on device"));
}

TEST_F(Segment, ALimitOfFileSizeIsAnError) {
  const auto said = in_child([&]() -> std::string {
    const rlimit limit{.rlim_cur = 1U << 20U, .rlim_max = 1U << 20U};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    Publisher publisher(folder_.path());
    return why(publisher.publish(grown(1, 1U << 20U), 1s));
  });
  EXPECT_THAT(said, MatchesRegex("no room for [0-9]+ bytes in .*/segment.new: File too large"));
}

TEST_F(Segment, AFolderThatIsGoneIsAnError) {
  Publisher publisher(folder_.path("/gone"));
  EXPECT_EQ(why(publisher.publish(marked_snapshot(1), 1s)),
            "cannot make " + folder_.path("/gone/segment.new") + ": No such file or directory");
}

class Waiting : public Segment {
 protected:
  Waiting() {
    EXPECT_TRUE(publisher_->publish(marked_snapshot(1), 1s));
    auto reader = open();
    EXPECT_TRUE(reader);
    reader_.emplace(std::move(*reader));
  }
  // How long a wait for the next sample takes, and what it gives.
  std::pair<bool, Seconds> wait(std::uint64_t number, std::stop_token stop = {}, Seconds most = 10min) {
    const auto begin = monotonic_now();
    const auto until = begin + std::chrono::duration_cast<std::chrono::nanoseconds>(most);
    const bool came = reader_->wait_beyond(number, until, stop);
    return {came, monotonic_now() - begin};
  }

  std::optional<Publisher> publisher_{std::in_place, folder_.path()};
  std::optional<SegmentReader> reader_;
};

TEST_F(Waiting, EndsWithTheNextSample) {
  EXPECT_TRUE(wait(0).first);  // there already
  const std::jthread other([&](const std::stop_token &stop) {
    // Until the other has seen it: it may not have begun to wait when the first is published.
    for (std::uint64_t mark = 2; !stop.stop_requested(); ++mark) {
      EXPECT_TRUE(publisher_->publish(marked_snapshot(mark), 1s));
      std::this_thread::sleep_for(20ms);
    }
  });
  std::uint64_t number = 1;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(wait(number).first);
    const auto taken = reader_->latest();
    ASSERT_TRUE(taken);
    ASSERT_GT(taken->number, number);
    number = taken->number;
  }
}

TEST_F(Waiting, EndsByAStop) {
  std::stop_source stop;
  std::atomic<std::int64_t> asked{0};
  const std::jthread other([&] {
    std::this_thread::sleep_for(20ms);
    asked = monotonic_now().time_since_epoch().count();
    stop.request_stop();
  });
  EXPECT_FALSE(wait(1, stop.get_token()).first);
  const auto late = monotonic_now().time_since_epoch() - std::chrono::nanoseconds(asked);
  EXPECT_LT(late, 100ms);
  EXPECT_FALSE(wait(1, stop.get_token()).first);  // already asked for
}

TEST_F(Waiting, EndsInTime) {
  const auto [came, took] = wait(1, {}, 30ms);
  EXPECT_FALSE(came);
  EXPECT_GE(took, 30ms);
  EXPECT_FALSE(wait(1, {}, -1s).first);
}

TEST_F(Waiting, EndsWithTheAgent) {
  const std::jthread other([&] {
    std::this_thread::sleep_for(20ms);
    publisher_.reset();
  });
  const auto [came, took] = wait(1);
  EXPECT_FALSE(came);
  EXPECT_LT(took, 1min);
}

// An agent that was killed before it could ring, and a number that is of another file.
TEST_F(Waiting, DoesNotSpin) {
  const auto processor_time = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto before = processor_time();
  EXPECT_FALSE(wait(1000, {}, 200ms).first);
  {
    const UniqueFd fd(::open(file().c_str(), O_RDWR));
    void *memory = ::mmap(nullptr, publisher_->bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    const Mapping mapping(memory, publisher_->bytes());
    --mapping.words()[head::bell];
  }
  EXPECT_FALSE(wait(1, {}, 200ms).first);
  EXPECT_LT(processor_time() - before, 100ms);
}

}  // namespace
}  // namespace gpulse::share
