// SPDX-License-Identifier: Apache-2.0
#include "base/host_list.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace gpulse {
namespace {

using Hosts = std::vector<std::string>;

Hosts hosts(std::string_view text) {
  const auto found = parse_hosts(text, "9837");
  return found ? *found : Hosts{"error: " + found.error().what.str()};
}

TEST(HostList, TakesLinesCommentsBlanksAndCommas) {
  EXPECT_EQ(hosts(""), Hosts());
  EXPECT_EQ(hosts("# all of them\n\n a  b,c # two\r\nd\r\n"), (Hosts{"a:9837", "b:9837", "c:9837", "d:9837"}));
}

TEST(HostList, APortOfItsOwnAndAddresses) {
  EXPECT_EQ(hosts("gpu7:9900 10.0.0.7 [fd00::7] [fd00::7]:80 fd00::7 fd00::8 gpu-1.lab.example"),
            (Hosts{"gpu7:9900", "10.0.0.7:9837", "[fd00::7]:9837", "[fd00::7]:80", "[fd00::8]:9837",
                   "gpu-1.lab.example:9837"}));
}

TEST(HostList, RangesAsSlurmWritesThem) {
  EXPECT_EQ(hosts("node[08-11,3]"), (Hosts{"node08:9837", "node09:9837", "node10:9837", "node11:9837", "node3:9837"}));
  EXPECT_EQ(hosts("r[1-2]n[1-2].lab:80,x"),
            (Hosts{"r1n1.lab:80", "r1n2.lab:80", "r2n1.lab:80", "r2n2.lab:80", "x:9837"}));
}

TEST(HostList, EachOnce) {
  EXPECT_EQ(hosts("b a b:9837 a:1 [1-2] 2"), (Hosts{"b:9837", "a:9837", "a:1", "1:9837", "2:9837"}));
}

TEST(HostList, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(hosts("a\nnode[5-1]").at(0), "error: line 2: \"node[5-1]\" has a range that ends before it begins");
  for (const auto *text :
       {"node[1-", "node[]",   "node[a-b]",          "node[1-2-3]", "node]",  "a:", "a:0",  "a:70000", "a:b",
        "a/b",     "fd00::g",  "[fd00::7",           "[fd00::7]x",  "[::zz]", "-a", "a\"b", "a;b",     "é",
        "[]",      "http://a", "node[0000000001-2]", ":80"}) {
    EXPECT_TRUE(hosts(text).at(0).starts_with("error: line 1: ")) << text << hosts(text).at(0);
  }
  EXPECT_TRUE(hosts(std::string(300, 'a')).at(0).starts_with("error: "));
}

TEST(HostList, IsBounded) {
  EXPECT_EQ(hosts("n[1-65536]").size(), kMostHosts);
  for (const auto *text :
       {"n[1-65537]", "n[0-999999999]", "n[1-300]m[1-300]", "n[1-9999]m[1-9999]o[1-9999]", "a n[1-65536]"}) {
    EXPECT_EQ(hosts(text).size(), 1) << text;
  }
}

}  // namespace
}  // namespace gpulse
