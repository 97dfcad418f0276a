// SPDX-License-Identifier: Apache-2.0
#include "view/scrape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "insight/catalogue.hpp"
#include "metric/format.hpp"
#include "view/families.hpp"
#include "view/json.hpp"

namespace gpulse::view {

namespace {

constexpr std::size_t kMostProcesses = 256;
constexpr std::size_t kLongestName = 64;

std::string_view key_of_role(Role role) {
  const auto id = find_role(Scope::process, role);
  return id ? key_of(*id).key : std::string_view();
}

// What tells a process from the others on the machine.
std::string process_labels(const Process &process, const Snapshot &snapshot) {
  const auto device = std::ranges::find(snapshot.devices, process.device, &Device::id);
  const auto text = [&](Role role) {
    const auto id = find_role(Scope::process, role);
    return id && process.texts != nullptr ? (*process.texts)[*id].value_or("") : std::string();
  };
  std::string labels;
  if (device != snapshot.devices.end() && device->identity) append_label(labels, "uuid", device->identity->uuid.str());
  append_label(labels, "pid", fmt::format("{}", process.pid));
  for (const auto role : families::kProcessLabels) {
    append_label(labels, key_of_role(role), first_bytes(text(role), kLongestName));
  }
  return labels;
}

// Those with the most memory on a device first.
std::vector<const Process *> largest(const std::vector<Process> &processes) {
  std::vector<const Process *> all;
  for (const auto &process : processes) all.push_back(&process);
  const auto memory = [](const Process *process) { return by_role(process->row, Role::memory_used).value_or(-1); };
  // Among equals, in the order of the list that they point into.
  std::ranges::sort(
      all, [&](const Process *a, const Process *b) { return memory(a) != memory(b) ? memory(a) > memory(b) : a < b; });
  if (all.size() > kMostProcesses) all.resize(kMostProcesses);
  return all;
}

double seconds_of(WallTime time) {
  return static_cast<double>(std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count()) / 1e3;
}

std::string labels_of(const insight::DeviceTally &device) {
  std::string labels;
  if (device.id) append_label(labels, "gpu", text(*device.id));
  append_label(labels, "uuid", device.uuid.str());
  append_label(labels, "vendor", device.vendor.str());
  return labels;
}

std::string xid_word(std::int64_t code) { return code == insight::kOtherXid ? "other" : fmt::format("{}", code); }

}  // namespace

ScrapeView::ScrapeView(Exposition exposition, bool processes, const PageContents &contents)
    : exposition_(exposition), readings_(contents, exposition), has_calls_(!contents.is_brief) {
  if (!processes) return;
  // What is worth keeping for days is worth a series.
  for_each_metric(Scope::process, [&](MetricId id, const Metric &metric) {
    if (is_text(metric) || (kept(metric) != Kept::fold && kept(metric) != Kept::range)) return;
    processes_.push_back({id, named(prometheus_name(metric), metric.help), prometheus_scale(metric)});
  });
}

ScrapeView::Named ScrapeView::named(std::string_view name, std::string_view help) const {
  return {.name = std::string(name), .head = head_of(exposition_, name, help, name.ends_with("_total"))};
}

void ScrapeView::write_xids(const insight::TallyReport &tally, std::string &out) const {
  const auto write = [&](const Named &family, auto value_of) {
    Head head(family.head);
    for (const auto &device : tally.devices) {
      for (const auto &xid : device.xids) {
        head.put(out);
        auto labels = labels_of(device);
        append_label(labels, "xid", xid_word(xid.code));
        out.append(family.name).append(labels).append("} ");
        append_number(out, value_of(xid));
      }
    }
  };
  write(named(families::kXids, "Errors (XIDs) that the driver has reported since the agent started"),
        [](const insight::XidCount &xid) { return static_cast<double>(xid.count); });
  write(named(families::kXidTime, "When the driver last reported this error, in seconds since 1970"),
        [](const insight::XidCount &xid) { return seconds_of(xid.last); });
}

void ScrapeView::write_findings(const insight::TallyReport &tally, std::string &out) const {
  const auto lasting = named(families::kFinding, "What is found to be wrong now; always 1");
  Head head(lasting.head);
  for (const auto &finding : tally.findings) {
    head.put(out);
    std::string labels;
    append_label(labels, "uuid", finding.uuid.str());
    append_label(labels, "finding", word(finding.id));
    append_label(labels, "severity", word(finding.weight));
    out.append(lasting.name).append(labels).append("} 1\n");
  }
  const auto lost = named(families::kFindingLost, "GPU time lost to a finding since the agent started");
  Head lost_head(lost.head);
  for (const auto &device : tally.devices) {
    for (std::size_t i = 0; i < device.lost_seconds.size(); ++i) {
      if (!device.lost_seconds[i]) continue;
      lost_head.put(out);
      std::string labels;
      append_label(labels, "uuid", device.uuid.str());
      append_label(labels, "finding", word(static_cast<insight::FindingId>(i)));
      out.append(lost.name).append(labels).append("} ");
      append_number(out, device.lost_seconds[i].value());
    }
  }
}

void ScrapeView::write_owners(std::span<const insight::DeviceOwners> owners, std::string &out) const {
  const auto family = named(families::kOwner, "Who holds the GPU; always 1");
  Head head(family.head);
  for (const auto &[uuid, all] : owners) {
    for (const auto &owner : all) {
      head.put(out);
      std::string labels;
      append_label(labels, "uuid", uuid.str());
      append_label(labels, key_of_role(Role::user), owner.user.str());
      // A scraper has labels called job, pod, namespace and container of its own.
      append_label(labels, "batch_job", owner.job.str());
      append_label(labels, "batch_account", owner.account.str());
      append_label(labels, "gpu_pod", owner.pod.str());
      append_label(labels, "gpu_namespace", owner.pod_namespace.str());
      append_label(labels, "gpu_container", owner.container.str());
      out.append(family.name).append(labels).append("} 1\n");
    }
  }
}

void ScrapeView::write_processes(const Snapshot &snapshot, std::string &out) const {
  if (processes_.empty()) return;
  struct Series {
    const Process *process;
    std::string labels;
  };
  std::vector<Series> all;
  std::set<std::string> seen;
  for (const auto *process : largest(snapshot.processes)) {
    auto labels = process_labels(*process, snapshot);
    if (seen.insert(labels).second) all.push_back({process, std::move(labels)});
  }
  for (const auto &[id, family, scale] : processes_) {
    Head head(family.head);
    for (const auto &[process, labels] : all) {
      const auto &reading = process->row[id];
      if (!reading) continue;
      head.put(out);
      out.append(family.name).append(labels).append("} ");
      const double value = rounded(id, reading.value());
      append_number(out, scale < 1 ? value / (1 / scale) : value * scale);
    }
  }
}

void ScrapeView::write_calls(const AgentNumbers &agent, std::string &out) const {
  const auto write = [&](const Named &family, auto value_of) {
    Head head(family.head);
    for (const auto &call : agent.calls) {
      head.put(out);
      std::string labels;
      append_label(labels, "source", call.source);
      append_label(labels, "call", call.call);
      out.append(family.name).append(labels).append("} ");
      append_number(out, value_of(call));
    }
  };
  write(named(families::kCallTime, "Time spent in a kind of call to drivers and the kernel"),
        [](const CallTotal &call) { return Seconds(call.time).count(); });
  write(named(families::kCalls, "Calls of a kind to drivers and the kernel"),
        [](const CallTotal &call) { return static_cast<double>(call.calls); });
}

void ScrapeView::write_alerts(const AgentNumbers::Alerts &alerts, std::string &out) const {
  using Receiver = AgentNumbers::Alerts::Receiver;
  const auto write = [&](std::string_view name, std::string_view help, std::uint64_t Receiver::*part) {
    const auto family = named(name, help);
    Head head(family.head);
    for (const auto &receiver : alerts.receivers) {
      head.put(out);
      std::string labels;
      append_label(labels, "receiver", receiver.name);
      out.append(family.name).append(labels).append("} ");
      append_number(out, static_cast<double>(receiver.*part));
    }
  };
  write(families::kAlertsSent, "Messages about alerts that have arrived", &Receiver::sent);
  write(families::kAlertsFailed, "Tries to send a message that failed", &Receiver::failed);
  write(families::kAlertsGivenUp, "Messages that were given up", &Receiver::given_up);
  write(families::kAlertsWaiting, "Messages that wait for their receiver", &Receiver::waiting);
}

void ScrapeView::write_agent(const Scrape &scrape, std::string &out) const {
  const auto &[snapshot, is_fresh, tally, owners, agent] = scrape;
  const auto one = [&](std::string_view name, std::string_view help, double value) {
    const auto family = named(name, help);
    out.append(family.head).append(family.name) += ' ';
    append_number(out, value);
  };
  one(families::kUp, "Whether samples come: 0 where the last is older than three intervals", is_fresh ? 1 : 0);
  const auto build = named(families::kBuild, "Which gpulse this is; always 1");
  std::string labels;
  append_label(labels, "version", agent.version);
  if (!labels.empty()) out.append(build.head).append(build.name).append(labels).append("} 1\n");
  one(families::kReleased, "Whether the agent has let go of the GPUs because it was asked to", agent.released ? 1 : 0);
  one(families::kSamples, "Samples taken since the agent started", static_cast<double>(tally.pace.samples));
  if (tally.pace.samples > 0) {
    one(families::kInterval, "Time between two samples", Seconds(tally.pace.interval).count());
    one(families::kLate, "Time by which samples came later than their interval", tally.late_seconds);
    one(families::kLatePeak, "Time by which a sample came later than its interval: the highest of the last 60 seconds",
        tally.late_peak_seconds);
  }
  if (agent.history) {
    const auto &[kept, lost, waiting] = *agent.history;
    one(families::kKept, "Samples kept in the history", static_cast<double>(kept));
    one(families::kDropped, "Samples that could not be kept in the history", static_cast<double>(lost));
    one(families::kWaiting, "Samples that wait for the disk", static_cast<double>(waiting));
  }
  if (agent.remote_write) {
    const auto &writing = *agent.remote_write;
    one(families::kWritten, "Values that the engine has taken by remote write", static_cast<double>(writing.taken));
    one(families::kRefused, "Values that the engine has refused for good", static_cast<double>(writing.refused));
    one(families::kWriteFailures, "Remote writes that failed and are made again",
        static_cast<double>(writing.failures));
    one(families::kWrittenUpTo, "Time up to which the engine has everything, since 1970",
        std::chrono::duration<double>(writing.up_to.time_since_epoch()).count());
  }
  if (agent.alerts) {
    one(families::kAlertsFiring, "Alerts that fire now", static_cast<double>(agent.alerts->firing));
    write_alerts(*agent.alerts, out);
  }
  if (has_calls_) write_calls(agent, out);
}

std::string ScrapeView::write(const Scrape &scrape) {
  std::string out;
  constexpr std::size_t kMore = 4096;
  out.reserve(size_ + kMore);
  if (scrape.snapshot != nullptr && scrape.is_fresh) {
    readings_.write(*scrape.snapshot, out, &scrape.tally);
    write_owners(scrape.owners, out);
    write_processes(*scrape.snapshot, out);
    write_findings(scrape.tally, out);
  } else if (scrape.snapshot != nullptr) {
    readings_.write_time(*scrape.snapshot, out);
  }
  write_xids(scrape.tally, out);
  write_agent(scrape, out);
  out += end_of(exposition_);
  size_ = out.size();
  return out;
}

}  // namespace gpulse::view
