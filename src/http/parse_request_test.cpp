// SPDX-License-Identifier: Apache-2.0
#include "http/parse_request.hpp"

#include <gtest/gtest.h>

namespace gpulse::http {
namespace {

int status_of(const std::string &text) {
  const auto head = parse_head(text, {});
  return head ? 0 : head.error().status;
}

std::string get(const std::string &fields) { return "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; }

TEST(ParseHead, ARequestIsTakenApart) {
  const auto head =
      parse_head("POST /x?y=1 HTTP/1.1\r\nHOST: n1:9837\r\nX-A:  two words \r\nContent-Length: 5\r\n\r\n", {});
  ASSERT_TRUE(head);
  EXPECT_EQ(head->request.method, Method::post);
  EXPECT_EQ(head->request.path, "/x");
  EXPECT_EQ(head->request.parameter("y"), "1");
  EXPECT_EQ(head->request.header("host"), "n1:9837");
  EXPECT_EQ(head->request.header("x-a"), "two words");
  EXPECT_FALSE(head->request.header("x-b"));
  EXPECT_EQ(head->body_bytes, 5U);
  EXPECT_TRUE(head->keeps_alive);
  EXPECT_FALSE(head->takes_gzip);
}

TEST(ParseHead, WhetherItGoesOnDependsOnVersionAndWish) {
  EXPECT_FALSE(parse_head("GET / HTTP/1.0\r\n\r\n", {})->keeps_alive);
  EXPECT_TRUE(parse_head("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", {})->keeps_alive);
  EXPECT_FALSE(parse_head(get("Connection: close\r\n"), {})->keeps_alive);
}

TEST(ParseHead, CompressionIsTakenWhereItIsWanted) {
  for (const auto *good : {"gzip", "deflate, gzip", "GZIP;q=0.5", "br;q=1.0, gzip;q=0.8", "*"}) {
    EXPECT_TRUE(parse_head(get(std::string("Accept-Encoding: ") + good + "\r\n"), {})->takes_gzip) << good;
  }
  for (const auto *bad : {"", "deflate", "gzip;q=0", "gzip; q=0.000", "xgzip"}) {
    EXPECT_FALSE(parse_head(get(std::string("Accept-Encoding: ") + bad + "\r\n"), {})->takes_gzip) << bad;
  }
}

// Each is read by some program as two requests, or as another one.
TEST(ParseHead, NothingIsSmuggled) {
  for (const auto *fields : {
           "Content-Length: 5\r\nContent-Length: 5\r\n",
           "Content-Length: 5\r\nContent-Length: 6\r\n",
           "Content-Length: 5, 5\r\n",
           "Content-Length: +5\r\n",
           "Content-Length: -1\r\n",
           "Content-Length: 0x5\r\n",
           "Content-Length: 5 5\r\n",
           "Content-Length:\r\n",
           "Content-Length: 18446744073709551621\r\n",
           "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
           "Transfer-Encoding : chunked\r\n",
           "Content-Length : 5\r\n",
           " Content-Length: 5\r\n",
           "X: a\r\n b\r\n",
           "X: a\r\n\tb\r\n",
           "X: a\nContent-Length: 5\r\n",
           "X: a\rContent-Length: 5\r\n",
           "X\r\n",
           ": a\r\n",
           "X\x01: a\r\n",
           "X: a\x01\r\n",
           "Host: b\r\n",
           "Authorization: a\r\nAuthorization: b\r\n",
       }) {
    EXPECT_EQ(status_of(get(fields)), 400) << fields;
  }
  EXPECT_EQ(status_of(get(std::string("X: a\0b\r\n", 8))), 400);
  EXPECT_EQ(status_of(get("Transfer-Encoding: chunked\r\n")), 411);
  EXPECT_EQ(status_of(get("Transfer-Encoding: xchunked\r\n")), 411);
}

TEST(ParseHead, AFirstLineIsOneOfItsKind) {
  for (const auto *line : {"GET  / HTTP/1.1", "GET / http/1.1", "GET / HTTP/x", "GET /", "GET / HTTP/1.1 ",
                           " GET / HTTP/1.1", "GET /\tHTTP/1.1", "G{T / HTTP/1.1", "", "GET /a b HTTP/1.1",
                           "GET http://a/ HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT a:1 HTTP/1.1"}) {
    EXPECT_EQ(status_of(std::string(line) + "\r\nHost: a\r\n\r\n"), 400) << line;
  }
  for (const auto *version : {"HTTP/2.0", "HTTP/1.2", "HTTP/0.9"}) {
    EXPECT_EQ(status_of("GET / " + std::string(version) + "\r\nHost: a\r\n\r\n"), 505) << version;
  }
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400) << "without Host";
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(status_of("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n"), 0)
      << "whether a method is allowed is the route's matter";
}

TEST(ParseHead, WhatIsTooMuchIsRefused) {
  const Limits limits{.target_bytes = 100, .header_fields = 3, .body_bytes = 10};
  const auto status = [&](const std::string &text) {
    const auto head = parse_head(text, limits);
    return head ? 0 : head.error().status;
  };
  EXPECT_EQ(status("GET /" + std::string(99, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(status("GET /" + std::string(100, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
  EXPECT_EQ(status(get("A: 1\r\nB: 1\r\n")), 0);
  EXPECT_EQ(status(get("A: 1\r\nB: 1\r\nC: 1\r\n")), 431);
  EXPECT_EQ(status(get("Content-Length: 10\r\n")), 0);
  EXPECT_EQ(status(get("Content-Length: 11\r\n")), 413);
  EXPECT_EQ(status(get("Expect: 100-continue\r\n")), 417);
}

}  // namespace
}  // namespace gpulse::http
