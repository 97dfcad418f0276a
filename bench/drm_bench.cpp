// SPDX-License-Identifier: Apache-2.0
// What a sample of an AMD card with 50 clients costs beyond the bare reads of the files that it reads, and what a tick
// costs on a machine with 2,000 processes. Which files those are the kernel says, by inotify.
//
//   drm_bench                      the tables
//   drm_bench ticks PROCESSES N    N ticks and nothing else, for strace
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <vector>

#include "amd_machine.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "sample/schedule.hpp"
#include "source/host/process_table.hpp"
#include "source/registry.hpp"

namespace gpulse::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kUsers = 50;
constexpr double kMost = 2.0;
// Three rounds of what is read every ten seconds.
constexpr std::size_t kTicks = 30;

[[noreturn]] void give_up(std::string_view why) {
  fmt::print(stderr, "drm_bench: {}\n", why);
  std::exit(1);
}

// Samples as the sampler takes them, a second apart by a clock of its own, without its threads.
class Ours {
 public:
  explicit Ours(const Sysroot &root) : processes_(root) {
    const auto sources = make_sources("auto", root, {.texts = false, .events = false});
    for (const auto &source : *sources) {
      if (source->discover().entities.size() == 1 && source->name() != "host") source_ = source;
    }
    if (!source_) give_up("no source finds the card");
    turns_.resize(source_->readers().size());
  }

  void tick() {
    now_ += 1s;
    const auto infos = source_->readers();
    for (std::size_t i = 0; i < infos.size(); ++i) {
      auto &turn = turns_[i];
      if (!turn.due(infos[i], infos[i].tier, Pass::scheduled, now_)) continue;
      turn.refused = source_->read(0, i, now_, frame_) == Outcome::unsupported;
      turn.last = now_;
      turn.read_once = true;
    }
    for (const auto &use : frame_.processes) {
      Process process{.pid = use.pid, .device = {}, .types = use.types, .row = use.row, .texts = nullptr};
      processes_.look_up(process, now_, use.own_namespace);
    }
  }
  std::size_t users() const { return frame_.processes.size(); }

 private:
  std::shared_ptr<Source> source_;
  host::ProcessTable processes_;
  std::vector<ReaderTurn> turns_;
  Frame frame_{Row(Scope::device), {}};
  Monotonic now_{1h};
};

// What was done below a folder.
struct Deeds {
  std::vector<std::string> files;  // opened, in their order
  std::size_t folders = 0;         // opened
  std::size_t lists_of_proc = 0;   // calls that listed /proc
};

class Watcher {
 public:
  explicit Watcher(const std::string &folder) : events_(::inotify_init1(IN_NONBLOCK)), proc_(folder + "/proc") {
    watch(folder);
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_directory() && !entry.is_symlink()) watch(entry.path().string());
    }
    take();  // to find the folders opened them
  }

  Deeds take() {
    Deeds deeds;
    alignas(inotify_event) std::array<char, 1U << 16U> buffer{};
    for (;;) {
      const auto got = ::read(events_.get(), buffer.data(), buffer.size());
      if (got <= 0) return deeds;
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        inotify_event event{};
        std::memcpy(&event, &buffer[at], sizeof event);
        const char *name = &buffer[at + sizeof event];
        at += sizeof event + event.len;
        count(event, event.len > 0 ? name : "", deeds);
      }
    }
  }

 private:
  void watch(const std::string &folder) {
    const std::uint32_t wanted = folder == proc_ ? IN_OPEN | IN_ACCESS : IN_OPEN;
    const int watch = ::inotify_add_watch(events_.get(), folder.c_str(), wanted);
    if (watch < 0) give_up("too many folders to watch: raise fs.inotify.max_user_watches");
    folders_[watch] = folder;
  }
  // A folder's parent and the folder itself both tell of it: the second has no name.
  void count(const inotify_event &event, const std::string &name, Deeds &deeds) const {
    if ((event.mask & IN_Q_OVERFLOW) != 0)
      give_up("more happened than inotify keeps: raise fs.inotify.max_queued_events");
    const auto &folder = folders_.at(event.wd);
    const bool is_folder = (event.mask & IN_ISDIR) != 0;
    if ((event.mask & IN_OPEN) != 0 && !is_folder) deeds.files.push_back(folder + "/" + name);
    if ((event.mask & IN_OPEN) != 0 && is_folder && !name.empty()) ++deeds.folders;
    if ((event.mask & IN_ACCESS) != 0 && is_folder && name.empty() && folder == proc_) ++deeds.lists_of_proc;
  }

  UniqueFd events_;
  std::string proc_;
  std::map<int, std::string> folders_;
};

// The files, and one list of /proc.
void read_bare(const std::vector<std::string> &files, int proc) {
  static std::array<char, 1U << 18U> buffer;
  if (::lseek(proc, 0, SEEK_SET) != 0 || ::getdents64(proc, buffer.data(), buffer.size()) < 0) give_up("/proc");
  for (const auto &file : files) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (::read(fd, buffer.data(), buffer.size()) < 0) give_up(file);
    ::close(fd);
  }
}

template <class Work>
double microseconds(Work work) {
  const auto begun = monotonic_now();
  work();
  return std::chrono::duration<double, std::micro>(monotonic_now() - begun).count();
}

bool compare(std::uint32_t others) {
  const AmdMachine machine(kUsers, others);
  Ours ours(machine.root());
  for (std::size_t i = 0; i < kTicks; ++i) ours.tick();
  const UniqueFd proc(::open((machine.path() + "/proc").c_str(), O_RDONLY | O_DIRECTORY));
  std::vector<Deeds> deeds;
  {
    Watcher watcher(machine.path());
    for (std::size_t i = 0; i < kTicks; ++i) {
      ours.tick();
      deeds.push_back(watcher.take());
    }
  }
  // The least of many, for each tick on its own; the whole is the mean of them.
  constexpr auto kNone = std::numeric_limits<double>::max();
  std::vector<double> with(kTicks, kNone), without(kTicks, kNone);
  for (int round = 0; round < 40; ++round) {
    for (std::size_t i = 0; i < kTicks; ++i) with[i] = std::min(with[i], microseconds([&] { ours.tick(); }));
    for (std::size_t i = 0; i < kTicks; ++i) {
      without[i] = std::min(without[i], microseconds([&] { read_bare(deeds[i].files, proc.get()); }));
    }
  }
  const auto print = [&](std::string_view what, auto chosen) {
    double files = 0, folders = 0, lists = 0, mine = 0, bare = 0, ticks = 0;
    for (std::size_t i = 0; i < kTicks; ++i) {
      if (!chosen(deeds[i])) continue;
      ticks += 1;
      files += static_cast<double>(deeds[i].files.size());
      folders += static_cast<double>(deeds[i].folders);
      lists += static_cast<double>(deeds[i].lists_of_proc);
      mine += with[i];
      bare += without[i];
    }
    fmt::print("{:9} {:6} {:8} {:6.1f} {:8.1f} {:6.1f} {:10.1f} {:10.1f} {:7.2f}\n", kUsers + others, ours.users(),
               what, files / ticks, folders / ticks, lists / ticks, mine / ticks, bare / ticks, mine / bare);
    return mine / bare;
  };
  const auto looks_everywhere = [&](const Deeds &d) { return d.folders >= kUsers + others; };
  print("tick", [&](const Deeds &d) { return !looks_everywhere(d); });
  print("slow", looks_everywhere);
  const auto ratio = print("all", [](const Deeds &) { return true; });
  return others > 0 || ratio <= kMost;
}

}  // namespace

}  // namespace gpulse::bench

int main(int argc, char **argv) {
  using namespace gpulse::bench;
  if (argc == 4 && std::string_view(argv[1]) == "ticks") {
    const auto processes = gpulse::parse_integer<std::uint32_t>(argv[2]).value_or(kUsers);
    const AmdMachine machine(kUsers, std::max(processes, kUsers) - kUsers);
    Ours ours(machine.root());
    for (int i = 0; i < std::atoi(argv[3]); ++i) ours.tick();
    return 0;
  }
  fmt::print("Of one tick, mean over {}; files and folders opened, calls that list /proc, microseconds\n", kTicks);
  fmt::print("processes  users  what      files  folders  lists       ours       bare   ratio\n");
  bool good = compare(0);
  good = compare(1950) && good;
  if (!good) fmt::print("a sample takes more than {} times the bare reads\n", kMost);
  return good ? 0 : 1;
}
