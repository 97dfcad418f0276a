// SPDX-License-Identifier: Apache-2.0
#include "record/own_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "metric/format.hpp"
#include "model/plausible.hpp"

namespace gpulse::record {

namespace {

constexpr std::size_t kMostColumns = 1024;
constexpr std::size_t kMostRows = std::size_t{1} << 17U;  // about 4 kB each
constexpr std::size_t kMostDevices = 1024;
constexpr std::string_view kHost = "host.";

using Cells = std::vector<std::string>;

// As RFC 4180 has it; empty if a quote is not closed.
std::optional<Cells> split_row(std::string_view line) {
  Cells cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        cells.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return quoted ? std::nullopt : std::optional(std::move(cells));
}

std::optional<MetricId> metric_titled(std::string_view title) {
  if (title.starts_with(kHost)) return find_metric(Scope::host, title.substr(kHost.size()));
  const auto id = find_metric(Scope::device, title);
  // nvidia-smi's names for a metric are taken too, but never written.
  return id && describe(*id).key == title ? id : std::nullopt;
}

bool is_identity(std::string_view title) {
  static constexpr std::array<std::string_view, 10> kNames{"time",   "hostname", "index",  "uuid",  "name",
                                                           "vendor", "pci",      "driver", "label", "state"};
  return std::find(kNames.begin(), kNames.end(), title) != kNames.end();
}

// "2026-11-15T02:00:15.100Z"
std::optional<WallTime> read_time(std::string_view text) {
  const auto part = [&](std::size_t from, std::size_t size) { return parse_integer<int>(text.substr(from, size)); };
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
      !text.ends_with('Z')) {
    return std::nullopt;
  }
  const auto seconds = parse_double(text.substr(17, text.size() - 18));
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2), hour = part(11, 2), minute = part(14, 2);
  if (!year || !month || !day || !hour || !minute || !seconds || *year < 1970 || *year > 2200) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  const auto within = [](auto value, auto low, auto high) { return value >= low && value <= high; };
  if (!date.ok() || !within(*hour, 0, 23) || !within(*minute, 0, 59) || !within(*seconds, 0.0, 61.0)) {
    return std::nullopt;
  }
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::milliseconds(std::llround(*seconds * 1e3));
}

// A number; of a state its word, of a set its words with bars between them.
std::optional<double> read_value(const Metric &metric, std::string_view text) {
  const auto place = [&](std::string_view word) -> std::optional<std::size_t> {
    const auto found = std::find(metric.words.begin(), metric.words.end(), word);
    if (found == metric.words.end()) return std::nullopt;
    return static_cast<std::size_t>(found - metric.words.begin());
  };
  if (metric.kind == Kind::state) {
    if (const auto at = place(text)) return static_cast<double>(*at);
  }
  if (metric.kind == Kind::set) {
    std::uint64_t bits = 0;
    if (text == "none") return 0.0;
    for (const auto word : split(text, '|')) {
      const auto at = place(word);
      if (!at) return std::nullopt;
      bits |= std::uint64_t{1} << *at;
    }
    return static_cast<double>(bits);
  }
  return parse_double(text);
}

class OwnCsv {
 public:
  OwnCsv(std::string name, std::string origin) : name_(std::move(name)), origin_(std::move(origin)) {}

  Result<std::vector<SnapshotPtr>> run(std::string_view csv) {
    std::size_t rows = 0;
    while (!csv.empty()) {
      const auto line = trim(next_piece(csv, '\n'));
      ++line_;
      if (line.empty()) continue;
      auto cells = split_row(line);
      if (!cells) return wrong("a quote is not closed");
      if (titles_.empty()) {
        titles_ = std::move(*cells);
        if (titles_.size() > kMostColumns) return wrong("too many columns");
        continue;
      }
      if (*cells == titles_) continue;  // the output of another run was appended
      if (++rows > kMostRows) return wrong(fmt::format("more than {} rows", kMostRows));
      if (cells->size() != titles_.size()) {
        return wrong(fmt::format("{} cells under {} titles", cells->size(), titles_.size()));
      }
      if (const auto good = read_row(*cells); !good) return std::unexpected(good.error());
    }
    end_sample();
    return std::move(snapshots_);
  }

 private:
  std::unexpected<Error> wrong(std::string_view what) const {
    return failure(fmt::format("{}: line {}: {}", name_, line_, what), "is the file whole?");
  }

  std::string_view cell(const Cells &cells, std::string_view title) const {
    for (std::size_t i = 0; i < titles_.size(); ++i) {
      if (titles_[i] == title) return cells[i];
    }
    return {};
  }

  void end_sample() {
    if (now_ == nullptr) return;
    now_->sources.push_back(
        {.name = "gpulse", .problem = {}, .remedy = {}, .devices = static_cast<std::uint32_t>(now_->devices.size())});
    snapshots_.push_back(std::move(now_));
    now_ = nullptr;
  }

  Result<void> read_row(const Cells &cells) {
    const auto time = read_time(cell(cells, "time"));
    const auto key = fmt::format("{},{}", cell(cells, "index"), cell(cells, "uuid"));
    const bool tells_device = key != ",";
    const bool other_time = now_ != nullptr && time && *time != now_->time;
    if (other_time || (tells_device && devices_.contains(key)) || (!time && !tells_device)) end_sample();
    if (now_ == nullptr) {
      devices_.clear();
      now_ = std::make_shared<Snapshot>();
      now_->time = time.value_or(WallTime{});
      now_->origin = origin_;
      now_->hostname = cell(cells, "hostname");
      now_->host.fill(Reason::not_supported);
      now_->self.fill(Reason::not_supported);
    }
    devices_.insert(key);
    if (now_->devices.size() >= kMostDevices) return wrong(fmt::format("more than {} GPUs", kMostDevices));
    return add_device(cells);
  }

  Result<void> add_device(const Cells &cells) {
    Device device;
    device.id.index = static_cast<std::uint32_t>(now_->devices.size());
    if (const auto index = parse_integer<std::uint32_t>(cell(cells, "index"))) device.id.index = *index;
    if (const auto id = parse_device_id(cell(cells, "id"))) device.id = *id;
    if (const auto mig = parse_integer<std::uint32_t>(cell(cells, "mig"))) device.id.instance = mig;
    const auto state = cell(cells, "state");
    for (const auto one : {DeviceState::asleep, DeviceState::lost, DeviceState::not_responding}) {
      if (word(one) == state) device.state = one;
    }
    device.row.fill(Reason::not_supported);
    auto identity = std::make_shared<DeviceIdentity>();
    identity->source = "gpulse";
    identity->uuid = cell(cells, "uuid");
    if (identity->uuid.empty()) identity->uuid = fmt::format("CSV-{}", text(device.id));
    identity->name = cell(cells, "name");
    identity->vendor = cell(cells, "vendor");
    identity->pci = cell(cells, "pci");
    identity->driver = cell(cells, "driver");
    identity->label = cell(cells, "label");
    for (std::size_t i = 0; i < titles_.size(); ++i) {
      const auto id = metric_titled(titles_[i]);
      if (!id || cells[i].empty() || is_identity(titles_[i])) continue;
      const auto &metric = describe(*id);
      if (is_text(metric)) {
        if (metric.scope == Scope::device) identity->texts[*id] = TextReading(cells[i]);
        continue;
      }
      const auto value = read_value(metric, cells[i]);
      if (!value) return wrong(fmt::format("{} cannot be \"{}\"", metric.key, Text(cells[i].substr(0, 40)).str()));
      (metric.scope == Scope::host ? now_->host : device.row)[*id] = plausible(*id, *value);
    }
    keep_plausible(device.row);
    device.identity = std::move(identity);
    now_->devices.push_back(std::move(device));
    return {};
  }

  std::string name_, origin_;
  std::size_t line_ = 0;
  Cells titles_;
  std::vector<SnapshotPtr> snapshots_;
  std::shared_ptr<Snapshot> now_;  // the sample being read
  std::set<std::string> devices_;  // that it has
};

}  // namespace

bool is_own_csv(std::string_view start) {
  const auto line = trim(start.substr(0, start.find('\n')));
  // nvidia-smi's titles have blanks between them.
  if (line.find(' ') != std::string_view::npos) return false;
  const auto titles = split(line, ',');
  if (titles.size() > kMostColumns) return false;
  const auto known = std::count_if(titles.begin(), titles.end(), [](std::string_view title) {
    return metric_titled(title).has_value() || is_identity(title);
  });
  const bool measured = std::any_of(titles.begin(), titles.end(),
                                    [](std::string_view title) { return metric_titled(title).has_value(); });
  return measured && known * 2 > static_cast<std::ptrdiff_t>(titles.size());
}

Result<std::vector<SnapshotPtr>> read_own_csv(std::string_view csv, const std::string &name,
                                              const std::string &origin) {
  return OwnCsv(name, origin).run(csv);
}

}  // namespace gpulse::record
