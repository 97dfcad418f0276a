// SPDX-License-Identifier: Apache-2.0
#include "http/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.hpp"

namespace gpulse::http {

namespace {

// Less than a packet does not get any smaller.
constexpr std::size_t kWorthCompressing = 1200;

struct Reason {
  int status;
  std::string_view words;
};
constexpr std::array kReasons{
    Reason{200, "OK"},
    Reason{204, "No Content"},
    Reason{303, "See Other"},
    Reason{304, "Not Modified"},
    Reason{307, "Temporary Redirect"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{408, "Request Timeout"},
    Reason{411, "Length Required"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{417, "Expectation Failed"},
    Reason{421, "Misdirected Request"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{500, "Internal Server Error"},
    Reason{503, "Service Unavailable"},
    Reason{505, "HTTP Version Not Supported"},
};

// Of every answer, unless it says otherwise itself: nothing here is to be framed, guessed at, or to load anything.
struct Field {
  std::string_view name, value;
};
constexpr std::array kSafety{
    Field{"X-Content-Type-Options", "nosniff"},
    Field{"Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    Field{"Referrer-Policy", "no-referrer"},
    Field{"X-Frame-Options", "DENY"},
    Field{"Cross-Origin-Resource-Policy", "same-origin"},
};

std::string_view words_of(int status) {
  const auto found = std::ranges::find(kReasons, status, &Reason::status);
  return found == kReasons.end() ? "" : found->words;
}

void add(std::string &head, std::string_view name, std::string_view value) {
  const auto copy = [&](std::string_view text) {
    // What a value holds must not begin another field.
    std::ranges::copy_if(text, std::back_inserter(head), [](char c) { return c != '\r' && c != '\n' && c != '\0'; });
  };
  copy(name);
  head += ": ";
  copy(value);
  head += "\r\n";
}

bool has(const Fields &fields, std::string_view name) {
  return std::ranges::any_of(fields, [&](const auto &field) { return lower(field.first) == lower(name); });
}

bool is_compressible(std::string_view type) {
  return type.starts_with("text/") || type.contains("-text") || type.contains("json") || type.contains("javascript") ||
         type.contains("xml");
}

// "a" and W/"a" are the same text.
std::string_view plain_tag(std::string_view tag) {
  tag = trim(tag);
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  return tag;
}

bool has_already(const std::string &etag, const std::string &if_none_match) {
  if (etag.empty()) return false;
  const auto tags = split(if_none_match, ',');
  return trim(if_none_match) == "*" ||
         std::ranges::any_of(tags, [&](std::string_view tag) { return plain_tag(tag) == plain_tag(etag); });
}

}  // namespace

std::string http_date(std::chrono::sys_seconds time) {
  using namespace std::chrono;
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto midnight = floor<days>(time);
  const year_month_day date(midnight);
  const hh_mm_ss clock(time - midnight);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[weekday(midnight).c_encoding()],
                     static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

Prepared prepare(Response response, const Asked &asked, GzipCache &cache, std::chrono::sys_seconds now) {
  const bool streams = response.stream != nullptr;
  const bool is_known = response.status == 200 && !streams && has_already(response.etag, asked.if_none_match);
  if (is_known) response.status = 304;
  auto body = std::move(response.body);
  const bool may_shrink = body && body->size() >= kWorthCompressing && !streams &&
                          is_compressible(response.content_type) && !has(response.headers, "content-encoding");
  const auto packed = may_shrink && asked.takes_gzip && !is_known ? cache.compress(body) : nullptr;
  if (packed) body = packed;

  Prepared made{.head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, words_of(response.status)),
                .stream = asked.is_head ? nullptr : std::move(response.stream),
                .delay = response.delay,
                .keeps_alive = asked.keeps_alive && !streams};
  auto &head = made.head;
  add(head, "Date", http_date(now));
  if (!is_known) add(head, "Content-Type", response.content_type);
  // The end of a stream is that of its connection.
  if (!streams && !is_known) add(head, "Content-Length", std::to_string(body ? body->size() : 0));
  add(head, "Cache-Control", streams ? "no-store" : response.cache_control);
  if (packed) add(head, "Content-Encoding", "gzip");
  if (may_shrink) add(head, "Vary", "Accept-Encoding");
  // The same words in another packing are not the same bytes.
  if (!response.etag.empty()) add(head, "ETag", (may_shrink ? "W/" : "") + std::string(plain_tag(response.etag)));
  if (streams) add(head, "X-Accel-Buffering", "no");
  for (const auto &[name, value] : kSafety) {
    // X-Frame-Options can only forbid: it has no word for another site.
    if (response.has_frame_policy && name == "X-Frame-Options") continue;
    if (!has(response.headers, name)) add(head, name, value);
  }
  for (const auto &[name, value] : response.headers) add(head, name, value);
  add(head, "Connection", made.keeps_alive ? "keep-alive" : "close");
  head += "\r\n";
  if (!asked.is_head && !is_known) made.body = std::move(body);
  return made;
}

}  // namespace gpulse::http
