// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/kernel_module.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <expected>

#include "base/unique_fd.hpp"
#include "source/nvml/code.hpp"
#include "source/nvml/identity.hpp"
#include "source/nvml/kernel_module_abi.hpp"

namespace gpulse::nvml {

namespace {

using namespace kernel_module;

// One client of the kernel module, with one device. The kernel frees its objects when the files are closed.
class Session {
 public:
  static std::expected<Session, Return> open(const Driver &driver, const DeviceData &device) {
    const auto pci = find_pci(*driver.api, device.handle);
    if (!pci) return std::unexpected(pci.error());
    Session session;
    // The simulator stands for the kernel module too.
    session.simulated_ = reinterpret_cast<Simulated>(driver.api->resolver.library().symbol("gpulse_sim_module"));
    if (session.simulated_ == nullptr) {
      if (!driver.root.is_machine()) return std::unexpected(Return::not_supported);
      if (const auto code = session.open_files(driver, device); code != Return::success) return std::unexpected(code);
    }
    if (!session.find(*pci)) return std::unexpected(Return::not_supported);
    return session;
  }

  template <class T>
  bool ask(std::uint32_t command, T &answer) const {
    return ask(subdevice_, command, answer);
  }

 private:
  using Simulated = int (*)(unsigned long request, void *argument);

  static UniqueFd open_file(const std::string &path) { return UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC)); }

  Return open_files(const Driver &driver, const DeviceData &device) {
    std::uint32_t minor = 0;
    if (const auto code = driver.api->minor_number(device.handle, &minor); code != Return::success) return code;
    control_ = open_file("/dev/nvidiactl");
    if (control_) device_ = open_file(fmt::format("/dev/nvidia{}", minor));
    if (!device_) return errno == EACCES || errno == EPERM ? Return::no_permission : Return::not_supported;
    int control = control_.get();
    ::ioctl(device_.get(), kRegister, &control);
    return Return::success;
  }

  bool find(const std::string &pci) {
    GpuIds gpus{};
    client_ = allocate(0, kClient);
    if (client_ == 0 || !ask(client_, kGpuIds, gpus)) return false;
    for (const auto id : gpus.ids) {
      if (id == kNoGpu) break;
      GpuPlace place{.id = id, .domain = 0, .bus = 0, .slot = 0};
      if (!ask(client_, kGpuPlace, place)) continue;
      if (fmt::format("{:04x}:{:02x}:{:02x}.0", place.domain, place.bus, place.slot) == pci) return use(id);
    }
    return false;
  }

  bool use(std::uint32_t gpu) {
    GpuNumbers numbers{};
    numbers.id = gpu;
    if (!ask(client_, kGpuNumbers, numbers)) return false;
    DeviceParameters device{};
    device.number = numbers.device;
    const auto parent = allocate(client_, kDevice, &device, sizeof(device));
    SubdeviceParameters subdevice{.number = numbers.subdevice};
    subdevice_ = parent != 0 ? allocate(parent, kSubdevice, &subdevice, sizeof(subdevice)) : 0;
    return subdevice_ != 0;
  }

  std::uint32_t allocate(std::uint32_t parent, std::uint32_t kind, void *parameters = nullptr,
                         std::uint32_t size = 0) const {
    Allocation one{.client = client_,
                   .parent = parent,
                   .handle = 0,
                   .kind = kind,
                   .parameters = reinterpret_cast<std::uintptr_t>(parameters),
                   .size = size,
                   .status = 0};
    return call(kAllocate, &one) ? one.handle : 0;
  }

  template <class T>
  bool ask(std::uint32_t object, std::uint32_t command, T &answer) const {
    Control control{.client = client_,
                    .object = object,
                    .command = command,
                    .flags = 0,
                    .parameters = reinterpret_cast<std::uintptr_t>(&answer),
                    .size = sizeof(T),
                    .status = 0};
    return call(kControl, &control) && control.status == 0;
  }

  bool call(unsigned long request, void *argument) const {
    if (simulated_ != nullptr) return simulated_(request, argument) == 0;
    return ::ioctl(control_.get(), request, argument) == 0;
  }

  UniqueFd control_, device_;
  Simulated simulated_ = nullptr;
  std::uint32_t client_ = 0, subdevice_ = 0;
};

TextReading read_part_number(const Session &session) {
  ChipDetails chip{};
  if (!session.ask(kChipDetails, chip)) return Reason::not_supported;
  return fmt::format("{:04X}-{}-{:X}{:X}", chip.pci_device, text_of(chip.sku), chip.major, chip.minor);
}

Reading read_sparse_mode(const Session &session, int driver) {
  // The request is not published: of drivers older than any whose nvidia-smi was seen to make it, it is not asked.
  constexpr int kFirstSeen = 535;
  SparseMode mode{};
  if (driver < kFirstSeen || !session.ask(kSparseMode, mode) || mode.enabled > 1) return Reason::not_supported;
  return mode.enabled;
}

}  // namespace

ModuleReadings read_kernel_module(const Driver &driver, const DeviceData &device) {
  const auto session = Session::open(driver, device);
  if (!session) return {text_reason_of(session.error()), reason_of(session.error())};
  return {read_part_number(*session), read_sparse_mode(*session, driver.major)};
}

Reading read_timeslice(const Driver &driver, const DeviceData &device) {
  const auto session = Session::open(driver, device);
  if (!session) return reason_of(session.error());
  ComputePolicies policies{};
  if (!session->ask(kComputePolicies, policies)) return Reason::not_supported;
  for (std::size_t i = 0; i < policies.all.size() && i < policies.count; ++i) {
    if (policies.all[i].kind == kTimeslice) return policies.all[i].value;
  }
  return Reason::not_supported;
}

}  // namespace gpulse::nvml
