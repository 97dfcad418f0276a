// SPDX-License-Identifier: Apache-2.0
#include "serve/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace gpulse::serve {

namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Page, IsServedPlainToThoseWhoTakeNothingElse) {
  const auto answer = Page().answer({.path = "/"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.content_type, HasSubstr("text/html"));
  EXPECT_THAT(*answer.body, HasSubstr("<!doctype html>"));
  EXPECT_FALSE(answer.etag.empty());
}

TEST(Page, AllowsNothingFromElsewhereAndNothingInline) {
  const auto answer = Page().answer({.path = "/"});
  EXPECT_THAT(answer.headers, Contains(Pair("Content-Security-Policy", HasSubstr("default-src 'none'"))));
  EXPECT_THAT(answer.headers, Not(Contains(Pair("Content-Security-Policy", HasSubstr("unsafe")))));
}

std::string policy_of(const Page &page) {
  const auto answer = page.answer({.path = "/"});
  const auto found = std::ranges::find(answer.headers, "Content-Security-Policy", &http::Fields::value_type::first);
  return found == answer.headers.end() ? "" : found->second;
}

TEST(Page, IsFramedByNobodyUnlessSomebodyIsNamed) {
  Page page;
  EXPECT_THAT(policy_of(page), EndsWith("; frame-ancestors 'none'"));
  EXPECT_FALSE(page.answer({.path = "/"}).has_frame_policy);
  page.set_frame_origins(std::array<std::string, 2>{"self", "https://hub.example:8443"});
  EXPECT_THAT(policy_of(page), EndsWith("; frame-ancestors 'self' https://hub.example:8443"));
  EXPECT_TRUE(page.answer({.path = "/"}).has_frame_policy);
  page.set_frame_origins({});
  EXPECT_THAT(policy_of(page), EndsWith("; frame-ancestors 'none'"));
}

TEST(Page, TakesNothingForAnOriginThatCouldSayMore) {
  for (const std::string good :
       {"self", "https://hub.example", "http://localhost:8888", "http://10.0.0.1", "https://A-b.c:1"}) {
    EXPECT_TRUE(check_frame_origins(std::array{good})) << good;
  }
  for (const std::string bad :
       {"", "*", "'self'", "https:", "https://", "https://*", "https://*.example", "hub.example", "ftp://hub.example",
        "https://hub.example/", "https://hub.example:0", "https://hub.example:65536", "https://hub.example:",
        "https://a b", "https://a; script-src *", "https://a,b", "https://a\r\nX: y", "https://user@hub.example"}) {
    EXPECT_FALSE(check_frame_origins(std::array{bad})) << bad;
  }
}

TEST(Page, HasNoOtherFiles) {
  EXPECT_EQ(Page().answer({.path = "/assets/none.js"}).status, 404);
  EXPECT_EQ(Page().answer({.path = "/assets/"}).status, 404);
}

}  // namespace

}  // namespace gpulse::serve
