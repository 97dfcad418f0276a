// SPDX-License-Identifier: Apache-2.0
#include "source/host/process_table.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>

#include "base/kept_file.hpp"
#include "base/process_stat.hpp"
#include "base/text.hpp"
#include "source/api/errno_reason.hpp"
#include "source/host/batch_job.hpp"
#include "source/host/parse.hpp"
#include "source/host/process_clock.hpp"

namespace gpulse::host {

namespace {

constexpr auto kShortest = std::chrono::milliseconds(20);
constexpr auto kMemoryHolds = std::chrono::seconds(5);
// Changes that a sleeping process does not make itself (a new parent, memory swapped out) are seen this late at most.
constexpr auto kStatHolds = std::chrono::seconds(5);
constexpr std::size_t kMaxCommand = 4096;
constexpr std::size_t kMaxArguments = 1U << 17U;
constexpr std::size_t kMaxEnvironment = 1U << 18U;
// Beyond this many processes their files are not kept open, because the number of open files is limited.
constexpr std::size_t kMaxKept = 128;
// How long after /proc is mounted with other options that is noticed at most.
constexpr auto kMountHolds = std::chrono::seconds(1);
constexpr std::size_t kMaxMounts = 1U << 20U;

constexpr auto kUser = process_metric("user");
constexpr auto kName = process_metric("name");
constexpr auto kProgram = process_metric("program");
constexpr auto kCommand = process_metric("command");
constexpr auto kContainer = process_metric("container");
constexpr auto kPod = process_metric("pod");
constexpr auto kJob = process_metric("job");
constexpr auto kAccount = process_metric("account");
constexpr auto kParent = process_metric("parent");
constexpr auto kFramework = process_metric("framework");
constexpr auto kTreeRead = process_metric("tree_read_bytes_per_second");
constexpr auto kTreeWrite = process_metric("tree_write_bytes_per_second");

std::shared_ptr<const TextRow> all_texts(Reason reason) {
  return std::make_shared<const TextRow>(Scope::process, TextReading(reason));
}

// All that is known is the name.
std::shared_ptr<const TextRow> only_name(const TextRow &texts, const std::string &name) {
  auto named = std::make_shared<TextRow>(texts);
  (*named)[kName] = name.substr(name.rfind('/') + 1);
  (*named)[kProgram] = (*named)[kCommand] = name;
  return named;
}

// The same as /proc/uptime, without reading a file.
std::optional<double> seconds_since_boot() {
  const auto time = time_of(CLOCK_BOOTTIME);
  if (!time) return std::nullopt;
  return Seconds(*time).count();
}

// The number of the initial pid namespace, to which a driver's pids belong, is fixed in the kernel.
bool is_first_pid_namespace(const Sysroot &root) {
  const auto link = root.read_link("/proc/self/ns/pid");
  return link ? *link == "pid:[4026531836]" : !root.is_machine();
}

// With hidepid /proc does not even show that other users' processes exist.
bool is_hidden(const Sysroot &root, std::uint32_t pid) {
  const bool legal = pid > 0 && pid <= static_cast<std::uint32_t>(std::numeric_limits<pid_t>::max());
  return root.is_machine() && legal && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == EPERM;
}

// Its stat file cannot be read: the process has ended, or we may not see it.
Reason missing_reason(const Sysroot &root, std::uint32_t pid, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR || error == ESRCH;
  if (!missing) return errno_reason(error);
  return is_hidden(root, pid) ? Reason::no_permission : Reason::lost;
}

}  // namespace

struct ProcessTable::Entry {
  Monotonic seen{};
  KeptFile stat{}, statm{};
  std::optional<Monotonic> refreshed;
  std::optional<std::uint64_t> start_ticks;  // none: never seen alive
  std::string name;                          // as the kernel has it, not safe to print
  std::optional<clockid_t> cpu_clock;
  std::chrono::nanoseconds cpu_time{0};
  std::optional<Monotonic> cpu_at;  // none: there is no earlier CPU time to compare with
  std::optional<Monotonic> stat_at;
  std::uint64_t resident_pages = 0;
  std::optional<Monotonic> memory_at;
  bool gone = false;
  std::uint32_t parent = 0;  // the one whose name is in the texts
  Reading cpu_percent;
  Reading memory_bytes;
  Reading running_seconds;
  Reading parent_pid;
  Reading nice;
  Reading threads;
  std::shared_ptr<const TextRow> texts;
  std::shared_ptr<const std::vector<std::string>> arguments;
  std::vector<std::uint32_t> inner_pids;

  // No CPU time used since then: it is the same process, and has not changed anything itself.
  bool has_rested(std::chrono::nanoseconds cpu, Monotonic now) const {
    return cpu_at && cpu == cpu_time && now > *cpu_at && stat_at && now - *stat_at < kStatHolds;
  }
  void set_use(std::chrono::nanoseconds cpu, Monotonic now) {
    cpu_percent = Reason::not_sampled;
    if (cpu_at && now > *cpu_at && cpu >= cpu_time) {
      cpu_percent = 100 * Seconds(cpu - cpu_time).count() / Seconds(now - *cpu_at).count();
    }
    cpu_time = cpu;
    cpu_at = now;
  }
  void set_numbers(Reason reason) {
    memory_at.reset();
    stat_at.reset();
    cpu_percent = memory_bytes = running_seconds = parent_pid = nice = threads = reason;
  }
  void answer(Process &process) const {
    process.foreign = false;
    process.gone = gone;
    process.start_ticks = start_ticks.value_or(0);
    process.texts = texts;
    process.arguments = arguments;
    process.inner_pids = inner_pids;
    process.row[process_metric("cpu_percent")] = cpu_percent;
    process.row[process_metric("host_memory_bytes")] = memory_bytes;
    process.row[process_metric("running_seconds")] = running_seconds;
    process.row[process_metric("parent_pid")] = parent_pid;
    process.row[process_metric("nice")] = nice;
    process.row[process_metric("threads")] = threads;
  }
};

ProcessTable::ProcessTable(Sysroot root, Audience audience, const std::optional<MetricSet> &only)
    : root_(std::move(root)),
      audience_(audience),
      sees_host_pids_(is_first_pid_namespace(root_)),
      has_clocks_(is_own_proc(root_)),
      wants_framework_(!only || only->contains(kFramework)),
      frameworks_(root_),
      users_(root_),
      trees_(root_, only, audience == Audience::self) {}

ProcessTable::~ProcessTable() = default;

// Whether users cannot look at each other's processes.
bool ProcessTable::is_hidden_from_others(Monotonic now) {
  if (!hidden_at_ || now - *hidden_at_ >= kMountHolds) {
    hidden_ = !root_.read_into(text_, "/proc/self/mountinfo", kMaxMounts) || hides_processes(text_);
    hidden_at_ = now;
  }
  return hidden_;
}

void ProcessTable::look_up(Process &process, Monotonic now, bool own_namespace, const std::string &name) {
  look_up_numbers(process, now, own_namespace, name);
  if (wants_framework_ && audience_ == Audience::self) frameworks_.add_to(process, now);
}

void ProcessTable::look_up_numbers(Process &process, Monotonic now, bool own_namespace, const std::string &name) {
  const bool foreign = !sees_host_pids_ && !own_namespace;
  const std::lock_guard lock(mutex_);
  if (foreign || (audience_ == Audience::everybody && is_hidden_from_others(now))) {
    static const auto kForeign = all_texts(Reason::no_permission);
    Entry stranger;
    stranger.texts = kForeign;
    stranger.set_numbers(Reason::no_permission);
    stranger.answer(process);
    trees_.refuse(process.row, Reason::no_permission);
    process.foreign = foreign;
    if (foreign && !name.empty()) process.texts = only_name(*process.texts, name);
    return;
  }
  auto &entry = entries_[process.pid];
  if (!entry) entry = std::make_unique<Entry>();
  entry->seen = std::max(entry->seen, now);
  if (!entry->refreshed || now - *entry->refreshed >= kShortest) {
    refresh(*entry, process.pid, now);
    entry->refreshed = now;
  }
  entry->answer(process);
  // The parent is a number wherever its files could be read.
  if (entry->parent_pid) {
    trees_.fill(process.row, process.pid, process.start_ticks, now);
  } else {
    trees_.refuse(process.row, entry->parent_pid.reason());
  }
  if (!name.empty() && process.texts && !(*process.texts)[kName]) process.texts = only_name(*process.texts, name);
}

void ProcessTable::add_private(Process &process, Monotonic now) {
  if (wants_framework_) frameworks_.add_to(process, now);
  const std::lock_guard lock(mutex_);
  if (process.start_ticks != 0 && !process.gone) {
    Row own(Scope::process);
    trees_.fill(own, process.pid, process.start_ticks, now);
    for (const auto id : {kTreeRead, kTreeWrite}) process.row[id] = own[id];
  }
  const auto folder = fmt::format("/proc/{}", process.pid);
  if (process.texts == nullptr || !root_.read_into(text_, folder + "/environ", kMaxEnvironment)) return;
  if (parse_environment_job(text_).empty()) return;
  auto texts = std::make_shared<TextRow>(*process.texts);
  read_placement(folder, *texts);
  process.texts = std::move(texts);
}

bool ProcessTable::has_started(std::uint32_t pid, std::uint64_t start_ticks) {
  const std::lock_guard lock(mutex_);
  if (!root_.read_piece(stat_text_, fmt::format("/proc/{}/stat", pid))) return false;
  const auto stat = parse_process_stat(stat_text_);
  return stat && stat->start_ticks == start_ticks;
}

void ProcessTable::forget_unseen(Monotonic since) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto &known) { return known.second->seen < since; });
  trees_.forget_unseen(since);
  frameworks_.forget_unseen(since);
}

void ProcessTable::refresh(Entry &entry, std::uint32_t pid, Monotonic now) {
  if (!entry.cpu_clock && has_clocks_) entry.cpu_clock = cpu_clock(pid);
  const auto cpu = entry.cpu_clock ? time_of(*entry.cpu_clock) : std::nullopt;
  if (cpu && entry.has_rested(*cpu, now)) return let_rest(entry, pid, *cpu, now);
  if (entries_.size() > kMaxKept) {
    entry.stat.forget();
    entry.statm.forget();
  }
  if (!entry.stat.read(stat_text_, root_, fmt::format("/proc/{}/stat", pid))) return refuse(entry, pid, errno);
  const auto stat = parse_process_stat(stat_text_);
  if (!stat) {
    entry.set_numbers(Reason::error);
    if (!entry.texts) entry.texts = all_texts(Reason::error);
    return;
  }
  const bool other = entry.start_ticks != stat->start_ticks;
  // exec() and renaming keep the pid and the start time.
  const bool renamed = !other && entry.name != stat->name && !stat->is_over();
  if (other) {
    const auto seen = entry.seen;
    entry = Entry{};
    entry.seen = seen;
    entry.start_ticks = stat->start_ticks;
  }
  if (other || renamed) {
    entry.name = stat->name;
    read_texts(entry, pid, *stat);
  } else if (entry.parent != stat->parent && !stat->is_over()) {
    auto texts = std::make_shared<TextRow>(*entry.texts);
    (*texts)[kParent] = read_name(stat->parent);
    entry.texts = std::move(texts);
    entry.parent = stat->parent;
  }
  entry.gone = stat->is_over();
  if (entry.gone) {
    entry.cpu_at.reset();
    return entry.set_numbers(Reason::lost);
  }
  entry.set_use(cpu.value_or(from_ticks(stat->cpu_ticks)), now);
  measure(entry, pid, *stat, now);
}

void ProcessTable::let_rest(Entry &entry, std::uint32_t pid, std::chrono::nanoseconds cpu, Monotonic now) {
  entry.set_use(cpu, now);
  entry.running_seconds = running_seconds(*entry.start_ticks, now);
  // Others may change these while it sleeps, and want to see them at once.
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, pid);
  if (errno == 0) entry.nice = static_cast<double>(nice);
}

void ProcessTable::refuse(Entry &entry, std::uint32_t pid, int error) {
  const auto reason = missing_reason(root_, pid, error);
  entry.gone = reason == Reason::lost;
  entry.cpu_at.reset();
  entry.arguments.reset();
  entry.set_numbers(reason);
  if (!entry.start_ticks) entry.texts = all_texts(reason);
}

void ProcessTable::measure(Entry &entry, std::uint32_t pid, const ProcessStat &stat, Monotonic now) {
  entry.stat_at = now;
  // The count in stat may be off by many pages per processor; newer kernels give the exact one in statm. While the
  // first does not change, the second hardly does.
  const bool holds = root_.is_machine() && entry.memory_at && now - *entry.memory_at < kMemoryHolds;
  if (!holds || stat.resident_pages != entry.resident_pages) {
    const bool exact = entry.statm.read(text_, root_, fmt::format("/proc/{}/statm", pid));
    const auto pages = exact ? parse_resident_pages(text_) : std::nullopt;
    entry.memory_bytes = static_cast<double>(pages.value_or(stat.resident_pages)) * page_bytes();
    entry.resident_pages = stat.resident_pages;
    entry.memory_at = now;
  }
  entry.running_seconds = running_seconds(stat.start_ticks, now);
  entry.parent_pid = static_cast<double>(stat.parent);
  entry.nice = static_cast<double>(stat.nice);
  entry.threads = static_cast<double>(stat.threads);
}

Reading ProcessTable::running_seconds(std::uint64_t start_ticks, Monotonic now) {
  if (!uptime_at_ || now - *uptime_at_ >= kShortest || now < *uptime_at_) {
    uptime_seconds_ = root_.is_machine()                       ? seconds_since_boot()
                      : root_.read_into(text_, "/proc/uptime") ? parse_uptime(text_)
                                                               : std::nullopt;
    uptime_at_ = now;
  }
  if (!uptime_seconds_) return Reason::not_supported;
  return std::max(0.0, *uptime_seconds_ - static_cast<double>(start_ticks) / ticks_per_second());
}

void ProcessTable::read_texts(Entry &entry, std::uint32_t pid, const ProcessStat &stat) {
  const auto folder = fmt::format("/proc/{}", pid);
  auto texts = std::make_shared<TextRow>(Scope::process);
  const std::string name(stat.name);
  (*texts)[kName] = name;
  (*texts)[kUser] = read_status(entry, folder);
  const bool readable = root_.read_into(text_, folder + "/cmdline", kMaxArguments);
  const std::string_view line = readable ? std::string_view(text_) : std::string_view();
  entry.arguments = std::make_shared<const std::vector<std::string>>(parse_arguments(line));
  auto command = parse_command(line.substr(0, kMaxCommand));
  auto program = parse_command(line.substr(0, std::min(line.find('\0'), kMaxCommand)));
  (*texts)[kProgram] = program.empty() ? name : program;
  // Kernel threads have no command line, and neither have processes that have ended.
  if (command.empty()) command = stat.is_over() ? name : "[" + name + "]";
  (*texts)[kCommand] = std::move(command);
  read_placement(folder, *texts);
  (*texts)[kParent] = read_name(stat.parent);
  (*texts)[kFramework] = audience_ == Audience::self ? Reason::not_sampled : Reason::no_permission;
  entry.parent = stat.parent;
  entry.texts = std::move(texts);
}

TextReading ProcessTable::read_name(std::uint32_t pid) {
  if (pid == 0) return Reason::not_supported;
  if (!root_.read_piece(text_, fmt::format("/proc/{}/stat", pid))) return missing_reason(root_, pid, errno);
  const auto stat = parse_process_stat(text_);
  return stat ? TextReading(stat->name) : TextReading(Reason::error);
}

TextReading ProcessTable::read_status(Entry &entry, const std::string &folder) {
  entry.inner_pids.clear();
  // The folder of a process that may not be traced belongs to root, so ask its status first.
  if (root_.read_into(text_, folder + "/status")) {
    entry.inner_pids = parse_status_inner_pids(text_);
    if (const auto user = parse_status_user(text_)) return users_.name(*user);
  }
  struct stat owner{};
  if (::stat(root_.path(folder).c_str(), &owner) != 0) return errno_reason(errno);
  return users_.name(owner.st_uid);
}

void ProcessTable::read_placement(const std::string &folder, TextRow &texts) {
  const auto tell = [&](MetricId id, Text &&value, Reason otherwise) {
    texts[id] = value.empty() ? TextReading(otherwise) : TextReading(std::move(value));
  };
  Placement placement;
  auto none = Reason::not_supported;
  if (root_.read_into(text_, folder + "/cgroup")) {
    placement = parse_cgroup(text_);
  } else {
    none = errno_reason(errno);
  }
  const bool is_private = audience_ == Audience::everybody;
  const auto read_environment = [&] {
    return !is_private && root_.read_into(text_, folder + "/environ", kMaxEnvironment);
  };
  if (placement.job.empty() && read_environment()) placement.job = parse_environment_job(text_);
  auto account = job_account(root_, placement.job.str());
  if (account.empty() && !placement.job.empty() && read_environment()) account = parse_environment_account(text_);
  tell(kAccount, std::move(account), is_private && !placement.job.empty() ? Reason::no_permission : none);
  if (placement.job.empty()) placement.job = std::move(placement.unit);
  tell(kContainer, std::move(placement.container), none);
  tell(kPod, std::move(placement.pod), none);
  tell(kJob, std::move(placement.job), none);
}

}  // namespace gpulse::host
