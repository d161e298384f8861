#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "takt/columns/arrow.hpp"

namespace takt::columns {

/// Memory of a column, whatever the type of its elements. Copies share it.
class Buffer {
 public:
  /// The contiguous elements.
  template <typename Elements>
  explicit Buffer(Elements elements) {
    auto owner = std::make_shared<const Elements>(std::move(elements));
    data_ = owner->data();
    owner_ = std::move(owner);
  }
  [[nodiscard]] const void* data() const { return data_; }

 private:
  std::shared_ptr<const void> owner_;
  const void* data_ = nullptr;
};

/// An Arrow array of one of the layouts that Takt uses, none with nulls. A structure of columns is
/// a table.
struct Column {
  std::string name;
  std::string format;  // as the Arrow C data interface writes types
  std::int64_t length = 0;
  /// Those after the bitmap of nulls.
  std::vector<Buffer> buffers;
  std::vector<Column> children;
  /// If the elements are positions in another column, that column alone; else empty.
  std::vector<Column> dictionary;
};

/// Numbers, all of `elements`.
[[nodiscard]] Column numbers(std::string name, std::vector<std::int64_t> elements);
[[nodiscard]] Column numbers(std::string name, std::vector<std::uint64_t> elements);
[[nodiscard]] Column numbers(std::string name, std::vector<std::uint16_t> elements);
/// Texts, one after the other in `bytes`, which is UTF-8; `ends` begins with 0 and has one more.
[[nodiscard]] Column texts(std::string name, std::vector<std::int64_t> ends, std::string bytes);
/// Lists of numbers, likewise.
[[nodiscard]] Column lists(std::string name, std::vector<std::int64_t> ends,
                           std::vector<std::uint64_t> elements);
/// Few different texts: element i is texts[positions[i]].
[[nodiscard]] Column choices(std::string name, std::vector<std::int32_t> positions, Column texts);
/// Columns of the same length side by side.
[[nodiscard]] Column table(std::string name, std::int64_t length, std::vector<Column> columns);

/// Fills the structures, which the receiver releases. The array shares the column's memory.
void export_schema(const Column& column, ArrowSchema& schema);
void export_array(const Column& column, ArrowArray& array);

}  // namespace takt::columns
