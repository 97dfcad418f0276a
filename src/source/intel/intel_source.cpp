// SPDX-License-Identifier: Apache-2.0
#include "source/intel/intel_source.hpp"

#include <algorithm>
#include <array>

#include "source/drm/names.hpp"
#include "source/intel/readers.hpp"

namespace gpulse::intel {

namespace {

class IntelSource final : public Source {
 public:
  IntelSource(const Sysroot &root, const SourceOptions &options, std::shared_ptr<drm::DeviceUsers> device_users,
              OpenCounter open_counter)
      : context_{root, std::move(device_users), std::move(open_counter), options.wake},
        names_(root),
        idle_cards_(options.idle_release_after) {
    for (const auto &reader : intel::readers()) infos_.push_back(reader.info);
  }

  std::string_view name() const override { return "intel"; }
  std::span<const ReaderInfo> readers() const override { return infos_; }
  bool changed() override {
    return idle_cards_.try_take_back(context_.root, cards_, monotonic_now()) || list() != cards_;
  }

  Discovery discover() override {
    auto known = std::move(devices_);
    devices_.clear();
    cards_ = list();
    Discovery found;
    for (const auto &card : cards_) {
      found.entities.push_back({.scope = Scope::device,
                                .state = card.asleep ? DeviceState::asleep : DeviceState::ok,
                                .identity = identity_of(card)});
      // A device that has not changed keeps its counters: it must not lose them because another one came or fell
      // asleep.
      const auto same = std::find_if(known.begin(), known.end(), [&](const auto &device) {
        return device != nullptr && !card.asleep && device->card == card;
      });
      devices_.push_back(same != known.end() ? std::move(*same) : make_device(context_, card));
    }
    drm::explain_unlisted(context_.root, found);
    return found;
  }

  Outcome read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) override {
    return intel::readers()[reader].read({context_, idle_cards_, *devices_[entity], now, frame});
  }

 private:
  std::vector<drm::Card> list() const {
    auto cards = drm::list_cards(
        context_.root, [](std::string_view driver) { return driver == kI915 || driver == kXe || driver == kNpu; });
    for (auto &card : cards) card.asleep = card.asleep && !context_.wake;
    return cards;
  }

  std::shared_ptr<DeviceIdentity> identity_of(const drm::Card &card) {
    auto identity = std::make_shared<DeviceIdentity>();
    identity->source = "intel";
    identity->vendor = "intel";
    identity->uuid = drm::default_uuid(context_.root, card);
    identity->pci = card.pci;
    identity->name = names_.product(card, card.driver == kNpu ? "Intel NPU" : "");
    identity->driver = drm::driver_text(context_.root, card);
    return identity;
  }

  ReaderContext context_;
  drm::Names names_;
  drm::IdleCards idle_cards_;
  std::vector<ReaderInfo> infos_;
  std::vector<drm::Card> cards_;
  std::vector<std::unique_ptr<Device>> devices_;  // one per card
};

}  // namespace

std::unique_ptr<Source> make_source_with(const Sysroot &root, const SourceOptions &options,
                                         std::shared_ptr<drm::DeviceUsers> device_users, OpenCounter open_counter) {
  return std::make_unique<IntelSource>(root, options, std::move(device_users), std::move(open_counter));
}

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options,
                                    std::shared_ptr<drm::DeviceUsers> device_users) {
  return make_source_with(root, options, std::move(device_users),
                          root.is_machine() ? OpenCounter(open_perf_counter) : OpenCounter());
}

}  // namespace gpulse::intel
