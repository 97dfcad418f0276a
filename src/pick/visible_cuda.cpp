// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/counted.hpp"
#include "pick/mask.hpp"
#include "pick/visible.hpp"

namespace gpulse::pick {

namespace {

constexpr const char *kMask = "CUDA_VISIBLE_DEVICES", *kOrder = "CUDA_DEVICE_ORDER";

// The first entry decides; an entry of another kind ends the list.
enum class Kind : std::uint8_t { number, gpu, instance };

Kind kind_of(std::string_view entry) {
  if (entry.starts_with("GPU-")) return Kind::gpu;
  return entry.starts_with("MIG-") ? Kind::instance : Kind::number;
}

// nouveau's cards are no business of CUDA's.
bool is_cuda(const Device &device) {
  return device.identity != nullptr && device.identity->vendor == "nvidia" && device.identity->source != "drm";
}

bool is_split(const Device &device) { return device.row[device_metric("mig_mode")].value_or(0) == 1; }

// What a leading number of an entry says, as atoi() reads it: " 1gpu" is 1, and what is beyond 32 bits loses its upper
// ones. None: there is no digit.
std::optional<std::int32_t> leading_number(std::string_view entry) {
  const auto begin = entry.find_first_not_of(" \t\n\v\f\r");
  if (begin == std::string_view::npos) return std::nullopt;
  entry.remove_prefix(begin);
  const bool negative = entry.starts_with('-');
  if (negative || entry.starts_with('+')) entry.remove_prefix(1);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t number = 0;
  std::size_t digits = 0;
  for (; digits < entry.size() && entry[digits] >= '0' && entry[digits] <= '9'; ++digits) {
    const int digit = entry[digits] - '0';
    number = number > (kMost - digit) / 10 ? kMost : number * 10 + digit;
  }
  if (digits == 0) return std::nullopt;
  return static_cast<std::int32_t>(negative ? -number : number);
}

// Only the hexadecimal digits may be written either way. What stands behind a whole UUID is not looked at.
bool begins_with_uuid(std::string_view uuid, std::string_view prefix) {
  constexpr std::size_t kWord = 4;
  prefix = prefix.substr(0, uuid.size());
  return uuid.size() >= prefix.size() && uuid.substr(0, kWord) == prefix.substr(0, kWord) &&
         lower(uuid.substr(0, prefix.size())) == lower(prefix);
}

// Why an entry is not of the kind that it should be.
std::string misfit(std::string_view entry) {
  if (!entry.empty() && kind_of(entry) == Kind::number && kind_of(trim(entry)) != Kind::number)
    return "a blank stands before the UUID";
  const auto small = lower(trim(entry));
  if (kind_of(trim(entry)) == Kind::number && (small.starts_with("gpu-") || small.starts_with("mig-")))
    return "the letters GPU or MIG have to be capitals";
  if (entry.empty()) return "an empty entry ends the list";
  if (kind_of(entry) == Kind::number && !leading_number(entry)) return "is neither a number nor a UUID";
  return "numbers, UUIDs of GPUs and of instances do not mix";
}

class CudaMask {
 public:
  CudaMask(std::span<const Device> devices, const CudaOrder &ask) : devices_(devices), ask_(ask) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!is_cuda(devices[i])) continue;
      (devices[i].is_instance() ? instances_ : gpus_).push_back(i);
    }
  }

  Visible read(const std::optional<std::string> &mask, bool by_pci) {
    if (gpus_.empty()) return out_;
    by_pci_ = by_pci || are_alike();
    if (mask) {
      read_entries(*mask);
    } else {
      sort_as_cuda(false);
      chosen_ = gpus_;
    }
    if (!failed_) show_chosen();
    if (out_.devices.empty() && out_.problem.empty()) out_.problem = nothing_left(mask);
    return out_;
  }

 private:
  // Equal cards keep the order of the bus.
  bool are_alike() const {
    return std::all_of(gpus_.begin(), gpus_.end(), [&](std::size_t gpu) {
      return devices_[gpu].identity->name == devices_[gpus_.front()].identity->name;
    });
  }

  // `matters`: a number of the mask counts in this order.
  void sort_as_cuda(bool matters) {
    if (by_pci_) return;
    const auto answer = ask_ ? ask_() : failure("there is no way to ask CUDA here");
    if (answer && take_order(*answer)) {
      out_.method = Method::asked_cuda;
      return;
    }
    out_.method = Method::order_guessed;
    out_.uncertain = matters;
    out_.problem =
        fmt::format("the GPUs differ, and CUDA could not be asked for their order ({}); {}=PCI_BUS_ID would settle it",
                    answer ? "it knows other GPUs than the driver" : answer.error().line(), kOrder);
  }

  // CUDA leaves out what it cannot use, a split GPU for instance: such a one comes last.
  bool take_order(const std::vector<std::string> &uuids) {
    std::vector<std::size_t> sorted;
    for (const auto &uuid : uuids) {
      const auto gpu = std::find_if(gpus_.begin(), gpus_.end(),
                                    [&](std::size_t i) { return lower(devices_[i].identity->uuid) == lower(uuid); });
      if (gpu != gpus_.end() && !contains(sorted, *gpu)) sorted.push_back(*gpu);
    }
    if (sorted.empty()) return false;
    for (const auto gpu : gpus_) {
      if (!contains(sorted, gpu)) sorted.push_back(gpu);
    }
    gpus_ = std::move(sorted);
    return true;
  }

  void read_entries(const std::string &mask) {
    out_.method = Method::mask;
    if (mask.empty()) return;
    const auto entries = split(mask, ',');
    const auto kind = kind_of(entries.front());
    if (kind == Kind::number && leading_number(entries.front())) sort_as_cuda(true);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      // What stands behind a last comma is no entry.
      if (i > 0 && i + 1 == entries.size() && entries[i].empty()) return;
      const auto found = kind_of(entries[i]) == kind ? find(kind, entries[i]) : failure(misfit(entries[i]));
      if (!found) {
        ignore(out_, kMask, entries[i], found.error().what);
        ignore_rest(out_, kMask, std::span(entries).subspan(i + 1), entries[i]);
        return;
      }
      if (contains(chosen_, *found)) return fail_at(entries[i]);
      chosen_.push_back(*found);
    }
  }

  void fail_at(std::string_view entry) {
    ignore(out_, kMask, entry, "names a GPU that is in the list already");
    chosen_.clear();
    failed_ = true;
    out_.problem =
        fmt::format("{} names a GPU twice, which CUDA takes for an error (cuInit says 101): no GPU is left", kMask);
  }

  Result<std::size_t> find(Kind kind, std::string_view entry) const {
    switch (kind) {
      case Kind::number:
        return find_number(entry);
      case Kind::gpu:
        return find_uuid(gpus_, entry, "GPU");
      case Kind::instance:
        return find_instance(entry);
    }
    return failure("is nothing CUDA knows");
  }

  Result<std::size_t> find_number(std::string_view entry) const {
    const auto number = leading_number(entry);
    if (!number) return failure(misfit(entry));
    if (*number < 0) return failure("a negative number ends the list");
    if (static_cast<std::size_t>(*number) >= gpus_.size())
      return failure(fmt::format("there is no GPU of this number: {}, counted from 0", counted(gpus_.size(), "GPU")));
    return gpus_[static_cast<std::size_t>(*number)];
  }

  Result<std::size_t> find_uuid(const std::vector<std::size_t> &among, std::string_view entry, const char *what) const {
    constexpr std::size_t kWord = 4;
    if (entry.size() == kWord) return failure("says nothing of the UUID but its first letters");
    std::optional<std::size_t> found;
    for (const auto i : among) {
      if (!begins_with_uuid(devices_[i].identity->uuid, entry)) continue;
      if (found) return failure(fmt::format("begins the UUID of more than one {}", what));
      found = i;
    }
    if (!found) return failure(fmt::format("there is no {} with this UUID", what));
    return *found;
  }

  // MIG-GPU-<uuid>/<gpu instance>/<compute instance> is how drivers before 470 wrote it, and still understood.
  Result<std::size_t> find_instance(std::string_view entry) const {
    if (!entry.starts_with("MIG-GPU-")) return find_uuid(instances_, entry, "instance");
    const auto parts = split(entry.substr(4), '/');
    if (parts.size() != 3) return failure("is not of the form MIG-GPU-<uuid>/<GPU instance>/<compute instance>");
    bool told = true;
    for (const auto i : instances_) {
      if (lower(devices_[i].identity->uuid) == lower(entry)) return i;
      if (lower(devices_[i].identity->parent) != lower(parts[0])) continue;
      const auto *details = devices_[i].details.get();
      told = told && details != nullptr;
      if (details == nullptr) continue;
      const auto &row = details->row;
      const auto is_number = [](const Reading &reading, std::string_view text) {
        const auto number = parse_integer<std::uint32_t>(text);
        return number && reading && reading.value() == *number;
      };
      if (is_number(row[detail_metric("gpu_instance_id")], parts[1]) &&
          is_number(row[detail_metric("compute_instance_id")], parts[2]))
        return i;
    }
    return failure(told ? "there is no instance of these numbers" : "the numbers of the instances were not read");
  }

  std::vector<std::size_t> instances_of(std::size_t gpu) const {
    std::vector<std::size_t> found;
    for (const auto i : instances_) {
      if (devices_[i].identity->parent == devices_[gpu].identity->uuid) found.push_back(i);
    }
    return found;
  }

  // A process sees whole GPUs, or one instance and nothing else.
  void show_chosen() {
    std::vector<std::size_t> whole;
    std::vector<std::size_t> parts;
    for (const auto i : chosen_) {
      if (devices_[i].is_instance()) {
        parts.push_back(i);
      } else if (const auto found = instances_of(i); !found.empty() || is_split(devices_[i])) {
        if (found.empty()) ignore(out_, "", name_of(i), "is in MIG mode, and has no instance");
        parts.insert(parts.end(), found.begin(), found.end());
      } else {
        whole.push_back(i);
      }
    }
    out_.allowed = whole;
    out_.allowed.insert(out_.allowed.end(), parts.begin(), parts.end());
    if (parts.empty()) {
      out_.devices = std::move(whole);
      return;
    }
    out_.devices = {parts.front()};
    for (const auto i : chosen_) {
      if (i == parts.front() || devices_[i].identity->uuid == devices_[parts.front()].identity->parent) continue;
      ignore(out_, "", name_of(i), "is hidden: CUDA shows a process one instance, and nothing beside it");
    }
  }

  std::string name_of(std::size_t i) const { return "GPU " + text(devices_[i].id); }

  static std::string nothing_left(const std::optional<std::string> &mask) {
    if (!mask) return "no GPU that CUDA could use";
    if (mask->empty()) return fmt::format("{} is empty, which hides every GPU", kMask);
    return fmt::format("{}={} leaves no GPU", kMask, Text(first_bytes(Text(*mask), 80)));
  }

  std::span<const Device> devices_;
  const CudaOrder &ask_;
  std::vector<std::size_t> gpus_, instances_;  // the former as CUDA numbers them
  std::vector<std::size_t> chosen_;
  bool by_pci_ = false, failed_ = false;
  Visible out_;
};

}  // namespace

Visible visible_to_cuda(std::span<const Device> devices, const Environment &environment, const CudaOrder &ask) {
  return CudaMask(devices, ask).read(environment(kMask), environment(kOrder) == "PCI_BUS_ID");
}

}  // namespace gpulse::pick
