// SPDX-License-Identifier: Apache-2.0
#include "kube/pod_list.hpp"

#include "kube/protobuf.hpp"

namespace gpulse::kube {

namespace {

// Kubernetes allows 253 bytes, and device plugins use far less.
constexpr std::size_t kLongestName = 256;

Text name_of(std::string_view bytes) { return first_bytes(printable(bytes), kLongestName); }

// Calls visit(field) for each; false: the message is damaged.
template <class Visit>
bool for_each_field(std::string_view message, Visit visit) {
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (!visit(*field)) return false;
  }
  return !reader.is_broken();
}

class PodListReader {
 public:
  bool read(std::string_view response) {
    return for_each_field(response, [&](const ProtobufField &field) { return field.number != 1 || pod(field.bytes); });
  }
  std::vector<PodDevice> take() { return std::move(devices_); }

 private:
  bool pod(std::string_view message) {
    PodDevice named;
    std::vector<std::string_view> containers;
    const bool good = for_each_field(message, [&](const ProtobufField &field) {
      if (field.number == 1) named.pod = name_of(field.bytes);
      if (field.number == 2) named.pod_namespace = name_of(field.bytes);
      if (field.number == 3) containers.push_back(field.bytes);
      return true;
    });
    for (const auto one : containers) {
      if (!container(one, named)) return false;
    }
    return good;
  }

  bool container(std::string_view message, PodDevice named) {
    std::vector<std::string_view> kinds;
    const bool good = for_each_field(message, [&](const ProtobufField &field) {
      if (field.number == 1) named.container = name_of(field.bytes);
      if (field.number == 2) kinds.push_back(field.bytes);
      return true;
    });
    for (const auto kind : kinds) {
      if (!ids(kind, named)) return false;
    }
    return good;
  }

  bool ids(std::string_view message, const PodDevice &named) {
    return for_each_field(message, [&](const ProtobufField &field) {
      if (field.number != 2 || devices_.size() >= kMostPodDevices) return true;
      devices_.push_back(named);
      devices_.back().device = name_of(field.bytes);
      return true;
    });
  }

  std::vector<PodDevice> devices_;
};

}  // namespace

Result<std::vector<PodDevice>> read_pod_list(std::string_view bytes) {
  PodListReader reader;
  if (!reader.read(bytes)) return failure("the kubelet's list of pods is damaged");
  return reader.take();
}

}  // namespace gpulse::kube
