// SPDX-License-Identifier: Apache-2.0
// A file of the kernel's that is read again and again: it is opened once, which costs more than what is read. One
// thread.
#pragma once

#include <string>
#include <string_view>

#include "base/sysroot.hpp"
#include "base/unique_fd.hpp"

namespace gpulse {

class KeptFile {
 public:
  // As Sysroot::read_into. Where the file has gone it is looked for by its name again: of a process that has ended the
  // file fails, even when another has its number by then. A recorded machine's files are not kept: tests replace them.
  bool read(std::string &buffer, const Sysroot &root, std::string_view absolute, std::size_t limit = 1U << 16U);
  void forget() { file_ = UniqueFd(); }

 private:
  bool read_again(std::string &buffer, std::size_t limit);

  UniqueFd file_;
};

}  // namespace gpulse
