// SPDX-License-Identifier: Apache-2.0
#include "view/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "serve/openapi.hpp"
#include "view/json_schema.hpp"
#include "view/reference.hpp"

namespace gpulse::cli {

namespace {

Result<std::string> page_for(const Options &options) {
  if (options.topic.empty() || options.topic[0] == "metrics") return view::metric_reference();
  if (options.topic[0] == "findings") return view::finding_reference();
  return failure(fmt::format("no reference page '{}'", options.topic[0]), "metrics or findings");
}

Result<std::string> text_for(const Options &options) {
  const auto style = style_of(options, STDOUT_FILENO);
  if (options.schema) return view::json_schema();
  if (options.openapi) return serve::openapi();
  if (options.markdown) return page_for(options);
  if (options.json) {
    std::string out;
    view::write_table_json(out, true);
    return out;
  }
  if (options.all || options.topic.empty()) return view::explain_list(style);
  if (options.topic[0] == "findings") return view::explain_finding_list(style);
  if (options.topic[0] == "xid") {
    const auto number = options.topic.size() == 2 ? parse_integer<std::int64_t>(options.topic[1]) : std::nullopt;
    if (!number) return failure("which XID?", "gpulse explain xid 79");
    return view::explain_xid(*number, style);
  }
  // Some labels are two words: "GPU MEM".
  if (options.topic.size() > 1) {
    if (auto whole = view::explain(fmt::format("{}", fmt::join(options.topic, " ")), style)) return whole;
  }
  std::string all;
  for (const auto &name : options.topic) {
    auto one = view::explain(name, style);
    if (!one) return one;
    all += (all.empty() ? "" : "\n") + *one;
  }
  return all;
}

}  // namespace

int run_explain(const Options &options) {
  const auto text = text_for(options);
  if (!text) return fail(text.error(), kUsage);
  if (auto written = write_out(*text); !written) return fail(written.error());
  return kGood;
}

}  // namespace gpulse::cli
