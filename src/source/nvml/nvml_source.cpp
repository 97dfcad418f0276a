// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/nvml_source.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/text.hpp"
#include "source/api/idle_release.hpp"
#include "source/nvml/code.hpp"
#include "source/nvml/cuda_version.hpp"
#include "source/nvml/diagnose.hpp"
#include "source/nvml/event.hpp"
#include "source/nvml/excluded.hpp"
#include "source/nvml/fast_start.hpp"
#include "source/nvml/identity.hpp"
#include "source/nvml/process.hpp"
#include "source/nvml/reader_calls.hpp"
#include "source/nvml/readers.hpp"
#include "source/nvml/sleep.hpp"
#include "source/nvml/topology.hpp"
#include "source/tegra/gpu.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::uint32_t kMaxDevices = 1024;
constexpr std::uint32_t kMaxInstances = 64;
constexpr auto kTopology = device_metric("topology");
constexpr auto kPcieTopology = device_metric("pcie_topology");

using IdentityPtr = std::shared_ptr<DeviceIdentity>;

// A device as discover() counts it, before the driver is asked about it.
struct Slot {
  std::uint32_t index = 0;  // the driver's
  std::string pci{};        // it is asked for by its address, if there is one
  IdentityPtr known{};      // since an earlier discovery

  std::string name() const { return pci.empty() ? std::to_string(index) : pci; }
};

class NvmlSource final : public Source {
 public:
  NvmlSource(Sysroot root, const SourceOptions &options)
      : root_(std::move(root)), options_(options), idle_release_(options.idle_release_after) {
    driver_.root = root_;
    driver_.only = options_.only;
    driver_.either_limit = options_.either_limit;
    // Listening takes a thread, and events of the driver that wake it.
    options_.events = options.events && (!options.only || options.only->contains_any(xid_metrics()));
    for (const auto &reader : nvml::readers()) infos_.push_back(reader.info);
  }
  ~NvmlSource() override { close(); }

  std::string_view name() const override { return "nvml"; }
  std::span<const ReaderInfo> readers() const override { return infos_; }

  Discovery discover() override;
  bool is_ready_to_discover() override { return listener_.try_stop(); }
  Identified identify(std::size_t entity) override;
  void start_listening() override { listener_.listen(); }
  std::shared_ptr<const DeviceIdentity> complete(std::size_t entity) override;
  bool changed() override;
  bool changed_without_event() override;
  bool has_changed(std::size_t entity) override;
  Outcome read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) override;
  [[gnu::hot]] std::vector<Event> take_events() override { return listener_.take(); }

 private:
  std::vector<PciGpu> list() const;
  bool has_driver_changed();
  static Discovery discover_excluded();
  Return open();
  void close();
  bool open_driver(Discovery &found);
  void find_by_index(Discovery &found);
  void find_by_address(Discovery &found);
  bool is_asleep(const PciGpu &gpu) const;
  bool wants_path(MetricId topology) const;
  // Not among the texts of a device: only a command that shows it asks for it.
  bool wants_peer_access() const { return options_.only && wants_path(detail_metric("peer_access")); }
  IdentityPtr provisional_identity(const Slot &slot) const;
  IdentityPtr identity_of(std::size_t entity);
  Identified find_unreachable(const Slot &slot, Return code) const;
  std::vector<std::pair<std::size_t, Found>> find_instances(std::size_t parent);
  void keep(DeviceData device, const IdentityPtr &identity, std::size_t place);
  bool may_have_instances(Handle handle) const;
  bool wants_instances() const;
  bool try_release(Monotonic now);
  Return handle_at(std::uint32_t index, Handle &handle) const;
  Return handle_on(const std::string &pci, Handle &handle) const;
  Return device_count(std::uint32_t &count) const;
  std::optional<std::vector<Instance>> list_instances(Handle parent) const;

  Sysroot root_;
  SourceOptions options_;
  std::vector<ReaderInfo> infos_;
  Driver driver_;
  std::future<std::optional<int>> cuda_;
  Versions versions_;
  bool opened_ = false;
  std::uint32_t count_ = 0;
  std::vector<PciGpu> listed_;
  // Whole devices come first, in the order of their slots, then room for the instances of each.
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<DeviceData>> devices_;

  // Devices are identified side by side.
  std::mutex identities_mutex_;
  std::vector<IdentityPtr> identities_;                    // by entity; null: not known yet
  std::map<std::uint32_t, IdentityPtr> known_by_index_;    // the driver's index; for devices that are lost
  std::map<std::string, IdentityPtr> known_by_address_;    // on the PCI bus; for devices that are asleep
  std::map<std::string, std::shared_ptr<XidState>> xids_;  // by UUID; kept when a device comes and goes
  EventListener listener_;
  IdleRelease idle_release_;  // of the session: the driver holds all devices, or none
};

std::vector<PciGpu> NvmlSource::list() const {
  auto gpus = list_gpus(root_);
  for (auto &gpu : gpus) gpu.suspended = gpu.suspended && !options_.wake;
  return gpus;
}

Return NvmlSource::open() {
  const auto &api = *driver_.api;
  // The newer init does not attach GPUs, so it does not fail because one of them is broken.
  auto code = api.init_v2();
  if (try_older(code)) {
    if (const auto older = api.init(); older != Return::function_not_found) code = older;
  }
  if (code == Return::already_initialized) code = Return::success;
  opened_ = code == Return::success;
  return code;
}

void NvmlSource::close() {
  devices_.clear();
  identities_.clear();
  slots_.clear();
  // A listener stuck in the driver still uses the session.
  if (listener_.stop() && opened_) driver_.api->shutdown();
  for (const auto &[uuid, xid] : xids_) xid->listening = Return::no_data;
  opened_ = false;
}

Return NvmlSource::device_count(std::uint32_t &count) const {
  auto code = driver_.api->count_v2(&count);
  if (try_older(code)) {
    if (const auto older = driver_.api->count(&count); older != Return::function_not_found) code = older;
  }
  count = code == Return::success ? std::min(count, kMaxDevices) : 0;
  return code;
}

Return NvmlSource::handle_at(std::uint32_t index, Handle &handle) const {
  auto code = driver_.api->handle_by_index_v2(index, &handle);
  if (try_older(code)) {
    if (const auto older = driver_.api->handle_by_index(index, &handle); older != Return::function_not_found)
      code = older;
  }
  return code;
}

Return NvmlSource::handle_on(const std::string &pci, Handle &handle) const {
  auto code = driver_.api->handle_by_pci_v2(pci.c_str(), &handle);
  if (try_older(code)) {
    if (const auto older = driver_.api->handle_by_pci(pci.c_str(), &handle); older != Return::function_not_found)
      code = older;
  }
  return code;
}

void NvmlSource::keep(DeviceData device, const IdentityPtr &identity, std::size_t place) {
  const std::lock_guard lock(identities_mutex_);
  auto &xid = xids_[identity->uuid];
  if (xid == nullptr) xid = std::make_shared<XidState>();
  device.xid = xid;
  devices_[place] = std::make_unique<DeviceData>(std::move(device));
  identities_[place] = identity;
}

// The driver counts the device but gives no handle: it is lost, or we may not use it.
Identified NvmlSource::find_unreachable(const Slot &slot, Return code) const {
  if (code == Return::gpu_is_lost || code == Return::reset_required || code == Return::unknown) {
    Found lost{.state = DeviceState::lost, .identity = slot.known};
    if (slot.known == nullptr) lost.identity = provisional_identity(slot);
    if (code == Return::unknown) lost.code = static_cast<std::uint16_t>(code);
    return {.found = std::move(lost)};
  }
  return {.found = {},
          .parts = {},
          .problem = "NVIDIA GPU " + slot.name() + " cannot be used: " + std::string(code_text(code)),
          .remedy = code == Return::no_permission        ? "check the rights on /dev/nvidia*"
                    : code == Return::insufficient_power ? "attach its power cables"
                                                         : "see the kernel log"};
}

// For a device that has not told its own yet.
IdentityPtr NvmlSource::provisional_identity(const Slot &slot) const {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->source = "nvml";
  identity->vendor = "nvidia";
  identity->name = "NVIDIA GPU";
  identity->pci = slot.pci;
  // The driver counts in the order of the bus.
  if (identity->pci.empty() && listed_.size() == count_) identity->pci = listed_[slot.index].pci;
  identity->uuid = identity->pci.empty() ? "INDEX-" + std::to_string(slot.index) : "PCI-" + identity->pci;
  identity->driver = versions_.driver;
  return identity;
}

Identified NvmlSource::identify(std::size_t entity) {
  const FastStart fast_start(options_.fast_start);
  const auto &slot = slots_[entity];
  DeviceData device;
  const auto code = slot.pci.empty() ? handle_at(slot.index, device.handle) : handle_on(slot.pci, device.handle);
  if (code != Return::success) return find_unreachable(slot, code);
  auto identity = read_identity(*driver_.api, device, versions_, options_);
  // nvgpu's files say more, and another source reads them.
  if (is_of_nvgpu(identity->name) && tegra::find_gpu(root_)) return {};
  device.integrated = is_integrated(identity->name);
  // Until complete() has said more.
  for (const auto id : {kTopology, kPcieTopology}) {
    if (wants_path(id)) identity->texts[id] = Reason::not_responding;
  }
  if (wants_path(kTopology)) device.links = read_links(*driver_.api, device.handle);
  {
    const std::lock_guard lock(identities_mutex_);
    if (!identity->pci.empty()) {
      // If the driver does not give the UUID this time, the known one is still right.
      auto &known = known_by_address_[identity->pci];
      if (known != nullptr && identity->uuid == "PCI-" + identity->pci) identity->uuid = known->uuid;
      known = identity;
    }
    if (slot.pci.empty()) known_by_index_[slot.index] = identity;
  }
  device.pci = identity->pci;
  keep(std::move(device), identity, entity);
  if (options_.events) listener_.add({devices_[entity]->handle, identity->uuid, devices_[entity]->xid});
  Identified told{.found = Found{.identity = identity}};
  if (wants_instances()) told.parts = find_instances(entity);
  return told;
}

// None when the driver cannot say at the moment.
std::optional<std::vector<Instance>> NvmlSource::list_instances(Handle parent) const {
  if (!may_have_instances(parent)) return std::vector<Instance>{};
  const auto &api = *driver_.api;
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  if (api.mig_mode(parent, &current, &pending) != Return::success) return std::nullopt;
  std::vector<Instance> found;
  if (current == 0) return found;
  std::uint32_t slots = 0;
  if (api.mig_max_count(parent, &slots) != Return::success) return std::nullopt;
  for (std::uint32_t slot = 0; slot < std::min(slots, kMaxInstances); ++slot) {
    Instance one;
    one.number = slot;
    // Slots are sparse: an empty one says "not found".
    if (api.mig_handle(parent, slot, &one.handle) != Return::success) continue;
    if (api.gpu_instance_id(one.handle, &one.gpu_instance) != Return::success) one.gpu_instance = kNoInstance;
    if (api.compute_instance_id(one.handle, &one.compute_instance) != Return::success)
      one.compute_instance = kNoInstance;
    found.push_back(one);
  }
  return found;
}

// Whether asking the driver for instances is worthwhile: the kernel module's files, which are cheap, list them. True
// when there are no such files.
bool NvmlSource::may_have_instances(Handle handle) const {
  const std::string files = "/proc/driver/nvidia/capabilities";
  std::uint32_t minor = 0;
  if (!root_.exists(files + "/mig") || driver_.api->minor_number(handle, &minor) != Return::success) return true;
  const auto listed = root_.list(files + "/gpu" + std::to_string(minor) + "/mig");
  return std::any_of(listed.begin(), listed.end(), [](const auto &name) { return name.starts_with("gi"); });
}

std::vector<std::pair<std::size_t, Found>> NvmlSource::find_instances(std::size_t parent) {
  std::vector<std::pair<std::size_t, Found>> parts;
  auto &whole = *devices_[parent];
  const auto handle = whole.handle;
  const auto instances = list_instances(handle);
  if (!instances) return parts;
  whole.instances = *instances;
  for (const auto &instance : *instances) {
    DeviceData device;
    device.handle = instance.handle;
    device.parent = handle;
    device.instance = true;
    device.gpu_instance = instance.gpu_instance;
    device.compute_instance = instance.compute_instance;
    auto identity = read_identity(*driver_.api, device, versions_, options_);
    identity->parent = identity_of(parent)->uuid;
    // All instances share their parent's address.
    if (identity->uuid == "PCI-" + identity->pci) identity->uuid = identity->parent + "/" + identity->label;
    whole.split = true;
    const auto place = slots_.size() + parent * kMaxInstances + parts.size();
    keep(std::move(device), identity, place);
    parts.emplace_back(place, Found{.identity = std::move(identity), .instance = instance.number});
  }
  return parts;
}

std::shared_ptr<const DeviceIdentity> NvmlSource::complete(std::size_t entity) {
  if (entity >= slots_.size()) return nullptr;
  std::vector<Peer> peers(slots_.size());
  auto identity = std::make_shared<DeviceIdentity>(*identity_of(entity));
  {
    const std::lock_guard lock(identities_mutex_);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (identities_[i] != nullptr) peers[i] = {devices_[i]->handle, identities_[i]->pci, devices_[i]->links};
    }
  }
  const auto &api = *driver_.api;
  if (wants_path(kTopology)) identity->texts[kTopology] = read_topology(api, peers, entity);
  if (wants_path(kPcieTopology)) identity->texts[kPcieTopology] = read_pcie_topology(api, peers, entity);
  if (wants_peer_access()) identity->peers = read_peer_access(api, peers, entity);
  return identity;
}

IdentityPtr NvmlSource::identity_of(std::size_t entity) {
  const std::lock_guard lock(identities_mutex_);
  return identities_[entity];
}

// Loads the library, starts a session and counts the devices. False, with the problem in `found`, when that fails.
bool NvmlSource::open_driver(Discovery &found) {
  const auto fail = [&](Problem problem) {
    found.problem = std::move(problem.what);
    found.remedy = std::move(problem.remedy);
    found.absent = problem.absent;
    found.code = static_cast<std::uint16_t>(problem.code);
    return false;
  };
  if (driver_.api == nullptr) {
    auto api = load_library();
    if (!api) return fail(no_library(root_, api.error().what));
    // This is the simulator, with a scenario that it cannot load.
    if (auto mistake = scenario_mistake((*api)->resolver.library()); !mistake.empty()) {
      found.mistake = true;
      return fail({std::move(mistake), ""});
    }
    driver_.api = std::move(*api);
  }
  if (const auto code = open(); code != Return::success) {
    versions_ = read_versions(*driver_.api, false);
    auto problem = no_init(root_, code, versions_.library, driver_.api->resolver.library().path());
    problem.code = code;
    // A library from before an upgrade never matches the new module, so reload it next time.
    driver_.api.reset();
    return fail(std::move(problem));
  }
  versions_ = read_versions(*driver_.api, options_.wants_text(device_metric("cuda_version")));
  if (cuda_.valid()) {
    if (const auto number = cuda_.get()) versions_.cuda = cuda_text(*number);
  }
  const auto parts = split(versions_.driver, '.');
  driver_.major = parse_integer<int>(parts[0]).value_or(0);
  driver_.minor = parts.size() > 1 ? parse_integer<int>(parts[1]).value_or(0) : 0;
  if (const auto code = device_count(count_); code != Return::success) return fail(no_count(code));
  found.driver = versions_.driver;
  return true;
}

void NvmlSource::find_by_index(Discovery &found) {
  for (std::uint32_t index = 0; index < count_; ++index) {
    slots_.push_back({.index = index, .known = known_by_index_[index]});
    const auto &slot = slots_.back();
    found.entities.push_back(
        {.identity = slot.known != nullptr ? slot.known : provisional_identity(slot), .identified = false});
  }
}

// Asking by index would attach, and so wake, every GPU with a lower one.
void NvmlSource::find_by_address(Discovery &found) {
  for (const auto &gpu : listed_) {
    const auto known = known_by_address_.find(gpu.pci);
    slots_.push_back({.pci = gpu.pci, .known = known != known_by_address_.end() ? known->second : nullptr});
    const auto &slot = slots_.back();
    if (is_asleep(gpu)) {
      found.entities.push_back({.state = DeviceState::asleep,
                                .identity = slot.known != nullptr ? slot.known : identity_asleep(root_, gpu.pci)});
    } else {
      found.entities.push_back(
          {.identity = slot.known != nullptr ? slot.known : provisional_identity(slot), .identified = false});
    }
  }
}

Discovery NvmlSource::discover_excluded() {
  Discovery found;
  if (auto excluded = excluded_devices()) {
    found.excluded = std::move(*excluded);
  } else {
    found.problem = excluded.error().what;
    found.remedy = excluded.error().remedy;
  }
  return found;
}

Discovery NvmlSource::discover() {
  if (options_.excluded_only) return discover_excluded();
  const FastStart fast_start(options_.fast_start);
  if (options_.fast_start && options_.wants_text(device_metric("cuda_version"))) cuda_ = ask_cuda_version();
  Discovery found;
  close();
  listed_ = list();
  const auto sleeps = [&](const PciGpu &gpu) { return is_asleep(gpu); };
  const bool asleep = std::any_of(listed_.begin(), listed_.end(), sleeps);
  const bool awake = listed_.empty() || !std::all_of(listed_.begin(), listed_.end(), sleeps);
  if (awake && !open_driver(found)) return found;
  if (opened_ && options_.events) listener_.open(driver_.api);
  asleep ? find_by_address(found) : find_by_index(found);
  const auto places = slots_.size() * (wants_instances() ? 1 + kMaxInstances : 1);
  devices_.resize(places);
  identities_.resize(places);
  found.incomplete = wants_path(kTopology) || wants_path(kPcieTopology) || wants_peer_access();
  if (found.entities.empty()) found.problem = "NVIDIA driver loaded, but it shows no GPU";
  return found;
}

// A device on its own has nobody to reach.
bool NvmlSource::wants_path(MetricId topology) const {
  return opened_ && slots_.size() > 1 && options_.wants_text(topology);
}

bool NvmlSource::is_asleep(const PciGpu &gpu) const { return gpu.suspended || idle_release_.is_released(); }

// Without the instances processes cannot be assigned to them.
bool NvmlSource::wants_instances() const {
  return !options_.only || options_.instances || options_.only->contains_any(process_metrics()) ||
         options_.only->contains(device_metric("mig_mode")) ||
         options_.only->contains(detail_metric("gpu_instance_id"));
}

bool NvmlSource::try_release(Monotonic now) {
  for (const auto &device : devices_) {
    if (device != nullptr) idle_release_.note_work(device->last_work);
  }
  return idle_release_.try_release(now, [&] {
    const auto may_sleep = [&](const PciGpu &gpu) { return gpu.suspended || may_suspend(root_, gpu); };
    return !listed_.empty() && std::all_of(listed_.begin(), listed_.end(), may_sleep);
  });
}

bool NvmlSource::changed() {
  if (list() == listed_) return has_driver_changed();
  idle_release_.take_back();
  return true;
}

bool NvmlSource::changed_without_event() {
  const auto is_as_listed = [&](const PciGpu &gpu) {
    return gpu.suspended == (!options_.wake && is_suspended(root_, gpu));
  };
  if (std::all_of(listed_.begin(), listed_.end(), is_as_listed)) return has_driver_changed();
  idle_release_.take_back();
  return true;
}

// Where the list of GPUs is still the same.
bool NvmlSource::has_driver_changed() {
  const auto now = monotonic_now();
  // One that had fallen asleep would be listed as such.
  if (idle_release_.is_released()) return idle_release_.try_take_back(now, [] { return false; });
  if (!opened_) return false;
  if (try_release(now)) return true;
  std::uint32_t count = 0;
  // A failed call is not a change: the readings will show what is wrong.
  return device_count(count) == Return::success && count != count_;
}

bool NvmlSource::has_changed(std::size_t entity) {
  const auto &device = *devices_[entity];
  if (device.handle == nullptr || device.instance || !wants_instances()) return false;
  const auto listed = list_instances(device.handle);
  return listed && *listed != device.instances;
}

[[gnu::hot]] Outcome NvmlSource::read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) {
  return nvml::readers()[reader].read(driver_, *devices_[entity], now, frame);
}

}  // namespace

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options) {
  return std::make_unique<NvmlSource>(root, options);
}

}  // namespace gpulse::nvml
