// SPDX-License-Identifier: Apache-2.0
#include "serve/access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/temporary_folder.hpp"
#include "serve/web_config.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Of "correct horse", made by Python's crypt with the cost 4.
constexpr const char *kHash = "$2b$04$saltsaltsaltsaltsaltsuIgBK9OuwxlmzcTNPY1Z2nCpWB7ue/62";

http::Request from(const std::string &address, http::Fields headers = {}) {
  http::Request request;
  request.peer = {.address = address, .is_loopback = address.starts_with("127."), .certificate = {}};
  request.headers = std::move(headers);
  return request;
}

Access::Verdict ask(Access &access, const http::Request &request) {
  std::promise<Access::Verdict> promise;
  access.check(request, [&](Access::Verdict verdict) { promise.set_value(std::move(verdict)); });
  return promise.get_future().get();
}

// 0: may read.
int status(Access &access, const http::Request &request) {
  const auto verdict = ask(access, request);
  return verdict.reader ? 0 : verdict.refusal.status;
}

TEST(Access, AMachineIsCalledByItsNames) {
  Access access({.hosts = {"gpus.example", "N1"}});
  for (const auto *good : {"localhost", "localhost:9837", "LOCALHOST:1", "127.0.0.1:9837", "10.1.2.3:80", "[::1]:9837",
                           "[fe80::1]", "gpus.example:9837", "n1", "GPUS.Example"}) {
    EXPECT_EQ(status(access, from("127.0.0.1", {{"host", good}})), 0) << good;
  }
  for (const auto *bad : {"evil.org", "evil.org:9837", "localhost.evil.org", "127.0.0.1.evil.org",
                          "gpus.example.evil.org", "", ":9837", "127.1", "gpus.example@evil.org"}) {
    EXPECT_EQ(status(access, from("127.0.0.1", {{"host", bad}})), 421) << bad;
  }
}

TEST(Access, APageOfAnotherSiteMayNotRead) {
  Access access({});
  const auto with = [](http::Fields more) {
    http::Fields all{{"host", "localhost:9837"}};
    all.insert(all.end(), more.begin(), more.end());
    return from("127.0.0.1", all);
  };
  EXPECT_EQ(status(access, with({{"origin", "http://localhost:9837"}})), 0);
  EXPECT_EQ(status(access, with({{"origin", "http://localhost:9837"}, {"sec-fetch-site", "same-origin"}})), 0);
  EXPECT_EQ(status(access, with({{"sec-fetch-site", "none"}})), 0) << "typed by the user";
  EXPECT_EQ(status(access, with({{"origin", "http://localhost:3000"}})), 403);
  EXPECT_EQ(status(access, with({{"origin", "http://evil.org"}})), 403);
  EXPECT_EQ(status(access, with({{"origin", "null"}})), 403);
  EXPECT_EQ(status(access, with({{"sec-fetch-site", "cross-site"}})), 403);
  EXPECT_EQ(status(access, with({{"sec-fetch-site", "same-site"}})), 403) << "another port of this machine";
  const http::Fields link{
      {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}, {"sec-fetch-dest", "document"}};
  EXPECT_EQ(status(access, with(link)), 0) << "a link on a page of another site";
  auto frame = link;
  frame.back().second = "iframe";
  EXPECT_EQ(status(access, with(frame)), 403);
}

TEST(Access, ProgramsOfThisMachineSeeCommandLinesAndOthersDoNot) {
  Access access({.is_open = true});
  EXPECT_TRUE(ask(access, from("127.0.0.1")).reader->sees_commands);
  EXPECT_FALSE(ask(access, from("10.0.0.7")).reader->sees_commands);
  for (const auto *field : {"x-forwarded-for", "forwarded", "x-real-ip", "via"}) {
    EXPECT_FALSE(ask(access, from("127.0.0.1", {{field, "10.0.0.7"}})).reader->sees_commands) << field;
  }
  auto certified = from("10.0.0.7");
  certified.peer.certificate = "CN=prometheus";
  EXPECT_TRUE(ask(access, certified).reader->sees_commands);
  EXPECT_EQ(ask(access, certified).reader->name, "CN=prometheus");
}

TEST(Access, ATokenHasToBeShownByEverybody) {
  Access access({.tokens = {"0123456789abcdef", "another one 1234"}});
  EXPECT_EQ(status(access, from("127.0.0.1")), 401);
  EXPECT_EQ(ask(access, from("127.0.0.1")).delay, 0ms) << "nothing was wrong yet";
  const auto good = ask(access, from("10.0.0.1", {{"authorization", "Bearer 0123456789abcdef"}}));
  ASSERT_TRUE(good.reader);
  EXPECT_TRUE(good.reader->sees_commands);
  EXPECT_EQ(good.delay, 0ms);
  int other = 2;
  for (const auto *bad : {"Bearer 0123456789abcdeX", "Bearer", "Bearer ", "Basic 0123456789abcdef", "0123456789abcdef",
                          "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Basic !!!", "Basic dXNlcg=="}) {
    const auto verdict = ask(access, from("10.0.1." + std::to_string(other++), {{"authorization", bad}}));
    EXPECT_FALSE(verdict.reader) << bad;
    EXPECT_EQ(verdict.refusal.status, 401) << bad;
    EXPECT_EQ(verdict.delay, 100ms) << bad;
    EXPECT_EQ(*verdict.refusal.body, *http::error(401, "this needs a token or a password").body) << "without a hint";
  }
}

TEST(Access, AfterWrongOnesARightOneWaitsToo) {
  Access access({.tokens = {"0123456789abcdef"}});
  for (int i = 0; i < 4; ++i) ask(access, from("10.0.0.1", {{"authorization", "Bearer wrong"}}));
  const auto right = ask(access, from("10.0.0.1", {{"authorization", "Bearer 0123456789abcdef"}}));
  ASSERT_TRUE(right.reader);
  EXPECT_GT(right.delay, 1000ms);
  for (int i = 0; i < 4; ++i) ask(access, from("10.0.0.1", {{"authorization", "Bearer wrong"}}));
  EXPECT_EQ(status(access, from("10.0.0.1", {{"authorization", "Bearer 0123456789abcdef"}})), 429)
      << "is not even looked at";
}

TEST(Access, AUserHasAPassword) {
  Access access({.users = {{"ann", kHash}}});
  const auto asked = ask(access, from("10.0.0.1"));
  EXPECT_EQ(asked.refusal.headers.front().first, "WWW-Authenticate");
  EXPECT_THAT(asked.refusal.headers.front().second, HasSubstr("Basic"));
  // ann:correct horse, twice: the second time from memory
  for (int i = 0; i < 2; ++i) {
    const auto verdict = ask(access, from("10.0.0.1", {{"authorization", "Basic YW5uOmNvcnJlY3QgaG9yc2U="}}));
    ASSERT_TRUE(verdict.reader);
    EXPECT_EQ(verdict.reader->name, "ann");
  }
  EXPECT_EQ(status(access, from("10.0.0.2", {{"authorization", "Basic YW5uOndyb25n"}})), 401) << "ann:wrong";
  EXPECT_EQ(status(access, from("10.0.0.3", {{"authorization", "Basic Ym9iOmNvcnJlY3QgaG9yc2U="}})), 401)
      << "bob:correct horse";
}

TEST(Access, WhatIsReplacedCountsAtOnce) {
  Access access({.tokens = {"0123456789abcdef"}});
  access.replace({.tokens = {"fedcba9876543210"}});
  EXPECT_EQ(status(access, from("10.0.0.1", {{"authorization", "Bearer fedcba9876543210"}})), 0);
  EXPECT_EQ(status(access, from("10.0.0.1", {{"authorization", "Bearer 0123456789abcdef"}})), 401);
}

TEST(Exposure, OfAnAddressThatOthersCanReachNeedsMore) {
  const std::vector near{*http::parse_address("127.0.0.1:1"), *http::parse_address("[::1]:1")};
  const std::vector far{near[0], *http::parse_address("0.0.0.0:1")};
  EXPECT_TRUE(check_exposure(near, {}, false, false));
  const auto refused = check_exposure(far, {}, false, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().line(), HasSubstr("everybody on the network could read on 0.0.0.0:1: give --token-file"));
  EXPECT_FALSE(check_exposure(far, {}, true, false)) << "a certificate alone shows nothing of who reads";
  EXPECT_TRUE(check_exposure(far, {.is_open = true}, false, false));
  EXPECT_TRUE(check_exposure(far, {.tokens = {"x"}}, false, false));
  EXPECT_TRUE(check_exposure(far, {}, true, true));
  EXPECT_TRUE(check_exposure(far, {.users = {{"ann", kHash}}}, true, false));
  EXPECT_FALSE(check_exposure(far, {.users = {{"ann", kHash}}}, false, false)) << "passwords in the clear";
  EXPECT_FALSE(check_exposure(far, {.tokens = {"x"}, .users = {{"ann", kHash}}}, false, false));
}

TEST(Passwords, AreBcrypt) {
  EXPECT_TRUE(is_bcrypt_hash(kHash));
  EXPECT_TRUE(is_password_of(kHash, "correct horse"));
  EXPECT_FALSE(is_password_of(kHash, "correct horse "));
  for (const auto *bad :
       {"", "secret", "$2b$10$short", "$6$salt$hash", "$2b$99$abcdefghijklmnopqrstuu4T826PRnz0Hu6YlprUuxkZxOOj5Fw5S",
        "$2b$10$abcdefghijklmnopqrstuu4T826PRnz0Hu6YlprUuxkZxOOj5Fw5 "}) {
    EXPECT_FALSE(is_bcrypt_hash(bad)) << bad;
  }
}

TEST(Tokens, AreReadFromAFileThatIsNotForEverybody) {
  const TemporaryFolder folder;
  const auto file = folder.path("/token");
  folder.write("/token", "0123456789abcdef\n\n  fedcba9876543210  \n");
  ::chmod(file.c_str(), 0640);
  EXPECT_EQ(read_tokens(file).value(), (std::vector<std::string>{"0123456789abcdef", "fedcba9876543210"}));
  ::chmod(file.c_str(), 0644);
  EXPECT_THAT(read_tokens(file).error().line(), HasSubstr("can be read by everybody: chmod o= "));
  ::chmod(file.c_str(), 0600);
  for (const auto *bad : {"", "\n", "short\n", "has a blank in it, but is long\n"}) {
    folder.write("/token", bad);
    EXPECT_FALSE(read_tokens(file)) << bad;
  }
  EXPECT_FALSE(read_tokens(folder.path("/nothing")));
}

}  // namespace
}  // namespace gpulse::serve
