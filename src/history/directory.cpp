// SPDX-License-Identifier: Apache-2.0
#include "history/directory.hpp"

#include <fmt/format.h>

#include <array>

namespace gpulse::history {

namespace {

constexpr std::array kIdentity{"uuid", "number", "source", "vendor", "name", "pci", "driver", "parent", "label"};

std::string text_keys(Scope scope, std::string_view before, std::string_view after) {
  std::string all;
  for_each_metric(scope, [&](MetricId, const Metric &metric) {
    if (metric.kind == Kind::text) all += fmt::format("{}{}{}", before, metric.key, after);
  });
  return all;
}

std::string identity_keys(std::string_view after) {
  std::string all;
  for (const auto *key : kIdentity) all += fmt::format("{}{}{}", all.empty() ? "" : ", ", key, after);
  return all;
}

std::string marks(std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += ", ?";
  return all;
}

// How a process's row takes in another stretch of time: means go by the time that they stand for.
std::string saw_process_sql() {
  std::string sql = "UPDATE process SET last_time=max(last_time, ?2), seconds=seconds+?3";
  int parameter = 3;
  for (const auto &metric : kept_metrics(Scope::process)) {
    const auto key = describe(metric.id).key;
    ++parameter;
    sql += fmt::format(
        ", {0}=CASE WHEN ?{1} IS NULL THEN {0} WHEN {0} IS NULL THEN ?{1} ELSE ({0}*seconds+?{1}*?3)/(seconds+?3) END",
        key, parameter);
    if (!metric.has_range) continue;
    sql += fmt::format(", {0}=ifnull(min({0}, ?{1}), ifnull({0}, ?{1}))", least_column(metric.id), parameter + 1);
    sql += fmt::format(", {0}=ifnull(max({0}, ?{1}), ifnull({0}, ?{1}))", greatest_column(metric.id), parameter + 2);
    parameter += 2;
  }
  return sql + " WHERE id=?1";
}

}  // namespace

Directory::Directory(Statement add_device, Statement update_device, Statement saw_device, Statement add_process,
                     Statement update_process, Statement saw_process)
    : add_device_(std::move(add_device)),
      update_device_(std::move(update_device)),
      saw_device_(std::move(saw_device)),
      add_process_(std::move(add_process)),
      update_process_(std::move(update_process)),
      saw_process_(std::move(saw_process)) {}

Result<Directory> Directory::open(Database &database, double since) {
  std::vector<Statement> made;
  for (const auto &sql :
       {fmt::format("INSERT INTO device({}{}, first_time, last_time) VALUES(?{})", identity_keys(""),
                    text_keys(Scope::device, ", ", ""), marks(kIdentity.size() + text_count(Scope::device) + 1)),
        fmt::format("UPDATE device SET {}{} WHERE id=?", identity_keys("=?"), text_keys(Scope::device, ", ", "=?")),
        std::string("UPDATE device SET last_time=max(last_time, ?2) WHERE id=?1"),
        fmt::format("INSERT INTO process(device, pid, start, type, first_time, last_time{}) VALUES(?{})",
                    text_keys(Scope::process, ", ", ""), marks(5 + text_count(Scope::process))),
        fmt::format("UPDATE process SET pid=pid{} WHERE id=?", text_keys(Scope::process, ", ", "=?")),
        saw_process_sql()}) {
    auto statement = database.prepare(sql);
    if (!statement) return std::unexpected(statement.error());
    made.push_back(std::move(*statement));
  }
  Directory directory(std::move(made[0]), std::move(made[1]), std::move(made[2]), std::move(made[3]),
                      std::move(made[4]), std::move(made[5]));
  auto devices = database.prepare("SELECT id, uuid, number FROM device");
  if (!devices) return std::unexpected(devices.error());
  while (true) {
    const auto row = devices->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    directory.devices_[std::string(devices->text(1))] = {
        .id = devices->integer(0), .number = parse_device_id(devices->text(2)).value_or(DeviceId{}), .identity = {}};
  }
  auto processes = database.prepare("SELECT id, device, pid, start, last_time FROM process WHERE last_time >= ?");
  if (!processes) return std::unexpected(processes.error());
  processes->bind(1, since);
  while (true) {
    const auto row = processes->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    const ProcessKey key{processes->integer(1), static_cast<std::uint32_t>(processes->integer(2)),
                         static_cast<std::uint64_t>(processes->integer(3))};
    directory.processes_[key] = {.id = processes->integer(0), .seen = processes->real(4), .texts = {}};
  }
  return directory;
}

void Directory::bind(Statement &statement, int from, const TextRow &texts) {
  for (const auto &text : texts.texts()) {
    text.has_value() ? statement.bind(from, std::string_view(text.value())) : statement.bind_null(from);
    ++from;
  }
}

Result<std::int64_t> Directory::device(const Device &device, double time) {
  static const auto kNobody = std::make_shared<const DeviceIdentity>();
  const auto &identity = device.identity ? device.identity : kNobody;
  auto known = devices_.find(identity->uuid.str());
  if (known != devices_.end() && known->second.identity == identity && known->second.number == device.id) {
    return known->second.id;
  }
  const bool is_new = known == devices_.end();
  auto &statement = is_new ? add_device_ : update_device_;
  const auto number = text(device.id);
  int parameter = 0;
  for (const auto value :
       {std::string_view(identity->uuid), std::string_view(number), std::string_view(identity->source),
        std::string_view(identity->vendor), std::string_view(identity->name), std::string_view(identity->pci),
        std::string_view(identity->driver), std::string_view(identity->parent), std::string_view(identity->label)}) {
    statement.bind(++parameter, value);
  }
  bind(statement, parameter + 1, identity->texts);
  parameter += static_cast<int>(text_count(Scope::device));
  if (is_new) {
    statement.bind(++parameter, time);
    statement.bind(++parameter, time);
  } else {
    statement.bind(++parameter, known->second.id);
  }
  if (const auto done = statement.run(); !done) return std::unexpected(done.error());
  const auto id = is_new ? statement.last_row() : known->second.id;
  devices_[identity->uuid.str()] = {.id = id, .number = device.id, .identity = identity};
  return id;
}

std::optional<std::int64_t> Directory::find_device(const std::string &uuid) const {
  const auto known = devices_.find(uuid);
  return known == devices_.end() ? std::nullopt : std::optional(known->second.id);
}

Directory::ProcessKey Directory::key_of(const Process &process, std::int64_t device, bool is_replayed) const {
  const ProcessKey key{device, process.pid, process.start_ticks};
  if (!is_replayed) return key;
  // The last that had this number.
  auto after = processes_.upper_bound({device, process.pid, ~std::uint64_t{0}});
  if (after == processes_.begin()) return key;
  const auto &known = std::prev(after)->first;
  return std::get<0>(known) == device && std::get<1>(known) == process.pid ? known : key;
}

Result<std::int64_t> Directory::process(const Process &process, std::int64_t device, double time, bool is_replayed) {
  const auto key = key_of(process, device, is_replayed);
  static const auto kNoTexts = std::make_shared<const TextRow>(Scope::process);
  const auto &texts = process.texts ? process.texts : kNoTexts;
  const auto known = processes_.find(key);
  if (known != processes_.end()) {
    known->second.seen = time;
    if (known->second.texts == texts) return known->second.id;
    if (!known->second.texts || *known->second.texts != *texts) {
      bind(update_process_, 1, *texts);
      update_process_.bind(static_cast<int>(text_count(Scope::process)) + 1, known->second.id);
      if (const auto done = update_process_.run(); !done) return std::unexpected(done.error());
    }
    known->second.texts = texts;
    return known->second.id;
  }
  const auto type = type_word(process.types);
  add_process_.bind(1, device);
  add_process_.bind(2, std::int64_t{process.pid});
  add_process_.bind(3, static_cast<std::int64_t>(process.start_ticks));
  add_process_.bind(4, std::string_view(type));
  add_process_.bind(5, time);
  add_process_.bind(6, time);
  bind(add_process_, 7, *texts);
  if (const auto done = add_process_.run(); !done) return std::unexpected(done.error());
  const auto id = add_process_.last_row();
  processes_[key] = {.id = id, .seen = time, .texts = texts};
  return id;
}

Result<void> Directory::saw_device(std::int64_t id, double time) {
  saw_device_.bind(1, id);
  saw_device_.bind(2, time);
  return saw_device_.run();
}

Result<void> Directory::saw_process(std::int64_t id, double time, double seconds, std::span<const Folded> folded) {
  saw_process_.bind(1, id);
  saw_process_.bind(2, time);
  saw_process_.bind(3, seconds);
  bind_folded(saw_process_, 4, Scope::process, folded);
  return saw_process_.run();
}

void Directory::forget_before(double time) {
  std::erase_if(processes_, [&](const auto &entry) { return entry.second.seen < time; });
}

}  // namespace gpulse::history
