// SPDX-License-Identifier: Apache-2.0
//
// gpulse for C++17: gpulse.h with owners instead of handles. Header only; link libgpulse.so.
//
//     gpulse::Monitor monitor;                              // samples once a second, in the background
//     const gpulse::Metric power("power_draw_watts");       // a typo throws, here and not in the loop
//     for (int step = 0; step < 1000; ++step) {
//       monitor.set_step(step);
//       train();
//       if (const auto sample = monitor.latest()) {         // no lock, no call to a driver
//         for (const auto &device : sample->devices()) {
//           if (const auto watts = device[power]) std::cout << *watts << " W\n";
//           else std::cout << watts.reason() << '\n';       // "not supported", "asleep", ...
//         }
//       }
//     }
//
// Devices of its own, before CUDA is used:
//
//     const auto lease = gpulse::pick();                    // held until it is destroyed or the process ends
//     lease.apply();                                        // sets CUDA_VISIBLE_DEVICES and the like
//
// Why the GPUs are not busy, once it has watched for a while:
//
//     for (const auto &finding : monitor.findings().all) std::cout << finding.id << ": " << finding.text << '\n';
//
// A reading is a number or a reason: a `Value` is like std::optional<double> and can say why it is empty.
//
// Errors: what cannot be done throws gpulse::Error, whose what() is one sentence. What is merely not there (no sample
// yet, no such device, nothing within the given time) is an empty optional. latest(), set_step() and values of a sample
// never throw.
//
// Lifetime: a Sample, and each Device and Process of one, keeps what it shows alive, also after the monitor has gone.
// Strings are std::string_view into the sample: they live as long as any copy of it. A Region may outlive its monitor,
// a Subscription may not. What visible(), pick() and findings() give holds copies.
//
// Threads: one object may be used by many threads as long as nobody moves or destroys it meanwhile.
// Fork: a monitor belongs to the process that opened it. In a forked child latest() is empty, the others throw an Error
// whose status() is GPULSE_FORKED, and it can be destroyed; open another one there.
// A lease is the parent's as well, unless it was taken with `pass_on`.
#ifndef GPULSE_HPP
#define GPULSE_HPP

#include "findings.hpp"
#include "gpulse.h"
#include "monitor.hpp"
#include "pick.hpp"
#include "sample.hpp"

#endif
