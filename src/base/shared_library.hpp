// SPDX-License-Identifier: Apache-2.0
// A library opened at run time; every symbol may be missing.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

namespace gpulse {

class SharedLibrary {
 public:
  static Result<SharedLibrary> open(const std::string &path);

  void *symbol(const char *name) const;
  // The file it was loaded from.
  std::string path() const;
  // Makes the library's zeroed memory ready for use: in large pages, and with `now` at once on several cores. A library
  // that clears megabytes of it when it starts is then spared a page fault for every 4 KiB.
  void prepare_zeroed_memory(bool now) const;

 private:
  explicit SharedLibrary(void *handle);
  struct Close {
    void operator()(void *handle) const noexcept;
  };
  std::unique_ptr<void, Close> handle_;
};

}  // namespace gpulse
