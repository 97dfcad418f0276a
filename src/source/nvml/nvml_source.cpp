// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/nvml_source.hpp"

#include <algorithm>
#include <map>

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
#include "source/nvml/readers.hpp"
#include "source/nvml/sleep.hpp"
#include "source/tegra/gpu.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::uint32_t kMaxDevices = 1024;
constexpr std::uint32_t kMaxInstances = 64;

// An instance of a split device: enough to notice that it was replaced by another.
struct Instance {
  Handle handle = nullptr;
  std::uint32_t gpu_instance = kNoInstance, compute_instance = kNoInstance;
  bool operator==(const Instance &) const = default;
};

using IdentityPtr = std::shared_ptr<DeviceIdentity>;

class NvmlSource final : public Source {
 public:
  NvmlSource(Sysroot root, const SourceOptions &options)
      : root_(std::move(root)), options_(options), idle_release_(options.idle_release_after) {
    driver_.root = root_;
    driver_.only = options_.only;
    for (const auto &reader : nvml::readers()) infos_.push_back(reader.info);
  }
  ~NvmlSource() override { close(); }

  std::string_view name() const override { return "nvml"; }
  std::span<const ReaderInfo> readers() const override { return infos_; }

  Discovery discover() override;
  bool changed() override;
  Outcome read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) override;
  std::vector<Event> take_events() override { return listener_.take(); }

 private:
  std::vector<PciGpu> list() const;
  static Discovery discover_excluded();
  Return open();
  void close();
  bool open_driver(Discovery &found);
  void find_by_index(Discovery &found);
  void find_by_address(Discovery &found);
  void find_device(Handle handle, Discovery &found);
  void find_unreachable(const std::string &which, IdentityPtr known, Return code, Discovery &found);
  void find_instances(std::size_t parent, Discovery &found);
  void add(DeviceData device, IdentityPtr identity, DeviceState state, Discovery &found);
  bool may_have_instances(Handle handle) const;
  bool wants_instances() const;
  bool try_release(Monotonic now);
  void listen();
  void describe_topology();
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
  bool left_to_others_ = false;  // another source shows a GPU that the driver lists
  std::uint32_t count_ = 0;
  std::vector<PciGpu> listed_;
  std::vector<std::unique_ptr<DeviceData>> devices_;
  std::vector<IdentityPtr> identities_;
  std::map<std::uint32_t, IdentityPtr> known_by_index_;    // the driver's index; for devices that are lost
  std::map<std::string, IdentityPtr> known_by_address_;    // on the PCI bus; for devices that are asleep
  std::map<Handle, std::vector<Instance>> instances_;      // of every device
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
  instances_.clear();
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

void NvmlSource::add(DeviceData device, IdentityPtr identity, DeviceState state, Discovery &found) {
  auto &xid = xids_[identity->uuid];
  if (xid == nullptr) xid = std::make_shared<XidState>();
  device.xid = xid;
  devices_.push_back(std::make_unique<DeviceData>(std::move(device)));
  identities_.push_back(identity);
  found.entities.push_back({.scope = Scope::device, .state = state, .identity = std::move(identity)});
}

void NvmlSource::find_device(Handle handle, Discovery &found) {
  DeviceData device;
  device.handle = handle;
  auto identity = read_identity(*driver_.api, device, versions_, options_);
  // nvgpu's files say more, and another source reads them.
  if (is_of_nvgpu(identity->name) && tegra::find_gpu(root_)) {
    left_to_others_ = true;
    return;
  }
  device.integrated = is_integrated(identity->name);
  if (!identity->pci.empty()) {
    // If the driver does not give the UUID this time, the known one is still right.
    auto &known = known_by_address_[identity->pci];
    if (known != nullptr && identity->uuid == "PCI-" + identity->pci) identity->uuid = known->uuid;
    known = identity;
  }
  device.pci = identity->pci;
  add(std::move(device), std::move(identity), DeviceState::ok, found);
  if (wants_instances()) find_instances(devices_.size() - 1, found);
}

// The driver counts the device but gives no handle: it is lost, or we may not use it.
void NvmlSource::find_unreachable(const std::string &which, IdentityPtr known, Return code, Discovery &found) {
  if (code == Return::gpu_is_lost || code == Return::reset_required || code == Return::unknown) {
    if (known == nullptr) {
      known = std::make_shared<DeviceIdentity>();
      known->source = "nvml";
      known->vendor = "nvidia";
      known->name = "NVIDIA GPU";
      known->uuid = (which.contains(':') ? "PCI-" : "INDEX-") + which;
      known->driver = versions_.driver;
    }
    add({}, std::move(known), DeviceState::lost, found);
    if (code == Return::unknown) found.entities.back().code = static_cast<std::uint16_t>(code);
    return;
  }
  found.problem = "NVIDIA GPU " + which + " cannot be used: " + std::string(code_text(code));
  found.remedy = code == Return::no_permission        ? "check the rights on /dev/nvidia*"
                 : code == Return::insufficient_power ? "attach its power cables"
                                                      : "see the kernel log";
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

void NvmlSource::find_instances(std::size_t parent, Discovery &found) {
  const auto handle = devices_[parent]->handle;
  const auto instances = list_instances(handle);
  if (!instances) return;
  instances_[handle] = *instances;
  for (const auto &instance : *instances) {
    DeviceData device;
    device.handle = instance.handle;
    device.parent = handle;
    device.instance = true;
    device.gpu_instance = instance.gpu_instance;
    device.compute_instance = instance.compute_instance;
    auto identity = read_identity(*driver_.api, device, versions_, options_);
    identity->parent = identities_[parent]->uuid;
    // All instances share their parent's address.
    if (identity->uuid == "PCI-" + identity->pci) identity->uuid = identity->parent + "/" + identity->label;
    devices_[parent]->split = true;
    add(std::move(device), std::move(identity), DeviceState::ok, found);
  }
}

void NvmlSource::listen() {
  std::vector<Listened> devices;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i]->handle != nullptr && !devices_[i]->instance) {
      devices.push_back({devices_[i]->handle, identities_[i]->uuid, devices_[i]->xid});
    }
  }
  listener_.start(driver_.api, std::move(devices));
}

void NvmlSource::describe_topology() {
  std::vector<DeviceData *> whole;
  std::vector<IdentityPtr> names;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i]->handle == nullptr || devices_[i]->instance) continue;
    whole.push_back(devices_[i].get());
    names.push_back(identities_[i]);
  }
  read_topology(*driver_.api, whole, names);
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
    Handle handle = nullptr;
    if (const auto code = handle_at(index, handle); code == Return::success) {
      const auto place = identities_.size();
      find_device(handle, found);
      if (place < identities_.size()) known_by_index_[index] = identities_[place];
    } else {
      find_unreachable(std::to_string(index), known_by_index_[index], code, found);
    }
  }
}

// Asking by index would attach, and so wake, every GPU with a lower one.
void NvmlSource::find_by_address(Discovery &found) {
  for (const auto &gpu : listed_) {
    Handle handle = nullptr;
    const auto known = known_by_address_.contains(gpu.pci) ? known_by_address_[gpu.pci] : nullptr;
    if (gpu.suspended || idle_release_.is_released()) {
      add({}, known != nullptr ? known : identity_asleep(root_, gpu.pci), DeviceState::asleep, found);
    } else if (const auto code = handle_on(gpu.pci, handle); code == Return::success) {
      find_device(handle, found);
    } else {
      find_unreachable(gpu.pci, known, code, found);
    }
  }
}

Discovery NvmlSource::discover_excluded() {
  Discovery found;
  if (auto excluded = excluded_devices()) {
    found.excluded = std::move(*excluded);
  } else {
    found.problem = std::move(excluded.error().what);
    found.remedy = std::move(excluded.error().remedy);
  }
  return found;
}

Discovery NvmlSource::discover() {
  if (options_.excluded_only) return discover_excluded();
  const FastStart fast_start(options_.fast_start);
  if (options_.fast_start && options_.wants_text(device_metric("cuda_version"))) cuda_ = ask_cuda_version();
  Discovery found;
  close();
  left_to_others_ = false;
  listed_ = list();
  const auto sleeps = [&](const PciGpu &gpu) { return gpu.suspended || idle_release_.is_released(); };
  const bool asleep = std::any_of(listed_.begin(), listed_.end(), sleeps);
  const bool awake = listed_.empty() || !std::all_of(listed_.begin(), listed_.end(), sleeps);
  if (awake && !open_driver(found)) return found;
  asleep ? find_by_address(found) : find_by_index(found);
  if (options_.wants_text(device_metric("topology")) && opened_) describe_topology();
  if (options_.events && opened_) listen();
  if (found.entities.empty() && found.problem.empty() && !left_to_others_)
    found.problem = "NVIDIA driver loaded, but it shows no GPU";
  return found;
}

// Without the instances processes cannot be assigned to them.
bool NvmlSource::wants_instances() const {
  return !options_.only || options_.only->contains_any(process_metrics()) ||
         options_.only->contains(device_metric("mig_mode")) ||
         options_.only->contains(detail_metric("gpu_instance_id"));
}

bool NvmlSource::try_release(Monotonic now) {
  for (const auto &device : devices_) idle_release_.note_work(device->last_work);
  return idle_release_.try_release(now, [&] {
    const auto may_sleep = [&](const PciGpu &gpu) { return gpu.suspended || may_suspend(root_, gpu); };
    return !listed_.empty() && std::all_of(listed_.begin(), listed_.end(), may_sleep);
  });
}

bool NvmlSource::changed() {
  const auto now = monotonic_now();
  if (list() != listed_) {
    idle_release_.take_back();
    return true;
  }
  // One that had fallen asleep would be listed as such.
  if (idle_release_.is_released()) return idle_release_.try_take_back(now, [] { return false; });
  if (!opened_) return false;
  if (try_release(now)) return true;
  std::uint32_t count = 0;
  // A failed call is not a change: the readings will show what is wrong.
  if (device_count(count) == Return::success && count != count_) return true;
  return std::any_of(instances_.begin(), instances_.end(), [&](const auto &known) {
    const auto listed = list_instances(known.first);
    return listed && *listed != known.second;
  });
}

Outcome NvmlSource::read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) {
  auto &device = *devices_[entity];
  if (device.handle == nullptr) return Outcome::unsupported;
  return nvml::readers()[reader].read(driver_, device, now, frame);
}

}  // namespace

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options) {
  return std::make_unique<NvmlSource>(root, options);
}

}  // namespace gpulse::nvml
