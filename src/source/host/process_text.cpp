// SPDX-License-Identifier: Apache-2.0
#include "source/host/process_text.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace gpulse::host {

namespace {

constexpr std::size_t kIdDigits = 64;
constexpr std::size_t kShownDigits = 12;
constexpr std::size_t kLongestAccount = 128;
constexpr std::size_t kDeepestNamespace = 32;  // the kernel's own limit

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool cut_suffix(std::string_view &text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// <id>, docker-<id>.scope, libpod-<id>, kubepods-….slice:cri-containerd:<id>; not libpod-conmon-<id>.scope, which is
// the container's monitor.
std::string_view container_id(std::string_view part) {
  cut_suffix(part, ".scope");
  if (part.size() < kIdDigits || part.find("conmon") != std::string_view::npos) return {};
  const auto id = part.substr(part.size() - kIdDigits);
  if (!std::all_of(id.begin(), id.end(), is_hex)) return {};
  if (part.size() == kIdDigits) return id;
  const char before = part[part.size() - kIdDigits - 1];
  return before == '-' || before == ':' ? id : std::string_view{};
}

// pod<uid>, or kubepods-besteffort-pod<uid with underscores>.slice
std::string pod_uid(std::string_view part) {
  // containerd joins slice and container with colons.
  part = part.substr(0, part.find(':'));
  const bool slice = cut_suffix(part, ".slice") && part.find("kubepods") != std::string_view::npos;
  const auto at = slice ? part.rfind("-pod") : std::string_view::npos;
  if (at != std::string_view::npos) part.remove_prefix(at + 1);
  if (!part.starts_with("pod")) return {};
  std::string uid(part.substr(3));
  std::replace(uid.begin(), uid.end(), '_', '-');
  // Static pods have a hash of 32 digits as uid.
  const bool legal = (uid.size() == 36 || uid.size() == 32) &&
                     std::all_of(uid.begin(), uid.end(), [](char c) { return is_hex(c) || c == '-'; });
  return legal ? uid : std::string();
}

// systemd escapes characters that are not allowed in a name as \x2d.
std::string unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const auto code = text.starts_with("\\x") ? parse_integer<std::uint8_t>(text.substr(2, 2), 16) : std::nullopt;
    plain += code ? static_cast<char>(*code) : text.front();
    text.remove_prefix(code ? std::min<std::size_t>(4, text.size()) : 1);
  }
  return plain;
}

// machine-<name>.scope, or systemd-nspawn@<name>.service: a container that boots like a machine. A virtual machine has
// such a scope too, but the process in it is the emulator, which runs on this machine.
std::string machine_name(std::string_view part) {
  constexpr std::string_view kScope = "machine-", kService = "systemd-nspawn@";
  const bool scope = part.starts_with(kScope) && cut_suffix(part, ".scope");
  if (!scope && !(part.starts_with(kService) && cut_suffix(part, ".service"))) return {};
  auto name = unescape(part.substr(scope ? kScope.size() : kService.size()));
  return name.starts_with("qemu-") ? std::string() : name;
}

// A scope that a user named, as in `systemd-run --scope --unit=train`. The others are login sessions, desktop programs,
// and scopes of container engines and Slurm.
bool is_named_scope(std::string_view part) {
  using namespace std::string_view_literals;
  static constexpr std::array kOthers{"init"sv,        "session-"sv, "app-"sv,       "run-"sv, "snap."sv,
                                      "tmux-spawn-"sv, "machine-"sv, "vte-spawn-"sv, "user@"sv};
  if (!cut_suffix(part, ".scope") || part.ends_with("slurmstepd")) return false;
  if (part.size() >= kIdDigits && std::all_of(part.end() - kIdDigits, part.end(), is_hex)) return false;
  return std::none_of(kOthers.begin(), kOthers.end(), [&](auto other) { return part.starts_with(other); });
}

std::string_view slurm_job(std::string_view part) {
  constexpr std::string_view kPrefix = "job_";
  if (!part.starts_with(kPrefix)) return {};
  part.remove_prefix(kPrefix.size());
  return is_digits(part) ? part : std::string_view{};
}

// The innermost of each kind wins: a container in a container, a service of a user's systemd.
Placement place(std::string_view path) {
  cut_suffix(path, " (deleted)");
  const bool kubernetes = path.find("kubepods") != std::string_view::npos;
  const bool slurm = path.find("slurm") != std::string_view::npos;
  Placement found;
  std::string_view before;
  while (!path.empty()) {
    const auto part = next_piece(path, '/');
    constexpr std::string_view kPayload = "lxc.payload.";
    if (const auto id = container_id(part); !id.empty()) {
      found.container = id.substr(0, kShownDigits);
    } else if (part.size() > kPayload.size() && part.starts_with(kPayload)) {
      found.container = part.substr(kPayload.size());
    } else if ((before == "lxc" || before == "lxc.payload") && !part.empty()) {
      found.container = part;
    } else if (auto name = machine_name(part); !name.empty()) {
      found.container = std::move(name);
    }
    if (kubernetes) {
      if (auto uid = pod_uid(part); !uid.empty()) found.pod = std::move(uid);
    }
    if (slurm) {
      if (const auto job = slurm_job(part); !job.empty()) found.job = job;
    }
    // user@1000.service holds everything that a user started, so it says nothing.
    if ((part.ends_with(".service") && !part.starts_with("user@")) || is_named_scope(part)) {
      found.unit = part;
    }
    before = part;
  }
  return found;
}

// Of the first line, or other piece, that begins with `name`; empty where none does.
std::string_view value_behind(std::string_view text, char end, std::string_view name) {
  while (!text.empty()) {
    const auto piece = next_piece(text, end);
    if (piece.starts_with(name)) return piece.substr(name.size());
  }
  return {};
}

Text account_of(std::string_view value) {
  return Text(std::string(first_bytes(printable(trim(value.substr(0, kLongestAccount))), kLongestAccount)));
}

void keep_first(Text &have, Text &&more) {
  if (have.empty()) have = std::move(more);
}

}  // namespace

std::optional<std::uint64_t> parse_resident_pages(std::string_view text) {
  next_word(text);
  return parse_integer<std::uint64_t>(next_word(text));
}

std::string parse_command(std::string_view text) {
  // printable() turns every NUL into a space.
  return std::string(trim(printable(text)));
}

std::vector<std::string> parse_arguments(std::string_view text) {
  if (text.empty()) return {};
  if (text.back() == '\0' || text.back() == ' ') text.remove_suffix(1);
  // A program that overwrote its arguments leaves a single line of words.
  const auto pieces = split(text, text.contains('\0') ? '\0' : ' ');
  return {pieces.begin(), pieces.end()};
}

std::optional<std::uint32_t> parse_status_user(std::string_view text) {
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    if (next_word(line) != "Uid:") continue;
    next_word(line);
    return parse_integer<std::uint32_t>(next_word(line));
  }
  return std::nullopt;
}

std::vector<std::uint32_t> parse_status_inner_pids(std::string_view text) {
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    if (next_word(line) != "NSpid:") continue;
    next_word(line);
    std::vector<std::uint32_t> pids;
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
      const auto pid = parse_integer<std::uint32_t>(word);
      if (!pid || pids.size() == kDeepestNamespace) return {};
      pids.push_back(*pid);
    }
    return pids;
  }
  return {};
}

std::string find_user(std::string_view passwd, std::uint32_t user) {
  while (!passwd.empty()) {
    auto line = next_piece(passwd, '\n');
    const auto name = next_piece(line, ':');
    next_piece(line, ':');
    if (parse_integer<std::uint32_t>(next_piece(line, ':')) == user) return std::string(name);
  }
  return {};
}

Placement parse_cgroup(std::string_view text) {
  Placement all;
  while (!text.empty()) {
    auto path = next_piece(text, '\n');
    next_piece(path, ':');
    next_piece(path, ':');
    auto found = place(path);
    keep_first(all.container, std::move(found.container));
    keep_first(all.pod, std::move(found.pod));
    keep_first(all.job, std::move(found.job));
    keep_first(all.unit, std::move(found.unit));
  }
  // The service around a container belongs to the container engine.
  if (!all.container.empty() || !all.pod.empty()) all.unit = {};
  return all;
}

std::optional<std::string_view> parse_unified_cgroup(std::string_view text) {
  constexpr std::string_view kUnified = "0::/";
  // A process that was moved to a group that is gone now.
  constexpr std::string_view kGone = " (deleted)";
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    if (!line.starts_with(kUnified)) continue;
    line.remove_prefix(kUnified.size() - 1);
    // "/../pod": beyond the root of our namespace.
    if (line.contains("/../") || line.ends_with("/..") || line.ends_with(kGone)) return std::nullopt;
    return line;
  }
  return std::nullopt;
}

std::string parse_environment_job(std::string_view text) {
  const auto job = value_behind(text, '\0', "SLURM_JOB_ID=");
  return is_digits(job) ? std::string(job) : std::string();
}

Text parse_environment_account(std::string_view text) {
  return account_of(value_behind(text, '\0', "SLURM_JOB_ACCOUNT="));
}

Text parse_job_account(std::string_view text) { return account_of(value_behind(text, '\n', "account=")); }

bool hides_processes(std::string_view mountinfo) {
  bool hides = false;
  while (!mountinfo.empty()) {
    // 24 30 0:22 / /proc rw,nosuid shared:12 - proc proc rw,hidepid=invisible
    auto line = next_piece(mountinfo, '\n');
    const auto behind = line.find(" - ");
    if (behind == std::string_view::npos) continue;
    auto kind = line.substr(behind + 3);
    for (int i = 0; i < 4; ++i) next_word(line);
    if (next_word(line) != "/proc" || next_word(kind) != "proc") continue;
    next_word(kind);
    // The last one lies over the others.
    hides = false;
    for (const auto option : split(next_word(kind), ',')) {
      hides = hides || (option.starts_with("hidepid=") && option != "hidepid=0" && option != "hidepid=off");
    }
  }
  return hides;
}

}  // namespace gpulse::host
