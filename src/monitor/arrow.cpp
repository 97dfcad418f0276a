// SPDX-License-Identifier: Apache-2.0
#include "monitor/arrow.hpp"

#include <array>
#include <cerrno>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "monitor/arrow_abi.hpp"

namespace gpulse::monitor {

namespace {

constexpr std::int64_t kNullable = 2;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

const char *format_of(const Column &column) {
  return std::visit(Overloaded{[](const Times &) { return "tsn:UTC"; }, [](const Integers &) { return "l"; },
                               [](const Numbers &) { return "g"; }, [](const Strings &) { return "u"; }},
                    column.data);
}

// What a schema or an array owns. A child is moved out by its reader or released with its parent, as the interface
// says; each keeps the table alive on its own.
template <class Part>
struct Owned {
  std::shared_ptr<const Table> table;
  std::vector<Part> parts{};  // the children
  std::vector<Part *> children{};
  std::array<const void *, 3> buffers{};
};

template <class Part>
void release(Part *part) {
  for (std::int64_t i = 0; i < part->n_children; ++i) {
    auto *child = part->children[i];
    if (child->release != nullptr) child->release(child);
  }
  delete static_cast<Owned<Part> *>(part->private_data);
  part->release = nullptr;
}

ArrowSchema schema_of(const std::shared_ptr<const Table> &table, const Column &column) {
  auto owned = std::make_unique<Owned<ArrowSchema>>();
  owned->table = table;
  return {.format = format_of(column),
          .name = column.name.c_str(),
          .metadata = nullptr,
          .flags = kNullable,
          .n_children = 0,
          .children = nullptr,
          .dictionary = nullptr,
          .release = release<ArrowSchema>,
          .private_data = owned.release()};
}

ArrowArray array_of(const std::shared_ptr<const Table> &table, const Column &column) {
  auto owned = std::make_unique<Owned<ArrowArray>>();
  owned->table = table;
  auto &buffers = owned->buffers;
  std::int64_t count = 2;
  std::int64_t missing = 0;
  std::visit(Overloaded{[&](const Strings &data) {
                          buffers = {nullptr, data.offsets.data(), data.text.data()};
                          count = 3;
                        },
                        [&](const Times &data) { buffers = {nullptr, data.values.data(), nullptr}; },
                        [&](const auto &data) {
                          missing = static_cast<std::int64_t>(data.validity.missing());
                          buffers = {missing > 0 ? data.validity.data() : nullptr, data.values.data(), nullptr};
                        }},
             column.data);
  return {.length = static_cast<std::int64_t>(table->rows),
          .null_count = missing,
          .offset = 0,
          .n_buffers = count,
          .n_children = 0,
          .buffers = buffers.data(),
          .children = nullptr,
          .dictionary = nullptr,
          .release = release<ArrowArray>,
          .private_data = owned.release()};
}

template <class Part, class Make>
Owned<Part> *with_children(const std::shared_ptr<const Table> &table, Make make) {
  auto owned = std::make_unique<Owned<Part>>();
  owned->table = table;
  owned->parts.reserve(table->columns.size());
  owned->children.reserve(table->columns.size());
  try {
    for (const auto &column : table->columns) owned->parts.push_back(make(table, column));
  } catch (...) {
    for (auto &part : owned->parts) part.release(&part);
    throw;
  }
  for (auto &part : owned->parts) owned->children.push_back(&part);
  return owned.release();
}

// Readers are of any language: what goes wrong reaches them as a number.
int error_number(const auto &work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

struct Stream {
  std::shared_ptr<const Table> table;
  bool done = false;
};

int get_schema(ArrowArrayStream *stream, ArrowSchema *out) {
  return error_number([&] {
    const auto &table = static_cast<Stream *>(stream->private_data)->table;
    auto *owned = with_children<ArrowSchema>(table, schema_of);
    *out = {.format = "+s",
            .name = "",
            .metadata = nullptr,
            .flags = 0,
            .n_children = static_cast<std::int64_t>(owned->children.size()),
            .children = owned->children.data(),
            .dictionary = nullptr,
            .release = release<ArrowSchema>,
            .private_data = owned};
  });
}

int get_next(ArrowArrayStream *stream, ArrowArray *out) {
  return error_number([&] {
    auto &self = *static_cast<Stream *>(stream->private_data);
    *out = {};
    if (self.done) return;
    auto *owned = with_children<ArrowArray>(self.table, array_of);
    self.done = true;
    *out = {.length = static_cast<std::int64_t>(self.table->rows),
            .null_count = 0,
            .offset = 0,
            .n_buffers = 1,
            .n_children = static_cast<std::int64_t>(owned->children.size()),
            .buffers = owned->buffers.data(),
            .children = owned->children.data(),
            .dictionary = nullptr,
            .release = release<ArrowArray>,
            .private_data = owned};
  });
}

}  // namespace

void export_arrow(std::shared_ptr<const Table> table, void *stream) {
  *static_cast<ArrowArrayStream *>(stream) = {
      .get_schema = get_schema,
      .get_next = get_next,
      .get_last_error = [](ArrowArrayStream *) -> const char * { return nullptr; },
      .release =
          [](ArrowArrayStream *self) {
            delete static_cast<Stream *>(self->private_data);
            self->release = nullptr;
          },
      .private_data = new Stream{.table = std::move(table)}};
}

}  // namespace gpulse::monitor
