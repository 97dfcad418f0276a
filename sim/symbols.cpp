// SPDX-License-Identifier: Apache-2.0
#include "symbols.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "state.hpp"

namespace gpulse::sim {
namespace {

struct Tables {
  const ElfW(Sym) *symbols = nullptr;
  char *names = nullptr;
  std::size_t names_bytes = 0, count = 0;
};

// The dynamic section gives no symbol count; the GNU hash table's last chain ends at the last symbol.
std::size_t symbol_count(const std::uint32_t *hash) {
  const std::uint32_t buckets = hash[0];
  const std::uint32_t first = hash[1];
  const std::uint32_t bloom = hash[2];
  const std::uint32_t *bucket = hash + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t *chain = bucket + buckets;
  std::uint32_t last = *std::max_element(bucket, bucket + buckets);
  if (last < first) {
    return first;
  }
  while ((chain[last - first] & 1U) == 0) {
    ++last;
  }
  return last + 1;
}

Tables own_tables() {
  Dl_info info{};
  link_map *map = nullptr;
  Tables tables;
  if (dladdr1(reinterpret_cast<const void *>(&hide_symbols), &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) ==
          0 ||
      map == nullptr) {
    return tables;
  }
  const auto address = [&](const ElfW(Dyn) & entry) {
    // glibc has already added the load address; other loaders have not.
    return entry.d_un.d_ptr < map->l_addr ? entry.d_un.d_ptr + map->l_addr : entry.d_un.d_ptr;
  };
  const std::uint32_t *hash = nullptr;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) {
      tables.symbols = reinterpret_cast<const ElfW(Sym) *>(address(*entry));
    } else if (entry->d_tag == DT_STRTAB) {
      tables.names = reinterpret_cast<char *>(address(*entry));
    } else if (entry->d_tag == DT_STRSZ) {
      tables.names_bytes = entry->d_un.d_val;
    } else if (entry->d_tag == DT_GNU_HASH) {
      hash = reinterpret_cast<const std::uint32_t *>(address(*entry));
    }
  }
  tables.count = hash == nullptr ? 0 : symbol_count(hash);
  return tables;
}

}  // namespace

void hide_symbols(const std::array<bool, kFnCount> &hidden) {
  static bool any_hidden = false;
  const bool wanted = std::ranges::find(hidden, true) != hidden.end();
  if (!wanted && !any_hidden) {
    return;
  }
  any_hidden = wanted;
  const Tables tables = own_tables();
  if (tables.symbols == nullptr || tables.names == nullptr) {
    return;
  }
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(tables.names) & ~(page - 1);
  const std::size_t length = reinterpret_cast<std::uintptr_t>(tables.names) + tables.names_bytes - start;
  if (mprotect(reinterpret_cast<void *>(start), length, PROT_READ | PROT_WRITE) != 0) {
    return;
  }
  for (std::size_t i = 1; i < tables.count; ++i) {
    char *name = tables.names + tables.symbols[i].st_name;
    const auto fn = std::ranges::find_if(
        kFunctions, [&](const Function &function) { return *name != '\0' && function.name.substr(1) == name + 1; });
    if (fn != kFunctions.end()) {
      *name = hidden[static_cast<std::size_t>(fn - kFunctions.begin())] ? '-' : 'n';
    }
  }
  mprotect(reinterpret_cast<void *>(start), length, PROT_READ);
}

std::string data_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void *>(&hide_symbols), &info) == 0 || info.dli_fname == nullptr) {
    return ".";
  }
  const std::filesystem::path path(info.dli_fname);
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

}  // namespace gpulse::sim
