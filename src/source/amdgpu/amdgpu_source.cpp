// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/amdgpu_source.hpp"

#include <algorithm>
#include <utility>

#include "source/amdgpu/identity.hpp"
#include "source/amdgpu/readers.hpp"
#include "source/sysfs/hwmon.hpp"

namespace gpulse::amdgpu {

namespace {

// Sensors by the driver's label. radeon and old kernels have no labels, but the same numbers.
struct Wanted {
  Sensor sensor;
  std::string_view kind, label;
  int number;
};
constexpr std::array<Wanted, 12> kWanted{{{Sensor::die, "temp", "edge", 1},
                                          {Sensor::hotspot, "temp", "junction", 2},
                                          {Sensor::memory, "temp", "mem", 3},
                                          {Sensor::sclk, "freq", "sclk", 1},
                                          {Sensor::mclk, "freq", "mclk", 2},
                                          {Sensor::graphics, "in", "vddgfx", 0},
                                          {Sensor::soc, "in", "vddnb", 1},
                                          {Sensor::power, "power", "slowPPT", 1},
                                          {Sensor::power, "power", "PPT", 1},
                                          {Sensor::fast_power, "power", "fastPPT", 2},
                                          {Sensor::fan, "fan", "", 1},
                                          {Sensor::pwm, "pwm", "", 1}}};

void find_sensors(const Sysroot &root, DeviceData &device) {
  const auto folder = sysfs::find_hwmon(root, device.card.device, device.card.driver);
  if (folder.empty()) return;
  for (const auto &sensor : sysfs::list_sensors(root, folder)) {
    const auto *const wanted = std::find_if(kWanted.begin(), kWanted.end(), [&](const Wanted &one) {
      return one.kind == sensor.kind &&
             (sensor.label.empty() ? one.number == sensor.number : one.label == sensor.label);
    });
    if (wanted != kWanted.end()) device.sensors[static_cast<std::size_t>(wanted->sensor)] = sensor.path;
  }
  // The newest data-centre chips have no edge sensor.
  auto &die = device.sensors[static_cast<std::size_t>(Sensor::die)];
  if (die.empty()) die = device.sensor(Sensor::hotspot);
}

bool is_integrated(const Sysroot &root, const DeviceData &device) {
  // Only APUs have a voltage for the rest of the chip, or a gpu_metrics table of format 2 or 3.
  if (!device.sensor(Sensor::soc).empty()) return true;
  const auto table = root.read(device.card.device + "/gpu_metrics", 8192);
  const auto metrics = table ? parse_gpu_metrics(*table) : std::nullopt;
  return metrics && metrics->integrated();
}

// The energy counter's unit is documented only for MI100, MI200 and MI300.
bool counts_energy(std::uint32_t product) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 3> kRanges{{{0x7388, 0x7390}, {0x7408, 0x7410}, {0x74a0, 0x75bf}}};
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [&](const Range &range) { return product >= range.first && product <= range.last; });
}

bool is_ours(std::string_view driver) { return driver == "amdgpu" || driver == "radeon"; }

class AmdgpuSource final : public Source {
 public:
  AmdgpuSource(const Sysroot &root, const SourceOptions &options, std::shared_ptr<drm::DeviceUsers> device_users)
      : root_(root),
        options_(options),
        users_(std::move(device_users)),
        names_(root),
        idle_cards_(options.idle_release_after) {
    for (const auto &reader : amdgpu::readers()) infos_.push_back(reader.info);
  }

  std::string_view name() const override { return "amdgpu"; }
  std::span<const ReaderInfo> readers() const override { return infos_; }
  Discovery discover() override;
  bool changed() override {
    return idle_cards_.try_take_back(root_, cards_, monotonic_now()) || list() != cards_ || list_nodes(root_) != nodes_;
  }
  Outcome read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) override {
    const auto &row = amdgpu::readers()[reader];
    return row.read({root_, options_, idle_cards_, *devices_[entity], now, frame}, row);
  }

 private:
  std::vector<drm::Card> list() const;
  KfdGroup take_group(const drm::Card &card);
  void add(std::unique_ptr<DeviceData> device, IdentityPtr identity, DeviceState state, Discovery &found);
  void add_card(const drm::Card &card, Discovery &found);
  void add_node(KfdGroup nodes, Discovery &found);
  void add_parts(const drm::Card &card, const KfdGroup &nodes, const IdentityPtr &whole, DeviceState state,
                 Discovery &found);
  void add_clients(DeviceData &device) const;

  Sysroot root_;
  SourceOptions options_;
  std::shared_ptr<drm::DeviceUsers> users_;
  drm::Names names_;
  drm::IdleCards idle_cards_;
  std::vector<ReaderInfo> infos_;
  std::vector<drm::Card> cards_;
  std::vector<KfdNode> nodes_;
  std::vector<KfdGroup> groups_;  // not yet assigned to a card
  std::vector<std::unique_ptr<DeviceData>> devices_;
  std::vector<KfdGroup> whole_nodes_;  // by whole device, for the topology
  std::vector<IdentityPtr> whole_;
};

std::vector<drm::Card> AmdgpuSource::list() const {
  auto cards = drm::list_cards(root_, is_ours);
  for (auto &card : cards) card.asleep = card.asleep && !options_.wake;
  return cards;
}

// The KFD nodes at the card's address. The PCI function only distinguishes the parts of a chip.
KfdGroup AmdgpuSource::take_group(const drm::Card &card) {
  const auto place = [](std::string_view pci) { return pci.substr(0, pci.rfind('.')); };
  const auto known = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const KfdGroup &group) { return place(group.front().pci()) == place(card.pci); });
  if (card.pci.empty() || known == groups_.end()) return {};
  auto group = std::move(*known);
  groups_.erase(known);
  return group;
}

void AmdgpuSource::add(std::unique_ptr<DeviceData> device, IdentityPtr identity, DeviceState state, Discovery &found) {
  if (identity->parent.empty()) {
    whole_nodes_.push_back(device->nodes);
    whole_.push_back(identity);
  }
  const auto part = static_cast<std::uint32_t>(device->partition.value_or(0));
  devices_.push_back(std::move(device));
  found.entities.push_back({.scope = Scope::device, .state = state, .identity = std::move(identity), .instance = part});
}

void AmdgpuSource::add_clients(DeviceData &device) const {
  // amdgpu lists these engines only after they have worked; radeon never lists any.
  static constexpr std::array kSilent{
      device_metric("render_utilization_percent"), device_metric("compute_utilization_percent"),
      device_metric("copy_utilization_percent"), device_metric("decoder_utilization_percent"),
      device_metric("encoder_utilization_percent")};
  const auto silent = device.card.driver == "amdgpu" ? std::span<const MetricId>(kSilent) : std::span<const MetricId>();
  device.device_users = users_;
  device.clients.emplace(root_, users_, device.card,
                         drm::ClientRules{.integrated = device.integrated, .silent_when_idle = silent});
}

void AmdgpuSource::add_parts(const drm::Card &card, const KfdGroup &nodes, const IdentityPtr &whole, DeviceState state,
                             Discovery &found) {
  if (nodes.size() < 2) return;
  const auto shared = std::make_shared<PartitionUse>();
  devices_.back()->partitions = shared;
  devices_.back()->clients.reset();
  for (const auto &node : nodes) {
    auto part = std::make_unique<DeviceData>();
    part->nodes = {node};
    part->partition = node.function();
    part->partitions = shared;
    // A part sleeps together with the whole, but has its own render node.
    part->card = card;
    part->card.nodes = {{drm::kDrmMajor, node.render_minor}};
    if (state == DeviceState::ok) add_clients(*part);
    add(std::move(part), identify_part(*whole, node), state, found);
  }
}

void AmdgpuSource::add_card(const drm::Card &card, Discovery &found) {
  auto device = std::make_unique<DeviceData>();
  device->card = card;
  device->folder = card.device;
  device->nodes = take_group(card);
  const auto state = card.asleep ? DeviceState::asleep : DeviceState::ok;
  auto identity = identify_card(root_, card, device->nodes, names_, options_.texts && !card.asleep);
  if (!card.asleep) {
    find_sensors(root_, *device);
    device->integrated = is_integrated(root_, *device);
    device->counts_energy = counts_energy(card.product);
    device->link = drm::find_pcie_link(root_, card);
    // A single sample does not wait for it.
    if ((options_.events || !root_.is_machine()) && root_.exists(card.device + "/pcie_bw")) {
      device->bandwidth = std::make_shared<PcieBandwidth>(root_, card.device);
    }
    add_clients(*device);
  }
  const auto nodes = device->nodes;
  if (nodes.size() > 1) {
    identity->texts[device_metric("compute_partition")] = partition_word(root_, card.device, nodes.size());
  }
  add(std::move(device), identity, state, found);
  add_parts(card, nodes, identity, state, found);
}

void AmdgpuSource::add_node(KfdGroup nodes, Discovery &found) {
  auto device = std::make_unique<DeviceData>();
  auto identity = identify_node(root_, nodes, names_);
  // A second device at the same address cannot be told apart by it.
  if (std::any_of(whole_.begin(), whole_.end(), [&](const auto &one) { return one->pci == identity->pci; })) {
    identity->pci = {};
  }
  drm::Card card;
  card.driver = "amdgpu";
  card.pci = identity->pci;
  device->card = card;
  device->card.nodes = {{drm::kDrmMajor, nodes.front().render_minor}};
  device->nodes = nodes;
  add_clients(*device);
  add(std::move(device), identity, DeviceState::ok, found);
  add_parts(card, nodes, identity, DeviceState::ok, found);
}

Discovery AmdgpuSource::discover() {
  Discovery found;
  devices_.clear();
  whole_.clear();
  whole_nodes_.clear();
  cards_ = list();
  nodes_ = list_nodes(root_);
  groups_ = group_by_chip(nodes_);
  for (const auto &card : cards_) add_card(card, found);
  for (auto &group : std::exchange(groups_, {})) {
    if (group.front().vendor == 0x1002) add_node(std::move(group), found);
  }
  if (options_.texts) describe_topology(whole_nodes_, whole_);
  drm::explain_unlisted(root_, found);
  return found;
}

}  // namespace

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options,
                                    std::shared_ptr<drm::DeviceUsers> device_users) {
  return std::make_unique<AmdgpuSource>(root, options, std::move(device_users));
}

}  // namespace gpulse::amdgpu
