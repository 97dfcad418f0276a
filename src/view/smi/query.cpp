// SPDX-License-Identifier: Apache-2.0
#include "view/smi/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hot_code.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"

namespace gpulse::view::smi {

namespace {

// What a line is about.
struct Line {
  const Selection *selection = nullptr;
  const Device *device = nullptr;
  const Process *process = nullptr;
  const AccountedProcess *accounted = nullptr;
  const RetiredPage *page = nullptr;
  bool double_bit = false;
  double memory_mhz = 0, graphics_mhz = 0;
};
using Lines = std::vector<Line>;

bool asks_for(std::span<const QueryField *const> fields, Fact fact) {
  return std::any_of(fields.begin(), fields.end(), [&](const QueryField *field) { return field->fact == fact; });
}

void add_processes(const Line &base, Lines &lines) {
  auto all = processes_on(*base.selection->snapshot, *base.device);
  // In the order of the driver.
  const auto place = [](const DeviceProcess &one) { return std::pair(one.process->place, one.process->pid); };
  std::sort(all.begin(), all.end(),
            [&](const DeviceProcess &a, const DeviceProcess &b) { return place(a) < place(b); });
  for (const auto &found : all) {
    constexpr auto kWorks =
        static_cast<std::uint8_t>(ProcessType::compute) | static_cast<std::uint8_t>(ProcessType::mps);
    if ((found.process->types & kWorks) == 0) continue;
    auto line = base;
    line.process = found.process;
    lines.push_back(line);
  }
}

void add_accounted(const Line &base, Lines &lines) {
  if (base.device->details == nullptr) return;
  for (const auto &process : base.device->details->accounted) {
    auto line = base;
    line.accounted = &process;
    lines.push_back(line);
  }
}

void add_pages(const Line &base, Lines &lines) {
  const auto count = reading(*base.device, detail_metric("retired_page_count"));
  for (const bool double_bit : {false, true}) {
    auto line = base;
    line.double_bit = double_bit;
    // Without a list there are still two lines.
    if (!count) lines.push_back(line);
    if (!count || base.device->details == nullptr) continue;
    for (const auto &page : base.device->details->retired_pages) {
      if (page.double_bit != double_bit) continue;
      line.page = &page;
      lines.push_back(line);
    }
  }
}

void add_clocks(const Line &base, bool graphics, Lines &lines) {
  if (base.device->details == nullptr) return;
  for (const auto &clocks : base.device->details->clocks) {
    auto line = base;
    line.memory_mhz = clocks.memory_mhz;
    if (!graphics) {
      lines.push_back(line);
      continue;
    }
    for (const auto mhz : clocks.graphics_mhz) {
      line.graphics_mhz = mhz;
      lines.push_back(line);
    }
  }
}

Lines lines_of(QueryKind kind, std::span<const QueryField *const> fields, const Selection &selection) {
  Lines lines;
  for (const auto *device : selection.devices) {
    const Line base{.selection = &selection, .device = device};
    switch (kind) {
      case QueryKind::gpu:
      case QueryKind::remapped_rows:
        lines.push_back(base);
        break;
      case QueryKind::compute_apps:
        add_processes(base, lines);
        break;
      case QueryKind::accounted_apps:
        add_accounted(base, lines);
        break;
      case QueryKind::retired_pages:
        add_pages(base, lines);
        break;
      case QueryKind::supported_clocks:
        add_clocks(base, asks_for(fields, Fact::graphics_clock), lines);
        break;
    }
  }
  return lines;
}

Cell page_cell(Fact fact, const Line &line) {
  if (fact == Fact::page_cause) return {line.double_bit ? "Double Bit ECC" : "Single Bit ECC"};
  if (line.page == nullptr) return not_available();
  if (fact == Fact::page_address) return {fmt::format("0x{:016x}", line.page->address)};
  return line.page->time != 0 ? Cell{long_time(WallTime(std::chrono::seconds(line.page->time)))} : not_available();
}

Cell fact_cell(const QueryField &field, const Line &line) {
  switch (field.fact) {
    case Fact::timestamp:
      return stamp_of(*line.selection->snapshot);
    case Fact::count:
      return {fmt::format("{}", line.selection->attached)};
    case Fact::pid:
      return {fmt::format("{}", line.process != nullptr ? line.process->pid : line.accounted->pid)};
    case Fact::program:
      return {program(*line.process)};
    case Fact::process_memory:
      return cell(line.process->row[process_metric("gpu_memory_bytes")], field.form);
    case Fact::accounted_gpu_use:
      return cell(line.accounted->gpu_percent, field.form);
    case Fact::accounted_memory_use:
      return cell(line.accounted->memory_percent, field.form);
    case Fact::accounted_memory:
      return cell(line.accounted->memory_max_bytes, field.form);
    case Fact::accounted_time:
      return cell(line.accounted->running_seconds, field.form);
    case Fact::page_address:
    case Fact::page_time:
    case Fact::page_cause:
      return page_cell(field.fact, line);
    case Fact::memory_clock:
      return cell(line.memory_mhz, field.form);
    case Fact::graphics_clock:
      return cell(line.graphics_mhz, field.form);
    default:
      return cell(*line.device, field.fact);
  }
}

Cell value_of(const QueryField &field, const Line &line) {
  if (field.is_told() && line.device->details != nullptr && line.device->details->told.contains(field.name)) {
    auto value = told(*line.device, field.name);
    const auto unit = fmt::format(" {}", field.form.unit);
    if (!field.form.unit.empty() && value.text.ends_with(unit)) value.text.resize(value.text.size() - unit.size());
    return value;
  }
  return field.metric ? cell(*line.device, *field.metric, field.form, field.mask) : fact_cell(field, line);
}

}  // namespace

std::string_view switch_name(QueryKind kind) {
  static constexpr std::array<std::string_view, kQueryKinds> kNames{
      "query-gpu",           "query-compute-apps",  "query-accounted-apps",
      "query-retired-pages", "query-remapped-rows", "query-supported-clocks"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

// Empty where none is near.
std::string nearest_field(QueryKind kind, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto &field : fields_of(kind)) names.push_back(field.name);
  return did_you_mean(name, names, "");
}

}  // namespace

Result<std::vector<const QueryField *>> parse_fields(QueryKind kind, std::string_view list) {
  std::vector<const QueryField *> chosen;
  while (!list.empty()) {
    const auto name = next_piece(list, ',');
    if (name.empty()) continue;
    const auto all = fields_of(kind);
    const auto found = std::find_if(all.begin(), all.end(), [&](const QueryField &field) {
      return field.name == name || (!field.alias.empty() && field.alias == name);
    });
    if (found == all.end()) {
      return failure(fmt::format("Field \"{}\" is not a valid field to query.", name), nearest_field(kind, name));
    }
    chosen.push_back(&*found);
  }
  return chosen;
}

MetricSet needs_of_query(QueryKind kind, std::span<const QueryField *const> fields) {
  MetricSet set;
  for (const auto *field : fields) {
    if (field->metric) set.add(*field->metric);
  }
  switch (kind) {
    case QueryKind::compute_apps:
      set.add(device_metric("process_count"));
      break;
    case QueryKind::accounted_apps:
      set.add(detail_metric("accounted_process_count"));
      break;
    case QueryKind::retired_pages:
      set.add(detail_metric("retired_page_count"));
      break;
    case QueryKind::supported_clocks:
      set.add(detail_metric("supported_clock_count"));
      break;
    default:
      break;
  }
  return set;
}

std::string query_header(std::span<const QueryField *const> fields) {
  std::string out;
  for (const auto *field : fields) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", field->name);
    if (!field->form.unit.empty()) out += fmt::format(" [{}]", field->form.unit);
  }
  return out + '\n';
}

[[gnu::hot]] std::string query_rows(QueryKind kind, std::span<const QueryField *const> fields,
                                    const Selection &selection, const QueryStyle &style) {
  fetch_hot_code(HotCode::smi);
  std::string out;
  for (const auto &line : lines_of(kind, fields, selection)) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto value = value_of(*fields[i], line);
      if (i > 0) out += ", ";
      if (value.known) {
        out += value.with(style.units ? fields[i]->form.unit : "");
      } else {
        out += fields[i]->bare ? value.text : fmt::format("[{}]", value.text);
      }
    }
    out += '\n';
  }
  return out;
}

std::string query_help(QueryKind kind) {
  std::string out = fmt::format("List of valid properties to query for the switch \"--{}\":\n\n", switch_name(kind));
  for (const auto &field : fields_of(kind)) {
    out += fmt::format("\"{}\"", field.name);
    if (!field.alias.empty()) out += fmt::format(" or \"{}\"", field.alias);
    out += '\n';
    if (!field.help.empty()) {
      out += fmt::format("{}\n\n", field.help);
    } else {
      const auto &metric = describe(*field.metric);
      out += fmt::format("{}. {}\n\n", metric.help, metric.meaning);
    }
  }
  return out;
}

}  // namespace gpulse::view::smi
