// SPDX-License-Identifier: Apache-2.0
#include "serve/sessions.hpp"

#include <gtest/gtest.h>

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;

http::Request with_cookies(const std::string &cookies) {
  return {.headers = {{"host", "localhost:9838"}, {"cookie", cookies}}};
}
// "gpulse_9838=…" of what a browser is given.
std::string pair_of(const std::string &set_cookie) { return set_cookie.substr(0, set_cookie.find(';')); }

TEST(Sessions, AnOldCookieDoesNotHideTheGoodOne) {
  Sessions sessions;
  const Monotonic now{};
  const auto good = pair_of(sessions.begin(with_cookies(""), {.name = "ann"}, now));
  const auto old = pair_of(sessions.begin(with_cookies(""), {.name = "bob"}, now - 13h));
  for (const auto &cookies : {good, "gpulse_9838=nobody; " + good, old + "; x=y; " + good}) {
    const auto reader = sessions.find(with_cookies(cookies), now);
    ASSERT_TRUE(reader) << cookies;
    EXPECT_EQ(reader->name, "ann");
  }
  EXPECT_FALSE(sessions.find(with_cookies(old), now));
  EXPECT_FALSE(sessions.find(with_cookies("gpulse_9839=" + good.substr(good.find('=') + 1)), now)) << "of another port";
}

TEST(Sessions, LoggingOutEndsAllThatTheBrowserHas) {
  Sessions sessions;
  const Monotonic now{};
  const auto one = pair_of(sessions.begin(with_cookies(""), {.name = "ann"}, now));
  const auto other = pair_of(sessions.begin(with_cookies(""), {.name = "ann"}, now));
  sessions.end(with_cookies(one + "; " + other));
  EXPECT_FALSE(sessions.find(with_cookies(one), now));
  EXPECT_FALSE(sessions.find(with_cookies(other), now));
}

}  // namespace
}  // namespace gpulse::serve
