// SPDX-License-Identifier: Apache-2.0
#include "share/findings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "codec/wire.hpp"
#include "insight/catalogue.hpp"

namespace gpulse::share {

namespace {

using codec::WireReader;
using codec::WireWriter;
using insight::Finding;

constexpr std::string_view kMark = "gpulse findings 1";
// Beyond these the file is not one of ours.
constexpr std::size_t kMostBytes = std::size_t{1} << 20U, kMostFindings = 100, kMostParts = 1000, kMostText = 4096;

std::string path_in(const std::string &folder) { return folder + "/findings"; }

void put(WireWriter &out, double value) { out.u64(std::bit_cast<std::uint64_t>(value)); }
void put(WireWriter &out, WallTime time) { out.u64(static_cast<std::uint64_t>(time.time_since_epoch().count())); }
void put(WireWriter &out, std::string_view text) { out.text(text.substr(0, kMostText)); }

double number(WireReader &in) { return std::bit_cast<double>(in.u64()); }
WallTime time(WireReader &in) { return WallTime(std::chrono::nanoseconds(static_cast<std::int64_t>(in.u64()))); }
std::string text(WireReader &in) { return Text(std::string(in.text(kMostText))).str(); }

template <class All, class Put>
void put_list(WireWriter &out, const All &all, Put put_one) {
  const auto count = std::min(all.size(), kMostParts);
  out.varint(count);
  for (std::size_t i = 0; i < count; ++i) put_one(all[i]);
}

template <class Take>
void take_list(WireReader &in, Take take_one) {
  for (auto left = in.count(kMostParts); left > 0 && !in.failed(); --left) take_one();
}

void put(WireWriter &out, const Finding &finding) {
  put(out, insight::word(finding.id));
  out.u8(static_cast<std::uint8_t>(finding.weight));
  put(out, finding.confidence);
  out.u8(finding.estimated ? 1 : 0);
  put_list(out, finding.devices, [&](const DeviceId &id) {
    out.varint(id.index);
    out.varint(id.instance ? std::uint64_t{*id.instance} + 1 : 0);
  });
  put_list(out, finding.pids, [&](std::uint32_t pid) { out.varint(pid); });
  put(out, finding.since);
  put(out, finding.until);
  put(out, finding.lost_share.value_or(-1));
  put(out, finding.text);
  put_list(out, finding.evidence, [&](const insight::Fact &fact) {
    put(out, fact.name);
    put(out, fact.value);
    out.u8(static_cast<std::uint8_t>(fact.unit));
  });
  put_list(out, finding.advice, [&](const std::string &advice) { put(out, advice); });
}

// An id of a later version is none of ours.
std::optional<Finding> take(WireReader &in) {
  constexpr std::uint64_t kMost = 0xffffffffU;
  const auto id = insight::finding_named(in.text(kMostText));
  Finding finding{.id = id.value_or(insight::FindingId::unknown)};
  finding.weight = static_cast<insight::Weight>(std::min<std::uint8_t>(in.u8(), 2));
  finding.confidence = number(in);
  finding.estimated = in.u8() != 0;
  take_list(in, [&] {
    DeviceId device{.index = static_cast<std::uint32_t>(in.count(kMost))};
    if (const auto instance = in.count(kMost)) device.instance = static_cast<std::uint32_t>(instance - 1);
    finding.devices.push_back(device);
  });
  take_list(in, [&] { finding.pids.push_back(static_cast<std::uint32_t>(in.count(kMost))); });
  finding.since = time(in);
  finding.until = time(in);
  if (const auto share = number(in); share >= 0) finding.lost_share = share;
  finding.text = text(in);
  take_list(in, [&] {
    auto name = text(in);
    const auto value = number(in);
    const auto unit = in.u8();
    finding.evidence.push_back(
        {.name = std::move(name),
         .value = value,
         .unit = unit <= static_cast<std::uint8_t>(Unit::per_second) ? static_cast<Unit>(unit) : Unit::none});
  });
  take_list(in, [&] { finding.advice.push_back(text(in)); });
  return id ? std::optional(std::move(finding)) : std::nullopt;
}

}  // namespace

std::vector<std::byte> encode_findings(const PublishedFindings &published) {
  WireWriter out;
  out.text(kMark);
  put(out, published.judged);
  const auto worst = std::span(published.findings).first(std::min(published.findings.size(), kMostFindings));
  put_list(out, worst, [&](const Finding &finding) { put(out, finding); });
  return {out.view().begin(), out.view().end()};
}

std::optional<PublishedFindings> decode_findings(std::span<const std::byte> bytes) {
  WireReader in(bytes);
  if (in.text(kMostText) != kMark) return std::nullopt;
  PublishedFindings published{.judged = time(in)};
  for (auto left = in.count(kMostFindings); left > 0 && !in.failed(); --left) {
    if (auto finding = take(in)) published.findings.push_back(std::move(*finding));
  }
  return in.failed() || !in.at_end() ? std::nullopt : std::optional(std::move(published));
}

FindingsFile::FindingsFile(const std::string &folder) : path_(path_in(folder)) { ::unlink(path_.c_str()); }
FindingsFile::~FindingsFile() { ::unlink(path_.c_str()); }

Result<void> FindingsFile::write(const PublishedFindings &published) const {
  const auto unfinished = path_ + ".new";
  const auto bytes = encode_findings(published);
  const auto cannot = [&](int error) {
    ::unlink(unfinished.c_str());
    return failure(fmt::format("cannot write {}: {}", path_, std::strerror(error)));
  };
  ::unlink(unfinished.c_str());
  const UniqueFd file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return cannot(errno);
  ::fchmod(file.get(), 0644);  // whatever the mask says
  const auto written = ::write(file.get(), bytes.data(), bytes.size());
  if (written < 0) return cannot(errno);
  if (static_cast<std::size_t>(written) != bytes.size()) return cannot(ENOSPC);
  return ::rename(unfinished.c_str(), path_.c_str()) == 0 ? Result<void>{} : cannot(errno);
}

std::optional<PublishedFindings> read_findings(const Place &place) {
  const auto path = path_in(place.folder);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || !check_folder(place) || !check_file(place, file.get(), path)) return std::nullopt;
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || status.st_size <= 0 ||
      static_cast<std::uint64_t>(status.st_size) > kMostBytes)
    return std::nullopt;
  // It is written once and then only replaced.
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  const auto got = ::read(file.get(), bytes.data(), bytes.size());
  if (got != status.st_size) return std::nullopt;
  return decode_findings(bytes);
}

}  // namespace gpulse::share
