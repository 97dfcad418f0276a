// SPDX-License-Identifier: Apache-2.0
// Test support: a made-up machine with Intel devices. The test writes its files and sets the time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_folder.hpp"
#include "source/intel/intel_source.hpp"

namespace gpulse::intel::test {

class IntelMachine {
 public:
  // Keeps the name tables of the machine that runs the test out.
  IntelMachine() {
    for (const auto *const table : {"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"}) write(table, "");
  }

  const TemporaryFolder &files() const { return folder_; }
  void write(std::string_view path, std::string_view text) const { folder_.write(path, text); }
  void write(std::string_view path, std::uint64_t number) const { folder_.write(path, std::to_string(number) + "\n"); }

  // Its render node is 128 + its number.
  std::string add_card(int number, const std::string &driver, const std::string &pci,
                       std::string_view status = "active") const {
    const auto folder = "/sys/class/drm/card" + std::to_string(number);
    write(folder + "/device/uevent", "DRIVER=" + driver + "\nPCI_ID=8086:56A5\nPCI_SLOT_NAME=" + pci + "\n");
    write(folder + "/device/power/runtime_status", std::string(status) + "\n");
    folder_.make_folder(folder + "/device/drm/renderD" + std::to_string(128 + number));
    return folder;
  }

  void add_process(int pid, int fd, std::string_view node, std::string_view fdinfo) const {
    const auto folder = "/proc/" + std::to_string(pid);
    write(folder + "/stat", std::to_string(pid) + " (app) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
                                std::to_string(1000 + pid) + " 0 0\n");
    folder_.remove(folder + "/fd/" + std::to_string(fd));
    folder_.link(folder + "/fd/" + std::to_string(fd), node);
    write(folder + "/fdinfo/" + std::to_string(fd), fdinfo);
  }

  Sysroot root() const { return folder_.root(); }

 private:
  TemporaryFolder folder_;
};

// A source, its devices and their newest readings.
class Watch {
 public:
  explicit Watch(const IntelMachine &machine, const SourceOptions &options = {}, OpenCounter open = {})
      : source_(make_source_with(machine.root(), options, std::make_shared<drm::DeviceUsers>(machine.root()),
                                 std::move(open))) {
    find();
  }

  void find() {
    found_ = source_->discover();
    frames_.assign(found_.entities.size(), Frame{Row(Scope::device), {}});
  }
  // Calls every reader of every device that is awake, as the sampler would.
  std::vector<Outcome> read(Monotonic now) {
    std::vector<Outcome> ends;
    for (std::size_t entity = 0; entity < frames_.size(); ++entity) {
      auto end = Outcome::ok;
      for (std::size_t i = 0; i < source_->readers().size() && end != Outcome::asleep; ++i) {
        if (found_.entities[entity].state != DeviceState::ok) break;
        end = source_->read(entity, i, now, frames_[entity]);
      }
      ends.push_back(end);
    }
    return ends;
  }

  Source &source() { return *source_; }
  const Discovery &found() const { return found_; }
  const Frame &frame(std::size_t entity = 0) const { return frames_[entity]; }
  const Row &row(std::size_t entity = 0) const { return frames_[entity].row; }

 private:
  std::unique_ptr<Source> source_;
  Discovery found_;
  std::vector<Frame> frames_;
};

}  // namespace gpulse::intel::test
