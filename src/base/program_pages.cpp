// SPDX-License-Identifier: Apache-2.0
#include "base/program_pages.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>

namespace gpulse {

namespace {

int release_first(dl_phdr_info *program, std::size_t /*size*/, void *page_size) {
  const auto page = *static_cast<const std::uintptr_t *>(page_size);
  for (const auto &part : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
    // What can be written has been: addresses were filled in.
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const auto begin = (program->dlpi_addr + part.p_vaddr) / page * page;
    const auto end = (program->dlpi_addr + part.p_vaddr + part.p_memsz + page - 1) / page * page;
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  }
  return 1;  // the program itself comes first; libraries are others' too
}

}  // namespace

void release_program_pages() {
  auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  ::dl_iterate_phdr(release_first, &page);
}

}  // namespace gpulse
