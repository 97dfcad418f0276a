// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fleet/engine_gpus.hpp"
#include "fleet/fleet_json_parts.hpp"
#include "insight/catalogue.hpp"

namespace gpulse::fleet {

namespace {

constexpr std::size_t kLongestKey = 200;
// Where there is no such row.
constexpr std::size_t kNone = ~std::size_t{0};

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

std::string path_part(std::string_view text) {
  std::string part;
  for (const char c : text) {
    if (stays(c) && !(part.empty() && c == '.')) {
      part += c;
    } else if (c == ':') {
      part += '~';
    } else {
      part += fmt::format("_{:02x}", static_cast<unsigned char>(c));
    }
  }
  return part;
}

// Of bounded length; `whole` tells long ones apart.
std::string shorter(const std::string &key, std::string_view whole) {
  return key.size() > kLongestKey ? fmt::format("{}~~{:016x}", key.substr(0, kLongestKey), hash_of(whole)) : key;
}

// Words that many rows repeat: each once, and where.
template <class Word>
class Words {
 public:
  std::size_t take(const Word &word) {
    const auto [found, is_new] = places_.try_emplace(key_of(word), all_.size());
    if (is_new) all_.push_back(&word);
    return found->second;
  }
  const std::vector<const Word *> &all() const { return all_; }

 private:
  static std::string key_of(const Text &text) { return text.str(); }
  static std::string key_of(const FleetFinding &one) {
    return fmt::format("{} {}", static_cast<int>(one.weight), one.id);
  }
  static std::string key_of(const FleetOwner &one) {
    return fmt::format("{}\n{}\n{}\n{}", one.user, one.job, one.account, one.pod);
  }

  std::map<std::string, std::size_t, std::less<>> places_{};
  std::vector<const Word *> all_{};
};

class PageWriter {
 public:
  PageWriter(const FleetSnapshot &fleet, const FleetView &view, std::string &out)
      : fleet_(fleet), view_(view), json_(out), hosts_(fleet.hosts.size(), kNone), rows_(fleet.gpus.size(), kNone) {
    for (std::size_t i = 0; i < view.hosts.size(); ++i) hosts_[view.hosts[i]] = i;
    for (std::size_t i = 0; i < view.gpus.size(); ++i) rows_[view.gpus[i]] = i;
  }

  void write(const FleetPageNotes &notes) {
    json_.begin_object();
    write_head(notes);
    json_.key("totals");
    json_.begin_object();
    write_amounts(json_, view_.totals);
    json_.end_object();
    array("hosts", view_.hosts, [&](std::size_t host) { object([&] { write_page_host(json_, fleet_.hosts[host]); }); });
    write_groups();
    // The words are known when the rows are written.
    json_.key("gpus");
    object([&] { write_columns(); });
    write_words();
    json_.end_object();
  }

 private:
  template <class Write>
  void object(Write write) {
    json_.begin_object();
    write();
    json_.end_object();
  }
  template <class List, class Write>
  void array(std::string_view name, const List &list, Write write) {
    json_.key(name);
    json_.begin_array();
    for (const auto &one : list) write(one);
    json_.end_array();
  }
  // A value for each GPU.
  template <class Write>
  void column(std::string_view name, Write write) {
    array(name, view_.gpus, [&](std::size_t gpu) { write(fleet_.gpus[gpu]); });
  }
  template <class List, class Write>
  void lists(std::string_view name, List list, Write write) {
    column(name, [&](const FleetGpu &gpu) {
      json_.begin_array();
      for (const auto &one : list(gpu)) write(one);
      json_.end_array();
    });
  }
  void place(std::size_t index) { index == kNone ? json_.null() : json_.value(std::uint64_t{index}); }

  void write_head(const FleetPageNotes &notes) {
    json_.member("schema", "gpulse-fleet/1");
    json_.member("time", iso8601_utc(fleet_.at));
    json_.member("engine", fleet_.place.str());
    json_.member("interval_seconds", Seconds(notes.interval).count());
    json_.member("is_past", notes.is_past);
    write_faults(json_, fleet_, notes.trouble);
    json_.member("by", kFleetBy[static_cast<std::size_t>(view_.question.by)]);
    json_.member("sort", kFleetSorts[static_cast<std::size_t>(view_.question.sort)]);
  }

  void write_groups() {
    array("groups", view_.groups, [&](const FleetGroup &group) {
      object([&] {
        // In place of how many there are stands which.
        static constexpr std::array<std::string_view, 2> kListed{"hosts", "gpus"};
        write_group_members(json_, group, kListed);
        array("gpus", group.gpus, [&](std::size_t gpu) { place(rows_[gpu]); });
        // One whose GPUs do not fit is not listed.
        json_.key("hosts");
        json_.begin_array();
        for (const auto host : group.hosts) {
          if (hosts_[host] != kNone) place(hosts_[host]);
        }
        json_.end_array();
      });
    });
  }

  void write_columns() {
    column("host", [&](const FleetGpu &gpu) { place(hosts_[gpu.host]); });
    column("id", [&](const FleetGpu &gpu) { json_.value(gpu.id.str()); });
    column("uuid", [&](const FleetGpu &gpu) { json_.value(printable(gpu.uuid)); });
    write_parents();
    column("model", [&](const FleetGpu &gpu) { place(gpu.name.empty() ? kNone : models_.take(gpu.name)); });
    column("vendor", [&](const FleetGpu &gpu) { json_.value(gpu.vendor.str()); });
    column("state", [&](const FleetGpu &gpu) { json_.value(word(gpu.state)); });
    column("held", [&](const FleetGpu &gpu) { gpu.held ? json_.value(*gpu.held) : json_.null(); });
    column("idle", [&](const FleetGpu &gpu) { write_idle(json_, gpu); });
    const auto index_of = [&](auto &words) {
      return [this, &words](const auto &one) { json_.value(std::uint64_t{words.take(one)}); };
    };
    lists("owners", [](const FleetGpu &gpu) -> const auto & { return gpu.owners; }, index_of(owners_));
    lists("findings", [](const FleetGpu &gpu) -> const auto & { return gpu.findings; }, index_of(findings_));
    lists(
        "xids", [](const FleetGpu &gpu) -> const auto & { return gpu.errors; }, [&](auto code) { json_.value(code); });
    lists(
        "remarks", [](const FleetGpu &gpu) -> const auto & { return gpu.remarks; },
        [&](const FleetRemark &remark) { json_.value(remark.text.str()); });
    json_.key("metrics");
    object([&] { write_metrics(); });
  }

  void write_parents() {
    std::map<std::pair<std::size_t, std::string_view>, std::size_t> wholes;
    for (const auto index : view_.gpus) {
      const auto &gpu = fleet_.gpus[index];
      if (gpu.parent.empty()) wholes.try_emplace({gpu.host, gpu.uuid}, rows_[index]);
    }
    column("parent", [&](const FleetGpu &gpu) {
      const auto found = gpu.parent.empty() ? wholes.end() : wholes.find({gpu.host, gpu.parent});
      place(found == wholes.end() ? kNone : found->second);
    });
  }

  void write_metrics() {
    for (std::size_t i = 0; i < kFleetReadings; ++i) {
      column(describe(kReadingMetrics[i]).key, [&](const FleetGpu &gpu) {
        gpu.readings[i] ? json_.value(std::round(*gpu.readings[i] * 10) / 10) : json_.null();
      });
    }
  }

  void write_words() {
    array("models", models_.all(), [&](const Text *name) { json_.value(name->str()); });
    array("owners", owners_.all(),
          [&](const FleetOwner *owner) { object([&] { write_owner_members(json_, *owner); }); });
    array("findings", findings_.all(), [&](const FleetFinding *found) {
      const auto known = insight::finding_named(found->id.str());
      object([&] {
        json_.member("id", found->id.str());
        json_.member("severity", insight::word(found->weight));
        json_.member("title", known ? insight::describe(*known).title : std::string_view(found->id.str()));
      });
    });
  }

  const FleetSnapshot &fleet_;
  const FleetView &view_;
  JsonWriter json_;
  // Where hosts and GPUs of the snapshot are in the answer.
  std::vector<std::size_t> hosts_, rows_;
  Words<Text> models_{};
  Words<FleetOwner> owners_{};
  Words<FleetFinding> findings_{};
};

}  // namespace

std::string fleet_page_json(const FleetSnapshot &fleet, const FleetView &view, const FleetPageNotes &notes) {
  std::string out;
  PageWriter(fleet, view, out).write(notes);
  return out;
}

std::string host_key(std::string_view instance) {
  const auto name = usual_name(instance);
  auto key = path_part(name);
  // Another one than that of the agent at the usual port.
  if (name == instance && !instance.contains(':')) key += '~';
  return shorter(key, instance);
}

std::string host_key(const FleetHost &host) {
  auto key = host_key(host.instance);
  // Nothing else has two of these.
  if (host.shares_instance) key += "__" + shorter(path_part(host.cluster_label), host.cluster_label);
  if (host.has_agent_beside) key += fmt::format("____{}", word(host.exporter));
  return key;
}

std::optional<std::size_t> find_host(const FleetSnapshot &fleet, std::string_view key) {
  const auto found = std::ranges::find_if(fleet.hosts, [&](const auto &host) { return host_key(host) == key; });
  if (found == fleet.hosts.end()) return std::nullopt;
  return static_cast<std::size_t>(found - fleet.hosts.begin());
}

void write_page_host(JsonWriter &json, const FleetHost &host) {
  json.member("key", host_key(host));
  write_host_members(json, host);
}

}  // namespace gpulse::fleet
