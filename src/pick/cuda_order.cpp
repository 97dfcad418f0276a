// SPDX-License-Identifier: Apache-2.0
#include "pick/cuda_order.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.hpp"
#include "base/shared_library.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::pick {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostBytes = std::size_t{64} << 10U;

// Everything but the mask, which would hide what is asked for.
std::vector<char *> environment_without_mask() {
  std::vector<char *> kept;
  for (char **entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("CUDA_VISIBLE_DEVICES=")) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

// Runs the program with its output in a pipe; ends it at the latest when it goes away.
class Asked {
 public:
  static Result<Asked> start(std::string program) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failure(std::strerror(errno));
    Asked asked;
    asked.answer_ = UniqueFd(ends[0]);
    const UniqueFd output(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string word = kCudaOrderCommand;
    std::array<char *, 3> arguments{program.data(), word.data(), nullptr};
    auto environment = environment_without_mask();
    const int error =
        ::posix_spawnp(&asked.pid_, program.c_str(), &actions, nullptr, arguments.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return failure(fmt::format("{}: {}", program, std::strerror(error)));
    return asked;
  }

  Asked(Asked &&other) noexcept : answer_(std::move(other.answer_)), pid_(std::exchange(other.pid_, -1)) {}
  Asked &operator=(Asked &&) = delete;
  Asked(const Asked &) = delete;
  Asked &operator=(const Asked &) = delete;
  ~Asked() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }

  Result<std::string> read(Monotonic end, const std::stop_token &stop) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
      if (stop.stop_requested()) return failure("asked to stop");
      if (monotonic_now() >= end) return failure("CUDA did not answer in time");
      pollfd waiting{.fd = answer_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, 50) <= 0) continue;
      const auto got = ::read(answer_.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(got));
      if (text.size() > kMostBytes) return failure("the answer has no end");
    }
  }

  // 0 where somebody else has taken the end of our child away, as a program that ignores SIGCHLD does.
  int wait() {
    int status = 0;
    while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  Asked() = default;

  UniqueFd answer_;
  pid_t pid_ = -1;
};

struct CudaUuid {
  std::array<unsigned char, 16> bytes;
};

template <class Signature>
Signature *function(const SharedLibrary &library, const char *name) {
  return reinterpret_cast<Signature *>(library.symbol(name));  // NOLINT(*-reinterpret-cast): dlsym knows no types
}

std::string text_of(const CudaUuid &uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

}  // namespace

Result<std::vector<std::string>> ask_cuda_order(const std::string &program, std::chrono::milliseconds patience,
                                                const std::stop_token &stop) {
  auto asked = Asked::start(program);
  if (!asked) return std::unexpected(asked.error());
  const auto text = asked->read(monotonic_now() + patience, stop);
  if (!text) return std::unexpected(text.error());
  std::vector<std::string> uuids;
  std::string problem;
  for (const auto line : split(*text, '\n')) {
    if (line.starts_with("GPU-")) {
      uuids.emplace_back(line);
    } else if (problem.empty()) {
      problem = line;
    }
  }
  if (asked->wait() != 0 || uuids.empty()) return failure(problem.empty() ? "CUDA gave no answer" : problem);
  return uuids;
}

Result<std::vector<std::string>> read_cuda_order() {
  // Never closed: CUDA has threads of its own by then.
  const auto &library = *new Result<SharedLibrary>(SharedLibrary::open("libcuda.so.1"));
  if (!library) return std::unexpected(library.error());
  const auto init = function<int(unsigned)>(*library, "cuInit");
  const auto count_devices = function<int(int *)>(*library, "cuDeviceGetCount");
  const auto get = function<int(int *, int)>(*library, "cuDeviceGet");
  const auto get_uuid = function<int(CudaUuid *, int)>(*library, "cuDeviceGetUuid");
  if (init == nullptr || count_devices == nullptr || get == nullptr || get_uuid == nullptr)
    return failure("this CUDA cannot name its GPUs");
  if (const int error = init(0); error != 0) return failure(fmt::format("cuInit says {}", error));
  int count = 0;
  if (const int error = count_devices(&count); error != 0) return failure(fmt::format("CUDA says {}", error));
  std::vector<std::string> uuids;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    CudaUuid uuid{};
    if (get(&device, i) != 0 || get_uuid(&uuid, device) != 0)
      return failure(fmt::format("CUDA does not name its GPU {}", i));
    uuids.push_back(text_of(uuid));
  }
  return uuids;
}

}  // namespace gpulse::pick
