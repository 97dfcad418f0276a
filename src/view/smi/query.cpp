// SPDX-License-Identifier: Apache-2.0
#include "view/smi/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace gpulse::view::smi {

namespace {

using Rows = std::vector<QueryRow>;

bool asks_for(std::span<const QueryField *const> fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(), [&](const QueryField *field) { return field->name == name; });
}

void add_processes(const QueryRow &base, Rows &rows) {
  auto all = holders(*base.scene->snapshot, *base.device);
  // Here they come as the driver lists them.
  std::sort(all.begin(), all.end(),
            [](const Holder &a, const Holder &b) { return a.process->place < b.process->place; });
  for (const auto &holder : all) {
    constexpr auto kWorks =
        static_cast<std::uint8_t>(ProcessType::compute) | static_cast<std::uint8_t>(ProcessType::mps);
    if ((holder.process->types & kWorks) == 0) continue;
    auto row = base;
    row.process = holder.process;
    rows.push_back(row);
  }
}

void add_accounted(const QueryRow &base, Rows &rows) {
  if (base.device->details == nullptr) return;
  for (const auto &process : base.device->details->accounted) {
    auto row = base;
    row.accounted = &process;
    rows.push_back(row);
  }
}

void add_pages(const QueryRow &base, Rows &rows) {
  const auto count = reading(*base.device, detail_metric("retired_page_count"));
  for (const bool double_bit : {false, true}) {
    auto row = base;
    row.double_bit = double_bit;
    // A device that keeps no list still has its two lines.
    if (!count) rows.push_back(row);
    if (!count || base.device->details == nullptr) continue;
    for (const auto &page : base.device->details->retired_pages) {
      if (page.double_bit != double_bit) continue;
      row.page = &page;
      rows.push_back(row);
    }
  }
}

void add_clocks(const QueryRow &base, bool graphics, Rows &rows) {
  if (base.device->details == nullptr) return;
  for (const auto &clocks : base.device->details->clocks) {
    auto row = base;
    row.memory_mhz = clocks.memory_mhz;
    if (!graphics) {
      rows.push_back(row);
      continue;
    }
    for (const auto mhz : clocks.graphics_mhz) {
      row.graphics_mhz = mhz;
      rows.push_back(row);
    }
  }
}

Rows rows_of(QueryKind kind, std::span<const QueryField *const> fields, const Scene &scene) {
  Rows rows;
  for (const auto *device : scene.devices) {
    const QueryRow base{.scene = &scene, .device = device};
    switch (kind) {
      case QueryKind::gpu:
      case QueryKind::remapped_rows:
        rows.push_back(base);
        break;
      case QueryKind::compute_apps:
        add_processes(base, rows);
        break;
      case QueryKind::accounted_apps:
        add_accounted(base, rows);
        break;
      case QueryKind::retired_pages:
        add_pages(base, rows);
        break;
      case QueryKind::supported_clocks:
        add_clocks(base, asks_for(fields, "graphics"), rows);
        break;
    }
  }
  return rows;
}

Cell value_of(const QueryField &field, const QueryRow &row) {
  if (field.special != nullptr) return field.special(row);
  return cell(*row.device, *field.metric, {field.unit, field.form});
}

}  // namespace

std::string_view switch_name(QueryKind kind) {
  static constexpr std::array<std::string_view, kQueryKinds> kNames{
      "query-gpu",           "query-compute-apps",  "query-accounted-apps",
      "query-retired-pages", "query-remapped-rows", "query-supported-clocks"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<std::vector<const QueryField *>> parse_fields(QueryKind kind, std::string_view list) {
  std::vector<const QueryField *> chosen;
  while (!list.empty()) {
    const auto name = next_piece(list, ',');
    if (name.empty()) continue;
    const auto all = fields_of(kind);
    const auto found = std::find_if(all.begin(), all.end(), [&](const QueryField &field) {
      return field.name == name || (!field.alias.empty() && field.alias == name);
    });
    if (found == all.end()) return failure(fmt::format("Field \"{}\" is not a valid field to query.", name));
    chosen.push_back(&*found);
  }
  return chosen;
}

MetricSet needs(QueryKind kind, std::span<const QueryField *const> fields) {
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
    if (!field->unit.empty()) out += fmt::format(" [{}]", field->unit);
  }
  return out + '\n';
}

std::string query_rows(QueryKind kind, std::span<const QueryField *const> fields, const Scene &scene,
                       const QueryStyle &style) {
  std::string out;
  for (const auto &row : rows_of(kind, fields, scene)) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto value = value_of(*fields[i], row);
      if (i > 0) out += ", ";
      if (value.known) {
        out += value.with(style.units ? fields[i]->unit : "");
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
