// SPDX-License-Identifier: Apache-2.0
#include "tui/host_process_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tui/session.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

using term::Align;
using term::Key;

namespace {

std::vector<const HostProcess *> without_gpu(const Session &session, bool by_memory) {
  std::set<std::uint32_t> on_gpus;
  for (const auto &process : session.snapshot->processes) on_gpus.insert(process.pid);
  std::vector<const HostProcess *> found;
  for (const auto &[pid, process] : session.host_processes.all()) {
    if (!on_gpus.contains(pid)) found.push_back(&process);
  }
  std::ranges::stable_sort(found, [&](const HostProcess *a, const HostProcess *b) {
    if (by_memory) return a->memory_bytes > b->memory_bytes;
    return a->cpu_percent.value_or(-1) > b->cpu_percent.value_or(-1);
  });
  return found;
}

std::string rate_text(const Reading &rate, const term::Style &style) {
  return rate ? view::short_bytes(rate.value()) : std::string(style.dash());
}

std::string row_text(const HostProcess &process, const term::Style &style) {
  const auto cpu =
      process.cpu_percent ? fmt::format("{:.0f}%", process.cpu_percent.value()) : std::string(style.dash());
  return fmt::format("{:>8} {} {} {} {:>6} {} {}  {}", process.pid,
                     term::pad(term::cut(process.user, 10, style.ellipsis()), 10), process.state,
                     term::pad(cpu, 6, Align::right), view::short_bytes(process.memory_bytes),
                     term::pad(rate_text(process.read_bytes_per_second, style), 7, Align::right),
                     term::pad(rate_text(process.written_bytes_per_second, style), 7, Align::right),
                     style.unicode ? process.command : term::clean(process.command, false));
}

}  // namespace

bool HostProcessPage::handle(const term::Input &input, Session & /*session*/) {
  const auto move = [&](std::ptrdiff_t by) {
    first_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(first_) + by));
    return true;
  };
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input)) {
    if (mouse->action == term::MouseAction::press) return false;
    if (mouse->action == term::MouseAction::wheel_up || mouse->action == term::MouseAction::wheel_down) {
      scroll_by_wheel(first_, *mouse, page_);
    }
    return true;
  }
  const auto *key = std::get_if<term::KeyPress>(&input);
  if (key == nullptr) return true;
  if (is_letter(*key, U'P') || is_letter(*key, U'M')) {
    by_memory_ = is_letter(*key, U'M');
    return true;
  }
  if (key->key == Key::up || is_letter(*key, U'k')) return move(-1);
  if (key->key == Key::down || is_letter(*key, U'j')) return move(1);
  if (key->key == Key::page_up) return move(-static_cast<std::ptrdiff_t>(page_));
  if (key->key == Key::page_down) return move(static_cast<std::ptrdiff_t>(page_));
  if (key->key == Key::home) return move(-static_cast<std::ptrdiff_t>(first_));
  return false;
}

void HostProcessPage::draw(const term::Area &area, const Look &look, Session &session) {
  session.host_processes.look(session.now);
  const auto inner = open_page(area, look, "Busiest processes without a GPU", key_note(key_bar()));
  inner.put(
      0, 0,
      fmt::format("{:>8} {:<10} {} {:>6} {:>6} {:>7} {:>7}  {}", "PID", view::label_of(Scope::process, Role::user), "S",
                  view::label_of(Scope::process, Role::cpu), view::label_of(Scope::host, Role::host_memory), "READ/s",
                  "WRITE/s", view::label_of(Scope::process, Role::command)),
      look.theme->heading);
  const auto all = without_gpu(session, by_memory_);
  page_ = static_cast<std::size_t>(std::max(1, inner.rows() - 1));
  first_ = std::min(first_, all.size() > page_ ? all.size() - page_ : 0);
  for (std::size_t i = 0; i < page_ && first_ + i < all.size(); ++i) {
    const auto &process = *all[first_ + i];
    const int columns = beside_scrollbar(inner.columns(), page_, all.size());
    // What waits for a disk holds up who waits for it.
    const auto &ink = process.state == 'D'                    ? look.theme->warn
                      : process.cpu_percent.value_or(0) >= 90 ? look.theme->strong
                                                              : look.theme->text;
    inner.put(0, static_cast<int>(i) + 1, term::cut(row_text(process, look.style), columns, look.style.ellipsis()),
              ink);
  }
  draw_scrollbar(inner.part({0, 1, inner.columns(), inner.rows() - 1}), look, first_, page_, all.size());
}

void open_host_processes(Session &session) {
  if (session.snapshot == nullptr) return;
  if (session.options.replay) return session.say("a recording holds the processes on GPUs only", true);
  if (session.options.elsewhere) return session.say("an engine knows only the processes on GPUs", true);
  session.open(std::make_unique<HostProcessPage>());
}

}  // namespace gpulse::tui
