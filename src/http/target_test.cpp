// SPDX-License-Identifier: Apache-2.0
#include "http/target.hpp"

#include <gtest/gtest.h>

namespace gpulse::http {
namespace {

TEST(Target, PathAndParametersAreDecodedOnce) {
  const auto target = parse_target("/api/v1/caf%C3%A9%2520?metrics=a%2Cb&x=1+2&flag&x=3");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/v1/café%20");
  const Fields query{{"metrics", "a,b"}, {"x", "1 2"}, {"flag", ""}, {"x", "3"}};
  EXPECT_EQ(target->query, query);
  EXPECT_EQ(parse_target("/")->path, "/");
  EXPECT_EQ(parse_target("/a//b/")->path, "/a//b/");
}

TEST(Target, APartOfAPathIsReadAsItWasWritten) {
  EXPECT_EQ(percent_encoded("n1-a.b_c~9400"), "n1-a.b_c~9400");
  EXPECT_EQ(percent_encoded("https:evil.example"), "https%3Aevil.example");
  EXPECT_EQ(parse_target("/" + percent_encoded("ü%?#&=+ x"))->path, "/ü%?#&=+ x");
}

TEST(Target, WhatNoHonestClientSendsIsRefused) {
  for (
      const auto *text :
      {"",          "a",    "*",        "http://host/", "/%",          "/%4",    "/%4g",      "/%zz",          "/a%00b",
       "/a%0d%0ab", "/..",  "/a/../b",  "/a/%2e%2e/b",  "/a/.",        "/./a",   "/a%2fb",    "/a%5cb",        "/a\\b",
       "/a#b",      "/%ff", "/a?x=%00", "/a?%ff=1",     "/a?x=%c3%28", "/a?x=%", "/a%c2%8cb", "/a?x=%e2%80%ae"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
  EXPECT_EQ(parse_target("/...")->path, "/...");
  std::string many = "/?";
  for (int i = 0; i < 64; ++i) many += "a=1&";
  EXPECT_TRUE(parse_target(many));
  EXPECT_FALSE(parse_target(many + "a=1"));
}

}  // namespace
}  // namespace gpulse::http
