// SPDX-License-Identifier: Apache-2.0
// dlopen(), nanosleep() and memset() as a library sees them in a program that links interpose.cpp.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "base/shared_library.hpp"
#include "source/nvml/fast_start.hpp"
#include "source/nvml/zeroed_memory.hpp"
#include "test_paths.hpp"

namespace gpulse::nvml {
namespace {

using namespace std::chrono_literals;

const std::string kOpener = kBuildDir + "/tests/interpose/libopener.so";

class InterposeTest : public testing::Test {
 protected:
  template <class Function>
  Function *function(const char *name) const {
    return reinterpret_cast<Function *>(opener_.symbol(name));
  }
  void *open(const char *file) const { return function<void *(const char *)>("opener_open")(file); }

  SharedLibrary opener_ = SharedLibrary::open(kOpener).value();
};

TEST_F(InterposeTest, ALibraryFindsItsNeighbourByItsRunpath) {
  EXPECT_EQ(::dlopen("libneighbour.so", RTLD_NOW), nullptr) << "only the opener's RUNPATH leads to it";
  void *handle = open("libneighbour.so");
  ASSERT_NE(handle, nullptr) << ::dlerror();
  const auto answer = reinterpret_cast<int (*)()>(::dlsym(handle, "neighbour_answer"));
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer(), 42);
  ::dlclose(handle);
}

TEST_F(InterposeTest, LibcudaIsLeftOutOfAFastStartOnly) {
  {
    const FastStart fast_start(true);
    EXPECT_EQ(open("libcuda.so.1"), nullptr);
    EXPECT_NE(::dlerror(), nullptr) << "a library may print it";
    void *other = open("libneighbour.so");
    EXPECT_NE(other, nullptr) << ::dlerror();
    ::dlclose(other);
    std::jthread([&] {
      void *handle = open("libcuda.so.1");
      EXPECT_NE(handle, nullptr) << "another thread: " << ::dlerror();
      ::dlclose(handle);
    }).join();
  }
  void *handle = open("libcuda.so.1");
  ASSERT_NE(handle, nullptr) << ::dlerror();
  ::dlclose(handle);
  void *program = open(nullptr);
  EXPECT_NE(program, nullptr) << "the program itself";
  ::dlclose(program);
}

TEST_F(InterposeTest, SleepsAreShortInAFastStartOnly) {
  const auto sleep = function<int(const timespec *)>("opener_sleep");
  const timespec time{.tv_sec = 0, .tv_nsec = 50'000'000};
  const auto slept = [&] {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(sleep(&time), 0);
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_GE(slept(), 50ms);
  {
    const FastStart fast_start(true);
    auto shortest = slept();
    for (int i = 0; i < 20; ++i) shortest = std::min(shortest, slept());
    EXPECT_LT(shortest, 25ms);
  }
  const timespec wrong{.tv_sec = 0, .tv_nsec = -1};
  EXPECT_EQ(sleep(&wrong), -1);
  EXPECT_EQ(errno, EINVAL);
}

class ClearTest : public InterposeTest {
 protected:
  ClearTest() {
    const auto bytes = opener_.zeroed_memory();
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    zeroed_memory.store({begin, begin + bytes.size()});
  }
  ~ClearTest() override { zeroed_memory.clear(); }

  // Clears a part of variables that were all written before; gives how many bytes of it are not in memory afterwards.
  std::size_t clear(std::size_t from, std::size_t size) {
    std::memset(variables_, 0x5a, kSize);
    errno = 0;
    EXPECT_EQ(function<void *(std::size_t, std::size_t)>("opener_clear")(from, size), variables_ + from);
    EXPECT_EQ(errno, 0);
    const auto absent = count_absent();
    const auto is = [](char wanted) { return [wanted](char c) { return c == wanted; }; };
    EXPECT_TRUE(std::all_of(variables_, variables_ + from, is(0x5a)));
    EXPECT_TRUE(std::all_of(variables_ + from, variables_ + from + size, is(0)));
    EXPECT_TRUE(std::all_of(variables_ + from + size, variables_ + kSize, is(0x5a)));
    return absent;
  }

  static constexpr std::size_t kSize = std::size_t{8} << 20U;
  char *variables_ = function<char *()>("opener_variables")();
  std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

 private:
  std::size_t count_absent() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(variables_);
    const auto pages = whole_pages({begin, begin + kSize}, page_);
    std::vector<unsigned char> present(pages.size() / page_);
    EXPECT_EQ(::mincore(reinterpret_cast<void *>(pages.begin), pages.size(), present.data()), 0);
    return page_ * static_cast<std::size_t>(std::count(present.begin(), present.end(), 0));
  }
};

TEST_F(ClearTest, LargeRangesAreGivenBack) {
  for (const std::size_t from : {std::size_t{0}, std::size_t{1}, page_ - 1, page_, 3 * page_ + 100}) {
    for (const std::size_t size : {std::size_t{1} << 20U, (std::size_t{1} << 20U) + 1, std::size_t{5'000'000}}) {
      EXPECT_GE(clear(from, size), size - 3 * page_) << from << " " << size;
    }
  }
}

TEST_F(ClearTest, SmallOnesAreWritten) { EXPECT_EQ(clear(page_, 0x10000), 0U); }

TEST_F(ClearTest, WhatIsNotKnownIsWritten) {
  zeroed_memory.clear();
  EXPECT_EQ(clear(0, 4U << 20U), 0U);
}

TEST_F(ClearTest, WhatTheKernelKeepsIsWritten) {
  const auto begin = reinterpret_cast<std::uintptr_t>(variables_) / page_ * page_;
  if (::mlock(reinterpret_cast<void *>(begin), 16 * page_) != 0) GTEST_SKIP() << "may not lock memory";
  EXPECT_EQ(clear(0, 2U << 20U), 0U);
  ::munlock(reinterpret_cast<void *>(begin), 16 * page_);
}

}  // namespace
}  // namespace gpulse::nvml
