// SPDX-License-Identifier: Apache-2.0
#include "http/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "http/channel.hpp"

namespace gpulse::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Response text_of(std::size_t bytes) {
  return {.content_type = "text/plain", .body = std::make_shared<const std::string>(bytes, 'a')};
}

Prepared prepare_it(Response response, const Asked &asked = {}) {
  GzipCache cache;
  return prepare(std::move(response), asked, cache, std::chrono::sys_seconds(std::chrono::seconds(784111777)));
}

std::string unzip(const std::string &packed) {
  std::string out(100000, '\0');
  z_stream stream{};
  ::inflateInit2(&stream, 15 + 16);
  stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  return out;
}

TEST(Answer, HasAllThatABrowserMustKnow) {
  const auto made = prepare_it(text_of(3), {.keeps_alive = true});
  EXPECT_THAT(made.head, StartsWith("HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
  for (const auto *line :
       {"Content-Type: text/plain\r\n", "Content-Length: 3\r\n", "Cache-Control: no-store\r\n",
        "X-Content-Type-Options: nosniff\r\n", "Content-Security-Policy: default-src 'none'",
        "Referrer-Policy: no-referrer\r\n", "X-Frame-Options: DENY\r\n", "Connection: keep-alive\r\n\r\n"}) {
    EXPECT_THAT(made.head, HasSubstr(line));
  }
  EXPECT_THAT(made.head, Not(HasSubstr("Access-Control")));
  EXPECT_EQ(*made.body, "aaa");
}

TEST(Answer, ItsOwnFieldsComeBeforeTheUsual) {
  auto response = text_of(3);
  response.headers = {{"content-security-policy", "default-src 'self'"}, {"X-A", "b\r\nSet-Cookie: c"}};
  const auto made = prepare_it(response);
  EXPECT_THAT(made.head, Not(HasSubstr("default-src 'none'")));
  EXPECT_THAT(made.head, HasSubstr("X-A: bSet-Cookie: c\r\n")) << "no value begins another field";
}

TEST(Answer, IsCompressedWhereItIsWantedAndWorthIt) {
  const auto made = prepare_it(text_of(5000), {.takes_gzip = true});
  EXPECT_THAT(made.head, HasSubstr("Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"));
  EXPECT_EQ(unzip(*made.body), std::string(5000, 'a'));
  EXPECT_THAT(made.head, HasSubstr("Content-Length: " + std::to_string(made.body->size()) + "\r\n"));
  EXPECT_EQ(prepare_it(text_of(5000)).body->size(), 5000U);
  EXPECT_EQ(prepare_it(text_of(100), {.takes_gzip = true}).body->size(), 100U);
  auto picture = text_of(5000);
  picture.content_type = "image/png";
  EXPECT_EQ(prepare_it(picture, {.takes_gzip = true}).body->size(), 5000U);
}

TEST(Answer, TheSameTextIsCompressedOnce) {
  GzipCache cache;
  const auto text = std::make_shared<const std::string>(5000, 'a');
  const auto first = cache.compress(text);
  EXPECT_EQ(cache.compress(text), first);
  EXPECT_NE(cache.compress(std::make_shared<const std::string>(5000, 'a')), first);
}

TEST(Answer, WhatTheClientHasIsNotSentAgain) {
  auto response = text_of(5000);
  response.etag = "\"v1\"";
  for (const auto *tag : {"\"v1\"", "W/\"v1\"", "\"v0\", \"v1\"", "*"}) {
    const auto made = prepare_it(response, {.takes_gzip = true, .if_none_match = tag});
    EXPECT_THAT(made.head, StartsWith("HTTP/1.1 304 Not Modified\r\n")) << tag;
    EXPECT_THAT(made.head, HasSubstr("ETag: W/\"v1\"\r\n"));
    EXPECT_EQ(made.body, nullptr);
  }
  EXPECT_THAT(prepare_it(response, {.if_none_match = "\"v2\""}).head, StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Answer, HeadTellsAllButTheBody) {
  const auto made = prepare_it(text_of(3), {.is_head = true});
  EXPECT_THAT(made.head, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_EQ(made.body, nullptr);
}

TEST(Answer, AStreamEndsWithItsConnection) {
  auto response = text_of(5000);
  response.content_type = "text/event-stream";
  response.stream = Channel::make();
  const auto made = prepare_it(response, {.keeps_alive = true, .takes_gzip = true});
  EXPECT_FALSE(made.keeps_alive);
  for (const auto *line : {"X-Accel-Buffering: no\r\n", "Cache-Control: no-store\r\n", "Connection: close\r\n"}) {
    EXPECT_THAT(made.head, HasSubstr(line));
  }
  EXPECT_THAT(made.head, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(made.head, Not(HasSubstr("gzip")));
  EXPECT_EQ(made.body->size(), 5000U);
}

TEST(EventText, EachLineIsOne) {
  EXPECT_EQ(event_text("sample", "{\"a\":1}", "7"), "id: 7\nevent: sample\ndata: {\"a\":1}\n\n");
  EXPECT_EQ(event_text("", "a\nb"), "data: a\ndata: b\n\n");
  EXPECT_EQ(event_text("x\r\ndata: y", "a\r"), "event: xdata: y\ndata: a\n\n");
}

}  // namespace
}  // namespace gpulse::http
