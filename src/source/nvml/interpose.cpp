// SPDX-License-Identifier: Apache-2.0
// Part of the gpulse program, never of a library: a program's own symbols come before those of libc, also for the
// driver's library. fast_start.hpp says what for. Any thread may call these functions, at any time.
//
// - dlopen() jumps into libc's with the caller's return address untouched: glibc finds the caller's RUNPATH by it.
// - nanosleep() does what libc's does, except on the thread of a FastStart.
// - memset() leaves the same bytes behind as libc's.
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "source/nvml/fast_start.hpp"
#include "source/nvml/zeroed_memory.hpp"

using gpulse::nvml::AddressRange;
using gpulse::nvml::FastStart;

namespace {

using Memset = void *(*)(void *, int, std::size_t);

constinit std::atomic<Memset> libc_memset = nullptr;
constinit std::atomic<std::uintptr_t> page_size = 0;

// Before main(): dlsym() takes the loader's lock, which another thread may hold while it waits for this memset().
__attribute__((constructor)) void prepare_memset() {
  page_size = ::getauxval(AT_PAGESZ);
  libc_memset = reinterpret_cast<Memset>(::dlsym(RTLD_NEXT, "memset"));
}

// For callers that run before prepare_memset(). Volatile, or the compiler would turn the loop into a call of memset().
void *set_bytes(void *to, int value, std::size_t size) {
  volatile auto *bytes = static_cast<unsigned char *>(to);
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as memset(), it may be given null with a size of 0 only
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(value);
  return to;
}

// Private anonymous memory reads as zero after it was given back. False, with errno as before, when the kernel refuses
// to take it, as it does for locked memory.
bool give_back(AddressRange pages) {
  const int error = errno;
  const bool done = ::madvise(reinterpret_cast<void *>(pages.begin), pages.size(), MADV_DONTNEED) == 0;
  errno = error;
  return done;
}

}  // namespace

#if defined(__x86_64__) || defined(__aarch64__)

// What dlopen() continues with; returned in two registers.
struct DlopenCall {
  const char *file;
  void *libc_dlopen;
};

// Called by the dlopen() below. dlsym() may be called here: dlopen() itself takes the same lock.
extern "C" __attribute__((used, visibility("hidden"))) DlopenCall gpulse_prepare_dlopen(const char *file) noexcept {
  // Fails at once, with a message for dlerror().
  constexpr const char *kNowhere = "/dev/null/libcuda.so.1";
  const bool skip = FastStart::active && file != nullptr && std::string_view(file).starts_with("libcuda.so");
  return {skip ? kNowhere : file, ::dlsym(RTLD_NEXT, "dlopen")};
}

// In assembly, because compilers do not guarantee a tail call. On other processors dlopen() is not interposed, and
// libcuda is loaded.
#ifdef __x86_64__
asm(R"(
        .text
        .balign 16
        .globl dlopen
        .type dlopen, @function
dlopen:
        .cfi_startproc
        endbr64
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        call gpulse_prepare_dlopen
        popq %rsi
        .cfi_adjust_cfa_offset -8
        movq %rax, %rdi
        jmp *%rdx
        .cfi_endproc
        .size dlopen, . - dlopen
)");
#else
asm(R"(
        .text
        .balign 16
        .globl dlopen
        .type dlopen, %function
dlopen:
        .cfi_startproc
        hint #34
        stp x29, x30, [sp, #-32]!
        .cfi_def_cfa_offset 32
        .cfi_offset x29, -32
        .cfi_offset x30, -24
        str x1, [sp, #16]
        bl gpulse_prepare_dlopen
        mov x16, x1
        ldr x1, [sp, #16]
        ldp x29, x30, [sp], #32
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        br x16
        .cfi_endproc
        .size dlopen, . - dlopen
)");
#endif

#endif

extern "C" __attribute__((visibility("default"))) int nanosleep(const timespec *time, timespec *left) {
  constexpr timespec kShort{.tv_sec = 0, .tv_nsec = 10'000};
  const bool shorten = FastStart::active && (time->tv_sec > 0 || time->tv_nsec > kShort.tv_nsec);
  const int error = ::clock_nanosleep(CLOCK_REALTIME, 0, shorten ? &kShort : time, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

extern "C" __attribute__((visibility("default"))) void *memset(void *to, int value, std::size_t size) {
  constexpr std::size_t kWorthASystemCall = std::size_t{1} << 20U;
  const auto libc = libc_memset.load(std::memory_order_relaxed);
  const auto set = libc != nullptr ? libc : set_bytes;
  if (size < kWorthASystemCall || value != 0) return set(to, value, size);
  const auto begin = reinterpret_cast<std::uintptr_t>(to);
  const AddressRange bytes{begin, begin + size};
  const auto pages = whole_pages(bytes, page_size.load(std::memory_order_relaxed));
  if (pages.empty() || !gpulse::nvml::zeroed_memory.load().contains(pages) || !give_back(pages)) {
    return set(to, 0, size);
  }
  set(to, 0, pages.begin - bytes.begin);
  set(reinterpret_cast<void *>(pages.end), 0, bytes.end - pages.end);
  return to;
}
