#pragma once

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/viewer/storage.hpp"

namespace takt::viewer {

/// How a column of a table is written into a page: its values, or the differences between
/// neighbours, which take fewer bytes where those are close.
enum class Coding { plain, delta };

/// A table of whole numbers on its way to the viewer. In memory it is encoded while it grows
/// (docs/viewer-data.md, "Bytes"). On disk each column is a file FOLDER/TABLE.COLUMN of signed
/// 64-bit numbers in the machine's byte order, which can be searched where they are.
class Table {
 public:
  struct Column {
    std::string_view name;
    Coding coding = Coding::plain;
  };

  /// In memory.
  Table(std::initializer_list<Column> columns);
  /// Where the storage says.
  Table(const Storage& storage, std::string_view name, std::initializer_list<Column> columns);

  /// Adds a row: a value for each column, each within ±2^51.
  void add(std::initializer_list<std::int64_t> row);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// The table as one block of bytes; of one in memory. O(size).
  [[nodiscard]] std::string block() const;
  /// Writes the rest of the files. Error: one could not be written.
  [[nodiscard]] Result<void> close();

 private:
  struct Part {
    Column column;
    /// In memory: all of the column. On disk: what has not been written yet.
    std::string bytes;
    std::int64_t previous = 0;
    std::ofstream file{};
  };
  std::vector<Part> parts_;
  std::uint64_t rows_ = 0;
  bool on_disk_ = false;
  std::string folder_{};
};

}  // namespace takt::viewer
