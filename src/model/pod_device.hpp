// SPDX-License-Identifier: Apache-2.0
// That Kubernetes has given a device to a container of a pod.
#pragma once

#include "base/text.hpp"

namespace gpulse {

struct PodDevice {
  Text device;  // as the device plugin calls it: a UUID or a PCI address, of a shared one with "::3" behind it
  Text pod_namespace, pod, container;

  bool operator==(const PodDevice &) const = default;
};

}  // namespace gpulse
