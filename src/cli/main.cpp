// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>

#include "cli/output.hpp"
#include "cli/program.hpp"

namespace {

// A file that is opened in place of a closed standard stream would get what is meant for the stream. Input and output
// fail as before; messages are lost, as was asked for.
void occupy_standard_streams() {
  constexpr std::array kModes{O_WRONLY, O_RDONLY, O_RDWR};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int taken = ::open("/dev/null", kModes[static_cast<std::size_t>(stream)]);
  }
}

}  // namespace

int main(int argc, char **argv) {
  occupy_standard_streams();
  int code = gpulse::cli::kFailure;
  try {
    code = gpulse::cli::run_program({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception &error) {
    gpulse::cli::complain(error.what());
  }
  std::fflush(nullptr);
  // A thread may be stuck inside a driver: it must not keep the program from ending.
  ::_exit(code);
}
