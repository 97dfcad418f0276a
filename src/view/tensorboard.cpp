// SPDX-License-Identifier: Apache-2.0
#include "view/tensorboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "view/csv.hpp"
#include "view/log_fields.hpp"

namespace gpulse::view {

namespace {

constexpr double kMiB = 1024.0 * 1024;
constexpr std::string_view kVersion = "brain.Event:2";
constexpr std::string_view kPlugin = "scalars";  // TensorBoard warns of metadata without it
constexpr std::uint64_t kScalar = 1;             // data_class

// The wire types of protocol buffers that an event needs.
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void append_varint(std::string &out, std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

void append_key(std::string &out, std::uint32_t field, WireType type) {
  append_varint(out, (std::uint64_t{field} << 3U) | static_cast<std::uint8_t>(type));
}

template <class Number>
void append_little_endian(std::string &out, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

void append_double(std::string &out, std::uint32_t field, double value) {
  append_key(out, field, WireType::fixed64);
  append_little_endian(out, std::bit_cast<std::uint64_t>(value));
}

void append_float(std::string &out, std::uint32_t field, float value) {
  append_key(out, field, WireType::fixed32);
  append_little_endian(out, std::bit_cast<std::uint32_t>(value));
}

void append_bytes(std::string &out, std::uint32_t field, std::string_view bytes) {
  append_key(out, field, WireType::bytes);
  append_varint(out, bytes.size());
  out += bytes;
}

void append_number(std::string &out, std::uint32_t field, std::uint64_t value) {
  append_key(out, field, WireType::varint);
  append_varint(out, value);
}

// In two parts: nanoseconds since 1970 are too many for a double.
double seconds_of(WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  return static_cast<double>(whole.time_since_epoch().count()) + Seconds(time - whole).count();
}

std::string value_bytes(const CurvePoint &point) {
  std::string value;
  append_bytes(value, 1, point.tag);
  append_float(value, 2, point.value);
  if (point.note == nullptr) return value;
  std::string plugin;
  append_bytes(plugin, 1, kPlugin);
  std::string metadata;
  append_bytes(metadata, 1, plugin);
  append_bytes(metadata, 2, point.note->title);
  append_bytes(metadata, 3, point.note->description);
  append_number(metadata, 4, kScalar);
  append_bytes(value, 9, metadata);
  return value;
}

// A set of bits and a text make no curve.
bool is_number_over_time(const Metric &metric) { return metric.kind != Kind::set && metric.kind != Kind::text; }

std::string unit_words(Unit unit) {
  if (unit == Unit::bytes) return "MiB";
  if (unit == Unit::bytes_per_second) return "MiB/s";
  return std::string(symbol(unit));
}

// What a point says of the samples that it stands for.
std::string_view fold_words(const Metric &metric) {
  switch (fold(metric)) {
    case Fold::maximum:
      return "the highest of its samples";
    case Fold::last:
      return "the last of its samples";
    case Fold::counter:
      return "the growth since the log began";
    default:
      return "the mean of its samples";
  }
}

// Foreign text inside of Markdown, shown as it is.
std::string as_code(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '`', '\'');
  return '`' + plain + '`';
}

}  // namespace

Result<MetricSet> tensorboard_fields(std::span<const std::string> fields) {
  if (fields.empty()) return log_fields();
  MetricSet set;
  for (const auto &field : fields) {
    if (find_csv_identity(field)) continue;
    const auto id = find_field(field);
    if (!id) return failure("no field '" + field + "'", nearest_field(field));
    if (brief(*id).scope == Scope::process || !is_number_over_time(describe(*id))) {
      return failure("'" + field + "' makes no curve", "TensorBoard shows numbers of devices and of the host");
    }
    set.add(*id);
  }
  if (set == MetricSet{}) return failure("none of the fields makes a curve", "`gpulse explain` lists more");
  return set;
}

double tensorboard_scale(Unit unit) { return unit == Unit::bytes || unit == Unit::bytes_per_second ? 1 / kMiB : 1; }

std::string tensorboard_name(const Metric &metric) {
  std::string name(metric.key);
  constexpr std::string_view kBytes = "_bytes";
  if (tensorboard_scale(metric.unit) == 1) return name;
  const auto at = name.rfind(kBytes);
  return at == std::string::npos ? name + "_mib" : name.replace(at, kBytes.size(), "_mib");
}

std::string tensorboard_group(const DeviceId &id) {
  // A colon would do, but reads as a part of an address.
  return id.instance ? fmt::format("gpu{}.{}", id.index, *id.instance) : fmt::format("gpu{}", id.index);
}

CurveNote tensorboard_note(const Metric &metric, const Device *device) {
  const auto unit = unit_words(metric.unit);
  CurveNote note;
  note.title = fmt::format("{}: {}{}", device != nullptr ? "GPU " + text(device->id) : "Host", metric.help,
                           unit.empty() ? "" : " (" + unit + ")");
  note.description =
      fmt::format("{}{} Where several samples fall into one step, a point is {}. In gpulse: {}",
                  unit.empty() ? "" : "Unit: " + unit + ". ", metric.meaning, fold_words(metric), as_code(metric.key));
  if (device != nullptr && device->identity != nullptr) {
    note.description +=
        fmt::format(" of {} {}", as_code(device->identity->name.str()), as_code(device->identity->uuid.str()));
  }
  note.description += '.';
  return note;
}

void append_tensorboard_head(std::string &out, WallTime time, std::string_view writer) {
  append_double(out, 1, seconds_of(time));
  append_bytes(out, 3, kVersion);
  std::string source;
  append_bytes(source, 1, writer);
  append_bytes(out, 10, source);
}

void append_tensorboard_event(std::string &out, WallTime time, std::int64_t step, std::span<const CurvePoint> points) {
  append_double(out, 1, seconds_of(time));
  append_number(out, 2, static_cast<std::uint64_t>(step));
  std::string summary;
  for (const auto &point : points) append_bytes(summary, 1, value_bytes(point));
  append_bytes(out, 5, summary);
}

}  // namespace gpulse::view
