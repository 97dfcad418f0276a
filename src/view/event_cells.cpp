// SPDX-License-Identifier: Apache-2.0
#include "view/event_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "insight/usual.hpp"
#include "model/xid.hpp"

namespace gpulse::view {

namespace {

using insight::is_usual;

constexpr auto kThrottle = role_metric<Scope::device>(Role::throttle);

std::string capitalised(std::string_view text) {
  std::string sentence(text);
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') {
    sentence[0] = static_cast<char>(sentence[0] - ('a' - 'A'));
  }
  return sentence + '.';
}

// "lost" where the event says no more than its kind does.
std::string words_or(std::string_view words, const Event &event) {
  return event.text.empty() || event.text == word(event.kind) ? std::string(words)
                                                              : fmt::format("{}: {}", words, event.text.str());
}

}  // namespace

std::string event_place(const Snapshot &snapshot, const Event &event) {
  const auto found = std::ranges::find_if(snapshot.devices, [&](const Device &device) {
    return device.identity && !event.device.empty() && device.identity->uuid == event.device;
  });
  return found == snapshot.devices.end() ? event.device.str() : fmt::format("GPU {}", text(found->id));
}

std::string event_words(const Event &event) {
  switch (event.kind) {
    case EventKind::xid: {
      const auto *entry = find_xid(event.code);
      return entry != nullptr ? fmt::format("XID {}: {}", event.code, entry->meaning)
                              : fmt::format("XID {}: an error of the driver", event.code);
    }
    case EventKind::throttle:
      return words_or(is_usual(event) ? "at its limit" : "slowed down", event);
    case EventKind::throttle_ended:
      return words_or(is_usual(event) ? "no longer at its limit" : "no longer slowed down", event);
    case EventKind::lost:
      return words_or("lost", event);
    case EventKind::not_responding:
      return words_or("does not respond", event);
    case EventKind::back:
      return words_or("answers again", event);
    case EventKind::asleep:
      return "fell asleep";
    case EventKind::awake:
      return "woke up";
    case EventKind::found:
      return "was found";
    case EventKind::finding_ended:
      return words_or("no longer", event);
    case EventKind::process:
      return fmt::format("process {}", event.text.str());
    case EventKind::other:
    case EventKind::ecc:
    case EventKind::power_source:
    case EventKind::mig:
    case EventKind::phase:
    case EventKind::finding:
      break;
  }
  return event.text.empty() ? std::string(word(event.kind)) : event.text.str();
}

term::Colour event_colour(const Event &event) {
  if (is_usual(event)) return term::Colour::dim;
  switch (severity(event.kind)) {
    case Severity::note:
      break;
    case Severity::warning: {
      const auto bits = static_cast<std::uint64_t>(event.code);
      const bool grave = event.kind == EventKind::throttle && (bits & describe(kThrottle).grave) != 0;
      return grave ? term::Colour::bad : term::Colour::warn;
    }
    case Severity::critical: {
      const auto *xid = event.kind == EventKind::xid ? find_xid(event.code) : nullptr;
      return xid != nullptr && xid->application ? term::Colour::warn : term::Colour::bad;
    }
  }
  return term::Colour::plain;
}

std::vector<std::string> event_advice(const Event &event) {
  switch (event.kind) {
    case EventKind::xid: {
      const auto *entry = find_xid(event.code);
      if (entry == nullptr) return {"No entry for this number: see the kernel's log for the driver's own words."};
      std::vector<std::string> said{capitalised(entry->meaning), "What to do: " + std::string(entry->remedy) + "."};
      if (entry->application) said.emplace_back("It is the program's fault; the device is fine.");
      return said;
    }
    case EventKind::throttle:
    case EventKind::throttle_ended:
      if (is_usual(event)) {
        return {std::string(describe(kThrottle).meaning), "Nothing to do: a board at full load draws what it may."};
      }
      return {std::string(describe(kThrottle).meaning),
              "What to do: for heat, look after fans, air flow and neighbours; for a brake of the hardware, after the "
              "power supply."};
    case EventKind::ecc:
      return {
          "What was corrected was right; what was not ended the program that met it. The page of the GPU has the "
          "counts.",
          "What to do: if the counts grow, reset the device when it is idle; if they go on growing, have it replaced."};
    case EventKind::lost:
      return {"The driver can no longer reach the device.",
              "What to do: look for an XID before it; restart the machine, with power off if need be, then check power "
              "supply, seat in the slot and heat."};
    case EventKind::not_responding:
      return {"The driver has not answered in time; it is asked again by and by.",
              "What to do: see the kernel's log. A program that hangs in the driver can be the reason."};
    case EventKind::finding:
      return {"D on the main page has the evidence, and what to try first."};
    case EventKind::asleep:
      return {"A device without work may switch itself off to save power. Reading from it would wake it."};
    default:
      break;
  }
  return {};
}

}  // namespace gpulse::view
