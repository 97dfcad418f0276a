// SPDX-License-Identifier: Apache-2.0
#include "serve/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"
#include "http/gzip.hpp"

namespace gpulse::serve {

namespace {

struct Embedded {
  const char *name;  // "/assets/main-1A2B.js.gz"
  const char *begin;
  const char *end;
};

}  // namespace

// In page_data.S, which the build writes.
extern "C" {
extern const Embedded gpulse_page_begin[];
extern const Embedded gpulse_page_end[];
}

namespace {

struct Type {
  std::string_view ending, type;
};
constexpr std::array kTypes{
    Type{".html", "text/html; charset=utf-8"},
    Type{".js", "text/javascript; charset=utf-8"},
    Type{".css", "text/css; charset=utf-8"},
    Type{".svg", "image/svg+xml"},
};

// Only what comes from here, and nothing that stands in the text of the page itself. The pictures that it makes of its
// plots are blobs.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ";

constexpr std::string_view kSelf = "self";

std::string_view type_of(std::string_view name) {
  const auto *const found = std::ranges::find_if(kTypes, [&](const Type &one) { return name.ends_with(one.ending); });
  return found == kTypes.end() ? "application/octet-stream" : found->type;
}

std::string tag_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: it tells versions apart, and keeps no secret
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("\"{:016x}\"", hash);
}

bool is_host_and_port(std::string_view text) {
  const auto colon = text.find(':');
  const auto host = text.substr(0, colon);
  if (host.empty() || lower(host).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") != std::string::npos) {
    return false;
  }
  return colon == std::string_view::npos || parse_integer<std::uint16_t>(text.substr(colon + 1)).value_or(0) > 0;
}

bool is_origin(std::string_view text) {
  if (text == kSelf) return true;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (text.starts_with(scheme)) return is_host_and_port(text.substr(scheme.size()));
  }
  return false;
}

bool takes_gzip(const http::Request &request) {
  return request.header("accept-encoding").value_or("").contains("gzip");
}

}  // namespace

Result<void> check_frame_origins(std::span<const std::string> origins) {
  const auto wrong = std::ranges::find_if_not(origins, is_origin);
  if (wrong == origins.end()) return {};
  return failure(fmt::format("\"{}\" is not the origin of a page that may frame this one", *wrong),
                 "write https://hub.example, http://localhost:8888 or self");
}

Page::Page() {
  for (const auto &[raw_name, begin, end] : std::span(&gpulse_page_begin[0], &gpulse_page_end[0])) {
    std::string name(raw_name);
    const std::string_view bytes(begin, end);
    const bool is_packed = name.ends_with(".gz");
    if (is_packed) name.resize(name.size() - 3);
    auto &file = files_[name == "/index.html" ? "/" : name];
    file = {.bytes = std::make_shared<const std::string>(bytes),
            .type = type_of(name),
            .etag = tag_of(bytes),
            .is_packed = is_packed,
            .is_for_good = name.starts_with("/assets/")};
  }
}

void Page::set_frame_origins(std::span<const std::string> origins) {
  std::string all;
  for (const auto &origin : origins) all += (all.empty() ? "" : " ") + (origin == kSelf ? "'self'" : origin);
  const std::lock_guard lock(mutex_);
  frame_ancestors_ = std::move(all);
}

std::string Page::frame_ancestors() const {
  const std::lock_guard lock(mutex_);
  return frame_ancestors_;
}

http::Response Page::answer(const http::Request &request) const {
  const auto found = files_.find(request.path);
  if (found == files_.end()) return http::error(404, "there is nothing here");
  const auto &file = found->second;
  const auto framed_by = frame_ancestors();
  http::Response response{
      .content_type = std::string(file.type),
      .body = file.bytes,
      .etag = file.etag,
      .cache_control = file.is_for_good ? "public, max-age=31536000, immutable" : "no-cache",
      .headers = {{"Content-Security-Policy", std::string(kPolicy) + (framed_by.empty() ? "'none'" : framed_by)}},
      .has_frame_policy = !framed_by.empty(),
  };
  if (!file.is_packed) return response;
  if (takes_gzip(request)) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.headers.emplace_back("Vary", "Accept-Encoding");
  } else {
    response.body = std::make_shared<const std::string>(http::unpack(*file.bytes));
  }
  return response;
}

}  // namespace gpulse::serve
