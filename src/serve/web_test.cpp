// SPDX-License-Identifier: Apache-2.0
#include "serve/web.hpp"

#include <gtest/gtest.h>

#include "http/client.hpp"

namespace gpulse::serve {
namespace {

// One with folders, as a fleet has one for each host.
class SiteWithFolders final : public Site {
 public:
  http::Response health() override { return {}; }
  std::vector<Route> routes() override { return {}; }
  std::string_view folder(std::string_view path) const override {
    constexpr std::string_view kPrefix = "/host/";
    return path.starts_with(kPrefix) ? path.substr(0, path.find('/', kPrefix.size())) : std::string_view();
  }
};

class WebOfFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    auto web = Web::open({.addresses = {*http::parse_address("127.0.0.1:0")}, .base_path = "/gpulse"},
                         [] { return std::make_unique<SiteWithFolders>(); });
    ASSERT_TRUE(web && *web);
    web_ = std::move(*web);
  }
  // "303 ./n1/"
  std::string place(const std::string &path, const std::string &method = "GET") {
    http::Client client({.proxy = ""});
    auto url = *http::parse_url("http://" + web_->server().addresses().front());
    url.target = path;
    const auto response = client.send({.method = method, .url = url});
    if (!response) return response.error().line();
    return std::to_string(response->status) + " " + std::string(response->header("location").value_or(""));
  }

  std::unique_ptr<Web> web_;
};

TEST_F(WebOfFolders, AFolderGetsItsSlash) {
  EXPECT_EQ(place("/gpulse"), "303 ./gpulse/");
  EXPECT_EQ(place("/host/n1"), "303 ./n1/");
  EXPECT_EQ(place("/gpulse/host/n1~9400"), "303 ./n1~9400/");
}

TEST_F(WebOfFolders, NoNameLeadsToAnotherSite) {
  EXPECT_EQ(place("/host/https:evil.example"), "303 ./https%3Aevil.example/");
  EXPECT_EQ(place("/host/%c3%bc%3f%23"), "303 ./%C3%BC%3F%23/");
}

TEST_F(WebOfFolders, LoggingInIsForAllOfThem) {
  EXPECT_EQ(place("/host/n1/login", "POST"), "307 ../../login");
  EXPECT_EQ(place("/gpulse/host/n1/logout", "POST"), "307 ../../logout");
  EXPECT_EQ(place("/host/n1/login"), "307 ../../login");
  EXPECT_EQ(place("/login"), "200 ");
}

}  // namespace
}  // namespace gpulse::serve
