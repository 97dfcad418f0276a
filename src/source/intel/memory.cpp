// SPDX-License-Identifier: Apache-2.0
#include "source/intel/memory.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "source/intel/gt.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::intel {

namespace {

// The part of the drivers' binary interface that is used here.
constexpr std::uint16_t kDeviceMemory = 1;  // class of a region, in both drivers; 0 is host memory
constexpr std::uint32_t kI915MemoryRegions = 4, kXeMemoryRegions = 1;

struct I915Query {
  std::uint32_t items = 0, flags = 0;
  std::uint64_t pointer = 0;
};
static_assert(sizeof(I915Query) == 16);

struct I915Item {
  std::uint64_t query = 0;
  std::int32_t length = 0;
  std::uint32_t flags = 0;
  std::uint64_t pointer = 0;
};
static_assert(sizeof(I915Item) == 24);

struct I915Header {
  std::uint32_t regions = 0, reserved[3] = {};
};
static_assert(sizeof(I915Header) == 16);

struct I915Region {
  std::uint16_t memory_class = 0, instance = 0;
  std::uint32_t reserved = 0;
  std::uint64_t total = 0, free = 0;
  std::uint64_t more[8] = {};
};
static_assert(sizeof(I915Region) == 88);

struct XeQuery {
  std::uint64_t extensions = 0;
  std::uint32_t query = 0, size = 0;
  std::uint64_t pointer = 0;
  std::uint64_t reserved[2] = {};
};
static_assert(sizeof(XeQuery) == 40);

struct XeHeader {
  std::uint32_t regions = 0, pad = 0;
};
static_assert(sizeof(XeHeader) == 8);

struct XeRegion {
  std::uint16_t memory_class = 0, instance = 0;
  std::uint32_t page_size = 0;
  std::uint64_t total = 0, used = 0, visible_total = 0, visible_used = 0;
  std::uint64_t reserved[6] = {};
};
static_assert(sizeof(XeRegion) == 88);

constexpr unsigned long kI915Ask = _IOWR('d', 0x40 + 0x39, I915Query);
constexpr unsigned long kXeAsk = _IOWR('d', 0x40, XeQuery);

std::uint64_t used_of(const I915Region &region) { return region.total - std::min(region.free, region.total); }
std::uint64_t used_of(const XeRegion &region) { return std::min(region.used, region.total); }

template <class Header, class Region>
std::optional<CardMemory> parse_regions(std::span<const std::byte> answer) {
  Header header;
  if (answer.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, answer.data(), sizeof header);
  answer = answer.subspan(sizeof header);
  if (header.regions > answer.size() / sizeof(Region)) return std::nullopt;
  CardMemory sum;
  for (std::uint32_t i = 0; i < header.regions; ++i) {
    Region region;
    std::memcpy(&region, answer.subspan(i * sizeof region).data(), sizeof region);
    if (region.memory_class != kDeviceMemory) continue;
    sum.total += region.total;
    sum.used += used_of(region);
  }
  return sum.total > 0 ? std::optional(sum) : std::nullopt;
}

// The kernel takes the address of a query as a number.
template <class T>
std::uint64_t address_of(T *data) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the interface demands it
  return reinterpret_cast<std::uintptr_t>(data);
}

bool ask(int file, unsigned long request, void *question) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the only way to ask
  return ::ioctl(file, request, question) == 0;
}

// Both are asked twice: for the length of the answer, and for the answer.
constexpr std::size_t kLongestAnswer = 65536;

std::vector<std::byte> ask_i915(int file) {
  I915Item item{.query = kI915MemoryRegions};
  I915Query query{.items = 1, .pointer = address_of(&item)};
  if (!ask(file, kI915Ask, &query) || item.length <= 0) return {};
  std::vector<std::byte> answer(std::min(static_cast<std::size_t>(item.length), kLongestAnswer));
  item.length = static_cast<std::int32_t>(answer.size());
  item.pointer = address_of(answer.data());
  if (!ask(file, kI915Ask, &query) || item.length <= 0) return {};
  return answer;
}

std::vector<std::byte> ask_xe(int file) {
  XeQuery query{.query = kXeMemoryRegions};
  if (!ask(file, kXeAsk, &query) || query.size == 0 || query.size > kLongestAnswer) return {};
  std::vector<std::byte> answer(query.size);
  query.pointer = address_of(answer.data());
  if (!ask(file, kXeAsk, &query)) return {};
  return answer;
}

}  // namespace

std::optional<std::uint64_t> parse_dmem_capacity(std::string_view text, std::string_view pci) {
  std::optional<std::uint64_t> total;
  const auto prefix = "drm/" + std::string(pci) + "/vram";
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    if (!next_piece(line, ' ').starts_with(prefix)) continue;
    if (const auto bytes = parse_integer<std::uint64_t>(sysfs::bare(line))) total = total.value_or(0) + *bytes;
  }
  return total;
}

std::optional<CardMemory> parse_i915_regions(std::span<const std::byte> answer) {
  return parse_regions<I915Header, I915Region>(answer);
}

std::optional<CardMemory> parse_xe_regions(std::span<const std::byte> answer) {
  return parse_regions<XeHeader, XeRegion>(answer);
}

std::optional<CardMemory> query_memory(const drm::Card &card) {
  constexpr std::uint32_t kFirstRenderNode = 128;
  for (const auto node : card.nodes) {
    if (node.major != drm::kDrmMajor || node.minor < kFirstRenderNode) continue;
    const auto path = "/dev/dri/renderD" + std::to_string(node.minor);
    const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file) return std::nullopt;
    return card.driver == kXe ? parse_xe_regions(ask_xe(file.get())) : parse_i915_regions(ask_i915(file.get()));
  }
  return std::nullopt;
}

bool may_see_use(std::string_view status) {
  constexpr std::uint64_t kSysAdmin = std::uint64_t{1} << 21U, kPerfmon = std::uint64_t{1} << 38U;
  while (!status.empty()) {
    auto line = next_piece(status, '\n');
    if (next_piece(line, ':') != "CapEff") continue;
    return (parse_integer<std::uint64_t>(sysfs::bare(line), 16).value_or(0) & (kSysAdmin | kPerfmon)) != 0;
  }
  return false;
}

}  // namespace gpulse::intel
