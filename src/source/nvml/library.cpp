// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/library.hpp"

#include <unistd.h>

#include <array>

#include "source/nvml/zeroed_memory.hpp"

namespace gpulse::nvml {

void *Resolver::find(const char *name) {
  void *symbol = library_.symbol(name);
  symbols_.push_back({name, symbol != nullptr});
  return symbol;
}

Api::Api(SharedLibrary library) : resolver(std::move(library)) {
  const auto zeroed = resolver.library().zeroed_memory();
  const auto begin = reinterpret_cast<std::uintptr_t>(zeroed.data());
  zeroed_memory.store({begin, begin + zeroed.size()});
}

// Before the library is unloaded: its addresses may then belong to something else.
Api::~Api() { zeroed_memory.clear(); }

Result<std::shared_ptr<Api>> load_library() {
  constexpr std::array kPaths{"/usr/lib/wsl/lib/libnvidia-ml.so.1", "libnvidia-ml.so.1"};
  for (const char *path : kPaths) {
    if (path[0] == '/' && ::access(path, R_OK) != 0) continue;
    auto library = SharedLibrary::open(path);
    if (library) return std::make_shared<Api>(std::move(*library));
    if (path == kPaths.back()) return std::unexpected(library.error());
  }
  return failure("libnvidia-ml.so.1 not found");
}

}  // namespace gpulse::nvml
