// SPDX-License-Identifier: Apache-2.0
#include "source/drm/clients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <tuple>
#include <utility>

#include "source/drm/engine_meter.hpp"

namespace gpulse::drm {

namespace {

constexpr auto kProcessCount = device_metric("process_count");
constexpr auto kUse = process_metric("gpu_utilization_percent");
constexpr auto kMemory = process_metric("gpu_memory_bytes");
constexpr auto kSystemMemory = process_metric("gpu_system_memory_bytes");
constexpr auto kSharedMemory = process_metric("gpu_memory_shared_bytes");

enum class Region : std::uint8_t { device, system, unified, other };

// Some drivers number the regions of a kind: "vram0", "system0".
Region kind_of(std::string_view name) {
  name = name.substr(0, name.find_last_not_of("0123456789") + 1);
  if (name == "vram" || name == "local" || name == "stolen-local") return Region::device;
  if (name == "gtt" || name == "system" || name == "stolen" || name == "stolen-system") return Region::system;
  if (name == "memory") return Region::unified;
  return Region::other;
}

// A number and a reason add up to the number; two reasons to the one that may still change.
void add(Reading &sum, const Reading &part) {
  if (part.has_value())
    sum = sum.value_or(0) + part.value();
  else if (!sum.has_value() && sum.is(Reason::not_supported))
    sum = part;
}

struct Memory {
  Reading device = Reason::not_supported;
  Reading system = Reason::not_supported;
  Reading unified = Reason::not_supported;
  Reading shared = Reason::not_supported;

  void add_to(Memory &sum) const {
    add(sum.device, device);
    add(sum.system, system);
    add(sum.unified, unified);
    add(sum.shared, shared);
  }
  // A region without a kind is the host's memory where the device has none of its own.
  Reading system_of(bool integrated) const {
    Reading sum = system;
    if (integrated) add(sum, unified);
    return sum;
  }
  Reading own(bool integrated) const {
    Reading sum = device;
    add(sum, unified);
    if (integrated) add(sum, system);
    return sum;
  }
};

Memory measure(std::span<const RegionCount> regions, bool integrated) {
  const auto reading = [](const std::optional<std::uint64_t> &bytes) {
    return bytes ? Reading(static_cast<double>(*bytes)) : Reading(Reason::not_supported);
  };
  Memory memory;
  for (const auto &region : regions) {
    const auto kind = kind_of(region.name);
    if (kind == Region::device) add(memory.device, reading(region.held()));
    if (kind == Region::system) add(memory.system, reading(region.held()));
    if (kind == Region::unified) add(memory.unified, reading(region.held()));
    const bool own = kind == Region::device || kind == Region::unified || (kind == Region::system && integrated);
    if (own) add(memory.shared, reading(region.shared));
  }
  return memory;
}

// The process types, by the engines that have ever worked for the client. Everybody copies: that tells nothing.
std::uint8_t types_of(const ClientInfo &info) {
  std::uint8_t types = 0;
  for (const auto &engine : info.engines) {
    const auto number = engine_number(engine.name);
    const bool worked =
        engine.busy_ns.value_or(0) > 0 || engine.cycles.value_or(0) > 0 || engine.percent.value_or(0) > 0;
    if (!number || !worked) continue;
    const auto metric = kEngineNames[*number].device;
    if (metric == device_metric("copy_utilization_percent")) continue;
    const bool compute = metric == device_metric("compute_utilization_percent");
    types |= static_cast<std::uint8_t>(compute ? ProcessType::compute : ProcessType::graphics);
  }
  return types;
}

// One open file of a process, and the client it belongs to.
struct Slot {
  OpenNode open_node;
  std::optional<std::uint64_t> key;  // none: not a client, or not read yet
  bool known = false;
};

struct Client {
  std::uint64_t key = 0;
  std::uint32_t pid = 0;
  std::uint64_t start_ticks = 0;
  bool sampled = false;  // in this tick
  EngineMeter meter;
};

// The sum over the clients of one process.
struct Use {
  std::uint32_t pid = 0;
  bool known = false;    // holds files of clients
  bool charged = false;  // some of them count for it
  std::uint8_t types = 0;
  EngineReadings engines{};
  Memory memory;
};

void add(EngineReadings &sum, const EngineReadings &part) {
  for (std::size_t i = 0; i < sum.size(); ++i) add(sum[i], part[i]);
}

}  // namespace

class Clients::Impl {
 public:
  Impl(const Sysroot &root, std::shared_ptr<DeviceUsers> device_users, const Card &card, const ClientRules &rules)
      : root_(root), users_(std::move(device_users)), nodes_(card.nodes), rules_(rules) {
    for (std::size_t i = 0; i < kEngineNames.size(); ++i) {
      const auto &silent = rules.silent_when_idle;
      silent_[i] = std::find(silent.begin(), silent.end(), kEngineNames[i].device) != silent.end();
    }
  }

  ClientSums read(Monotonic now, Frame &frame) {
    if (!users_->collect(nodes_, now, open_now_)) {
      frame.processes.clear();
      for (const auto id : kClientMetrics) frame.row[id] = Reason::not_supported;
      return {};
    }
    adopt_open_nodes();
    begin();
    for (auto &slot : slots_) {
      read_slot(slot, now);
      if (slot.key) use_of(slot.open_node.pid).known = true;
    }
    std::erase_if(clients_, [](const Client &client) { return !client.sampled; });
    write_processes(frame);
    const auto denied = users_->denied_count();
    write_device(frame, denied > 0);
    sampled_before_ = true;
    return {.device_memory_bytes = total_.device,
            .system_memory_bytes = total_.system_of(rules_.integrated),
            .clients = clients_.size(),
            .some_denied = denied > 0};
  }

 private:
  // A client that several processes hold counts for the first in this order: by start time, then by number.
  static auto order(const Slot &slot) {
    return std::tie(slot.open_node.start_ticks, slot.open_node.pid, slot.open_node.fd);
  }

  // Keeps what is known of files that are still the same.
  void adopt_open_nodes() {
    std::vector<Slot> next;
    next.reserve(open_now_.size());
    for (const auto &open_node : open_now_) next.push_back({.open_node = open_node, .key = {}, .known = false});
    std::sort(next.begin(), next.end(), [](const Slot &a, const Slot &b) { return order(a) < order(b); });
    auto old = slots_.begin();
    for (auto &slot : next) {
      while (old != slots_.end() && order(*old) < order(slot)) ++old;
      if (old == slots_.end() || order(*old) != order(slot) || old->open_node.scan != slot.open_node.scan) continue;
      slot.key = old->key;
      slot.known = old->known;
    }
    slots_ = std::move(next);
  }

  void begin() {
    for (auto &client : clients_) client.sampled = false;
    total_ = {};
    engines_.fill(Reason::not_supported);
    uses_.clear();
    for (const auto &open_node : open_now_) {
      if (!uses_.empty() && uses_.back().pid == open_node.pid) continue;
      uses_.push_back({.pid = open_node.pid, .engines = {}, .memory = {}});
      uses_.back().engines.fill(Reason::not_supported);
    }
  }

  Client *find(std::uint64_t key) {
    const auto at = std::find_if(clients_.begin(), clients_.end(), [&](const Client &c) { return c.key == key; });
    return at == clients_.end() ? nullptr : &*at;
  }

  void read_slot(Slot &slot, Monotonic now) {
    if (slot.known) {
      if (!slot.key) return;
      const auto *client = find(*slot.key);
      if (client != nullptr && client->sampled) return;
    }
    const auto &open_node = slot.open_node;
    path_.clear();
    fmt::format_to(std::back_inserter(path_), "/proc/{}/fdinfo/{}", open_node.pid, open_node.fd);
    slot.known = root_.read_piece(text_, path_);
    slot.key.reset();
    if (!slot.known) {
      users_->rescan(open_node.pid);
      return;
    }
    if (!parse_fdinfo(text_, info_)) return;
    // Some drivers do not number their clients: each open file is one.
    constexpr auto kOwnNumber = std::uint64_t{1} << 63U;
    slot.key = info_.id ? *info_.id : (kOwnNumber | std::uint64_t{open_node.pid} << 24U | open_node.fd);
    sample(slot, now);
  }

  void sample(const Slot &slot, Monotonic now) {
    auto *client = find(*slot.key);
    if (client == nullptr) {
      clients_.push_back({.key = *slot.key, .meter = {}});
      client = &clients_.back();
    }
    if (client->sampled) return;
    client->sampled = true;
    // The same number in another process may be another client, whose counts cannot be compared.
    const auto &open_node = slot.open_node;
    if (client->pid != open_node.pid || client->start_ticks != open_node.start_ticks) client->meter.forget();
    client->pid = open_node.pid;
    client->start_ticks = open_node.start_ticks;
    const bool before = client->meter.has_past();
    client->meter.update(info_.engines, now, rates_);
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      if (!silent_[i] || !rates_[i].is(Reason::not_supported)) continue;
      rates_[i] = before ? Reading(0.0) : Reason::not_sampled;
    }
    charge(use_of(open_node.pid), measure(info_.regions, rules_.integrated));
  }

  Use &use_of(std::uint32_t pid) {
    return *std::lower_bound(uses_.begin(), uses_.end(), pid,
                             [](const Use &use, std::uint32_t wanted) { return use.pid < wanted; });
  }

  void charge(Use &use, const Memory &memory) {
    use.charged = true;
    use.types |= types_of(info_);
    add(use.engines, rates_);
    memory.add_to(use.memory);
    add(engines_, rates_);
    memory.add_to(total_);
  }

  void write_processes(Frame &frame) {
    frame.processes.resize(uses_.size());
    for (std::size_t i = 0; i < uses_.size(); ++i) write_process(uses_[i], frame.processes[i]);
  }

  void write_process(const Use &use, ProcessUse &out) {
    constexpr auto kRender = process_metric("render_utilization_percent");
    constexpr auto kCompute = process_metric("compute_utilization_percent");
    out.pid = use.pid;
    out.own_namespace = true;
    out.types = use.types;
    out.row.fill(Reason::not_supported);
    if (use.known && !use.charged) {
      // Its files count for another process.
      for (const auto id : {kUse, kMemory}) out.row[id] = 0.0;
      return;
    }
    put_engines(use.engines, &EngineName::process, out.row);
    out.row[kUse] = busiest(out.row[kRender], out.row[kCompute]);
    out.row[kMemory] = use.memory.own(rules_.integrated);
    out.row[kSystemMemory] = use.memory.system_of(rules_.integrated);
    out.row[kSharedMemory] = use.memory.shared;
  }

  // Without any client the known engines are idle, unless some processes could not be read.
  void write_device(Frame &frame, bool some_denied) {
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      if (silent_[i]) seen_[i] = true;
      if (!engines_[i].is(Reason::not_supported)) seen_[i] = true;
      if (!seen_[i] || !engines_[i].is(Reason::not_supported)) continue;
      engines_[i] = clients_.empty() && some_denied ? Reason::no_permission
                    : sampled_before_               ? Reading(0.0)
                                                    : Reason::not_sampled;
    }
    const auto nothing = clients_.empty() && some_denied ? Reason::no_permission : Reason::not_supported;
    for (const auto id : kEngineMetrics) frame.row[id] = nothing;
    put_engines(engines_, &EngineName::device, frame.row);
    frame.row[kProcessCount] =
        uses_.empty() && some_denied ? Reading(Reason::no_permission) : static_cast<double>(uses_.size());
  }

  Sysroot root_;
  std::shared_ptr<DeviceUsers> users_;
  std::vector<Node> nodes_;
  ClientRules rules_;
  std::array<bool, kEngineNames.size()> silent_{}, seen_{};
  bool sampled_before_ = false;

  std::vector<OpenNode> open_now_;
  std::vector<Slot> slots_;      // in the order of order()
  std::vector<Client> clients_;  // as they came
  std::vector<Use> uses_;        // by pid
  EngineReadings engines_{};
  Memory total_;

  // Buffers are kept, so that a tick allocates little.
  std::string path_, text_;
  ClientInfo info_;
  EngineReadings rates_{};
};

Clients::Clients(const Sysroot &root, std::shared_ptr<DeviceUsers> device_users, const Card &card,
                 const ClientRules &rules)
    : impl_(std::make_unique<Impl>(root, std::move(device_users), card, rules)) {}
Clients::Clients(Clients &&) noexcept = default;
Clients &Clients::operator=(Clients &&) noexcept = default;
Clients::~Clients() = default;

ClientSums Clients::read(Monotonic now, Frame &frame) { return impl_->read(now, frame); }

Reading busiest(const Reading &render, const Reading &compute) {
  if (render.has_value() && compute.has_value()) return std::max(render.value(), compute.value());
  if (render.has_value() || compute.is(Reason::not_supported)) return render;
  return compute;
}

void refuse_engines(Frame &frame, Reason reason) {
  for (const auto id : kEngineMetrics) {
    if (!frame.row[id].is(Reason::not_supported)) frame.row[id] = reason;
  }
  for (auto &process : frame.processes) {
    for (const auto &engine : kEngineNames) {
      if (!process.row[engine.process].is(Reason::not_supported)) process.row[engine.process] = reason;
    }
    process.row[kUse] = reason;
  }
}

}  // namespace gpulse::drm
