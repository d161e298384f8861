#pragma once

#include <cstdint>
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
/// (docs/viewer-data.md, "Bytes"). On disk each column is a file FOLDER/TABLE.COLUMN, which can be
/// searched where it is.
class Table {
 public:
  struct Column {
    std::string_view name;
    Coding coding = Coding::plain;
  };

  /// In memory.
  Table(std::initializer_list<Column> columns);
  /// In memory or on disk, as the storage says.
  Table(const Storage& storage, std::string_view name, std::initializer_list<Column> columns);
  ~Table();
  Table(Table&& other) noexcept;
  Table& operator=(Table&& other) = delete;

  /// Adds a row: a value for each column, each within ±2^51.
  void add(std::initializer_list<std::int64_t> row);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// A table in memory as one block of bytes. O(size).
  [[nodiscard]] std::string block() const;
  /// Writes the rest of the files. Error: one could not be written.
  [[nodiscard]] Result<void> close();

 private:
  struct Part;

  std::vector<Part> parts_;
  std::uint64_t rows_ = 0;
};

}  // namespace takt::viewer
