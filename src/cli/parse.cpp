// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/output.hpp"
#include "codec/byte_source.hpp"
#include "smi/read_log.hpp"
#include "view/json.hpp"

namespace gpulse::cli {

int run_parse(const std::string &file, const std::string &columns) {
  auto bytes = codec::ByteSource::open(file);
  if (!bytes) return fail(bytes.error());
  // One more than is read: then it is known to be too large.
  const auto content = bytes->view(0, smi::kLargestLog + 1);
  const auto log = smi::read_log({reinterpret_cast<const char *>(content.data()), content.size()},
                                 file == "-" ? "standard input" : file, columns);
  if (!log) return fail(log.error());
  const bool pretty = log->size() == 1 && ::isatty(STDOUT_FILENO) == 1;
  bool any = false;
  for (const auto &snapshot : *log) {
    std::string out;
    view::write_json(*snapshot, out, {.pretty = pretty});
    if (!pretty) out += '\n';
    if (const auto written = write_out(out); !written) return fail(written.error());
    any = any || !snapshot->devices.empty();
  }
  if (any) return kGood;
  complain("no GPU found: the log holds none");
  return kNoDevice;
}

}  // namespace gpulse::cli
