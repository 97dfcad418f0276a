// SPDX-License-Identifier: Apache-2.0
#include "history/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

namespace gpulse::history {

namespace {

// What a file may make us take at once.
constexpr int kLongestValue = 64 << 20;
// Somebody else's checkpoint or recovery may hold the file for a moment.
constexpr int kPatience = 2000;  // ms

Trouble trouble_of(int code) {
  switch (code) {
    case SQLITE_CORRUPT:
      return Trouble::damaged;
    case SQLITE_NOTADB:
      return Trouble::foreign;
    case SQLITE_FULL:
      return Trouble::full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Trouble::busy;
    default:
      return Trouble::other;
  }
}

std::unexpected<Error> problem_of(sqlite3 *database, const std::string &path, Trouble &trouble) {
  trouble = Trouble::other;
  if (database == nullptr) return failure(path + " cannot be opened: no memory");
  const int code = sqlite3_errcode(database);
  trouble = trouble_of(code);
  switch (code) {
    case SQLITE_FULL:
      return failure(fmt::format("{} cannot be written: the disk is full", path));
    case SQLITE_CORRUPT:
      return failure(fmt::format("{} is damaged ({})", path, sqlite3_errmsg(database)));
    case SQLITE_NOTADB:
      return failure(fmt::format("{} is no database", path));
    case SQLITE_READONLY:
      return failure(fmt::format("{} cannot be written: it is read-only", path));
    default:
      return failure(fmt::format("{}: {}", path, sqlite3_errmsg(database)));
  }
}

// That nobody writes the file meanwhile.
std::string uri_of(const std::string &path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                          c == '.' || c == '-' || c == '_';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3 *database) const { sqlite3_close_v2(database); }

// A parameter that is not there is a mistake in the statement, which its first step tells.
void Statement::bind(int parameter, std::int64_t value) { sqlite3_bind_int64(statement_.get(), parameter, value); }
void Statement::bind(int parameter, double value) { sqlite3_bind_double(statement_.get(), parameter, value); }
void Statement::bind_null(int parameter) { sqlite3_bind_null(statement_.get(), parameter); }
void Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}
void Statement::bind(int parameter, std::span<const std::byte> bytes) {
  static constexpr std::byte kNothing{};
  sqlite3_bind_blob64(statement_.get(), parameter, bytes.empty() ? &kNothing : bytes.data(), bytes.size(),
                      SQLITE_STATIC);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto *database = sqlite3_db_handle(statement_.get());
  const char *path = sqlite3_db_filename(database, "main");
  return problem_of(database, path == nullptr ? "" : path, *trouble_);
}

Result<void> Statement::run() {
  const auto stepped = step();
  reset();
  if (!stepped) return std::unexpected(stepped.error());
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::int64_t Statement::last_row() const { return sqlite3_last_insert_rowid(sqlite3_db_handle(statement_.get())); }

std::string_view Statement::text(int column) const {
  const auto *bytes = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? std::string_view{} : std::string_view(static_cast<const char *>(bytes), size);
}

std::span<const std::byte> Statement::blob(int column) const { return std::as_bytes(std::span(text(column))); }

Result<Database> Database::open(const std::string &path, Mode mode) {
  const bool writes = mode == Mode::write;
  sqlite3 *opened = nullptr;
  // One without its journal, such as a copy, needs none: it would have to be made, where we may have no right to.
  const bool stands_alone = !writes && ::access((path + "-wal").c_str(), F_OK) != 0;
  const int flags = (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
                    (stands_alone ? SQLITE_OPEN_URI : 0) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  sqlite3_open_v2(stands_alone ? uri_of(path).c_str() : path.c_str(), &opened, flags, nullptr);
  Database database(opened, path);
  auto *handle = database.database_.get();
  if (handle == nullptr || sqlite3_errcode(handle) != SQLITE_OK) return database.problem();
  sqlite3_extended_result_codes(handle, 0);
  sqlite3_busy_timeout(handle, kPatience);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Takes the place of the checkpoints that SQLite makes by itself, whose failures nobody hears of.
  const auto count = [](void *place, sqlite3 *, const char *, int pages) {
    *static_cast<int *>(place) = pages;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(handle, count, database.journal_pages_.get());
  // The journal stays when it is closed: those who may not write could not read without it.
  int stays = 1;
  if (writes) sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &stays);
  // Whoever made the file, its triggers and views call nothing.
  if (const auto done = database.run("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0"); !done)
    return std::unexpected(done.error());
  return database;
}

void Database::release_memory() { sqlite3_db_release_memory(database_.get()); }

Result<void> Database::run(const std::string &sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return problem();
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt *statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK) {
    return problem();
  }
  return Statement(statement, trouble_);
}

Result<std::optional<std::int64_t>> Database::integer(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  if (!*row || statement->is_null(0)) return std::nullopt;
  return statement->integer(0);
}

Result<std::optional<std::string>> Database::text(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  if (!*row || statement->is_null(0)) return std::nullopt;
  return std::string(statement->text(0));
}

bool Database::End::has_come() const {
  return stop.stop_requested() || (deadline != Monotonic::max() && monotonic_now() >= deadline);
}

bool Database::has_to_end() const { return end_->has_come(); }

void Database::end_with(const std::stop_token &stop, Monotonic deadline) {
  constexpr int kInstructions = 10000;
  *end_ = {.stop = stop, .deadline = deadline};
  const auto ask = [](void *end) { return static_cast<const End *>(end)->has_come() ? 1 : 0; };
  sqlite3_progress_handler(database_.get(), kInstructions, ask, end_.get());
}

std::unexpected<Error> Database::problem() const { return problem_of(database_.get(), path_, *trouble_); }

// Where it fails the database has taken it back already.
void Database::take_back() { sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr); }

Result<Transaction> Transaction::begin(Database &database) {
  if (const auto done = database.run("BEGIN IMMEDIATE"); !done) return std::unexpected(done.error());
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) database_->take_back();
}

Result<void> Transaction::commit() {
  auto done = database_->run("COMMIT");
  if (done) database_ = nullptr;
  return done;
}

}  // namespace gpulse::history
