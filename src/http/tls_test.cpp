// SPDX-License-Identifier: Apache-2.0
#include "http/tls.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::http {
namespace {

using ::testing::HasSubstr;

SecretHash hash_of(char key, const std::vector<std::string_view> &texts) {
  return hash_secret(std::vector<std::byte>(32, static_cast<std::byte>(key)), texts);
}

TEST(Secrets, AreTheSameOrNot) {
  EXPECT_TRUE(is_same_secret("", ""));
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  EXPECT_FALSE(is_same_secret("abc", "abd"));
  EXPECT_FALSE(is_same_secret("abc", "ab"));
  EXPECT_FALSE(is_same_secret("abc", ""));
}

// Where texts are only joined, the right password of one user can be that of another with a longer name.
TEST(Secrets, WhatIsInWhichTextMakesADifference) {
  EXPECT_EQ(hash_of('k', {"ann", "secret"}), hash_of('k', {"ann", "secret"}));
  EXPECT_NE(hash_of('k', {"ann", "secret"}), hash_of('j', {"ann", "secret"}));
  EXPECT_NE(hash_of('k', {"ann", "secret"}), hash_of('k', {"anns", "ecret"}));
  EXPECT_NE(hash_of('k', {"ann", ""}), hash_of('k', {"", "ann"}));
  EXPECT_NE(hash_of('k', {"a:1", "b"}), hash_of('k', {"a", "1:b"}));
  EXPECT_NE(hash_of('k', {"a", "1:b"}), hash_of('k', {"a1:1:b", ""}));
}

// RFC 4231, case 2, over the text with its length before it: HMAC-SHA256 by Python's hmac.
TEST(Secrets, AreHashedWithHmac) {
  const std::string key = "Jefe";
  const std::array<std::string_view, 1> texts{"what do ya want for nothing?"};
  const auto hash = hash_secret(std::as_bytes(std::span(key)), texts);
  std::string hex;
  for (const auto byte : hash) hex += fmt::format("{:02x}", std::to_integer<int>(byte));
  EXPECT_EQ(hex, "f9a7f5b9c4118c0f397a50b3a495f455c6666f75f95db0d20b32f7e7c995ee77");
}

TEST(Tls, AFileThatIsNoneIsNamed) {
  const TemporaryFolder folder;
  folder.write("/nothing", "nothing");
  const auto file = folder.path("/nothing");
  EXPECT_THAT(load_tls({.certificate = folder.path("/missing"), .key = file, .client_ca = {}}).error().line(),
              HasSubstr("/missing"));
  EXPECT_THAT(load_tls({.certificate = file, .key = file, .client_ca = {}}).error().line(),
              HasSubstr(file + " holds no certificate that can be used"));
}

}  // namespace
}  // namespace gpulse::http
