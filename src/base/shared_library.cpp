// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <span>

namespace gpulse {

SharedLibrary::SharedLibrary(void *handle) : handle_(handle) {}

void SharedLibrary::Close::operator()(void *handle) const noexcept { ::dlclose(handle); }

Result<SharedLibrary> SharedLibrary::open(const std::string &path) {
  if (void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle);
  const char *why = ::dlerror();
  return failure(why != nullptr ? why : path + " could not be loaded");
}

void *SharedLibrary::symbol(const char *name) const { return ::dlsym(handle_.get(), name); }

namespace {

const link_map *find_map(void *handle) {
  const link_map *map = nullptr;
  return ::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void *>(&map)) == 0 ? map : nullptr;
}

// For dl_iterate_phdr: the library whose base address `data` points to.
int advise_zeroed_memory(dl_phdr_info *info, std::size_t /*size*/, void *data) {
  if (info->dlpi_addr != *static_cast<const ElfW(Addr) *>(data)) return 0;
  // Below this there is little to win.
  constexpr std::size_t kWorthwhile = std::size_t{4} << 20U;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const auto &segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_LOAD || segment.p_memsz < segment.p_filesz + kWorthwhile) continue;
    const std::uintptr_t begin = (info->dlpi_addr + segment.p_vaddr + segment.p_filesz + page - 1) & ~(page - 1);
    const std::uintptr_t end = (info->dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page - 1);
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
  }
  return 1;
}

}  // namespace

std::string SharedLibrary::path() const {
  const auto *map = find_map(handle_.get());
  return map != nullptr ? map->l_name : std::string();
}

void SharedLibrary::prefer_large_pages() const {
  const auto *map = find_map(handle_.get());
  if (map == nullptr) return;
  auto base = map->l_addr;
  ::dl_iterate_phdr(advise_zeroed_memory, &base);
}

}  // namespace gpulse
