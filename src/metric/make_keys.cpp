// SPDX-License-Identifier: Apache-2.0
// Writes metric/keys.hpp: of each row what code needs of it at compile time. That changes far less often than labels
// and help texts, so that a changed word in a row does not rebuild everything that names a metric.
#include <fstream>
#include <iostream>
#include <sstream>

#include "metric/rows.hpp"

namespace {

std::string make_keys() {
  std::ostringstream out;
  out << "// Written by make_metric_keys from the rows in src/metric/rows.\n#pragma once\n\n#include <array>\n\n"
         "#include \"metric/metric.hpp\"\n\nnamespace gpulse {\n\n"
      << "inline constexpr std::array<MetricKey, " << gpulse::kMetricRows.size() << "> kMetricKeys{{\n";
  for (const auto &metric : gpulse::kMetricRows) {
    out << "    {\"" << metric.key << "\", Scope(" << int(metric.scope) << "), Kind(" << int(metric.kind) << "), Unit("
        << int(metric.unit) << "), Role(" << int(metric.role) << "), " << metric.precision << ", \"" << metric.smi
        << "\"},\n";
  }
  out << "}};\n\n}  // namespace gpulse\n";
  return out.str();
}

std::string read(const char *path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "make_metric_keys FILE\n";
    return 2;
  }
  const auto keys = make_keys();
  // An unchanged file keeps its time: nothing that includes it is compiled again.
  if (read(argv[1]) == keys) return 0;
  std::ofstream file(argv[1]);
  file << keys << std::flush;
  return file ? 0 : 1;
}
