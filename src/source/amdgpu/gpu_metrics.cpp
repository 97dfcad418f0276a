// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/gpu_metrics.hpp"

#include <algorithm>
#include <span>

#include "metric/state_names.hpp"
#include "source/amdgpu/gpu_metrics_layout.hpp"

namespace gpulse::amdgpu {

namespace {

// Little-endian, as the firmware writes it.
std::uint64_t read_at(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  }
  return value;
}

constexpr std::uint64_t all_ones(std::size_t size) {
  return size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
}

// How the elements of a field become one number.
enum class Fold : std::uint8_t { most, mean, sum };

Fold fold_of(Field field) {
  switch (field) {
    case Field::activity_graphics:
    case Field::activity_video:
    case Field::activity_jpeg:
      return Fold::mean;
    case Field::xgmi_read_kib:
    case Field::xgmi_write_kib:
      return Fold::sum;
    default:
      return Fold::most;
  }
}

enum class Quantity : std::uint8_t { celsius, watts, mhz, percent, volts, other };

Quantity quantity_of(Field field) {
  if (field <= Field::temperature_vr_memory) return Quantity::celsius;
  if (field <= Field::activity_jpeg) return Quantity::percent;
  if (field == Field::power_socket) return Quantity::watts;
  if (field >= Field::clock_graphics && field <= Field::clock_video) return Quantity::mhz;
  if (field >= Field::voltage_soc && field <= Field::voltage_memory) return Quantity::volts;
  return Quantity::other;
}

// APUs report hundredths of a degree, and milliwatts.
double scale_of(Field field, bool integrated) {
  switch (quantity_of(field)) {
    case Quantity::celsius:
      return integrated ? 0.01 : 1;
    case Quantity::watts:
      return integrated ? 0.001 : 1;
    case Quantity::volts:
      return 0.001;
    default:
      return 1;
  }
}

// The elements at the offset as one number; none when all of them are "not supported".
std::optional<double> folded(std::string_view bytes, std::size_t offset, std::size_t size, std::size_t count, Fold fold,
                             bool is_signed = false) {
  double sum = 0;
  double most = 0;
  std::size_t valid = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto raw = read_at(bytes, offset + i * size, size);
    // Nothing here can be negative.
    if (raw == all_ones(size) || (is_signed && raw > all_ones(size) / 2)) continue;
    ++valid;
    sum += static_cast<double>(raw);
    most = std::max(most, static_cast<double>(raw));
  }
  if (valid == 0) return std::nullopt;
  if (fold == Fold::most) return most;
  return fold == Fold::sum ? sum : sum / static_cast<double>(valid);
}

void put(GpuMetrics &out, Field field, double raw) {
  const auto i = static_cast<std::size_t>(field);
  out.values[i] = raw * scale_of(field, out.integrated());
  out.has[i] = true;
}

void take(std::string_view bytes, const Entry &entry, GpuMetrics &out) {
  const std::size_t size = entry.size;
  if (entry.offset + size * entry.count > bytes.size()) return;
  const auto value = folded(bytes, entry.offset, size, entry.count, fold_of(entry.field));
  if (!value) return;
  put(out, entry.field, *value);
  // A double would lose some of its bits.
  if (entry.field == Field::throttle) out.throttle = read_at(bytes, entry.offset, size);
}

void take_partitions(std::string_view bytes, const Layout &layout, GpuMetrics &out) {
  constexpr std::size_t kEngines = 8;
  if (layout.partitions == 0 || layout.partition_count + 2U > bytes.size()) return;
  const auto count = read_at(bytes, layout.partition_count, 2);
  for (std::size_t i = 0; i < std::min<std::uint64_t>(count, kMaxPartitions); ++i) {
    const std::size_t offset = layout.partitions + i * layout.partition_size;
    if (offset + kEngines * 4 > bytes.size()) return;
    out.partition_busy[i] = folded(bytes, offset, 4, kEngines, Fold::mean);
  }
}

// In v1_9 a header before each value says what it is and its type.
bool take_records(std::string_view bytes, GpuMetrics &out) {
  constexpr std::size_t kHead = 8;
  constexpr std::array<std::size_t, 8> kSizes{1, 1, 2, 2, 4, 4, 8, 8};
  if (bytes.size() < kHead) return false;
  const auto records = read_at(bytes, 4, 4);
  std::size_t at = kHead;
  for (std::uint64_t i = 0; i < records; ++i) {
    if (at + 8 > bytes.size()) return false;
    const auto encoding = read_at(bytes, at, 8);
    at += 8;
    const auto count = static_cast<std::size_t>(encoding & 0x3FFU);
    const auto id = static_cast<std::size_t>((encoding >> 10U) & 0x3FFU);
    const auto type = static_cast<std::size_t>((encoding >> 20U) & 0xFU);
    const auto unit = static_cast<std::uint8_t>((encoding >> 24U) & 0xFFU);
    if (type >= kSizes.size() || at + count * kSizes[type] > bytes.size()) return false;
    const auto *known = std::find_if(kRecords.begin(), kRecords.end(), [&](const auto &r) { return r.id == id; });
    if (known != kRecords.end() && (known->unit == 0 || known->unit == unit)) {
      if (const auto value = folded(bytes, at, kSizes[type], count, fold_of(known->field), type % 2 == 1)) {
        put(out, known->field, *value);
      }
    }
    at += count * kSizes[type];
  }
  return true;
}

}  // namespace

std::optional<GpuMetrics> parse_gpu_metrics(std::string_view bytes) {
  constexpr std::size_t kHead = 4;
  if (bytes.size() < kHead) return std::nullopt;
  const auto size = read_at(bytes, 0, 2);
  if (size < kHead || size > bytes.size()) return std::nullopt;
  bytes = bytes.substr(0, size);
  GpuMetrics out;
  out.format = static_cast<std::uint8_t>(bytes[2]);
  out.content = static_cast<std::uint8_t>(bytes[3]);
  if (out.format == 1 && out.content == 9) return take_records(bytes, out) ? std::optional(out) : std::nullopt;
  const auto *layout = std::find_if(kLayouts.begin(), kLayouts.end(), [&](const Layout &known) {
    return known.format == out.format && known.content == out.content;
  });
  if (layout == kLayouts.end() || size < layout->smallest) return std::nullopt;
  for (const auto &part : layout->parts) {
    for (const auto &entry : part) take(bytes, entry, out);
  }
  take_partitions(bytes, *layout, out);
  return out;
}

std::uint64_t decode_throttle(std::uint64_t bits) {
  struct Range {
    unsigned first, last;
    std::uint64_t bit;
  };
  // PPT, SPL and the like are power limits; TDC, EDC and APCC current limits; then come the temperature sensors,
  // including those of voltage regulators. PROCHOT is a signal from outside the chip.
  constexpr std::array<Range, 5> kRanges{{{0, 15, state_names::throttle_bit("power cap")},
                                          {16, 31, state_names::throttle_bit("current limit")},
                                          {32, 45, state_names::throttle_bit("hw thermal")},
                                          {46, 47, state_names::throttle_bit("hw slowdown")},
                                          {48, 63, state_names::throttle_bit("other")}}};
  std::uint64_t out = 0;
  for (const auto &[first, last, bit] : kRanges) {
    const auto mask =
        (last == 63 ? ~std::uint64_t{0} : (std::uint64_t{1} << (last + 1)) - 1) & ~((std::uint64_t{1} << first) - 1);
    if ((bits & mask) != 0) out |= bit;
  }
  return out;
}

}  // namespace gpulse::amdgpu
