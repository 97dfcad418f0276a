// SPDX-License-Identifier: Apache-2.0
// A row is a device (--query-gpu), or an entry of a list of one: a process, an accounted process, a retired page, a
// pair of clocks. A sample ends when a device or process appears again. Rows that do not identify their device, and
// those of the other lists, belong to one sample unless their timestamps are 100 ms apart.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>

#include "base/text.hpp"
#include "smi/csv_columns.hpp"
#include "smi/snapshot_parts.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

namespace {

constexpr std::size_t kMostRows = std::size_t{1} << 17U;  // about 4 kB each
constexpr auto kSweep = std::chrono::milliseconds(100);

using Cells = std::vector<std::string_view>;

class CsvLog {
 public:
  // `titles` are those of a log that has none.
  CsvLog(const std::string &name, std::string_view titles) : name_(name), titles_(titles) {}

  Result<std::vector<SnapshotPtr>> run(std::string_view text);

 private:
  std::unexpected<Error> wrong(std::string_view what, std::string remedy = {}) const {
    return failure(fmt::format("{}: line {}: {}", name_, line_, what), std::move(remedy));
  }
  Result<void> read_header(std::string_view line);
  Result<void> read_row(std::string_view line);
  Result<Cells> split_row(std::string_view line) const;
  std::string_view cell(const Cells &cells, Fact fact) const;
  void begin_sample(std::optional<WallTime> time);
  void end_sample();
  Result<Device *> device_of(const Cells &cells, const std::string &key);
  void fill(const Cells &cells, Device &device);
  void fill_sets(const Cells &cells, Row &row, const std::function<DeviceDetails &()> &details) const;
  Result<void> add_entry(const Cells &cells, Device &device);
  Result<void> add_process(const Cells &cells, const Device &device);
  Result<void> add_accounted(const Cells &cells, DeviceDetails &details) const;
  void add_page(const Cells &cells, DeviceDetails &details) const;
  void add_clocks(const Cells &cells, DeviceDetails &details) const;
  Reading number(const Cells &cells, Fact fact, const Form &form) const;
  bool has(Fact fact) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const Column &column) { return column.is(fact); });
  }

  std::string name_;
  std::string_view titles_;
  bool of_list_ = false;  // other than the list of processes
  std::size_t line_ = 0;
  std::size_t rows_ = 0;
  std::string_view header_;
  std::vector<Column> columns_;
  std::vector<SnapshotPtr> snapshots_;
  // The sample being read.
  std::shared_ptr<Snapshot> now_;
  Uuids uuids_;
  std::map<std::string, std::size_t> devices_;           // by the cells that identify them
  std::vector<std::shared_ptr<DeviceDetails>> details_;  // null where there are none
  std::set<std::pair<std::size_t, std::string>> processes_;
};

Result<std::vector<SnapshotPtr>> CsvLog::run(std::string_view text) {
  while (!text.empty()) {
    const auto line = trim(next_piece(text, '\n'));
    ++line_;
    if (line.empty()) continue;
    const bool untitled = columns_.empty() && !titles_.empty() && !is_csv_header(line);
    if (columns_.empty()) {
      if (const auto good = read_header(untitled ? titles_ : line); !good) return std::unexpected(good.error());
      if (!untitled) continue;
    }
    if (line == header_) {
      end_sample();  // the output of another run was appended
    } else if (const auto good = read_row(line); !good) {
      return std::unexpected(good.error());
    }
  }
  end_sample();
  if (snapshots_.empty()) {
    begin_sample({});
    end_sample();
  }
  return std::move(snapshots_);
}

Result<void> CsvLog::read_header(std::string_view line) {
  header_ = line;
  if (!is_csv_header(line)) {
    if (is_csv_row(line)) {
      return failure(fmt::format("{}: no line with the names of the columns", name_),
                     "leave noheader out of --format, or name them: --columns index,name,…");
    }
    return failure(
        fmt::format("{}: no log of nvidia-smi: it begins with \"{}\"", name_, short_text(line.substr(0, 60))),
        "make one with nvidia-smi -q -x");
  }
  const auto titles = split(line, ',');
  columns_ = csv_columns(titles);
  of_list_ = has(Fact::accounted_memory) || has(Fact::accounted_time) || has(Fact::accounted_gpu_use) ||
             has(Fact::accounted_memory_use) || has(Fact::page_address) || has(Fact::page_cause) ||
             has(Fact::memory_clock) || has(Fact::graphics_clock);
  return {};
}

std::string_view CsvLog::cell(const Cells &cells, Fact fact) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].is(fact)) return cells[i];
  }
  return {};
}

// nvidia-smi does not quote: surplus commas belong to the command line, the only column that can contain any.
Result<Cells> CsvLog::split_row(std::string_view line) const {
  auto cells = split(line, ',');
  const auto size = columns_.size();
  if (cells.size() > size) {
    const auto at =
        std::find_if(columns_.begin(), columns_.end(), [](const Column &column) { return column.is(Fact::program); });
    if (at != columns_.end()) {
      const auto first = static_cast<std::size_t>(at - columns_.begin());
      const auto last = first + cells.size() - size;
      const auto length = static_cast<std::size_t>(cells[last].data() + cells[last].size() - cells[first].data());
      cells[first] = line.substr(static_cast<std::size_t>(cells[first].data() - line.data()), length);
      cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                  cells.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    }
  }
  if (cells.size() != size) {
    return wrong(fmt::format("{} cells under {} titles", cells.size(), size), "is the file whole?");
  }
  for (auto &one : cells) one = trim(one);
  return cells;
}

void CsvLog::begin_sample(std::optional<WallTime> time) {
  now_ = new_snapshot();
  now_->time = time.value_or(WallTime{});
  uuids_ = {};
  devices_.clear();
  details_.clear();
  processes_.clear();
}

void CsvLog::end_sample() {
  if (now_ == nullptr) return;
  finish(*now_);
  snapshots_.push_back(std::move(now_));
  now_ = nullptr;
}

Result<void> CsvLog::read_row(std::string_view line) {
  if (++rows_ > kMostRows) return wrong(fmt::format("more than {} rows", kMostRows), "cut the file");
  const auto cells = split_row(line);
  if (!cells) return std::unexpected(cells.error());
  std::string key;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].is_key()) key.append((*cells)[i]).append(",");
  }
  const auto time = read_time(cell(*cells, Fact::timestamp));
  const auto pid = cell(*cells, Fact::pid);
  if (now_ != nullptr) {
    const auto known = devices_.find(key);
    const bool repeated = !of_list_ && !key.empty() && known != devices_.end() &&
                          (!has(Fact::pid) || processes_.contains({known->second, std::string(pid)}));
    const bool later = (of_list_ || key.empty()) && time && *time - now_->time >= kSweep;
    if (repeated || later) end_sample();
  }
  if (now_ == nullptr) begin_sample(time);
  // Rows of a list that do not tell their device are taken as one device's.
  if (key.empty() && !of_list_) key = fmt::format("row {}", line_);
  auto device = device_of(*cells, key);
  if (!device) return std::unexpected(device.error());
  return add_entry(*cells, **device);
}

Result<Device *> CsvLog::device_of(const Cells &cells, const std::string &key) {
  if (const auto known = devices_.find(key); known != devices_.end()) return &now_->devices[known->second];
  if (now_->devices.size() >= kMostDevices) {
    return wrong(fmt::format("more than {} GPUs in one moment", kMostDevices),
                 "add index or uuid to --query-gpu, so that it is seen which is which");
  }
  auto device = new_device(static_cast<std::uint32_t>(now_->devices.size()));
  // Use nvidia-smi's index unless it is taken.
  const auto index_text = cell(cells, Fact::index);
  const auto index = parse_integer<std::uint32_t>(index_text);
  if (!index && !reason_in(index_text)) return wrong("the index is no number", "is the file whole?");
  const auto taken = [&](std::uint32_t number) {
    return std::any_of(now_->devices.begin(), now_->devices.end(),
                       [&](const Device &d) { return d.id.index == number; });
  };
  if (index && *index < kMostDevices && !taken(*index)) device.id.index = *index;
  while (taken(device.id.index)) ++device.id.index;
  fill(cells, device);
  devices_[key] = now_->devices.size();
  now_->devices.push_back(std::move(device));
  if (now_->time == WallTime{}) now_->time = read_time(cell(cells, Fact::timestamp)).value_or(WallTime{});
  auto identity = std::make_shared<DeviceIdentity>(*now_->devices.back().identity);
  identity->uuid = uuids_.unique(identity->uuid, identity->pci, now_->devices.back().id.index);
  now_->devices.back().identity = std::move(identity);
  return &now_->devices.back();
}

void CsvLog::fill(const Cells &cells, Device &device) {
  auto identity = std::make_shared<DeviceIdentity>();
  std::shared_ptr<DeviceDetails> details;
  const auto made = [&]() -> DeviceDetails & {
    if (details == nullptr) details = std::make_shared<DeviceDetails>();
    return *details;
  };
  identity->source = "nvidia-smi";
  identity->vendor = "nvidia";
  identity->name = read_text(cell(cells, Fact::name)).value_or("NVIDIA GPU");
  identity->uuid = read_text(cell(cells, Fact::uuid)).value_or("");
  identity->pci = pci_address(cell(cells, Fact::bus_id));
  identity->driver = read_text(cell(cells, Fact::driver)).value_or("");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto &column = columns_[i];
    if (column.what == Column::What::told) {
      made().told.try_emplace(column.told, unbracketed(cells[i]));
    }
    if (column.what != Column::What::metric || column.mask != 0) continue;
    const auto id = column.metric;
    const bool detail = describe(id).scope == Scope::detail;
    if (is_text(describe(id))) {
      // Some texts are empty.
      (detail ? made().texts : identity->texts)[id] =
          cells[i].empty() ? TextReading(std::string()) : read_text(cells[i]);
      continue;
    }
    auto &reading = (detail ? made().row : device.row)[id];
    // If two columns have the same metric, a value is not overwritten by a reason.
    if (!reading) reading = read(id, column.form, cells[i], column.unit);
  }
  fill_sets(cells, device.row, made);
  device.identity = std::move(identity);
  device.details = details;
  details_.push_back(std::move(details));
}

// Sets with a column per bit, unless a column has the whole set.
void CsvLog::fill_sets(const Cells &cells, Row &row, const std::function<DeviceDetails &()> &details) const {
  std::map<std::uint16_t, std::uint64_t> sets;  // by metric
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto &column = columns_[i];
    if (column.mask == 0) continue;
    if (const auto value = read(column.metric, column.form, cells[i])) {
      const auto bits = static_cast<std::uint64_t>(value.value()) << std::countr_zero(column.mask);
      sets[column.metric.index] |= bits & column.mask;
    }
  }
  for (const auto &[index, bits] : sets) {
    const MetricId id{index};
    auto &reading = (describe(id).scope == Scope::detail ? details().row : row)[id];
    if (!reading) reading = static_cast<double>(bits);
  }
}

Result<void> CsvLog::add_entry(const Cells &cells, Device &device) {
  if (!of_list_) return has(Fact::pid) ? add_process(cells, device) : Result<void>{};
  auto &details = details_[static_cast<std::size_t>(&device - now_->devices.data())];
  if (details == nullptr) device.details = details = std::make_shared<DeviceDetails>();
  if (has(Fact::page_address) || has(Fact::page_cause)) {
    add_page(cells, *details);
  } else if (has(Fact::memory_clock) || has(Fact::graphics_clock)) {
    add_clocks(cells, *details);
  } else {
    return add_accounted(cells, *details);
  }
  return {};
}

Reading CsvLog::number(const Cells &cells, Fact fact, const Form &form) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].is(fact)) continue;
    const auto value = form.parse(unbracketed(cells[i]), columns_[i].unit);
    return value ? Reading(*value) : reason_in(cells[i]).value_or(Reason::error);
  }
  return Reason::not_supported;
}

Result<void> CsvLog::add_accounted(const Cells &cells, DeviceDetails &details) const {
  const auto pid = parse_integer<std::uint32_t>(cell(cells, Fact::pid));
  if (has(Fact::pid) && !pid) return wrong("the pid is no number");
  details.accounted.push_back({.pid = pid.value_or(0),
                               .gpu_percent = number(cells, Fact::accounted_gpu_use, kPercent),
                               .memory_percent = number(cells, Fact::accounted_memory_use, kPercent),
                               .memory_max_bytes = number(cells, Fact::accounted_memory, kMib),
                               .running_seconds = number(cells, Fact::accounted_time, kMilli)});
  details.row[detail_metric("accounted_process_count")] = static_cast<double>(details.accounted.size());
  return {};
}

void CsvLog::add_page(const Cells &cells, DeviceDetails &details) const {
  auto &count = details.row[detail_metric("retired_page_count")];
  const auto text = cell(cells, Fact::page_address);
  const auto address = parse::hex(unbracketed(text), {});
  if (!address) {
    count = reason_in(text).value_or(Reason::error);
    return;
  }
  const auto time = read_time(cell(cells, Fact::page_time));
  details.retired_pages.push_back(
      {.address = static_cast<std::uint64_t>(*address),
       .time = time ? std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count() : 0,
       .double_bit = same_word(cell(cells, Fact::page_cause), "Double Bit ECC")});
  count = static_cast<double>(details.retired_pages.size());
}

void CsvLog::add_clocks(const Cells &cells, DeviceDetails &details) const {
  const auto memory = number(cells, Fact::memory_clock, kMhz);
  const auto graphics = number(cells, Fact::graphics_clock, kMhz);
  if (!memory) return;
  auto &clocks = details.clocks;
  if (clocks.empty() || clocks.back().memory_mhz != memory.value())
    clocks.push_back({.memory_mhz = memory.value(), .graphics_mhz = {}});
  if (graphics) clocks.back().graphics_mhz.push_back(graphics.value());
  auto &count = details.row[detail_metric("supported_clock_count")];
  count = count.value_or(0) + 1;
}

Result<void> CsvLog::add_process(const Cells &cells, const Device &device) {
  const auto text = cell(cells, Fact::pid);
  const auto pid = parse_integer<std::uint32_t>(text);
  if (!pid) {
    if (reason_in(text)) return {};
    return wrong("the pid is no number");
  }
  if (now_->processes.size() >= kMostProcesses) return wrong(fmt::format("more than {} processes", kMostProcesses));
  // This query lists only compute processes and has no column for the type.
  auto process = new_process(
      *pid, "C", has(Fact::program) ? std::optional(cell(cells, Fact::program)) : std::optional<std::string_view>());
  process.device = device.id;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].is(Fact::process_memory)) continue;
    process.row[process_metric("gpu_memory_bytes")] =
        read(process_metric("gpu_memory_bytes"), kMib, cells[i], columns_[i].unit);
  }
  processes_.emplace(static_cast<std::size_t>(&device - now_->devices.data()), std::string(text));
  now_->processes.push_back(std::move(process));
  return {};
}

}  // namespace

Result<std::vector<SnapshotPtr>> read_csv(std::string_view text, const std::string &name, std::string_view titles) {
  return CsvLog(name, titles).run(text);
}

}  // namespace gpulse::smi
