// SPDX-License-Identifier: Apache-2.0
#include "http/server_core.hpp"

#include "base/heap.hpp"
#include "base/log.hpp"
#include "base/program_pages.hpp"

namespace gpulse::http {

namespace {

using namespace std::chrono_literals;

constexpr auto kSweepEvery = 1s;
// After so many connections at once the allocator holds memory that is worth giving back.
constexpr std::size_t kMany = 64;

Prepared prepare_now(Response response, const Asked &asked, GzipCache &gzip) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return prepare(std::move(response), asked, gzip, now);
}

// Answers once, whoever calls it and whenever; a request that nobody answers gets an answer too.
class Ticket {
 public:
  Ticket(std::shared_ptr<Outlet> outlet, std::shared_ptr<GzipCache> gzip, const std::shared_ptr<Session> &session,
         Asked asked)
      : outlet_(std::move(outlet)), gzip_(std::move(gzip)), session_(session), asked_(std::move(asked)) {}
  Ticket(const Ticket &) = delete;
  Ticket &operator=(const Ticket &) = delete;
  ~Ticket() {
    try {
      answer(error(500, "there is no answer"));
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory the connection ends by its time
    }
  }

  void answer(Response response) {
    if (is_answered_.exchange(true)) return;
    if (response.stream) response.stream->open_to(outlet_);
    auto prepared = std::make_shared<Prepared>(prepare_now(std::move(response), asked_, *gzip_));
    const auto delay = prepared->delay;
    outlet_->post(
        [session = session_, prepared] {
          if (const auto alive = session.lock()) alive->send(std::move(*prepared));
        },
        delay);
  }

 private:
  const std::shared_ptr<Outlet> outlet_;
  const std::shared_ptr<GzipCache> gzip_;
  const std::weak_ptr<Session> session_;
  const Asked asked_;
  std::atomic<bool> is_answered_ = false;
};

}  // namespace

ServerCore::ServerCore(const Limits &limits, Handler handler, std::size_t workers)
    : limits_(limits), handler_(std::move(handler)), outlet_(std::make_shared<Outlet>(loop_)) {
  // A connection asks one thing at a time.
  if (workers > 0) workers_ = std::make_unique<Workers>(workers, limits_.connections + limits_.streams);
}

ServerCore::~ServerCore() {
  workers_.reset();
  outlet_->shut();
  stop();
  loop_.poll();
}

Prepared ServerCore::prepare(Response response, const Asked &asked) {
  return prepare_now(std::move(response), asked, *gzip_);
}

bool ServerCore::has_room(const Peer &peer) const {
  if (connections_ - streams_ >= limits_.connections) return false;
  const auto same = per_address_.find(peer.address);
  return peer.is_loopback || same == per_address_.end() || same->second < limits_.connections_per_address;
}

void ServerCore::adopt(UniqueFd socket, const std::shared_ptr<const TlsContext> &tls) {
  if (sessions_.size() >= room_) {
    loop_.make_room_for_sockets(kMany);
    room_ = sessions_.size() + kMany;
  }
  auto transport = make_transport(loop_, std::move(socket), tls, transport_slab_);
  // One that is turned away before it has asked cannot be told why over TLS, and need not be without.
  if (stopping_ || !has_room(transport->peer())) return;
  const auto session =
      std::allocate_shared<Session>(SlabAllocator<Session>(session_slab_), *this, std::move(transport));
  session->set_place(sessions_.size());
  sessions_.push_back(session);
  connections_ = sessions_.size();
  most_connections_ = std::max(most_connections_, sessions_.size());
  ++per_address_[session->peer().address];
  session->start();
  keep_sweeping();
}

void ServerCore::remove(const std::shared_ptr<Session> &session) {
  const auto place = session->place();
  if (place >= sessions_.size() || sessions_[place] != session) return;
  std::swap(sessions_[place], sessions_.back());
  sessions_[place]->set_place(place);
  sessions_.pop_back();
  connections_ = sessions_.size();
  const auto same = per_address_.find(session->peer().address);
  if (--same->second == 0) per_address_.erase(same);
  // The allocator would keep what many connections have needed. A few may stay for hours.
  if (most_connections_ < kMany || sessions_.size() > most_connections_ / 8) return;
  sessions_.shrink_to_fit();
  loop_.after(100ms, [] {
    trim_heap();
    release_program_pages();
  });
  most_connections_ = sessions_.size();
}

void ServerCore::handle(const std::shared_ptr<Session> &session, Head head) {
  ++requests_;
  Asked asked{.is_head = head.request.method == Method::head,
              .keeps_alive = head.keeps_alive,
              .takes_gzip = head.takes_gzip,
              .if_none_match = std::string(head.request.header("if-none-match").value_or(""))};
  const auto ticket = std::make_shared<Ticket>(outlet_, gzip_, session, std::move(asked));
  auto work = [this, ticket, request = std::make_shared<const Request>(std::move(head.request))] {
    handler_(*request, [ticket](Response response) { ticket->answer(std::move(response)); });
  };
  if (!workers_) return work();
  if (workers_->post(std::move(work))) return;
  auto busy = error(503, "too many requests wait for an answer");
  busy.headers.emplace_back("Retry-After", "1");
  ticket->answer(std::move(busy));
}

void ServerCore::keep_sweeping() {
  if (std::exchange(sweeping_, true)) return;
  loop_.after(kSweepEvery, [this] {
    sweeping_ = false;
    sweep();
  });
}

void ServerCore::sweep() {
  const auto now = monotonic_now();
  const auto all = sessions_;
  for (const auto &session : all) session->sweep(now);
  if (!sessions_.empty()) keep_sweeping();
}

void ServerCore::stop() {
  stopping_ = true;
  close_all();
}

void ServerCore::close_all() {
  const auto all = sessions_;
  for (const auto &session : all) session->close();
}

}  // namespace gpulse::http
