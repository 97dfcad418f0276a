// SPDX-License-Identifier: Apache-2.0
#include "sample/sampler.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/hot_code.hpp"
#include "base/text.hpp"
#include "model/derived.hpp"

namespace gpulse {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kKeptEvents = 64;

// The first line of /etc/hostname that is not a comment; empty when there is none.
std::string configured_hostname(const Sysroot &root) {
  constexpr std::string_view kFile = "/etc/hostname";
  // An absolute link would lead out of the tree, to the file of this machine.
  const auto link = root.read_link(kFile);
  const auto text = root.read(link && link->starts_with('/') ? std::string_view(*link) : kFile, 4096).value_or("");
  for (std::string_view rest = text; !rest.empty();) {
    const auto line = trim(next_piece(rest, '\n'));
    if (!line.empty() && !line.starts_with('#')) return std::string(line);
  }
  return {};
}

// Empty when a recorded machine does not tell its name; never that of the machine on which it is looked at.
std::string read_hostname(const Sysroot &root) {
  constexpr std::string_view kKernel = "/proc/sys/kernel/hostname";
  if (!root.is_machine()) {
    // The kernel answers with the reader's own name where a container looks at its host through /host/proc.
    auto name = configured_hostname(root);
    return name.empty() ? std::string(trim(root.read(kKernel, 256).value_or(""))) : name;
  }
  if (const auto text = root.read(kKernel, 256)) return std::string(trim(*text));
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

[[gnu::noinline]] void sort_devices(std::vector<Device> &devices) {
  std::sort(devices.begin(), devices.end(), [](const Device &a, const Device &b) { return a.id < b.id; });
}

[[gnu::noinline]] void sort_processes(std::vector<Process> &processes) {
  std::sort(processes.begin(), processes.end(),
            [](const Process &a, const Process &b) { return std::pair(a.device, a.pid) < std::pair(b.device, b.pid); });
}

}  // namespace

Sampler::Sampler(std::vector<std::shared_ptr<Source>> sources, const Sysroot &root, const RunnerOptions &options)
    : options_(options),
      wants_self_(!options.only || options.only->contains_any(Scope::self)),
      hostname_(read_hostname(root)),
      processes_(std::make_shared<host::ProcessTable>(
          root, options.for_everybody ? host::Audience::everybody : host::Audience::self, options.only)) {
  const auto events = std::make_shared<sysfs::DeviceEvents>(root);
  for (auto &source : sources) runners_.emplace_back(std::move(source), processes_, options, events);
  reports_.resize(runners_.size());
}

// By address as well, since a device may be found under another UUID later: it was asleep, or did not tell it at first.
DeviceId Sampler::id_of(const Found &found) {
  const auto &identity = *found.identity;
  if (!identity.parent.empty()) {
    const auto parent = indices_.try_emplace(identity.parent, next_index_).first->second;
    next_index_ = std::max(next_index_, parent + 1);
    return {.index = parent, .instance = found.instance};
  }
  auto known = indices_.find(identity.uuid);
  if (known == indices_.end() && !identity.pci.empty()) known = indices_.find(identity.pci);
  if (known == indices_.end() && !found.shown_as.empty()) known = indices_.find(found.shown_as);
  const auto index = known != indices_.end() ? known->second : next_index_++;
  indices_.try_emplace(identity.uuid, index);
  if (!identity.pci.empty()) indices_.try_emplace(identity.pci, index);
  return {.index = index};
}

// Whole devices come first, in the order of their source, so that their numbers match the driver's.
void Sampler::number_devices() {
  for (const auto &report : reports_) {
    for (const auto &found : report.devices) {
      if (found.identity->parent.empty()) id_of(found);
    }
  }
  ids_.clear();
  for (const auto &report : reports_) {
    for (const auto &found : report.devices) ids_.push_back(id_of(found));
  }
  in_order_ = std::is_sorted(ids_.begin(), ids_.end());
}

[[gnu::hot]] void Sampler::place_devices(Snapshot &snapshot) const {
  for (std::size_t i = 0; i < ids_.size(); ++i) snapshot.devices[i].id = ids_[i];
  for (auto &process : snapshot.processes) process.device = ids_[process.device.index];
  if (!in_order_) sort_devices(snapshot.devices);
  if (snapshot.processes.size() > 1) sort_processes(snapshot.processes);
}

void Sampler::collect_statuses() {
  const bool any = std::any_of(reports_.begin(), reports_.end(), [](const auto &r) { return r.status.devices > 0; });
  std::vector<SourceStatus> all;
  for (const auto &report : reports_) {
    all.push_back(report.status);
    if (report.absent && any) all.back().problem = all.back().remedy = "";
  }
  statuses_ = std::move(all);
}

void Sampler::collect_events() {
  auto all = events_.get();
  for (auto &report : reports_) {
    for (auto &event : report.events) all.push_back(std::move(event));
    report.events.clear();
  }
  if (all.size() > kKeptEvents) all.erase(all.begin(), all.end() - kKeptEvents);
  events_ = std::move(all);
}

std::shared_ptr<Snapshot> Sampler::new_snapshot() {
  std::swap(handed_out_[0], handed_out_[1]);
  auto &snapshot = handed_out_[0] = std::make_shared<Snapshot>();
  snapshot->hostname = hostname_;
  return snapshot;
}

[[gnu::hot]] std::shared_ptr<Snapshot> Sampler::free_snapshot() {
  for (const auto &one : handed_out_) {
    if (one.use_count() != 1) continue;
    // use_count() does not wait for what the last of the others did before it let go; giving back a copy does.
    (void)std::shared_ptr(one);
    return one;
  }
  return new_snapshot();
}

[[gnu::hot]] SnapshotPtr Sampler::assemble(Monotonic begun) {
  if (begun >= next_cleaning_) {
    processes_->forget_unseen(begun - 60s);
    next_cleaning_ = begun + 10s;
  }
  const auto took = Seconds(monotonic_now() - begun);
  auto snapshot = free_snapshot();
  snapshot->time = wall_now();
  snapshot->processes.clear();
  std::size_t devices = 0;
  SourceNews news;
  bool any_event = false;
  std::chrono::nanoseconds call_time{0};
  std::uint64_t calls = 0;
  std::uint32_t slowed = 0;
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    auto &report = reports_[i];
    const auto more = runners_[i].report(report, *snapshot, devices);
    if (!more.any) continue;
    news.host = news.host || more.host;
    news.devices = news.devices || more.devices;
    news.status = news.status || more.status;
    any_event = any_event || !report.events.empty();
    call_time += report.call_time;
    calls += report.calls;
    slowed += report.slowed;
  }
  if (devices < snapshot->devices.size()) snapshot->devices.resize(devices);
  if (has_host_ && !news.host) {
    snapshot->host.fill({});
    snapshot->cores.clear();
  }
  has_host_ = has_host_ || news.host;
  if (news.devices) number_devices();
  if (news.status) collect_statuses();
  if (any_event) collect_events();
  snapshot->sources = statuses_;
  snapshot->events = events_;
  place_devices(*snapshot);
  snapshot->self[self_metric("sample_seconds")] = took.count();
  snapshot->self[self_metric("driver_seconds")] = Seconds(call_time).count();
  snapshot->self[self_metric("driver_calls")] = static_cast<double>(calls);
  snapshot->self[self_metric("readers_slowed")] = slowed;
  if (wants_self_) host::read_self(snapshot->self, self_use_, monotonic_now());
  return snapshot;
}

SnapshotPtr Sampler::take(Pass pass, std::chrono::nanoseconds time_limit, bool patient, const std::stop_token &stop) {
  const std::lock_guard one_at_a_time(sampling_);
  const auto begun = monotonic_now();
  // Prompt sources come last: they run on this thread while the workers wait for their drivers.
  for (const bool prompt : {false, true}) {
    for (auto &runner : runners_) {
      if (runner.is_prompt() == prompt) runner.ask(pass);
    }
  }
  wait(begun + time_limit, patient, stop);
  return assemble(begun);
}

// Turn by turn, so that the deadlines of all sources run side by side.
void Sampler::wait(Monotonic until, bool patient, const std::stop_token &stop) {
  constexpr auto kTurn = 50ms;
  for (;;) {
    const auto turn_end = monotonic_now() + kTurn;
    bool settled = true;
    for (auto &runner : runners_)
      settled = runner.wait(patient ? turn_end : std::min(until, turn_end), stop) && settled;
    if (settled || stop.stop_requested()) return;
    const auto now = monotonic_now();
    // This program was stopped, or had no processor: that is nobody's fault.
    if (now - turn_end > 250ms) until += now - turn_end;
    if (now < until) continue;
    const auto is_under_way = [](const auto &runner) { return runner.is_under_way(); };
    if (!patient || std::none_of(runners_.begin(), runners_.end(), is_under_way)) return;
  }
}

[[gnu::hot]] SnapshotPtr Sampler::sample_here(Pass pass, std::chrono::nanoseconds time_limit,
                                              const std::stop_token &stop) {
  const auto begun = monotonic_now();
  bool done = true;
  for (auto &runner : runners_) {
    const auto progress = runner.read_here(pass);
    if (progress == Runner::Progress::replaced) return nullptr;
    done = done && progress == Runner::Progress::done;
  }
  const std::lock_guard one_at_a_time(sampling_);
  if (!done) wait(begun + time_limit, false, stop);
  return assemble(begun);
}

[[gnu::hot]] void Sampler::fetch() const {
  // A thread that was thought to hang may be assembling a sample.
  const std::unique_lock lock(sampling_, std::try_to_lock);
  if (!lock) return;
  fetch_data(this, sizeof *this);
  for (const auto &runner : runners_) runner.fetch();
  for (const auto &one : handed_out_) {
    // Who else has it only reads it.
    if (one == nullptr) continue;
    fetch_data(one.get(), sizeof *one);
    for (const auto &device : one->devices) fetch_data(device.row.readings());
  }
}

bool Sampler::is_held(std::chrono::nanoseconds time) const {
  return std::any_of(runners_.begin(), runners_.end(), [&](const auto &runner) { return runner.is_held(time); });
}

void Sampler::replace() {
  for (auto &runner : runners_) runner.replace();
}

SnapshotPtr Sampler::sample_within(Pass pass, std::chrono::nanoseconds time_limit, const std::stop_token &stop) {
  return take(pass, time_limit, false, stop);
}

SnapshotPtr Sampler::sample(Pass pass, const std::stop_token &stop) {
  // Longer than the deadline of any call, and of those that begin a moment later because of it.
  const auto time_limit = std::max(options_.discover_deadline, options_.call_deadline) + 300ms;
  return take(pass, time_limit, true, stop);
}

void Sampler::focus(const MetricSet &set) {
  const auto shared = std::make_shared<const MetricSet>(with_inputs(set));
  for (auto &runner : runners_) runner.focus(shared);
}

void Sampler::set_tick(std::chrono::nanoseconds tick) {
  for (auto &runner : runners_) runner.set_tick(tick);
}

bool Sampler::try_close() {
  // All are asked, also where the first is not done.
  return std::ranges::count_if(runners_, [](auto &runner) { return !runner.try_close(); }) == 0;
}

std::vector<CostReport> Sampler::costs() const {
  std::vector<CostReport> all;
  for (const auto &runner : runners_) {
    for (auto &cost : runner.costs()) all.push_back(std::move(cost));
  }
  return all;
}

}  // namespace gpulse
