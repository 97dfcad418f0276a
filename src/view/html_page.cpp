// SPDX-License-Identifier: Apache-2.0
#include "view/html_page.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace gpulse::view {

namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--text:#1c2127;--dim:#66707c;--line:#dfe3e8;--a:#0a7d5a;--b:#3b73d9;--c:#b4620a;--bad:#c0292b;--warn:#a86a00;--good:#0a7d5a}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1c2026;--text:#e4e8ed;--dim:#98a2ae;--line:#30363e;--a:#34c08d;--b:#72a4ff;--c:#f0a24b;--bad:#ff7b74;--warn:#efb64a;--good:#34c08d}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:1040px;margin:0 auto;padding:28px 20px 40px}h1{font:600 20px/1.35 ui-monospace,monospace;margin:0 0 6px;overflow-wrap:anywhere}
h2{font-size:16px;margin:30px 0 10px}p{margin:4px 0}.dim,figcaption,footer{color:var(--dim)}
.end{display:inline-block;padding:1px 10px;border-radius:99px;font-size:13px;font-weight:600;color:var(--card);background:var(--good);margin-right:8px}.end.bad{background:var(--bad)}
.cards{display:flex;flex-wrap:wrap;gap:10px;margin:18px 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px;flex:1 1 190px}.card b{display:block;font-size:21px;font-weight:600;line-height:1.3;white-space:nowrap}.card span{color:var(--dim);font-size:13px}
.finding{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--warn);border-radius:8px;padding:12px 16px;margin:10px 0}.finding.problem{border-left-color:var(--bad)}
.finding h3{margin:0 0 2px;font-size:15px}.finding ul{margin:6px 0 0;padding-left:20px}.finding code{font-size:12.5px;color:var(--dim);margin-right:12px;white-space:nowrap}
figure{margin:10px 0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:8px 12px 4px}figcaption{font-size:13px}figcaption b{color:var(--text);margin-right:10px}
svg{display:block;width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:var(--dim)}svg text.in{fill:var(--card);font-weight:600}
.grid{stroke:var(--line);stroke-width:.7}.curve{fill:none;stroke-width:1.6;stroke-linejoin:round}.area{opacity:.16;stroke:none}
.curve.a{stroke:var(--a)}.curve.b{stroke:var(--b)}.curve.c{stroke:var(--c)}.area.a{fill:var(--a)}.area.b{fill:var(--b)}.area.c{fill:var(--c)}
.key{margin-right:12px}.key::before{content:"";display:inline-block;width:14px;height:3px;border-radius:2px;margin-right:5px;vertical-align:middle}.key.a::before{background:var(--a)}.key.b::before{background:var(--b)}.key.c::before{background:var(--c)}
.band.problem{fill:var(--bad);opacity:.10}.band.note{fill:var(--warn);opacity:.10}.phase.p0{fill:var(--dim)}.phase.p1{fill:var(--a)}.phase.p2{fill:var(--c)}.phase.p3{fill:var(--line)}.bar{fill:var(--a)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;background:var(--card);border:1px solid var(--line);font-size:14px}th,td{padding:6px 10px;text-align:right;border-top:1px solid var(--line);white-space:nowrap}th{color:var(--dim);font-weight:500;border-top:0}th:nth-child(2),td:nth-child(2){text-align:left}.histogram{width:110px;margin-left:auto}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:0}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}footer{margin-top:30px;font-size:13px}
@media print{:root{--bg:#fff}main{max-width:none;padding:0}figure,.finding,.card,tr{break-inside:avoid}.end,.phase,.bar,.band,.key::before{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)";

}  // namespace

std::string html_escaped(std::string_view text) {
  auto out = xml_escape(printable(text));
  for (auto at = out.find('\''); at != std::string::npos; at = out.find('\'', at)) out.replace(at, 1, "&#39;");
  return out;
}

std::string html_page_head(std::string_view mark, std::string_view title, std::string_view heading) {
  return fmt::format(
      "{}\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
      "<title>{}</title><style>{}</style></head><body><main>\n<h1>{}</h1>\n",
      mark, title, kStyle, heading);
}

std::string html_card(std::string_view figure, std::string_view words) {
  return fmt::format(R"(<div class="card"><b>{}</b><span>{}</span></div>)", html_escaped(figure), html_escaped(words));
}

}  // namespace gpulse::view
