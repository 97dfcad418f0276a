// SPDX-License-Identifier: Apache-2.0
#include "http/session.hpp"

#include <utility>

#include "http/server_core.hpp"

namespace gpulse::http {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPiece = 4096;
constexpr std::string_view kHeadEnd = "\r\n\r\n";
// So much of what a refused client still sends is taken off it, so that it gets to read why.
constexpr std::size_t kMostDrained = 64 << 10U;
constexpr auto kLingerTime = 2s;

const Frame &heartbeat() {
  static const Frame kFrame{.text = std::make_shared<const std::string>(": \n\n"), .may_be_replaced = true};
  return kFrame;
}

// With its memory, which an assignment of nothing would keep: a stream may last for days.
void let_go(auto &what) { static_cast<void>(std::exchange(what, {})); }

}  // namespace

Session::Session(ServerCore &core, std::shared_ptr<Transport> transport)
    : core_(core), transport_(std::move(transport)) {}

void Session::start() {
  allow(core_.limits().head_time);
  transport_->handshake([self = shared_from_this()](bool good) {
    if (self->closed_) return;
    good ? self->read_head() : self->close();
  });
}

// What is there of the next request may have come with the one before.
void Session::read_head() {
  if (in_.find(kHeadEnd) != std::string::npos) return look_at_head();
  if (in_.size() > core_.limits().head_bytes) return refuse({431, "the head of the request is too large"});
  const auto before = in_.size();
  in_.resize(before + kPiece);
  transport_->read({in_.data() + before, kPiece}, [self = shared_from_this(), before](std::size_t bytes) {
    if (self->closed_) return;
    self->in_.resize(before + bytes);
    if (bytes == 0) return self->close();
    // The time for a head begins with its first byte: a client that sends one now and then must not keep its place.
    if (before == 0) self->allow(self->core_.limits().head_time);
    self->read_head();
  });
}

void Session::look_at_head() {
  const auto size = in_.find(kHeadEnd) + kHeadEnd.size();
  if (size > core_.limits().head_bytes) return refuse({431, "the head of the request is too large"});
  auto head = parse_head(std::string_view(in_).substr(0, size), core_.limits());
  if (!head) return refuse(head.error());
  in_.erase(0, size);
  head_ = std::move(*head);
  head_.request.peer = transport_->peer();
  allow(core_.limits().body_time);
  read_body(static_cast<std::size_t>(head_.body_bytes));
}

void Session::read_body(std::size_t bytes) {
  if (in_.size() >= bytes) {
    head_.request.body = in_.substr(0, bytes);
    in_.erase(0, bytes);
    return handle();
  }
  const auto before = in_.size();
  in_.resize(bytes);
  transport_->read({in_.data() + before, bytes - before}, [self = shared_from_this(), before, bytes](std::size_t more) {
    if (self->closed_) return;
    self->in_.resize(before + more);
    more == 0 ? self->close() : self->read_body(bytes);
  });
}

void Session::handle() {
  deadline_ = Monotonic::max();
  if (in_.empty()) in_.shrink_to_fit();
  core_.handle(shared_from_this(), std::move(head_));
  head_ = {};
}

void Session::refuse(const Refusal &refusal) {
  lingers_ = true;
  let_go(in_);
  write(core_.prepare(error(refusal.status, refusal.why), {}));
}

void Session::send(Prepared answer) {
  if (closed_) return;
  if (answer.stream && !core_.may_stream()) {
    auto busy = error(503, "as many streams as there may be are open");
    busy.headers.emplace_back("Retry-After", "10");
    answer = core_.prepare(std::move(busy), {});
  }
  write(std::move(answer));
}

void Session::write(Prepared answer) {
  allow(core_.limits().write_time);
  out_ = std::move(answer);
  if (out_.stream) begin_stream();
  const std::string_view body = out_.body ? std::string_view(*out_.body) : std::string_view();
  transport_->write(out_.head, body, [self = shared_from_this()](bool good) {
    if (self->closed_) return;
    good ? self->written() : self->close();
  });
}

void Session::written() {
  const bool keeps_alive = out_.keeps_alive;
  let_go(out_);
  if (channel_) {
    deadline_ = Monotonic::max();
    watch_for_end();
    return write_frame();
  }
  if (!keeps_alive || core_.is_stopping()) return linger();
  allow(in_.empty() ? core_.limits().idle_time : core_.limits().head_time);
  read_head();
}

// From here on what is published waits for the head to be written.
void Session::begin_stream() {
  channel_ = out_.stream;
  last_frame_ = monotonic_now();
  let_go(in_);
  channel_->add(shared_from_this());
  core_.stream_began();
}

void Session::take(const Frame &frame) {
  if (closed_ || ends_after_frames_) return;
  if (!waiting_.empty() && frame.may_be_replaced && waiting_.back().may_be_replaced) {
    waiting_.back() = frame;
  } else {
    waiting_.push_back(frame);
  }
  const std::size_t in_all = waiting_.size() + (writing_.text != nullptr ? 1 : 0);
  if (in_all > core_.limits().waiting_frames) return close();
  const bool is_writing = deadline_ != Monotonic::max();
  if (!is_writing) write_frame();
}

void Session::end() {
  ends_after_frames_ = true;
  if (deadline_ == Monotonic::max()) write_frame();
}

void Session::write_frame() {
  if (waiting_.empty()) {
    let_go(waiting_);
    deadline_ = Monotonic::max();
    if (ends_after_frames_) linger();
    return;
  }
  writing_ = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  allow(core_.limits().write_time);
  last_frame_ = monotonic_now();
  transport_->write(*writing_.text, {}, [self = shared_from_this()](bool good) {
    if (self->closed_) return;
    if (!good) return self->close();
    self->writing_ = {};
    self->write_frame();
  });
}

void Session::watch_for_end() {
  transport_->read(dropped_, [self = shared_from_this()](std::size_t bytes) {
    if (self->closed_) return;
    bytes == 0 ? self->close() : self->watch_for_end();
  });
}

// A connection that is closed while something unread has come takes the answer back before the client has read it.
void Session::linger() {
  allow(kLingerTime);
  const bool is_watching = channel_ != nullptr;
  transport_->finish([self = shared_from_this(), is_watching](bool good) {
    if (self->closed_ || is_watching) return;
    good && self->lingers_ ? self->drain(kMostDrained) : self->close();
  });
}

void Session::drain(std::size_t left) {
  transport_->read(dropped_, [self = shared_from_this(), left](std::size_t bytes) {
    if (self->closed_) return;
    bytes == 0 || bytes >= left ? self->close() : self->drain(left - bytes);
  });
}

void Session::close() {
  if (std::exchange(closed_, true)) return;
  transport_->close();
  const auto self = shared_from_this();  // lets go of it on both sides
  if (const auto channel = std::exchange(channel_, nullptr)) {
    channel->remove(this);
    core_.stream_ended();
  }
  core_.remove(self);
}

void Session::sweep(Monotonic now) {
  if (now >= deadline_) return close();
  const bool is_idle = writing_.text == nullptr && waiting_.empty();
  if (channel_ && !ends_after_frames_ && is_idle && now - last_frame_ >= core_.limits().heartbeat) {
    take(heartbeat());
  }
}

}  // namespace gpulse::http
