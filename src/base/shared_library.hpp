// SPDX-License-Identifier: Apache-2.0
// A library opened at run time; every symbol may be missing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace gpulse {

class SharedLibrary {
 public:
  static Result<SharedLibrary> open(const std::string &path);

  void *symbol(const char *name) const;
  // The file it was loaded from.
  std::string path() const;
  // The whole pages of its variables that start as zero (.bss): private memory, not backed by the file.
  std::span<std::byte> zeroed_memory() const;

 private:
  explicit SharedLibrary(void *handle);
  struct Close {
    void operator()(void *handle) const noexcept;
  };
  std::unique_ptr<void, Close> handle_;
};

}  // namespace gpulse
