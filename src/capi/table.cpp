// SPDX-License-Identifier: Apache-2.0
#include "monitor/table.hpp"

#include <fmt/format.h>

#include "capi/handles.hpp"
#include "capi/options.hpp"
#include "monitor/arrow.hpp"

using namespace gpulse;

namespace {

std::optional<WallTime> time_of(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return std::nullopt;
  return WallTime(std::chrono::nanoseconds(nanoseconds));
}

}  // namespace

gpulse_status gpulse_history(const gpulse_monitor *monitor, const gpulse_history_options *given, gpulse_table **table) {
  return capi::guarded([&] {
    if (monitor == nullptr || table == nullptr)
      return capi::fail(GPULSE_INVALID, "no monitor, or no place for the table");
    *table = nullptr;
    if (monitor->monitor.is_forked()) return capi::forked();
    const auto taken = capi::take_in(
        given, gpulse_history_options{
                   .size = 0, .since = 0, .until = 0, .every = 0, .scope = GPULSE_DEVICE, .uuids = nullptr});
    if (!taken) return capi::fail(GPULSE_INVALID, taken.error().line());
    const auto &options = *taken;
    if (!(options.every >= 0 && options.every <= 1e6) ||
        (options.scope != GPULSE_DEVICE && options.scope != GPULSE_HOST))
      return capi::fail(GPULSE_INVALID,
                        "the past is asked for in stretches of 0 seconds or more, of devices or the host");
    monitor::Past::Question question{.since = time_of(options.since),
                                     .until = time_of(options.until),
                                     .every = capi::nanoseconds_of(options.every),
                                     .scope = options.scope == GPULSE_HOST ? Scope::host : Scope::device,
                                     .uuids = {}};
    if (options.uuids != nullptr) {
      for (const auto uuid : split(options.uuids, ',')) question.uuids.emplace_back(trim(uuid));
    }
    *table = new gpulse_table{std::make_shared<const monitor::Table>(monitor->monitor.history(question))};
    return GPULSE_OK;
  });
}

void gpulse_table_free(gpulse_table *table) { delete table; }
uint64_t gpulse_table_rows(const gpulse_table *table) { return table == nullptr ? 0 : table->table->rows; }
uint32_t gpulse_table_columns(const gpulse_table *table) {
  return table == nullptr ? 0 : static_cast<uint32_t>(table->table->columns.size());
}

gpulse_status gpulse_get_column(const gpulse_table *table, uint32_t column, gpulse_column *info) {
  return capi::guarded([&] {
    if (column >= gpulse_table_columns(table)) return capi::fail(GPULSE_INVALID, fmt::format("no column {}", column));
    const auto &one = table->table->columns[column];
    gpulse_column full{
        .size = 0, .name = one.name.c_str(), .type = GPULSE_STRING, .values = nullptr, .validity = nullptr};
    if (const auto *times = std::get_if<monitor::Times>(&one.data)) {
      full.type = GPULSE_TIME;
      full.values = times->values.data();
    } else if (const auto *integers = std::get_if<monitor::Integers>(&one.data)) {
      full.type = GPULSE_INTEGER;
      full.values = integers->values.data();
      full.validity = integers->validity.missing() > 0 ? integers->validity.data() : nullptr;
    } else if (const auto *numbers = std::get_if<monitor::Numbers>(&one.data)) {
      full.type = GPULSE_NUMBER;
      full.values = numbers->values.data();
      full.validity = numbers->validity.missing() > 0 ? numbers->validity.data() : nullptr;
    }
    return capi::hand_out(full, info);
  });
}

const char *gpulse_table_text(const gpulse_table *table, uint32_t column, uint64_t row) {
  if (column >= gpulse_table_columns(table) || row >= table->table->rows) return nullptr;
  const auto *strings = std::get_if<monitor::Strings>(&table->table->columns[column].data);
  return strings == nullptr ? nullptr : strings->values[row].c_str();
}

gpulse_status gpulse_table_arrow(const gpulse_table *table, void *arrow_array_stream) {
  return capi::guarded([&] {
    if (table == nullptr || arrow_array_stream == nullptr) return capi::fail(GPULSE_INVALID, "no table, or no stream");
    monitor::export_arrow(table->table, arrow_array_stream);
    return GPULSE_OK;
  });
}
