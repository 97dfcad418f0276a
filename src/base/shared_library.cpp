// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace gpulse {

SharedLibrary::SharedLibrary(void *handle) : handle_(handle) {}

void SharedLibrary::Close::operator()(void *handle) const noexcept { ::dlclose(handle); }

Result<SharedLibrary> SharedLibrary::open(const std::string &path) {
  if (void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle);
  const char *why = ::dlerror();
  return failure(why != nullptr ? why : path + " could not be loaded");
}

void *SharedLibrary::symbol(const char *name) const { return ::dlsym(handle_.get(), name); }

std::string SharedLibrary::path() const {
  const link_map *map = nullptr;
  if (::dlinfo(handle_.get(), RTLD_DI_LINKMAP, static_cast<void *>(&map)) != 0 || map == nullptr) return {};
  return map->l_name;
}

}  // namespace gpulse
