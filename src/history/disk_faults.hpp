// SPDX-License-Identifier: Apache-2.0
// For tests: a disk that is full, that fails or that hangs. The system calls by which SQLite writes are replaced while
// it lives; everything else is the real one. For the whole process: one at a time.
#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

namespace gpulse::history::testing {

class DiskFaults {
 public:
  DiskFaults() {
    auto *disk = sqlite3_vfs_find(nullptr);
    for (const auto &call : kCalls) disk->xSetSystemCall(disk, call.name, call.function);
  }
  DiskFaults(const DiskFaults &) = delete;
  DiskFaults &operator=(const DiskFaults &) = delete;
  ~DiskFaults() {
    mend();
    auto *disk = sqlite3_vfs_find(nullptr);
    for (const auto &call : kCalls) disk->xSetSystemCall(disk, call.name, nullptr);
  }

  // Every write gives this error, as ENOSPC.
  static void fail(int error) { fault = error; }
  // Only those into the file itself: into its journal all goes well.
  static void fail_file(int error) {
    spares_journal = true;
    fault = error;
  }
  // Every write waits.
  static void hang() { hangs = true; }
  static void mend() {
    fault = 0;
    hangs = false;
    spares_journal = false;
  }
  // That wait now.
  static int waiting() { return held; }

 private:
  static bool is_journal(int file) {
    std::error_code none;
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), none).string().ends_with("-wal");
  }
  static bool is_refused(int file) {
    ++held;
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --held;
    errno = spares_journal && is_journal(file) ? 0 : fault.load();
    return errno != 0;
  }
  static ssize_t write_at(int file, const void *data, std::size_t size, off_t place) {
    return is_refused(file) ? -1 : ::pwrite(file, data, size, place);
  }
  static ssize_t write_on(int file, const void *data, std::size_t size) {
    return is_refused(file) ? -1 : ::write(file, data, size);
  }

  struct Call {
    const char *name;
    sqlite3_syscall_ptr function;
  };
  inline static const std::array kCalls{Call{"pwrite", reinterpret_cast<sqlite3_syscall_ptr>(write_at)},
                                        Call{"pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(write_at)},
                                        Call{"write", reinterpret_cast<sqlite3_syscall_ptr>(write_on)}};
  inline static std::atomic<int> fault = 0, held = 0;
  inline static std::atomic<bool> hangs = false, spares_journal = false;
};

}  // namespace gpulse::history::testing
