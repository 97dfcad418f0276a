// SPDX-License-Identifier: Apache-2.0
#include "http/channel.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "http/loop.hpp"

namespace gpulse::http {

namespace {

void add_line(std::string &out, std::string_view name, std::string_view text) {
  out += name;
  std::ranges::copy_if(text, std::back_inserter(out), [](char c) { return c != '\r' && c != '\n' && c != '\0'; });
  out += '\n';
}

}  // namespace

std::string event_text(std::string_view name, std::string_view data, std::string_view id) {
  std::string out;
  out.reserve(data.size() + name.size() + id.size() + 32);
  if (!id.empty()) add_line(out, "id: ", id);
  if (!name.empty()) add_line(out, "event: ", name);
  for (const auto line : split(data, '\n')) add_line(out, "data: ", line);
  out += '\n';
  return out;
}

std::shared_ptr<Channel> Channel::make(std::function<void()> left) {
  return std::shared_ptr<Channel>(new Channel(std::move(left)));
}

void Channel::on_server(std::function<void(Subscriber &)> act) {
  std::shared_ptr<Outlet> outlet;
  {
    const std::lock_guard lock(mutex_);
    outlet = outlet_;
  }
  // Nobody has ever listened.
  if (!outlet) return;
  outlet->post([self = shared_from_this(), act = std::move(act)] {
    // One that ends takes itself off the list.
    const auto now = self->subscribers_;
    for (const auto &subscriber : now) act(*subscriber);
  });
}

void Channel::publish(Frame frame) {
  on_server([frame = std::move(frame)](Subscriber &subscriber) { subscriber.take(frame); });
}

void Channel::close() {
  on_server([](Subscriber &subscriber) { subscriber.end(); });
}

void Channel::open_to(const std::shared_ptr<Outlet> &outlet) {
  const std::lock_guard lock(mutex_);
  outlet_ = outlet;
}

void Channel::add(const std::shared_ptr<Subscriber> &subscriber) {
  subscribers_.push_back(subscriber);
  count_ = subscribers_.size();
}

void Channel::remove(const Subscriber *subscriber) {
  const auto gone =
      std::erase_if(subscribers_, [&](const std::shared_ptr<Subscriber> &one) { return one.get() == subscriber; });
  count_ = subscribers_.size();
  if (gone > 0 && subscribers_.empty() && left_) left_();
}

}  // namespace gpulse::http
