// SPDX-License-Identifier: Apache-2.0
// SQLite as values that clean up after themselves: the only place that knows its functions. One thread for each
// database.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace gpulse::history {

// What a failure means for the one who writes.
enum class Trouble : std::uint8_t { none, damaged, foreign, full, busy, other };

// A prepared statement. Parameters are counted from 1, columns from 0.
class Statement {
 public:
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  // These must stay where they are until the next reset().
  void bind(int parameter, std::string_view text);
  void bind(int parameter, std::span<const std::byte> bytes);
  void bind_null(int parameter);

  // True: there is a row.
  Result<bool> step();
  // For one without rows: steps, and makes it ready for the next time.
  Result<void> run();
  void reset();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  // The number of the row that was inserted last.
  std::int64_t last_row() const;
  // Good until the next step().
  std::string_view text(int column) const;
  std::span<const std::byte> blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt *statement) const;
  };
  Statement(sqlite3_stmt *statement, std::shared_ptr<Trouble> trouble)
      : statement_(statement), trouble_(std::move(trouble)) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::shared_ptr<Trouble> trouble_;
};

class Database {
 public:
  enum class Mode : std::uint8_t { write, read };

  // A reader never waits for a writer, nor a writer for a reader. `path` is made where it is to be written and not
  // there.
  static Result<Database> open(const std::string &path, Mode mode);

  // One statement or several, without rows.
  Result<void> run(const std::string &sql);
  Result<Statement> prepare(std::string_view sql);
  // The first column of the first row; none: there is no row, or it is null.
  Result<std::optional<std::int64_t>> integer(std::string_view sql);
  Result<std::optional<std::string>> text(std::string_view sql);

  // Of the last failure, also of a statement. What is taken back after it is no other.
  Trouble trouble() const { return *trouble_; }
  // Pages in the journal, as of the last commit.
  int journal_pages() const { return *journal_pages_; }
  const std::string &path() const { return path_; }
  // A statement that runs ends soon after the stop is asked for, or the time has come.
  void end_with(const std::stop_token &stop, Monotonic deadline = Monotonic::max());
  bool has_to_end() const;
  // What it keeps of the file is read again when it is needed.
  void release_memory();

 private:
  struct Close {
    void operator()(sqlite3 *database) const;
  };
  friend class Transaction;
  Database(sqlite3 *database, std::string path) : database_(database), path_(std::move(path)) {}
  std::unexpected<Error> problem() const;
  void take_back();

  struct End {
    std::stop_token stop{};
    Monotonic deadline = Monotonic::max();
    bool has_come() const;
  };
  std::unique_ptr<End> end_ = std::make_unique<End>();  // stays where it is: SQLite asks it
  std::shared_ptr<Trouble> trouble_ = std::make_shared<Trouble>(Trouble::none);
  std::unique_ptr<int> journal_pages_ = std::make_unique<int>(0);
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

// All or nothing: taken back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database &database);
  Transaction(Transaction &&other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction &operator=(Transaction &&) = delete;
  Transaction(const Transaction &) = delete;
  Transaction &operator=(const Transaction &) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(Database &database) : database_(&database) {}
  Database *database_;
};

}  // namespace gpulse::history
