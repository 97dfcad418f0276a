// SPDX-License-Identifier: Apache-2.0
#include "http/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.hpp"
#include "http/proxy.hpp"

namespace gpulse::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Url, IsTakenApart) {
  const auto url = parse_url("HTTPS://name:8443/path?query#part").value();
  EXPECT_TRUE(url.is_secure);
  EXPECT_EQ(url.host, "name");
  EXPECT_EQ(url.port, 8443);
  EXPECT_EQ(url.target, "/path?query");
  EXPECT_EQ(url.text(), "https://name:8443/path?query");
  EXPECT_EQ(parse_url("http://a")->text(), "http://a/");
  EXPECT_EQ(parse_url("http://a?x")->target, "/?x");
  EXPECT_EQ(parse_url("http://[::1]:9090/x")->host, "::1");
  EXPECT_EQ(parse_url("http://[::1]:9090/x")->text(), "http://[::1]:9090/x");
}

TEST(Url, WhatMakesNoSenseIsRefused) {
  for (const auto *text :
       {"", "a", "ftp://a", "http://", "http://:80", "http://a:0", "http://a:70000", "http://a:b", "http://[::1",
        "http://[a]", "http://a b/", "http://a/\r\nX: y", "http://a/ b", "http://a\\b"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

TEST(Url, APasswordIsRefusedAndNotRepeated) {
  EXPECT_THAT(parse_url("http://ann:secret@a/").error().line(), Not(HasSubstr("secret")));
}

TEST(HttpDate, IsReadWhole) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"),
            std::chrono::sys_seconds(std::chrono::seconds(784111777)));
  for (const auto *text :
       {"", "120", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT"}) {
    EXPECT_FALSE(parse_http_date(text)) << text;
  }
}

TEST(Proxy, IsWhatTheEnvironmentSays) {
  const Environment environment = [](const char *name) -> const char * {
    const std::string_view text(name);
    if (text == "http_proxy") return "http://ann:se%63ret@one:3128";
    if (text == "ALL_PROXY") return "two";
    if (text == "NO_PROXY") return "near.org, 10.0.0.0/8,far.org:81";
    return nullptr;
  };
  const auto host = [&](const char *url) {
    const auto proxy = proxy_for(*parse_url(url), std::nullopt, environment).value();
    return proxy ? proxy->host : "";
  };
  EXPECT_EQ(host("http://a/"), "one");
  EXPECT_EQ(host("https://a/"), "two");
  EXPECT_EQ(host("http://near.org/"), "");
  EXPECT_EQ(host("http://x.near.org/"), "");
  EXPECT_EQ(host("http://nonear.org/"), "one");
  EXPECT_EQ(host("http://10.1.2.3/"), "");
  EXPECT_EQ(host("http://11.1.2.3/"), "one");
  EXPECT_EQ(host("http://far.org/"), "one");
  EXPECT_EQ(host("http://far.org:81/"), "");
  EXPECT_EQ(host("http://localhost/"), "");
  // Python: base64.b64encode(b"ann:secret")
  EXPECT_EQ(proxy_for(*parse_url("http://a"), std::nullopt, environment).value()->authorization,
            "Basic YW5uOnNlY3JldA==");
  EXPECT_FALSE(proxy_for(*parse_url("http://a"), "", environment).value());
  EXPECT_FALSE(proxy_for(*parse_url("http://a"), "https://x", environment));
}

}  // namespace
}  // namespace gpulse::http
