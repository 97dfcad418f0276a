// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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

struct ZeroedMemory {
  ElfW(Addr) base;  // of the library that is asked about
  std::uintptr_t begin = 0, end = 0;
};

// For dl_iterate_phdr: the largest stretch that is not in the file.
int find_zeroed_memory(dl_phdr_info *info, std::size_t /*size*/, void *data) {
  auto &found = *static_cast<ZeroedMemory *>(data);
  if (info->dlpi_addr != found.base) return 0;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const auto &segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_LOAD || segment.p_memsz - segment.p_filesz <= found.end - found.begin) continue;
    found.begin = (info->dlpi_addr + segment.p_vaddr + segment.p_filesz + page - 1) & ~(page - 1);
    found.end = std::max(found.begin, (info->dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page - 1));
  }
  return 1;
}

}  // namespace

std::string SharedLibrary::path() const {
  const auto *map = find_map(handle_.get());
  return map != nullptr ? map->l_name : std::string();
}

std::span<std::byte> SharedLibrary::zeroed_memory() const {
  const auto *map = find_map(handle_.get());
  if (map == nullptr) return {};
  ZeroedMemory memory{.base = map->l_addr};
  ::dl_iterate_phdr(find_zeroed_memory, &memory);
  return {reinterpret_cast<std::byte *>(memory.begin), memory.end - memory.begin};
}

}  // namespace gpulse
