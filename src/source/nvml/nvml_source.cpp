// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/nvml_source.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "source/nvml/code.hpp"
#include "source/nvml/diagnose.hpp"
#include "source/nvml/event.hpp"
#include "source/nvml/identity.hpp"
#include "source/nvml/readers.hpp"
#include "source/nvml/sleep.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::uint32_t kMostDevices = 1024;
constexpr std::uint32_t kMostInstances = 64;

class NvmlSource final : public Source {
 public:
  NvmlSource(Sysroot root, const SourceOptions &options) : root_(std::move(root)), options_(options) {
    for (const auto &reader : readers_) infos_.push_back(reader.info);
  }
  ~NvmlSource() override { close(); }

  std::string_view name() const override { return "nvml"; }
  std::span<const ReaderInfo> readers() const override { return infos_; }

  Discovery discover() override;
  bool changed() override;
  Outcome read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) override;
  std::vector<Event> take_events() override { return listener_.take(); }

 private:
  Return open();
  void close();
  void find_device(Handle handle, Discovery &found);
  void find_unreachable(std::uint32_t index, Return code, Discovery &found);
  void find_instances(std::size_t parent, Discovery &found);
  void add(DeviceData device, std::shared_ptr<DeviceIdentity> identity, DeviceState state, Discovery &found);
  void listen();
  Return handle_at(std::uint32_t index, Handle &handle) const;
  std::uint32_t device_count() const;

  Sysroot root_;
  SourceOptions options_;
  const std::span<const Reader> readers_ = nvml::readers();
  std::vector<ReaderInfo> infos_;
  Driver driver_;
  Versions versions_;
  bool opened_ = false;
  std::uint32_t count_ = 0;
  std::vector<PciGpu> listed_;
  std::vector<std::unique_ptr<DeviceData>> devices_;
  std::vector<std::shared_ptr<DeviceIdentity>> identities_;
  std::map<std::uint32_t, std::shared_ptr<DeviceIdentity>> known_;  // by the driver's index: who a lost one was
  std::map<std::string, std::shared_ptr<XidState>> xids_;           // outlives a device that comes and goes
  EventListener listener_;
};

Return NvmlSource::open() {
  const auto &api = *driver_.api;
  // The newer init attaches no GPU by itself, and does not fail because one of them is broken.
  auto code = api.init_v2();
  if (try_older(code)) {
    if (const auto older = api.init(); older != Return::function_not_found) code = older;
  }
  opened_ = code == Return::success;
  return code;
}

void NvmlSource::close() {
  devices_.clear();
  identities_.clear();
  driver_.listening = false;
  // A listener stuck in the driver still uses the session.
  if (listener_.stop() && opened_) driver_.api->shutdown();
  opened_ = false;
}

std::uint32_t NvmlSource::device_count() const {
  std::uint32_t count = 0;
  auto code = driver_.api->count_v2(&count);
  if (try_older(code)) code = driver_.api->count(&count);
  return code == Return::success ? std::min(count, kMostDevices) : 0;
}

Return NvmlSource::handle_at(std::uint32_t index, Handle &handle) const {
  auto code = driver_.api->handle_by_index_v2(index, &handle);
  if (code == Return::function_not_found) code = driver_.api->handle_by_index(index, &handle);
  return code;
}

void NvmlSource::add(DeviceData device, std::shared_ptr<DeviceIdentity> identity, DeviceState state, Discovery &found) {
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
  auto identity = read_identity(*driver_.api, device, versions_, options_.texts);
  if (const auto node = root_.read("/sys/bus/pci/devices/" + identity->pci + "/numa_node", 64)) {
    const auto number = parse_integer<int>(trim(*node));
    if (number && *number >= 0) device.numa_node = *number;
  }
  GpmSupport support{.version = 1, .supported = 0};
  if (options_.rates && driver_.api->gpm_support(handle, &support) == Return::success && support.supported != 0) {
    device.gpm = std::make_shared<GpmState>(driver_.api);
  }
  add(std::move(device), std::move(identity), DeviceState::ok, found);
  find_instances(devices_.size() - 1, found);
}

// The driver counts it, but does not hand it out: lost, or not for us.
void NvmlSource::find_unreachable(std::uint32_t index, Return code, Discovery &found) {
  if (code == Return::gpu_is_lost || code == Return::reset_required || code == Return::unknown) {
    auto &identity = known_[index];
    if (identity == nullptr) {
      identity = std::make_shared<DeviceIdentity>();
      identity->source = "nvml";
      identity->vendor = "nvidia";
      identity->name = "NVIDIA GPU";
      identity->uuid = "INDEX-" + std::to_string(index);
      identity->driver = versions_.driver;
    }
    add({}, identity, DeviceState::lost, found);
    return;
  }
  found.problem = "NVIDIA GPU " + std::to_string(index) + " cannot be used: " + std::string(code_text(code));
  found.remedy = code == Return::no_permission        ? "check the rights on /dev/nvidia*"
                 : code == Return::insufficient_power ? "attach its power cables"
                                                      : "see the kernel log";
}

void NvmlSource::find_instances(std::size_t parent, Discovery &found) {
  const auto &api = *driver_.api;
  const auto handle = devices_[parent]->handle;
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  if (api.mig_mode(handle, &current, &pending) != Return::success || current == 0) return;
  std::uint32_t slots = 0;
  if (api.mig_max_count(handle, &slots) != Return::success) return;
  for (std::uint32_t slot = 0; slot < std::min(slots, kMostInstances); ++slot) {
    DeviceData device;
    // Slots are sparse: an empty one says "not found".
    if (api.mig_handle(handle, slot, &device.handle) != Return::success) continue;
    device.parent = handle;
    device.instance = true;
    if (api.gpu_instance_id(device.handle, &device.gpu_instance) != Return::success) device.gpu_instance = kNoInstance;
    if (api.compute_instance_id(device.handle, &device.compute_instance) != Return::success) {
      device.compute_instance = kNoInstance;
    }
    auto identity = read_identity(api, device, versions_, options_.texts);
    identity->parent = identities_[parent]->uuid;
    if (devices_[parent]->gpm != nullptr && device.gpu_instance != kNoInstance) {
      device.gpm = std::make_shared<GpmState>(driver_.api);
    }
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
  driver_.listening = listener_.start(driver_.api, std::move(devices));
}

Discovery NvmlSource::discover() {
  Discovery found;
  close();
  listed_ = list_gpus(root_);
  std::vector<std::string> asleep;
  for (const auto &gpu : listed_) {
    if (gpu.suspended) asleep.push_back(gpu.pci);
  }
  const bool all_asleep = !listed_.empty() && asleep.size() == listed_.size();
  if (!all_asleep) {
    if (driver_.api == nullptr) {
      auto api = load_library();
      if (!api) {
        const auto problem = no_library(root_, api.error().what);
        return {.entities = {}, .problem = problem.what, .remedy = problem.remedy};
      }
      driver_.api = std::move(*api);
    }
    if (const auto code = open(); code != Return::success) {
      versions_ = read_versions(*driver_.api);
      const auto problem = no_init(root_, code, versions_.library, driver_.api->resolver.library().path());
      // A library loaded before an upgrade never matches the new module: load it anew next time.
      driver_.api.reset();
      return {.entities = {}, .problem = problem.what, .remedy = problem.remedy};
    }
    versions_ = read_versions(*driver_.api);
    const auto parts = split(versions_.driver, '.');
    driver_.major = parse_integer<int>(parts[0]).value_or(0);
    driver_.minor = parts.size() > 1 ? parse_integer<int>(parts[1]).value_or(0) : 0;
    count_ = device_count();
  }
  if (asleep.empty()) {
    for (std::uint32_t index = 0; index < count_; ++index) {
      Handle handle = nullptr;
      const auto code = handle_at(index, handle);
      if (code == Return::success) {
        const auto place = identities_.size();
        find_device(handle, found);
        known_[index] = identities_[place];
      } else {
        find_unreachable(index, code, found);
      }
    }
  } else {
    // By index would attach, and so wake, every GPU on the way.
    for (const auto &gpu : listed_) {
      Handle handle = nullptr;
      if (gpu.suspended) {
        add({}, identity_asleep(root_, gpu.pci), DeviceState::asleep, found);
      } else if (driver_.api->handle_by_pci_v2(gpu.pci.c_str(), &handle) == Return::success ||
                 driver_.api->handle_by_pci(gpu.pci.c_str(), &handle) == Return::success) {
        find_device(handle, found);
      }
    }
  }
  if (options_.texts) {
    std::vector<DeviceData *> whole;
    std::vector<std::shared_ptr<DeviceIdentity>> names;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i]->handle == nullptr || devices_[i]->instance) continue;
      whole.push_back(devices_[i].get());
      names.push_back(identities_[i]);
    }
    if (driver_.api != nullptr) read_topology(*driver_.api, whole, names);
  }
  if (options_.events && opened_) listen();
  if (found.entities.empty() && found.problem.empty()) found.problem = "NVIDIA driver loaded, but it shows no GPU";
  return found;
}

bool NvmlSource::changed() {
  if (list_gpus(root_) != listed_) return true;
  return opened_ && device_count() != count_;
}

Outcome NvmlSource::read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) {
  auto &device = *devices_[entity];
  if (device.handle == nullptr) return Outcome::unsupported;
  return readers_[reader].read(driver_, device, now, frame);
}

}  // namespace

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options) {
  return std::make_unique<NvmlSource>(root, options);
}

}  // namespace gpulse::nvml
