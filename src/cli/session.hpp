// SPDX-License-Identifier: Apache-2.0
// A command's way to its samples: the feed that its options name, and the stop that Ctrl-C asks for.
#pragma once

#include <functional>
#include <stop_token>

#include "cli/options.hpp"
#include "feed/feed.hpp"

namespace gpulse::cli {

// What all commands say of where samples come from; how they are read is up to the command.
feed::Options feed_options(const Options &options);

// It stays open until the program ends: the kernel takes a driver's session down in half the time that the driver
// takes when it is asked to.
Result<feed::Feed *> open_feed(const feed::Options &options, const std::stop_token &stop = {});

// feed.once() and the first feed.next(), with a word on the standard error when the driver takes long.
Result<SnapshotPtr> first_look(feed::Feed &feed);
Result<SnapshotPtr> first_next(feed::Feed &feed, const std::stop_token &stop);

// From here on SIGINT, SIGTERM and SIGHUP ask for a stop; SIGHUP calls `hangup` instead, if there is one, on another
// thread. To be called before any other thread is started.
std::stop_token stop_on_signals(std::function<void()> hangup = {});

}  // namespace gpulse::cli
