// SPDX-License-Identifier: Apache-2.0
// A snapshot as the changes since the one before; the first after restart() stands alone. Time is not part of it: it
// lies in the block's head, where it can be read without the rest. Text is written once between two restarts and
// referred to by number after that.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "codec/schema.hpp"
#include "codec/wire.hpp"
#include "model/snapshot.hpp"

namespace gpulse::codec {

// What a file may ask for at most; the encoder refuses what the decoder would not take.
inline constexpr std::size_t kMostDevices = 4096;
inline constexpr std::size_t kMostProcesses = 65536;
inline constexpr std::size_t kMostCores = 16384;
inline constexpr std::size_t kMostSources = 256;
inline constexpr std::size_t kMostEvents = 4096;
inline constexpr std::size_t kLongestText = std::size_t{1} << 20U;
inline constexpr std::size_t kMostText = std::size_t{1} << 25U;  // of all texts of a snapshot

bool same_source(const SourceStatus &a, const SourceStatus &b);
bool same_core(const CpuCore &a, const CpuCore &b);

class SnapshotEncoder {
 public:
  SnapshotEncoder() { restart(); }
  void restart();
  // On an error nothing is written, and restart() must follow.
  Result<void> encode(WireWriter &out, const Snapshot &now);
  // The same without a copy.
  Result<void> encode(WireWriter &out, const SnapshotPtr &sample);

 private:
  void string(WireWriter &out, const std::string &text);
  void texts(WireWriter &out, const TextRow &row);
  void identity(WireWriter &out, const DeviceIdentity *identity);
  void device(WireWriter &out, const Device &now, std::size_t position, std::size_t &expected);
  void processes(WireWriter &out, const std::vector<Process> &now);
  void process(WireWriter &out, const Process &now, std::size_t match, std::size_t &expected);
  void cores(WireWriter &out, const std::vector<CpuCore> &now) const;
  void sources(WireWriter &out, const std::vector<SourceStatus> &now);
  void events(WireWriter &out, const std::vector<Event> &now, WallTime time);

  SnapshotPtr before_;
  std::unordered_map<std::string, std::size_t> strings_;
};

// How devices are numbered. In the first version of recordings instances counted as devices of their own.
enum class Numbering : std::uint8_t { by_gpu, flat };

class SnapshotDecoder {
 public:
  explicit SnapshotDecoder(Numbering numbering = Numbering::by_gpu) : numbering_(numbering) { restart({}); }
  void restart(SlotMap slots);
  // Changes current(), whose time must have been set. False: the bytes make no sense; restart() must follow.
  bool decode(WireReader &in);
  Snapshot &current() { return now_; }
  // What was decoded, its devices numbered by GPU.
  Snapshot result() const;

 private:
  const Text &string(WireReader &in);
  void row(WireReader &in, Row &row);
  void texts(WireReader &in, TextRow &row, Scope scope);
  std::shared_ptr<const DeviceIdentity> identity(WireReader &in);
  void devices(WireReader &in);
  void device(WireReader &in, Device &device, std::uint8_t changed);
  void processes(WireReader &in);
  void process(WireReader &in, Process &process, std::uint8_t changed);
  void cores(WireReader &in);
  void sources(WireReader &in);
  void events(WireReader &in);

  Numbering numbering_;
  Snapshot now_;
  SlotMap slots_;
  std::vector<Text> strings_;
  // Text that this sample may still bring: one long string referred to thousands of times is much memory.
  std::size_t text_left_ = 0;
};

}  // namespace gpulse::codec
