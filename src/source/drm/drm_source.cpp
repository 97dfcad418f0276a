// SPDX-License-Identifier: Apache-2.0
#include "source/drm/drm_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "source/drm/card.hpp"
#include "source/drm/clients.hpp"
#include "source/drm/device_users.hpp"
#include "source/drm/drivers.hpp"
#include "source/drm/engine_meter.hpp"
#include "source/drm/gpu_stats.hpp"
#include "source/drm/names.hpp"
#include "source/drm/pcie_link.hpp"
#include "source/sysfs/attribute.hpp"
#include "source/sysfs/hwmon.hpp"
#include "source/sysfs/sensor_presence.hpp"

namespace gpulse::drm {

namespace {

constexpr double kMilli = 1e-3, kMicro = 1e-6;
constexpr std::size_t kMaxText = 1U << 14U;

constexpr auto kUse = device_metric("gpu_utilization_percent");
constexpr auto kRender = device_metric("render_utilization_percent");
constexpr auto kCompute = device_metric("compute_utilization_percent");

// One card, and what is remembered between readings.
struct Unit {
  Unit(const Sysroot &root, const std::shared_ptr<DeviceUsers> &device_users, Card c)
      : card(std::move(c)),
        driver(describe_driver(card)),
        clients(root, device_users, card, {.integrated = driver.on_chip, .silent_when_idle = {}}) {}

  Card card;
  Driver driver;
  Clients clients;
  EngineMeter queues;
  std::vector<EngineCount> counts;
  bool has_profiling = false;
  std::string hwmon;    // …/hwmon/hwmon3; empty: no sensors
  std::string devfreq;  // …/devfreq/fde60000.gpu; empty: no clock
  std::string habana;   // folder of that driver's files; empty for other drivers
  PcieLink link;
  sysfs::SensorPresence presence;
  std::string buffer;
};

struct Context {
  const Sysroot &root;
  DeviceUsers &device_users;
  Unit &unit;
  bool wake;
  Monotonic now;
  Frame &frame;
};

// A file whose number times `scale` is the metric.
struct FileRow {
  MetricId metric;
  std::string_view file;
  double scale;
};

template <std::size_t N>
Outcome read_files(const Context &in, const std::string &folder, const std::array<FileRow, N> &rows) {
  if (folder.empty()) return Outcome::unsupported;
  bool any = false;
  for (const auto &[metric, file, scale] : rows) {
    const auto path = folder + "/" + std::string(file);
    const auto reading = sysfs::read_attribute(in.root, path, metric, scale, in.unit.buffer);
    any = any || !reading.is(Reason::not_supported);
    in.frame.row[metric] = in.unit.presence.check(metric, reading);
  }
  return any ? Outcome::ok : Outcome::unsupported;
}

Outcome check_power(const Context &in) {
  const bool asleep = !in.wake && !in.unit.driver.on_chip && is_asleep(in.root, in.unit.card);
  return asleep ? Outcome::asleep : Outcome::ok;
}

// Some drivers count engine time only after the administrator has switched profiling on.
bool is_counting(const Context &in) {
  if (!in.unit.has_profiling) return true;
  return sysfs::read_word(in.root, in.unit.card.device + "/profiling") != "0";
}

Outcome read_clients(const Context &in) {
  auto &row = in.frame.row;
  in.unit.clients.read(in.now, in.frame);
  if (!is_counting(in)) refuse_engines(in.frame, Reason::no_permission);
  row[kUse] = busiest(row[kRender], row[kCompute]);
  return Outcome::ok;
}

Outcome scan_processes(const Context &in) {
  in.device_users.scan_all(in.now);
  return Outcome::ok;
}

// The device's own counters include clients that we may not read, so they replace the sum over the clients.
Outcome read_queues(const Context &in) {
  auto &unit = in.unit;
  if (!in.root.read_into(unit.buffer, unit.card.device + "/gpu_stats", kMaxText)) {
    return errno == ENOENT ? Outcome::unsupported : Outcome::ok;
  }
  if (!parse_gpu_stats(unit.buffer, unit.counts)) return Outcome::ok;
  EngineReadings rates;
  unit.queues.update(unit.counts, in.now, rates);
  auto &row = in.frame.row;
  for (const auto id : kEngineMetrics) row[id] = Reason::not_supported;
  put_engines(rates, &EngineName::device, row);
  row[kUse] = busiest(row[kRender], row[kCompute]);
  return Outcome::ok;
}

constexpr std::array kClockFiles{FileRow{device_metric("clock_graphics_mhz"), "cur_freq", kMicro}};
constexpr std::array kMaxClockFiles{FileRow{device_metric("clock_max_graphics_mhz"), "max_freq", kMicro}};
constexpr std::array kSensorFiles{
    FileRow{device_metric("temperature_gpu_celsius"), "temp1_input", kMilli},
    FileRow{device_metric("power_draw_watts"), "power1_input", kMicro},
    FileRow{device_metric("voltage_graphics_volts"), "in0_input", kMilli},
    FileRow{device_metric("fan_speed_percent"), "pwm1", 1},
};
constexpr std::array kFanFiles{FileRow{device_metric("fan_speed_rpm"), "fan1_input", 1}};
constexpr std::array kLimitFiles{
    FileRow{device_metric("temperature_slowdown_celsius"), "temp1_max", kMilli},
    FileRow{device_metric("temperature_shutdown_celsius"), "temp1_emergency", kMilli},
};
constexpr std::array kHabanaFiles{FileRow{device_metric("clock_graphics_mhz"), "clk_cur_freq_mhz", 1}};
constexpr std::array kHabanaLimitFiles{
    FileRow{device_metric("clock_max_graphics_mhz"), "clk_max_freq_mhz", 1},
    FileRow{device_metric("power_limit_watts"), "max_power", kMilli},
};

template <const auto &Rows, std::string Unit::*Folder>
Outcome read_table(const Context &in) {
  return read_files(in, in.unit.*Folder, Rows);
}

Outcome read_link(const Context &in) {
  if (in.unit.card.pci.empty()) return Outcome::unsupported;
  read_pcie_link(in.root, in.unit.link, in.frame.row, in.unit.buffer);
  return Outcome::ok;
}

Outcome read_link_errors(const Context &in) {
  if (in.unit.card.pci.empty()) return Outcome::unsupported;
  read_pcie_errors(in.root, in.unit.link, in.frame.row, in.unit.buffer);
  return Outcome::ok;
}

template <const auto &Rows>
constexpr auto kMetricsOf = [] {
  std::array<MetricId, Rows.size()> ids{};
  std::transform(Rows.begin(), Rows.end(), ids.begin(), [](const FileRow &row) { return row.metric; });
  return ids;
}();

constexpr auto kUseMetrics = [] {
  std::array<MetricId, kClientMetrics.size() + 1> ids{};
  std::copy(kClientMetrics.begin(), kClientMetrics.end(), ids.begin());
  ids.back() = kUse;
  return ids;
}();

using Read = Outcome (*)(const Context &);
constexpr std::array<std::pair<ReaderInfo, Read>, 13> kRows{{
    {{.call = "power/runtime_status", .fills = {}}, check_power},
    {{.call = "/proc/*/fdinfo", .differential = true, .extra = true, .fills = kUseMetrics}, read_clients},
    {{.call = "/proc/*/fd", .tier = Tier::slow, .extra = true, .fills = {}}, scan_processes},
    {{.call = "gpu_stats", .differential = true, .fills = kUseMetrics}, read_queues},
    {{.call = "devfreq/cur_freq", .fills = kMetricsOf<kClockFiles>}, read_table<kClockFiles, &Unit::devfreq>},
    {{.call = "devfreq/max_freq", .tier = Tier::slow, .fills = kMetricsOf<kMaxClockFiles>},
     read_table<kMaxClockFiles, &Unit::devfreq>},
    {{.call = "hwmon", .fills = kMetricsOf<kSensorFiles>}, read_table<kSensorFiles, &Unit::hwmon>},
    // nouveau measures for a quarter of a second.
    {{.call = "hwmon/fan1_input", .tier = Tier::slow, .extra = true, .fills = kMetricsOf<kFanFiles>},
     read_table<kFanFiles, &Unit::hwmon>},
    {{.call = "hwmon/temp1_max", .tier = Tier::slow, .fills = kMetricsOf<kLimitFiles>},
     read_table<kLimitFiles, &Unit::hwmon>},
    {{.call = "clk_cur_freq_mhz", .fills = kMetricsOf<kHabanaFiles>}, read_table<kHabanaFiles, &Unit::habana>},
    {{.call = "max_power", .tier = Tier::slow, .fills = kMetricsOf<kHabanaLimitFiles>},
     read_table<kHabanaLimitFiles, &Unit::habana>},
    {{.call = "current_link_speed", .tier = Tier::slow, .fills = kPcieLinkMetrics}, read_link},
    {{.call = "aer_dev_correctable", .tier = Tier::slow, .extra = true, .fills = kPcieErrorMetrics}, read_link_errors},
}};

constexpr auto kReaders = [] {
  std::array<ReaderInfo, kRows.size()> infos{};
  std::transform(kRows.begin(), kRows.end(), infos.begin(), [](const auto &row) { return row.first; });
  return infos;
}();

// Drivers that are older than the kernel's accelerator class.
std::vector<Card> list_old_classes(const Sysroot &root) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kClasses{
      {{"habanalabs", "hl"}, {"tenstorrent", "tenstorrent!"}}};
  std::vector<Card> cards;
  for (const auto &[driver, prefix] : kClasses) {
    const auto where = "/sys/class/" + std::string(driver);
    for (const auto &name : root.list(where)) {
      // "hl_controlD0" is a second node of the same device.
      if (!name.starts_with(prefix) || !parse_integer<unsigned>(std::string_view(name).substr(prefix.size()))) continue;
      cards.push_back(describe_card(root, name, where + "/" + name, std::string(driver)));
    }
  }
  return cards;
}

std::vector<Card> list_generic(const Sysroot &root) {
  auto cards = list_cards(root, may_be_generic);
  for (auto &card : list_old_classes(root)) {
    const auto same = [&](const Card &known) { return !card.pci.empty() && known.pci == card.pci; };
    if (std::none_of(cards.begin(), cards.end(), same)) cards.push_back(std::move(card));
  }
  std::erase_if(cards, [](const Card &card) { return !is_generic(card); });
  for (auto &card : cards) card.asleep = card.asleep && !describe_driver(card).on_chip;
  return cards;
}

// "OF_COMPATIBLE_0=arm,mali-valhall-csf" is the most specific of the device tree's names for it.
std::string tree_name(const Sysroot &root, const Card &card) {
  return plain_name(sysfs::read_uevent(root, card.device, "OF_COMPATIBLE_0"));
}

std::string name_of(const Sysroot &root, const Card &card, Names &names) {
  if (auto name = tree_name(root, card); !name.empty()) return name;
  const auto driver = describe_driver(card);
  if (!card.pci.empty() && card.vendor != 0) return names.product(card, driver.device);
  const auto type = sysfs::read_word(root, card.folder + "/tt_card_type");
  return type.empty() ? std::string(driver.device) : std::string(driver.device) + " " + type;
}

// The folder of the clock is in the GPU's own device, which is not the card's on Qualcomm chips.
std::string find_devfreq(const Sysroot &root, const Card &card, bool on_chip) {
  const auto own = card.device + "/devfreq";
  if (const auto names = root.list(own); !names.empty()) return own + "/" + names.front();
  if (!on_chip || !card.driver.starts_with("msm")) return {};
  constexpr std::string_view kClass = "/sys/class/devfreq";
  for (const auto &name : root.list(kClass)) {
    if (name.find("gpu") != std::string::npos) return std::string(kClass) + "/" + name;
  }
  return {};
}

std::string find_sensors(const Sysroot &root, const Card &card) {
  auto folder = sysfs::find_hwmon(root, card.device, card.driver);
  if (!folder.empty()) return folder;
  const auto names = root.list(card.device + "/hwmon");
  return names.empty() ? std::string() : card.device + "/hwmon/" + names.front();
}

class DrmSource final : public Source {
 public:
  DrmSource(const Sysroot &root, const SourceOptions &options, std::shared_ptr<DeviceUsers> device_users)
      : root_(root), users_(std::move(device_users)), names_(root), wake_(options.wake) {}

  std::string_view name() const override { return "drm"; }
  std::span<const ReaderInfo> readers() const override { return kReaders; }
  bool changed() override { return list_generic(root_) != cards_; }

  Discovery discover() override {
    Discovery found;
    units_.clear();
    cards_ = list_generic(root_);
    for (const auto &card : cards_) {
      const bool asleep = card.asleep && !wake_;
      found.entities.push_back({.scope = Scope::device,
                                .state = asleep ? DeviceState::asleep : DeviceState::ok,
                                .identity = identity_of(card)});
      units_.push_back(set_up(card));
    }
    explain_unlisted(root_, found);
    return found;
  }

  Outcome read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) override {
    return kRows[reader].second({root_, *users_, *units_[entity], wake_, now, frame});
  }

 private:
  std::shared_ptr<const DeviceIdentity> identity_of(const Card &card) {
    auto identity = std::make_shared<DeviceIdentity>();
    identity->source = "drm";
    identity->vendor = describe_driver(card).vendor;
    identity->uuid = default_uuid(root_, card);
    identity->pci = card.pci;
    identity->name = name_of(root_, card, names_);
    identity->driver = driver_text(root_, card);
    return identity;
  }

  std::unique_ptr<Unit> set_up(const Card &card) const {
    auto unit = std::make_unique<Unit>(root_, users_, card);
    // Looking for these files may wake it; discovery runs again when it wakes.
    if (card.asleep && !wake_) return unit;
    unit->has_profiling = root_.exists(card.device + "/profiling");
    unit->devfreq = find_devfreq(root_, card, unit->driver.on_chip);
    unit->hwmon = find_sensors(root_, card);
    if (card.driver == "habanalabs") {
      // Older drivers keep the files in the folder of their own class.
      unit->habana = root_.exists(card.folder + "/clk_cur_freq_mhz") ? card.folder : card.device;
    }
    if (!card.pci.empty()) unit->link = find_pcie_link(root_, card);
    return unit;
  }

  Sysroot root_;
  std::shared_ptr<DeviceUsers> users_;
  Names names_;
  bool wake_;
  std::vector<Card> cards_;
  std::vector<std::unique_ptr<Unit>> units_;  // one per card
};

}  // namespace

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options,
                                    std::shared_ptr<DeviceUsers> device_users) {
  return std::make_unique<DrmSource>(root, options, std::move(device_users));
}

}  // namespace gpulse::drm
