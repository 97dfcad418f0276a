// SPDX-License-Identifier: Apache-2.0
// Bytes as protobuf's own encoding has them: a key (number << 3 | kind), a size, the bytes.
#include "kube/pod_list.hpp"

#include <gtest/gtest.h>

namespace gpulse::kube {
namespace {

using namespace std::string_literals;

std::string field(int number, const std::string &bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (auto size = bytes.size(); true; size >>= 7U) {
    out += static_cast<char>((size & 0x7FU) | (size > 0x7FU ? 0x80U : 0U));
    if (size <= 0x7FU) break;
  }
  return out + bytes;
}

std::string container(const std::string &name, const std::vector<std::string> &ids) {
  std::string devices = field(1, "nvidia.com/gpu");
  for (const auto &id : ids) devices += field(2, id);
  // NUMA nodes, numbers of processors and what later versions may add are passed by.
  devices += field(3, field(1, "\x08\x01"s));
  return field(1, name) + field(2, devices) + "\x18\x05"s + "\x65\x01\x02\x03\x04"s + "\x69"s + "12345678"s;
}

TEST(PodList, DevicesOfAllContainers) {
  const auto list = field(1, field(1, "train-0") + field(2, "research") +
                                 field(3, container("main", {"GPU-a", "GPU-b"})) + field(3, container("side", {}))) +
                    field(1, field(3, container("c", {"GPU-c::3"})) + field(2, "web") + field(1, "shared"));
  const auto pods = read_pod_list(list);
  ASSERT_TRUE(pods.has_value());
  EXPECT_EQ(*pods, (std::vector<PodDevice>{{"GPU-a", "research", "train-0", "main"},
                                           {"GPU-b", "research", "train-0", "main"},
                                           {"GPU-c::3", "web", "shared", "c"}}));
}

TEST(PodList, NothingIsAGoodAnswer) {
  const auto pods = read_pod_list("");
  ASSERT_TRUE(pods.has_value());
  EXPECT_TRUE(pods->empty());
}

TEST(PodList, EveryCutOffAnswerIsRefused) {
  const auto list = field(1, field(1, "train-0") + field(3, container("main", {"GPU-a"})));
  for (std::size_t size = 1; size < list.size(); ++size) {
    EXPECT_FALSE(read_pod_list(std::string_view(list).substr(0, size))) << size;
  }
  EXPECT_FALSE(read_pod_list("\x00\x00"s)) << "no field has the number 0";
  EXPECT_FALSE(read_pod_list("\x0b"s)) << "groups are of the past";
  EXPECT_FALSE(read_pod_list("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s));
}

TEST(PodList, NamesAreSafeToPrintAndHaveAnEnd) {
  const auto list = field(1, field(1, "a\nb\x1b[31m") + field(2, std::string(5000, 'x')) +
                                 field(3, container("\xff", std::vector<std::string>(20000, "GPU-a"))));
  const auto pods = read_pod_list(list);
  ASSERT_TRUE(pods.has_value());
  EXPECT_EQ(pods->size(), kMostPodDevices);
  EXPECT_EQ(pods->front().pod, Text("a b [31m"));
  EXPECT_EQ(pods->front().pod_namespace.size(), 256U);
  EXPECT_EQ(pods->front().container, Text("\uFFFD"));
}

}  // namespace
}  // namespace gpulse::kube
