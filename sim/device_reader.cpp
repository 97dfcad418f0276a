// SPDX-License-Identifier: Apache-2.0
// [[device]] and [[process]]: profiles, one-line traces, MIG instances, and made-up identities where none is given.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "loader.hpp"

namespace gpulse::sim {
namespace {

struct TraceColumn {
  std::string_view column;
  Key key;
  double scale;
};

constexpr auto kTraceColumns = std::to_array<TraceColumn>({{"util_gpu_pct", Key::gpu_util, 1},
                                                           {"util_mem_pct", Key::memory_util, 1},
                                                           {"mem_used_mib", Key::memory_used_mib, 1},
                                                           {"mem_total_mib", Key::memory_total_mib, 1},
                                                           {"mem_reserved_mib", Key::memory_reserved_mib, 1},
                                                           {"temp_gpu_c", Key::temperature, 1},
                                                           {"temp_mem_c", Key::memory_temperature, 1},
                                                           {"power_avg_w", Key::power_w, 1},
                                                           {"power_avg_w", Key::power_average_w, 1},
                                                           {"power_instant_w", Key::power_instant_w, 1},
                                                           {"clk_sm_mhz", Key::clock_sm, 1},
                                                           {"clk_sm_mhz", Key::clock_graphics, 1},
                                                           {"clk_mem_mhz", Key::clock_memory, 1},
                                                           {"pstate", Key::pstate, 1},
                                                           {"event_reasons_hex", Key::event_reasons, 1},
                                                           {"viol_power_ns", Key::held_power_ns, 1},
                                                           {"viol_thermal_ns", Key::held_thermal_ns, 1},
                                                           {"pcie_replay", Key::pcie_replays, 1},
                                                           {"pcie_tx_count", Key::pcie_tx_bytes, 1},
                                                           {"pcie_rx_count", Key::pcie_rx_bytes, 1},
                                                           {"pcie_tx_mibs", Key::pcie_tx_kbs, 1024},
                                                           {"pcie_rx_mibs", Key::pcie_rx_kbs, 1024}});

struct GpmName {
  std::string_view name;
  std::uint32_t metric;
};

constexpr auto kGpmNames = std::to_array<GpmName>(
    {{"gract", 1},       {"smutil", 2},   {"smocc", 3},         {"intutil", 4},      {"mmaact", 5},
     {"dfmat", 6},       {"hmmat", 7},    {"dmmat", 8},         {"immat", 9},        {"dram", 10},
     {"fp64", 11},       {"fp32", 12},    {"fp16", 13},         {"pcitx", 20},       {"pcirx", 21},
     {"nvlrx", 60},      {"nvltx", 61},   {"anytensor", 5},     {"dfma_tensor", 6},  {"hmma_tensor", 7},
     {"imma_tensor", 9}, {"dram_bw", 10}, {"pcie_tx_mibs", 20}, {"pcie_rx_mibs", 21}});

std::uint64_t mix(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15ULL;
  seed = (seed ^ (seed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  seed = (seed ^ (seed >> 27U)) * 0x94D049BB133111EBULL;
  return seed ^ (seed >> 31U);
}

std::uint64_t name_seed(std::string_view name) {
  std::uint64_t seed = 0xCBF29CE484222325ULL;
  for (const char letter : name) {
    seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  }
  return seed;
}

std::string invented_uuid(const char *prefix, std::uint64_t seed) {
  const std::uint64_t high = mix(seed);
  const std::uint64_t low = mix(high);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s%08lx-%04lx-%04lx-%04lx-%012lx", prefix, (high >> 32U) & 0xFFFFFFFFU,
                (high >> 16U) & 0xFFFFU, high & 0xFFFFU, (low >> 48U) & 0xFFFFU, low & 0xFFFFFFFFFFFFU);
  return text.data();
}

std::string invented_bus_id(std::uint32_t index) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%08X:%02X:00.0", index / 224, 0x10 + index % 224);
  return text.data();
}

template <class Names>
std::size_t place_of(const Names &names, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

void apply_trace(Loader &loader, const Node &node, Device &device) {
  const std::string path = loader.text(node);
  const Trace *trace = loader.trace(node, path);
  if (trace == nullptr) {
    return;
  }
  for (const auto &[column, key, scale] : kTraceColumns) {
    if (trace->columns.contains(column)) {
      device[key] = {.code = Return::success, .series = loader.column(node, path, std::string(column)), .scale = scale};
    }
  }
  for (const auto &[column, metric] : kGpmNames) {
    if (trace->columns.contains(column)) {
      device.gpm[metric] = {.code = Return::success, .series = loader.column(node, path, std::string(column))};
    }
  }
  const auto energy = trace->columns.find("energy_mj");
  if (energy != trace->columns.end()) {
    device[Key::energy_mj] = Number::of(energy->second.front());
  }
}

void read_gpm(Loader &loader, const Node &table, Target &target) {
  loader.members(table, {}, [&](const std::string &name, const Node &node) {
    const std::optional<std::uint32_t> metric = gpm_metric(name);
    if (metric) {
      target.gpm[*metric] = loader.value(node);
    }
    return metric.has_value();
  });
}

void read_fields(Loader &loader, const Node &table, Target &target) {
  loader.members(table, {}, [&](const std::string &name, const Node &node) {
    const std::size_t id = std::strtoul(name.c_str(), nullptr, 10);
    if (id != 0 && id < kFieldCount) {
      std::erase_if(target.fields, [&](const auto &field) { return field.first == id; });
      target.fields.emplace_back(static_cast<std::uint32_t>(id), loader.value(node));
    }
    return id != 0 && id < kFieldCount;
  });
}

void read_mig(Loader &loader, const Node &table, Device &device) {
  MigInstance instance;
  instance.slot = static_cast<std::uint32_t>(device.mig.size());
  std::string profile = "1g.5gb";
  const auto count = [&](Key key) { return [&, key](const Node &n) { instance[key] = loader.value(n); }; };
  const auto id = [&](std::uint32_t &target) { return [&](const Node &n) { target = loader.u32(n); }; };
  for (const Key key : {Key::mig_copy_engines, Key::mig_decoders, Key::mig_encoders, Key::mig_jpegs, Key::mig_ofas,
                        Key::memory_used_mib, Key::memory_reserved_mib}) {
    instance[key] = Number::of(0);
  }
  instance[Key::mig_gpu_slices] = instance[Key::mig_compute_slices] = Number::of(1);
  loader.members(table, {{"profile", [&](const Node &n) { profile = loader.text(n); }},
                         {"slot", id(instance.slot)},
                         {"gi", id(instance.gpu_instance)},
                         {"ci", id(instance.compute_instance)},
                         {"start", id(instance.start)},
                         {"part_start", id(instance.part_start)},
                         {"uuid", [&](const Node &n) { instance[Text::uuid] = {Return::success, loader.text(n)}; }},
                         {"memory_total_mib", count(Key::memory_total_mib)},
                         {"memory_used_mib", count(Key::memory_used_mib)},
                         {"memory_reserved_mib", count(Key::memory_reserved_mib)},
                         {"bar1_total_mib", count(Key::bar1_total_mib)},
                         {"bar1_used_mib", count(Key::bar1_used_mib)},
                         {"sms", count(Key::mig_sms)},
                         {"copy_engines", count(Key::mig_copy_engines)},
                         {"decoders", count(Key::mig_decoders)},
                         {"encoders", count(Key::mig_encoders)},
                         {"jpegs", count(Key::mig_jpegs)},
                         {"ofas", count(Key::mig_ofas)},
                         {"gpu_slices", count(Key::mig_gpu_slices)},
                         {"compute_slices", count(Key::mig_compute_slices)},
                         {"sm", [&](const Node &n) { instance.gpm[1] = instance.gpm[2] = loader.value(n); }},
                         {"gpm", [&](const Node &n) { read_gpm(loader, n, instance); }}});
  instance[Text::name] = {Return::success, " MIG " + profile};  // the parent's name goes before it
  instance.profile = profile;
  device.mig.push_back(std::move(instance));
}

void read_mig_profile(Loader &loader, const Node &table, Device &device) {
  MigProfile profile;
  const auto count = [&](std::uint32_t &target) { return [&](const Node &n) { target = loader.u32(n); }; };
  loader.members(table, {{"number", count(profile.number)},
                         {"id", count(profile.id)},
                         {"name", [&](const Node &n) { profile.name = loader.text(n); }},
                         {"slices", count(profile.slices)},
                         {"count", count(profile.count)},
                         {"memory_mib", count(profile.memory_mib)},
                         {"sms", count(profile.sms)},
                         {"copy_engines", count(profile.copy_engines)},
                         {"decoders", count(profile.decoders)},
                         {"encoders", count(profile.encoders)},
                         {"jpegs", count(profile.jpegs)},
                         {"ofas", count(profile.ofas)},
                         {"starts", [&](const Node &n) { profile.starts = loader.u32_list(n); }},
                         {"size", count(profile.size)}});
  device.mig_profiles.push_back(std::move(profile));
}

void read_accounted(Loader &loader, const Node &table, Device &device) {
  Accounted process;
  const auto count = [&](std::uint32_t &target) { return [&](const Node &n) { target = loader.u32(n); }; };
  loader.members(table, {{"pid", count(process.pid)},
                         {"gpu", count(process.gpu)},
                         {"memory", count(process.memory)},
                         {"memory_mib", [&](const Node &n) { process.memory_mib = loader.number(n); }},
                         {"seconds", [&](const Node &n) { process.running_s = loader.number(n); }},
                         {"running", [&](const Node &n) { process.running = loader.number(n) != 0; }}});
  device.accounted.push_back(process);
}

// [address, seconds since 1970, 1 after an uncorrected error]
void read_retired_page(Loader &loader, const Node &list, Device &device) {
  const std::vector<Node> &parts = loader.items(list);
  if (parts.size() != 3) {
    return loader.fail(list, "expected [address, time, cause]");
  }
  const std::size_t cause = loader.number(parts[2]) != 0 ? 1 : 0;
  auto &pages = device.retired_pages[cause];
  pages.push_back({.address = static_cast<std::uint64_t>(loader.number(parts[0])),
                   .time_s = static_cast<std::uint64_t>(loader.number(parts[1]))});
  device[Key::retired_sbe] = Number::of(static_cast<double>(device.retired_pages[0].size()));
  device[Key::retired_dbe] = Number::of(static_cast<double>(device.retired_pages[1].size()));
}

void read_ecc_count(Loader &loader, const Node &list, Device &device) {
  const std::vector<std::uint32_t> parts = loader.u32_list(list);
  if (parts.size() != 4) {
    return loader.fail(list, "expected [location, type, counter, errors]");
  }
  device.ecc_counts.push_back({.location = parts[0], .type = parts[1], .counter = parts[2], .errors = parts[3]});
}

struct DeviceSpec {
  Device device;
  std::string profile = "h200";
  std::uint32_t count = 1;
};

void read_device_table(Loader &loader, const Node &table, DeviceSpec &spec);

void read_profile(Loader &loader, const Node &node, DeviceSpec &spec) {
  spec.profile = loader.text(node);
  const std::string file = "profiles/" + spec.profile + ".toml";
  const std::optional<Node> document = loader.data_file(node, file);
  if (document) {
    loader.within(file, [&] { read_device_table(loader, *document, spec); });
  }
}

void read_lost(Loader &loader, const Node &node, Device &device) {
  if (node.kind == Node::Kind::boolean) {
    device.lost.assign(node.number != 0 ? 1 : 0, Span{});
    return;
  }
  for (const Node &pair : loader.items(node)) {
    device.lost.push_back(loader.span_of(pair));
  }
}

bool read_device_value(Loader &loader, const std::string &name, const Node &node, Device &device) {
  const std::size_t key = place_of(kKeyNames, name);
  if (key < kKeyCount) {
    device.numbers[key] = loader.value(node);
    return true;
  }
  const std::size_t text = place_of(kTextNames, name);
  if (text >= kTextCount) {
    return false;
  }
  TextValue &value = device.texts[text];
  if (node.kind == Node::Kind::table) {
    value.code = loader.value(node).code;
  } else {
    value = {Return::success, loader.text(node)};
    if (value.text == "not supported") {
      value = {};
    }
  }
  return true;
}

// Power that a table gives is that of the other forms too, unless it gives them as well.
void follow_power(const Node &table, Device &device) {
  if (table.find("power_w") == nullptr || !device[Key::power_w].supported()) {
    return;
  }
  for (const Key key : {Key::power_average_w, Key::power_instant_w}) {
    const bool given = table.find(std::string(kKeyNames[static_cast<std::size_t>(key)])) != nullptr;
    if (!given && device[key].supported()) {
      device[key] = device[Key::power_w];
    }
  }
}

void read_device_table(Loader &loader, const Node &table, DeviceSpec &spec) {
  Device &device = spec.device;
  // Whatever the order in the file: the profile first, then the trace, then single values.
  if (const Node *profile = table.find("profile")) {
    read_profile(loader, *profile, spec);
  }
  if (const Node *trace = table.find("trace")) {
    apply_trace(loader, *trace, device);
  }
  const auto done = [](const Node &) {};
  const auto mig = [&](const Node &n) {
    device.mig.clear();
    for (const Node &item : loader.items(n)) {
      read_mig(loader, item, device);
    }
  };
  const auto each = [&](void (*read)(Loader &, const Node &, Device &)) {
    return [&loader, &device, read](const Node &n) {
      for (const Node &item : loader.items(n)) {
        read(loader, item, device);
      }
    };
  };
  const auto stagger = [&](const Node &n) {
    const double shift = loader.number(n);
    const auto delay = [&](Number &value) { value.shift_s = shift; };
    std::ranges::for_each(device.numbers, delay);
    std::ranges::for_each(device.gpm, delay);
  };
  const auto gpm = [&](const Node &n) {
    const bool metrics = n.kind == Node::Kind::table;
    device[Key::gpm] = metrics ? Number::of(1) : loader.value(n);
    if (metrics) {
      read_gpm(loader, n, device);
    }
  };
  loader.members(
      table,
      {{"profile", done},
       {"trace", done},
       {"trace_stagger", stagger},
       {"count", [&](const Node &n) { spec.count = loader.u32(n); }},
       {"mig", mig},
       {"lost", [&](const Node &n) { read_lost(loader, n, device); }},
       {"from", [&](const Node &n) { device.span.from_s = loader.number(n); }},
       {"until", [&](const Node &n) { device.span.until_s = loader.number(n); }},
       {"gpm", gpm},
       {"fields", [&](const Node &n) { read_fields(loader, n, device); }},
       {"supported_memory_clocks", [&](const Node &n) { device.memory_clocks = loader.u32_list(n); }},
       {"supported_graphics_clocks", [&](const Node &n) { device.graphics_clocks = loader.u32_list(n); }},
       {"mig_profiles", each(read_mig_profile)},
       {"accounted", each(read_accounted)},
       {"retired_pages", each(read_retired_page)},
       {"ecc_counts", each(read_ecc_count)},
       {"nvlink_down", [&](const Node &n) { device.links_down = loader.u32_list(n); }},
       {"nvlink_peers", [&](const Node &n) { device.link_peers = loader.u32_list(n); }}},
      [&](const std::string &name, const Node &node) { return read_device_value(loader, name, node, device); });
  follow_power(table, device);
}

void restagger(Target &target, double index) {
  const auto shift = [&](Number &value) { value.shift_s *= index; };
  std::ranges::for_each(target.numbers, shift);
  std::ranges::for_each(target.gpm, shift);
}

// Instances share what is free of BAR1, by the eighths of the memory that they have.
void share_bar1(const Device &device, MigInstance &instance) {
  if (instance[Key::bar1_total_mib].supported()) {
    return;
  }
  const double eighths =
      std::round(8 * instance[Key::memory_total_mib].constant / device[Key::memory_total_mib].constant);
  const double free_mib = device[Key::bar1_total_mib].constant - device[Key::bar1_used_mib].constant;
  instance[Key::bar1_total_mib] = Number::of(std::floor(free_mib * eighths / 8));
  instance[Key::bar1_used_mib] = Number::of(0);
}

// What a split device does not tell of itself.
constexpr std::array kNotOfSplit{Key::gpu_util,
                                 Key::memory_util,
                                 Key::encoder_util,
                                 Key::decoder_util,
                                 Key::jpeg_util,
                                 Key::ofa_util,
                                 Key::remapped_corrected,
                                 Key::remapped_uncorrected,
                                 Key::remapped_corrected_inactive,
                                 Key::remapped_uncorrected_inactive,
                                 Key::remapped_pending,
                                 Key::remapped_failure,
                                 Key::remap_max,
                                 Key::remap_high,
                                 Key::remap_partial,
                                 Key::remap_low,
                                 Key::remap_none,
                                 Key::nvlink_links,
                                 Key::nvlink_version,
                                 Key::nvlink_speed_mbs,
                                 Key::nvlink_tx_kibs,
                                 Key::nvlink_rx_kibs,
                                 Key::nvlink_crc_errors,
                                 Key::nvlink_replay_errors,
                                 Key::nvlink_recovery_errors,
                                 Key::nvlink_remote_type};

void name_instances(Device &device, std::uint64_t seed, std::uint32_t driver) {
  for (MigInstance &instance : device.mig) {
    share_bar1(device, instance);
    // The one counter of errors that instances have.
    instance[Key::ecc_sram_volatile_uncorrected] = Number::of(0);
    instance[Text::name].text = device[Text::name].text + instance[Text::name].text;
    if (instance[Text::uuid].code == Return::success) {
      continue;
    }
    // Before 470 a MIG device was named after its GPU and instance ids.
    const std::string ids = std::to_string(instance.gpu_instance) + "/" + std::to_string(instance.compute_instance);
    instance[Text::uuid] = {Return::success, driver < 470000 ? "MIG-" + device[Text::uuid].text + "/" + ids
                                                             : invented_uuid("MIG-", seed * 64 + instance.slot)};
  }
  if (device.mig.empty()) {
    return;
  }
  device[Key::mig_mode] = device[Key::mig_pending] = Number::of(1);
  for (const Key key : kNotOfSplit) {
    device[key] = {};
  }
}

Device finished(const DeviceSpec &spec, std::uint32_t repeat, std::uint32_t index, std::uint32_t driver) {
  Device device = spec.device;
  const std::uint64_t seed = name_seed(spec.profile) * 1024 + index;
  restagger(device, repeat);
  for (MigInstance &instance : device.mig) {
    restagger(instance, repeat);
  }
  if (device[Text::uuid].code != Return::success || repeat > 0) {
    device[Text::uuid] = {Return::success, invented_uuid("GPU-", seed)};
  }
  if (device[Text::serial].text == "auto" || repeat > 0) {
    device[Text::serial].text = std::to_string(1000000000000 + mix(seed) % 899999999999);
  }
  if (device[Text::pci_bus_id].code != Return::success || repeat > 0) {
    device[Text::pci_bus_id] = {Return::success, invented_bus_id(index)};
  }
  const std::string &bus_id = device[Text::pci_bus_id].text;
  std::sscanf(bus_id.c_str(), "%x:%x:%x", &device.pci.domain, &device.pci.bus, &device.pci.device);
  if (!device[Key::minor].supported() && device[Key::minor].code == Return::not_supported) {
    device[Key::minor] = Number::of(index);
  }
  device.windowed = !device.lost.empty() || !device.span.always();
  name_instances(device, seed, driver);
  return device;
}

}  // namespace

std::optional<std::uint32_t> gpm_metric(std::string_view name) {
  const auto *const found = std::ranges::find(kGpmNames, name, &GpmName::name);
  if (found != kGpmNames.end()) {
    return found->metric;
  }
  const unsigned long id = std::strtoul(std::string(name).c_str(), nullptr, 10);
  return id != 0 && id < kGpmCount ? std::optional(static_cast<std::uint32_t>(id)) : std::nullopt;
}

void read_devices(Loader &loader, const Node &list) {
  std::vector<Device> &devices = loader.scenario.devices;
  for (const Node &table : loader.items(list)) {
    DeviceSpec spec;
    read_device_table(loader, table, spec);
    if (spec.count > 1024 || loader.failed()) {
      return loader.fail(table, "at most 1024 devices");
    }
    for (std::uint32_t i = 0; i < spec.count; ++i) {
      devices.push_back(finished(spec, i, static_cast<std::uint32_t>(devices.size()), loader.scenario.driver.number));
      devices.back().settings = &loader.scenario.settings.emplace_back();
    }
  }
}

namespace {

void read_types(Loader &loader, const Node &node, Process &process) {
  if (node.kind == Node::Kind::list) {
    for (const Node &item : node.items) {
      read_types(loader, item, process);
    }
    return;
  }
  const std::string type = loader.text(node);
  process.compute = process.compute || type == "compute";
  process.graphics = process.graphics || type == "graphics";
  process.mps = process.mps || type == "mps";
  if (type != "compute" && type != "graphics" && type != "mps") {
    loader.fail(node, "a process is compute, graphics or mps");
  }
}

std::uint32_t read_pid(Loader &loader, const Node &node) {
  if (node.kind == Node::Kind::text) {
    if (node.text == "self") {
      return static_cast<std::uint32_t>(getpid());
    }
    if (node.text == "parent") {
      return static_cast<std::uint32_t>(getppid());
    }
  }
  return loader.u32(node);
}

}  // namespace

void read_processes(Loader &loader, const Node &list) {
  std::uint32_t next_pid = 2000001;
  for (const Node &table : loader.items(list)) {
    Process process;
    process.pid = next_pid++;
    std::int64_t device = 0;
    const auto value = [&](Number &target) { return [&](const Node &n) { target = loader.value(n); }; };
    const auto id = [&](std::uint32_t &target) { return [&](const Node &n) { target = loader.u32(n); }; };
    const auto where = [&](const Node &n) {
      const bool all = n.kind == Node::Kind::text && n.text == "all";
      device = all ? std::int64_t{-1} : std::int64_t{loader.u32(n)};
    };
    process.present = Number::of(1);
    loader.members(table, {{"device", where},
                           {"pid", [&](const Node &n) { process.pid = read_pid(loader, n); }},
                           {"command", [&](const Node &n) { process.command = loader.text(n); }},
                           {"type", [&](const Node &n) { read_types(loader, n, process); }},
                           {"memory_mib", value(process.memory_mib)},
                           {"protected_mib", [&](const Node &n) { process.protected_mib = loader.number(n); }},
                           {"sm", value(process.sm)},
                           {"memory_util", value(process.memory_util)},
                           {"encoder", value(process.encoder)},
                           {"decoder", value(process.decoder)},
                           {"jpeg", value(process.jpeg)},
                           {"ofa", value(process.ofa)},
                           {"present", value(process.present)},
                           {"gi", id(process.gpu_instance)},
                           {"ci", id(process.compute_instance)},
                           {"from", [&](const Node &n) { process.span.from_s = loader.number(n); }},
                           {"until", [&](const Node &n) { process.span.until_s = loader.number(n); }}});
    process.compute = process.compute || (!process.graphics && !process.mps);
    std::vector<Device> &devices = loader.scenario.devices;
    if (device >= static_cast<std::int64_t>(devices.size())) {
      return loader.fail(table, "no device " + std::to_string(device));
    }
    for (std::uint32_t i = 0; i < devices.size(); ++i) {
      if (device < 0 || device == static_cast<std::int64_t>(i)) {
        process.device = i;
        devices[i].processes.push_back(process);
      }
    }
  }
}

}  // namespace gpulse::sim
