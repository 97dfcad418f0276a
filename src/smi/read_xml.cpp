// SPDX-License-Identifier: Apache-2.0
// pugixml skips the DOCTYPE, expands only the predefined and numeric entities, and never opens another file.
#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <set>

#include "base/text.hpp"
#include "smi/form.hpp"
#include "smi/snapshot_parts.hpp"
#include "smi/value.hpp"
#include "smi/xml_lists.hpp"
#include "smi/xml_tree.hpp"

namespace gpulse::smi {

namespace {

// Each takes up to 128 bytes; a log of 1,024 GPUs has about three million.
constexpr std::int64_t kMostNodes = std::int64_t{1} << 22U;

// Over all samples of a log; 64 MiB contain about three thousand.
constexpr std::size_t kMostInAll = 16384;

// Properties of the machine, not of a device.
struct Versions {
  std::string driver;
  TextReading cuda = Reason::not_supported;
};

class XmlLog {
 public:
  // `schema` is empty if the log does not tell its version.
  XmlLog(pugi::xml_node root, std::optional<int> schema, bool text)
      : root_(root), snapshot_(new_snapshot()), log_{.schema = schema.value_or(0), .text = text, .rows = {}} {}

  Result<SnapshotPtr> run();

 private:
  Result<void> add_device(pugi::xml_node gpu);
  void add_instances(pugi::xml_node gpu, const DeviceIdentity &parent, std::uint32_t index);
  Result<void> add_processes(pugi::xml_node gpu, std::uint32_t index);
  DeviceId device_of(pugi::xml_node process, std::uint32_t index) const;

  // A MIG instance, numbered when all GPUs have their numbers.
  struct Instance {
    std::string gpu_instance, compute_instance;
    Device device;
  };

  pugi::xml_node root_;
  std::shared_ptr<Snapshot> snapshot_;
  LogForm log_;  // without rows
  Versions versions_;
  Uuids uuids_;
  std::vector<Instance> instances_;
  std::vector<pugi::xml_node> gpus_;
};

// Totals that newer versions no longer print.
void add_sums(Row &row, Row &details) {
  const auto add = [](Reading &sum, const Reading &a, const Reading &b) {
    if (!sum && a && b) sum = a.value() + b.value();
  };
  auto &sram = row[device_metric("ecc_sram_uncorrected_total")];
  auto &sram_now = details[detail_metric("ecc_sram_uncorrected_volatile_total")];
  add(sram, details[detail_metric("ecc_sram_parity_total")], details[detail_metric("ecc_sram_secded_total")]);
  add(sram_now, details[detail_metric("ecc_sram_parity_volatile_total")],
      details[detail_metric("ecc_sram_secded_volatile_total")]);
  add(row[device_metric("ecc_corrected_total")], row[device_metric("ecc_sram_corrected_total")],
      row[device_metric("ecc_dram_corrected_total")]);
  add(row[device_metric("ecc_uncorrected_total")], sram, row[device_metric("ecc_dram_uncorrected_total")]);
  add(row[device_metric("ecc_corrected_volatile_total")], details[detail_metric("ecc_sram_corrected_volatile_total")],
      row[device_metric("ecc_dram_corrected_volatile_total")]);
  add(row[device_metric("ecc_uncorrected_volatile_total")], sram_now,
      row[device_metric("ecc_dram_uncorrected_volatile_total")]);
}

std::string text_or(pugi::xml_node node, const char *name, std::string_view other) {
  const auto text = child_text(node, name);
  return text ? read_text(*text).value_or(other) : std::string(other);
}

bool is_lost(pugi::xml_node gpu) {
  for (const auto *name : {"product_name", "uuid"}) {
    const auto text = child_text(gpu, name);
    const auto reason = text ? reason_in(*text) : std::nullopt;
    if (reason && reason->is(Reason::lost)) return true;
  }
  return false;
}

// Newer logs add in brackets what is to be asked for instead.
TextReading read_version(pugi::xml_node root, std::initializer_list<const char *> names) {
  TextReading version = Reason::not_supported;
  for (const auto *name : names) {
    const auto text = child_text(root, name);
    if (!text || version) continue;
    version = read_text(text->starts_with('[') ? *text : text->substr(0, text->find(" [")));
  }
  return version;
}

Result<SnapshotPtr> XmlLog::run() {
  versions_.driver = read_version(root_, {"driver_version", "kmd_version"}).value_or("");
  versions_.cuda = read_version(root_, {"cuda_version", "cuda_umd_version"});
  if (log_.schema == 0) log_.schema = schema_of_driver(versions_.driver);
  snapshot_->time = read_time(child_text(root_, "timestamp").value_or("")).value_or(WallTime{});
  for (const auto gpu : root_.children("gpu")) gpus_.push_back(gpu);
  if (gpus_.size() > kMostDevices) return failure(fmt::format("more than {} GPUs", kMostDevices));
  for (const auto gpu : gpus_) {
    if (const auto good = add_device(gpu); !good) return std::unexpected(good.error());
  }
  for (const auto &instance : instances_) snapshot_->devices.push_back(instance.device);
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    if (const auto good = add_processes(gpus_[i], i); !good) return std::unexpected(good.error());
  }
  finish(*snapshot_);
  for (const auto &process : snapshot_->processes) {
    const auto on = std::ranges::find(snapshot_->devices, process.device, &Device::id);
    auto &count = on->row[device_metric("process_count")];
    if (count) count = count.value() + 1;
  }
  return snapshot_;
}

Result<void> XmlLog::add_device(pugi::xml_node gpu) {
  auto device = new_device(static_cast<std::uint32_t>(snapshot_->devices.size()));
  auto identity = std::make_shared<DeviceIdentity>();
  auto details = std::make_shared<DeviceDetails>();
  identity->source = "nvidia-smi";
  identity->vendor = "nvidia";
  identity->driver = versions_.driver;
  identity->name = text_or(gpu, "product_name", "NVIDIA GPU");
  identity->pci = pci_address(gpu.attribute("id").value());
  if (identity->pci.empty()) identity->pci = pci_address(child_text(gpu.child("pci"), "pci_bus_id").value_or(""));
  identity->uuid = uuids_.unique(text_or(gpu, "uuid", ""), identity->pci, device.id.index);
  fill_device(gpu, log_, XmlPart::device, device.row, identity->texts, *details);
  identity->texts[device_metric("cuda_version")] = versions_.cuda;
  add_sums(device.row, details->row);
  fill_event_reasons(gpu, device.row, details->row);
  fill_lists(gpu, *details);
  const auto capability = child_text(root_.child("vgpu_driver_capability"), "heterogenous_multivGPU");
  if (capability) details->told.emplace(kVgpuDriverCapability, short_text(*capability));
  for (const auto name : kNewerVersions) {
    const auto version = child_text(root_, std::string(name).c_str());
    if (version) details->told.emplace(name, short_text(*version));
  }
  if (is_lost(gpu)) device.state = DeviceState::lost;
  add_instances(gpu, *identity, device.id.index);
  if (instances_.size() > kMostInstances) return failure(fmt::format("more than {} MIG devices", kMostInstances));
  device.identity = std::move(identity);
  device.details = std::move(details);
  snapshot_->devices.push_back(std::move(device));
  return {};
}

void XmlLog::add_instances(pugi::xml_node gpu, const DeviceIdentity &parent, std::uint32_t index) {
  std::set<std::uint32_t> numbers;
  for (const auto node : gpu.child("mig_devices").children("mig_device")) {
    auto number = parse_integer<std::uint32_t>(trim(child_text(node, "index").value_or(""))).value_or(0);
    while (!numbers.insert(number).second) ++number;
    Instance instance{.gpu_instance = text_or(node, "gpu_instance_id", "?"),
                      .compute_instance = text_or(node, "compute_instance_id", "?"),
                      .device = new_device(index)};
    auto identity = std::make_shared<DeviceIdentity>();
    auto details = std::make_shared<DeviceDetails>();
    identity->source = parent.source;
    identity->vendor = parent.vendor;
    identity->driver = parent.driver;
    identity->pci = parent.pci;
    identity->parent = parent.uuid;
    identity->label = instance.gpu_instance + "/" + instance.compute_instance;
    identity->name = parent.name + " MIG " + identity->label;
    // The log has no UUIDs of instances; drivers before 470 used this format.
    identity->uuid = uuids_.unique("MIG-" + parent.uuid + "/" + identity->label, {}, index);
    identity->texts[device_metric("cuda_version")] = versions_.cuda;
    fill_device(node, log_, XmlPart::instance, instance.device.row, identity->texts, *details);
    instance.device.id.instance = number;
    instance.device.identity = std::move(identity);
    instance.device.details = std::move(details);
    instances_.push_back(std::move(instance));
    if (instances_.size() > kMostInstances) return;
  }
}

// The device that a process is listed under, or the instance if the process names one.
DeviceId XmlLog::device_of(pugi::xml_node process, std::uint32_t index) const {
  const auto gpu_instance = text_or(process, "gpu_instance_id", "");
  if (gpu_instance.empty()) return {.index = index};
  const auto compute_instance = text_or(process, "compute_instance_id", "?");
  for (const auto &instance : instances_) {
    if (instance.device.id.index == index && instance.gpu_instance == gpu_instance &&
        instance.compute_instance == compute_instance) {
      return instance.device.id;
    }
  }
  return {.index = index};
}

// Sets process_count to 0 or to a reason; run() counts the processes later.
Result<void> XmlLog::add_processes(pugi::xml_node gpu, std::uint32_t index) {
  const auto all = gpu.child("processes");
  const auto list = all ? all : gpu.child("compute_processes");
  const auto *const usual_type = all ? "" : "C";
  const auto text = trim(plain_text(list).value_or(""));
  Reading count = 0.0;
  if (!list || !text.empty()) count = list ? reason_in(text).value_or(Reason::error) : Reason::not_supported;
  for (const auto node : list.children("process_info")) {
    const auto pid = parse_integer<std::uint32_t>(trim(child_text(node, "pid").value_or("")));
    if (!pid) {
      count = Reason::error;
      continue;
    }
    auto process = new_process(*pid, child_text(node, "type").value_or(usual_type), child_text(node, "process_name"));
    process.device = device_of(node, index);
    if (const auto memory = node.child("used_memory")) {
      const auto used = plain_text(memory);
      process.row[process_metric("gpu_memory_bytes")] =
          used ? read(process_metric("gpu_memory_bytes"), kMib, *used) : Reading(Reason::error);
    }
    snapshot_->processes.push_back(std::move(process));
    if (snapshot_->processes.size() > kMostProcesses) {
      return failure(fmt::format("more than {} processes", kMostProcesses));
    }
  }
  for (auto &device : snapshot_->devices) {
    if (device.id.index == index) device.row[device_metric("process_count")] = count;
  }
  return {};
}

std::size_t line_at(std::string_view text, std::ptrdiff_t offset) {
  text = text.substr(0, static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

// The version of the format; empty if the document type does not tell.
std::optional<int> schema_in(std::string_view doctype) {
  constexpr std::string_view kBefore = "nvsmi_device_v";
  const auto at = doctype.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  doctype.remove_prefix(at + kBefore.size());
  return parse_integer<int>(doctype.substr(0, doctype.find('.')));
}

}  // namespace

Result<std::vector<SnapshotPtr>> read_xml(std::string_view text, const std::string &name) {
  const auto nodes = std::count_if(text.begin(), text.end(), [](char c) { return c == '<' || c == '='; });
  if (nodes > kMostNodes) return failure(fmt::format("{}: too many elements for a log of nvidia-smi", name));
  pugi::xml_document document;
  const auto parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!parsed) {
    auto why = std::string(parsed.description());
    return failure(fmt::format("{}: line {}: bad XML: {}", name, line_at(text, parsed.offset), why),
                   "is the file whole?");
  }
  return read_tree(document, false, name);
}

Result<std::vector<SnapshotPtr>> read_tree(const pugi::xml_document &document, bool text, const std::string &name) {
  std::vector<SnapshotPtr> snapshots;
  std::size_t devices = 0;
  std::optional<int> schema;
  for (const auto root : document.children()) {
    if (root.type() == pugi::node_doctype) schema = schema_in(root.value());
    if (root.type() != pugi::node_element) continue;
    if (std::string_view(root.name()) != kRoot) {
      return failure(fmt::format("{}: XML, but no log of nvidia-smi: it has <{}> where <{}> should be", name,
                                 short_text(std::string_view(root.name()).substr(0, 40)), kRoot),
                     "make one with nvidia-smi -q -x");
    }
    auto snapshot = XmlLog(root, schema, text).run();
    if (!snapshot) return failure(fmt::format("{}: {}", name, snapshot.error().what));
    devices += (*snapshot)->devices.size() + 1;
    if (devices > kMostInAll) return failure(fmt::format("{}: too many moments", name), "cut the file");
    snapshots.push_back(std::move(*snapshot));
  }
  return snapshots;
}

}  // namespace gpulse::smi
