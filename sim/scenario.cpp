// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "loader.hpp"

namespace gpulse::sim {
namespace {

std::optional<Fn> function_named(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &Function::name);
  if (found == kFunctions.end()) {
    return std::nullopt;
  }
  return static_cast<Fn>(found - kFunctions.begin());
}

void hide_newer(Scenario &scenario, std::uint32_t generation) {
  for (std::size_t i = 0; i < kFnCount; ++i) {
    scenario.hidden[i] = scenario.hidden[i] || kFunctions[i].since > generation;
  }
}

void hide(Loader &loader, const Node &list) {
  for (const Node &item : loader.items(list)) {
    const std::optional<Fn> fn = function_named(loader.text(item));
    if (!fn) {
      loader.fail(item, "unknown function \"" + item.text + "\"");
      return;
    }
    loader.scenario.hidden[index_of(*fn)] = true;
  }
}

std::uint64_t event_type(Loader &loader, const Node &node, bool &system) {
  if (node.kind == Node::Kind::number) {
    return static_cast<std::uint64_t>(node.number);
  }
  struct Name {
    std::string_view name;
    std::uint64_t bits;
    bool system;
  };
  static constexpr auto kNames = std::to_array<Name>({{"single-bit-ecc", 0x1, false},
                                                      {"ecc", 0x2, false},
                                                      {"pstate", 0x4, false},
                                                      {"xid", 0x8, false},
                                                      {"clock", 0x10, false},
                                                      {"power-source", 0x80, false},
                                                      {"mig", 0x100, false},
                                                      {"gpu-unavailable", 0x4000, false},
                                                      {"recovery-action", 0x8000, false},
                                                      {"unbind", 1, true},
                                                      {"bind", 2, true}});
  const auto *const found = std::ranges::find(kNames, loader.text(node), &Name::name);
  if (found == kNames.end()) {
    loader.fail(node, "unknown event type \"" + node.text + "\"");
    return 0;
  }
  system = found->system;
  return found->bits;
}

std::int32_t device_or_all(Loader &loader, const Node &node) {
  if (node.kind == Node::Kind::text && node.text == "all") {
    return -1;
  }
  return static_cast<std::int32_t>(loader.number(node));
}

void call_names(Loader &loader, const Node &node, Fault &fault) {
  if (loader.text(node) == "*") {
    for (std::size_t i = 0; i < kFnCount; ++i) {
      fault.calls.push_back(static_cast<Fn>(i));
    }
    return;
  }
  const std::optional<Fn> fn = function_named(node.text);
  if (!fn) {
    return loader.fail(node, "unknown function \"" + node.text + "\"");
  }
  fault.calls.push_back(*fn);
}

}  // namespace

std::uint32_t driver_number(const std::string &version) {
  const std::size_t dot = version.find('.');
  const auto part = [](const std::string &text) {
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  };
  return part(version) * 1000 + (dot == std::string::npos ? 0 : part(version.substr(dot + 1)));
}

void read_driver(Loader &loader, const Node &table) {
  Driver &driver = loader.scenario.driver;
  const auto set = [&](std::string &target) { return [&](const Node &n) { target = loader.text(n); }; };
  const auto count = [&](std::uint32_t &target) { return [&](const Node &n) { target = loader.u32(n); }; };
  const auto generation = [&](const Node &n) {
    const bool whole = n.kind == Node::Kind::number;
    hide_newer(loader.scenario,
               whole ? static_cast<std::uint32_t>(n.number) * 1000 + 999 : driver_number(loader.text(n)));
  };
  const auto setters = [&](const Node &n) {
    using enum Driver::Setters;
    const std::string who = loader.text(n);
    driver.setters = who == "anyone" ? anyone : who == "nobody" ? nobody : root;
    if (who != "anyone" && who != "nobody" && who != "root") {
      loader.fail(n, "setters must be root, anyone or nobody");
    }
  };
  loader.members(table, {{"version", set(driver.version)},
                         {"nvml", set(driver.nvml_version)},
                         {"kernel_version", set(driver.kernel_version)},
                         {"branch", set(driver.branch)},
                         {"cuda", [&](const Node &n) { driver.cuda = static_cast<int>(loader.number(n)); }},
                         {"generation", generation},
                         {"missing", [&](const Node &n) { hide(loader, n); }},
                         {"process_v3_row_bytes", count(driver.process_v3_row_bytes)},
                         {"init", [&](const Node &n) { driver.init = Return{loader.u32(n)}; }},
                         {"setters", setters},
                         {"cc_environment", count(driver.cc_environment)},
                         {"cc_feature", count(driver.cc_feature)},
                         {"cc_developer_tools", count(driver.cc_developer_tools)},
                         {"excluded", count(driver.excluded)}});
  if (driver.process_v3_row_bytes != 24 && driver.process_v3_row_bytes != 32) {
    loader.fail(table, "process_v3_row_bytes must be 24 or 32");
  }
  driver.number = driver_number(driver.version);
  if (table.find("nvml") == nullptr) {
    // The library's own version drops the third part: 580.159 where the driver says 580.159.04.
    const std::size_t first = driver.version.find('.');
    driver.nvml_version = driver.version.substr(0, driver.version.find('.', first + 1));
  }
}

void read_faults(Loader &loader, const Node &list) {
  for (const Node &table : loader.items(list)) {
    Fault fault;
    bool said = false;
    const auto effect = [&](auto &&apply) {
      return [&, apply](const Node &n) {
        apply(n);
        said = true;
      };
    };
    const auto u64 = [&](std::uint64_t &target) {
      return [&](const Node &n) { target = static_cast<std::uint64_t>(loader.number(n)); };
    };
    loader.members(table, {{"call", [&](const Node &n) { call_names(loader, n, fault); }},
                           {"device", [&](const Node &n) { fault.device = device_or_all(loader, n); }},
                           {"code", effect([&](const Node &n) { fault.code = Return{loader.u32(n)}; })},
                           {"hang", effect([&](const Node &n) { fault.hang = loader.number(n) != 0; })},
                           {"nan", effect([&](const Node &n) { fault.nan = loader.number(n) != 0; })},
                           {"from", [&](const Node &n) { fault.span.from_s = loader.number(n); }},
                           {"until", [&](const Node &n) { fault.span.until_s = loader.number(n); }},
                           {"after_calls", u64(fault.after_calls)},
                           {"count", u64(fault.count)},
                           {"field", [&](const Node &n) { fault.field = loader.u32(n); }},
                           {"gpm", [&](const Node &n) { fault.gpm = loader.u32(n); }}});
    if (!said || fault.calls.empty()) {
      loader.fail(table, "a fault needs call and one of code, hang, nan");
    }
    loader.scenario.faults.push_back(std::move(fault));
  }
}

void read_events(Loader &loader, const Node &list) {
  for (const Node &table : loader.items(list)) {
    Event event;
    loader.members(table, {{"time", [&](const Node &n) { event.time_s = loader.number(n); }},
                           {"device", [&](const Node &n) { event.device = static_cast<std::int32_t>(loader.u32(n)); }},
                           {"type", [&](const Node &n) { event.type = event_type(loader, n, event.system); }},
                           {"data", [&](const Node &n) { event.data = static_cast<std::uint64_t>(loader.number(n)); }},
                           {"gi", [&](const Node &n) { event.gpu_instance = loader.u32(n); }},
                           {"ci", [&](const Node &n) { event.compute_instance = loader.u32(n); }}});
    if (event.type == 0) {
      loader.fail(table, "an event needs a type");
    }
    std::vector<Event> &events = loader.scenario.events;
    events.insert(std::ranges::upper_bound(events, event.time_s, {}, &Event::time_s), event);
  }
}

void read_topology(Loader &loader, const Node &table) {
  Topology &topology = loader.scenario.topology;
  const auto pairs = [&](const Node &list) {
    for (const Node &item : loader.items(list)) {
      const std::vector<std::uint32_t> numbers = loader.u32_list(item);
      if (numbers.size() != 3) {
        return loader.fail(item, "expected [device, device, level]");
      }
      topology.pairs.push_back({numbers[0], numbers[1], numbers[2]});
    }
  };
  loader.members(table, {{"level", [&](const Node &n) { topology.level = loader.u32(n); }},
                         {"p2p", [&](const Node &n) { topology.p2p = loader.u32(n); }},
                         {"pairs", pairs}});
}

namespace {

void read_cost_table(Loader &loader, const Node &document, double scale) {
  Costs &costs = loader.scenario.costs;
  const auto ns = [&](const Node &n) {
    return static_cast<std::uint64_t>(std::llround(loader.number(n) * 1000 * scale));
  };
  const auto call = [&](const std::string &name, const Node &node) {
    const std::optional<Fn> fn = function_named(name);
    if (fn) {
      costs.call_ns[index_of(*fn)] = ns(node);
    }
    return fn.has_value();
  };
  const auto field = [&](const std::string &name, const Node &node) {
    const std::size_t id = std::strtoul(name.c_str(), nullptr, 10);
    if (id < costs.field_ns.size()) {
      costs.field_ns[id] = ns(node);
    }
    return id < costs.field_ns.size();
  };
  costs.field_ns.assign(kFieldCount, 0);
  loader.members(document, {{"gpm_metric", [&](const Node &n) { costs.gpm_metric_ns = ns(n); }},
                            {"calls", [&](const Node &n) { loader.members(n, {}, call); }},
                            {"fields", [&](const Node &n) { loader.members(n, {}, field); }}});
}

}  // namespace

void read_cost(Loader &loader, const Node &table) {
  std::string name;
  double scale = 1;
  loader.members(table, {{"table", [&](const Node &n) { name = loader.text(n); }},
                         {"scale", [&](const Node &n) { scale = loader.number(n); }}});
  if (name.empty() || scale <= 0) {
    return;
  }
  const std::string file = "costs/" + name + ".toml";
  const std::optional<Node> document = loader.data_file(table, file);
  if (document) {
    loader.within(file, [&] { read_cost_table(loader, *document, scale); });
  }
}

std::expected<std::unique_ptr<Scenario>, std::string> load_scenario(std::string_view toml, const Origin &origin) {
  const std::expected<Node, std::string> document = parse_toml(toml);
  if (!document) {
    return std::unexpected(origin.file + ":" + document.error());
  }
  auto scenario = std::make_unique<Scenario>();
  Loader loader(*scenario, origin);
  using Part = std::pair<std::string_view, void (*)(Loader &, const Node &)>;
  // In this order: devices ask for the driver's version, processes belong to devices.
  static constexpr auto kParts = std::to_array<Part>({{"driver", read_driver},
                                                      {"device", read_devices},
                                                      {"process", read_processes},
                                                      {"fault", read_faults},
                                                      {"event", read_events},
                                                      {"topology", read_topology},
                                                      {"cost", read_cost}});
  loader.members(*document, {}, [](const std::string &name, const Node &) {
    return std::ranges::find(kParts, name, &Part::first) != kParts.end();
  });
  for (const auto &[name, read] : kParts) {
    if (const Node *part = document->find(name)) {
      read(loader, *part);
    }
  }
  if (loader.failed()) {
    return std::unexpected(loader.problem());
  }
  return scenario;
}

}  // namespace gpulse::sim
