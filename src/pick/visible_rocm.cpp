// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "pick/mask.hpp"
#include "pick/visible.hpp"

namespace gpulse::pick {

namespace {

constexpr const char *kRocr = "ROCR_VISIBLE_DEVICES", *kHip = "HIP_VISIBLE_DEVICES", *kCuda = "CUDA_VISIBLE_DEVICES";
// "GPU-" and 16 digits.
constexpr std::size_t kShortestUuid = 5, kLongestUuid = 20;

// Parts of a device have its UUID, so that none of them can be named by it.
std::string uuid_of(const Device &device) {
  return device.is_instance() ? device.identity->parent.str() : device.identity->uuid.str();
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (auto &c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

// As strtol() reads it with base 0, to its end: "0x1" and "01" are numbers too.
std::optional<std::uint32_t> whole_number(std::string_view entry) {
  if (entry.starts_with('+')) entry.remove_prefix(1);
  const bool hex = entry.starts_with("0X") || entry.starts_with("0x");
  const bool octal = !hex && entry.size() > 1 && entry.front() == '0';
  return parse_integer<std::uint32_t>(hex ? entry.substr(2) : entry, hex ? 16 : octal ? 8 : 10);
}

class Agents {
 public:
  Agents(std::span<const Device> devices, Visible &out) : devices_(devices), out_(out), agents_(hip_agents(devices)) {}

  bool empty() const { return agents_.empty(); }
  std::vector<std::size_t> take() { return std::move(agents_); }

  // The runtime's mask: what it hides, HIP does not number.
  void apply_rocr(const std::string &mask) {
    auto entries = split(mask, ',');
    if (entries.back().empty()) entries.pop_back();
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      auto found = find_rocr(upper(trim(entries[i])));
      if (found && contains(kept, *found)) found = failure("names a GPU that is in the list already, and ends it");
      if (!found) {
        give_up(kRocr, entries, i, found.error());
        break;
      }
      kept.push_back(*found);
    }
    agents_ = std::move(kept);
  }

  void apply_hip(const char *variable, const std::string &mask) {
    auto entries = split(mask, ',');
    if (entries.back().empty()) entries.pop_back();
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto found = find_hip(entries[i]);
      if (!found) {
        give_up(variable, entries, i, found.error());
        break;
      }
      if (contains(kept, *found)) {
        ignore(out_, variable, entries[i], "names a GPU that is in the list already");
      } else {
        kept.push_back(*found);
      }
    }
    agents_ = std::move(kept);
  }

 private:
  void give_up(const char *variable, const std::vector<std::string_view> &entries, std::size_t at, const Error &why) {
    ignore(out_, variable, entries[at], why.what);
    ignore_rest(out_, variable, std::span(entries).subspan(at + 1), entries[at]);
  }

  Error no_such_number() const {
    return {fmt::format("there is no GPU of this number: {} left, counted from 0", agents_.size())};
  }

  Result<std::size_t> find_rocr(const std::string &entry) const {
    if (entry.empty()) return failure("an empty entry ends the list");
    if (entry.front() == 'G') {
      if (entry.size() < kShortestUuid || entry.size() > kLongestUuid)
        return failure("is not GPU- and at most 16 digits");
      std::optional<std::size_t> found;
      for (const auto i : agents_) {
        if (!upper(uuid_of(devices_[i])).starts_with(entry)) continue;
        if (found) return failure("begins the UUID of more than one GPU");
        found = i;
      }
      if (!found) return failure("there is no GPU with this UUID");
      return *found;
    }
    const auto number = whole_number(entry);
    if (!number) return failure("is neither a number nor a UUID");
    if (*number >= agents_.size()) return std::unexpected(no_such_number());
    return agents_[*number];
  }

  Result<std::size_t> find_hip(std::string_view entry) const {
    if (entry.empty()) return failure("an empty entry ends the list");
    if (entry.contains("GPU-")) {
      for (const auto i : agents_) {
        if (uuid_of(devices_[i]).contains(entry)) return i;
      }
      return failure("there is no GPU with this UUID");
    }
    const auto number = parse_integer<std::uint32_t>(entry);
    if (!number || std::to_string(*number) != entry) return failure("is not a plain number");
    if (*number >= agents_.size()) return std::unexpected(no_such_number());
    return agents_[*number];
  }

  std::span<const Device> devices_;
  Visible &out_;
  std::vector<std::size_t> agents_;
};

}  // namespace

// A device that is split stands there by its parts alone.
std::vector<std::size_t> hip_agents(std::span<const Device> devices) {
  const auto is_amd = [](const Device &device) {
    return device.identity != nullptr && device.identity->vendor == "amd" && device.identity->source != "drm";
  };
  const auto is_split = [&](const Device &device) {
    return std::any_of(devices.begin(), devices.end(), [&](const Device &other) {
      return is_amd(other) && other.is_instance() && other.id.index == device.id.index;
    });
  };
  std::vector<std::size_t> agents;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (is_amd(devices[i]) && (devices[i].is_instance() || !is_split(devices[i]))) agents.push_back(i);
  }
  return agents;
}

Visible visible_to_hip(std::span<const Device> devices, const Environment &environment) {
  Visible out;
  Agents agents(devices, out);
  if (agents.empty()) return out;
  if (const auto mask = environment(kRocr)) {
    out.method = Method::mask;
    agents.apply_rocr(*mask);
  }
  // An empty one counts as none to HIP, unlike to CUDA.
  for (const char *variable : {kHip, kCuda}) {
    const auto mask = environment(variable);
    if (!mask || mask->empty()) continue;
    out.method = Method::mask;
    agents.apply_hip(variable, *mask);
    break;
  }
  out.devices = agents.take();
  out.allowed = out.devices;
  if (out.devices.empty()) out.problem = fmt::format("{}, {} or {} leaves no AMD GPU", kRocr, kHip, kCuda);
  return out;
}

}  // namespace gpulse::pick
