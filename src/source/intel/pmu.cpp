// SPDX-License-Identifier: Apache-2.0
#include "source/intel/pmu.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "model/plausible.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::intel {

namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices/";
constexpr unsigned kWordBits = 64;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.starts_with("0x")) return parse_integer<std::uint64_t>(text.substr(2), 16);
  return parse_integer<std::uint64_t>(text);
}

std::optional<BitRange> parse_range(std::string_view text) {
  const auto low = parse_integer<unsigned>(next_piece(text, '-'));
  const auto high = text.empty() ? low : parse_integer<unsigned>(text);
  if (!low || !high || *low > *high || *high >= kWordBits) return std::nullopt;
  return BitRange{*low, *high};
}

// Puts the value's bits where the format says, lowest first; false when it does not fit.
bool place(std::uint64_t value, const Format &format, std::uint64_t &config) {
  for (const auto [low, high] : format) {
    const auto width = high - low + 1;
    const auto mask = width == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    config |= (value & mask) << low;
    value = width == kWordBits ? 0 : value >> width;
  }
  return value == 0;
}

class PerfCounter final : public Counter {
 public:
  explicit PerfCounter(UniqueFd file) : file_(std::move(file)) {}

  std::optional<Count> read() override {
    std::array<std::uint64_t, 2> words{};
    if (::read(file_.get(), words.data(), sizeof words) != static_cast<ssize_t>(sizeof words)) return std::nullopt;
    return Count{words[0], words[1]};
  }

 private:
  UniqueFd file_;
};

}  // namespace

Format parse_format(std::string_view text) {
  if (next_piece(text, ':') != "config") return {};
  Format format;
  while (!text.empty()) {
    const auto range = parse_range(next_piece(text, ','));
    if (!range) return {};
    format.push_back(*range);
  }
  return format;
}

std::vector<Term> parse_event(std::string_view text) {
  std::vector<Term> terms;
  while (!text.empty()) {
    auto value = next_piece(text, ',');
    const bool bare_name = !value.contains('=');
    const auto name = next_piece(value, '=');
    const auto number = bare_name ? std::optional<std::uint64_t>(1) : parse_number(value);
    if (name.empty() || !number) return {};
    terms.push_back({name, *number});
  }
  return terms;
}

std::optional<std::uint64_t> Pmu::encode(std::span<const Term> terms) const {
  if (terms.empty()) return std::nullopt;
  std::uint64_t config = 0;
  for (const auto &[name, value] : terms) {
    if (name == "config") {
      config |= value;
      continue;
    }
    const auto format = formats.find(name);
    if (format == formats.end() || format->second.empty() || !place(value, format->second, config)) return std::nullopt;
  }
  return config;
}

std::string pmu_name(const drm::Card &card, bool integrated) {
  if (card.driver == kI915 && integrated) return std::string(kI915);
  auto name = card.driver + "_" + card.pci;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

std::optional<Pmu> read_pmu(const Sysroot &root, const std::string &name) {
  const auto folder = std::string(kDevices) + name;
  const auto type = parse_integer<std::uint32_t>(sysfs::read_word(root, folder + "/type"));
  if (!type) return std::nullopt;
  Pmu pmu;
  pmu.type = *type;
  // The first CPU of "0", "0-3" or "0,8".
  const auto mask = sysfs::read_word(root, folder + "/cpumask");
  pmu.cpu = parse_integer<std::uint32_t>(std::string_view(mask).substr(0, mask.find_first_of(",-"))).value_or(0);
  for (const auto &file : root.list(folder + "/format")) {
    pmu.formats[file] = parse_format(sysfs::read_word(root, folder + "/format/" + file));
  }
  for (const auto &file : root.list(folder + "/events")) {
    if (!file.contains('.')) pmu.events[file] = sysfs::read_word(root, folder + "/events/" + file);
  }
  return pmu;
}

std::vector<PmuEngine> i915_pmu_engines(const Pmu &pmu) {
  constexpr std::string_view kBusy = "-busy";
  std::vector<PmuEngine> engines;
  for (const auto &[name, text] : pmu.events) {
    if (!name.ends_with(kBusy)) continue;
    const auto metric = engine_metric(std::string_view(name).substr(0, name.size() - kBusy.size()));
    const auto config = pmu.encode(parse_event(text));
    if (metric && config) engines.push_back({*metric, *config, std::nullopt});
  }
  return engines;
}

std::vector<PmuEngine> xe_pmu_engines(const Pmu &pmu, std::span<const Gt> gts) {
  constexpr std::uint64_t kMaxInstances = 8;
  // Indexed by the kernel's engine classes.
  constexpr std::array<std::string_view, 5> kClasses{"rcs", "bcs", "vcs", "vecs", "ccs"};
  const auto busy = pmu.events.find("engine-active-ticks");
  const auto total = pmu.events.find("engine-total-ticks");
  std::vector<PmuEngine> engines;
  if (busy == pmu.events.end() || total == pmu.events.end()) return engines;
  const auto encode = [&](std::string_view event, std::uint64_t engine_class, std::uint64_t instance, const Gt &gt) {
    auto terms = parse_event(event);
    if (terms.empty()) return std::optional<std::uint64_t>();
    terms.push_back({"engine_class", engine_class});
    terms.push_back({"engine_instance", instance});
    terms.push_back({"gt", static_cast<std::uint64_t>(gt.number)});
    return pmu.encode(terms);
  };
  for (const auto &gt : gts) {
    for (std::uint64_t number = 0; number < kClasses.size(); ++number) {
      for (std::uint64_t instance = 0; instance < kMaxInstances; ++instance) {
        const auto active = encode(busy->second, number, instance, gt);
        const auto all = encode(total->second, number, instance, gt);
        if (active && all) engines.push_back({*engine_metric(kClasses[number]), *active, all});
      }
    }
  }
  return engines;
}

std::unique_ptr<Counter> open_perf_counter(std::uint32_t type, std::uint64_t config, std::uint32_t cpu) {
  // The kernel answers EINVAL on a CPU that the counters do not belong to.
  constexpr std::uint32_t kTries = 8;
  perf_event_attr attributes{};
  attributes.type = type;
  attributes.size = sizeof attributes;
  attributes.config = config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the C library has no function for it
    const auto file = ::syscall(SYS_perf_event_open, &attributes, -1, cpu + i, -1, PERF_FLAG_FD_CLOEXEC);
    if (file >= 0) return std::make_unique<PerfCounter>(UniqueFd(static_cast<int>(file)));
    if (errno != EINVAL) break;
  }
  return nullptr;
}

PmuMeter::PmuMeter(const Pmu &pmu, std::span<const PmuEngine> engines, const OpenCounter &open) {
  for (const auto &engine : engines) {
    auto busy = open(pmu.type, engine.busy, pmu.cpu);
    // Without permission for one there is none for the others.
    if (busy == nullptr && (errno == EACCES || errno == EPERM)) return;
    auto total = engine.total && busy != nullptr ? open(pmu.type, *engine.total, pmu.cpu) : nullptr;
    if (busy == nullptr || (engine.total && total == nullptr)) continue;
    engines_.push_back({engine.metric, std::move(busy), std::move(total), std::nullopt});
  }
}

Reading PmuMeter::share(Engine &engine) {
  const auto busy = engine.busy->read();
  const auto total = busy && engine.total ? engine.total->read() : std::nullopt;
  if (!busy || (engine.total && !total)) {
    engine.past.reset();
    return Reason::error;
  }
  const auto past = engine.past;
  const Counter::Count now{busy->value, total ? total->value : busy->enabled_ns};
  engine.past = now;
  if (!past || now.value < past->value || now.enabled_ns <= past->enabled_ns) return Reason::not_sampled;
  const auto part = static_cast<double>(now.value - past->value);
  return plausible(engine.metric, 100 * part / static_cast<double>(now.enabled_ns - past->enabled_ns));
}

void PmuMeter::update(Row &row) {
  struct Sum {
    MetricId metric;
    double percent = 0;
    int engines = 0;
    Reading failed = 0.0;
  };
  std::vector<Sum> sums;
  for (auto &engine : engines_) {
    auto sum = std::find_if(sums.begin(), sums.end(), [&](const Sum &s) { return s.metric == engine.metric; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), Sum{.metric = engine.metric});
    const auto reading = share(engine);
    if (!reading) sum->failed = reading;
    sum->percent += reading.value_or(0);
    ++sum->engines;
  }
  for (const auto &sum : sums) row[sum.metric] = sum.failed ? Reading(sum.percent / sum.engines) : sum.failed;
}

}  // namespace gpulse::intel
