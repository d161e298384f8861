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
  /// The buffers after the bitmap of nulls.
  std::vector<Buffer> buffers;
  std::vector<Column> children;
  /// If the elements are positions in another column, that column alone; else empty.
  std::vector<Column> dictionary;
};

/// A column of numbers.
[[nodiscard]] Column numbers(std::string name, std::vector<std::int64_t> elements);
[[nodiscard]] Column numbers(std::string name, std::vector<std::uint64_t> elements);
[[nodiscard]] Column numbers(std::string name, std::vector<std::uint16_t> elements);
/// A column of texts, which stand one after the other in `bytes` (UTF-8). `ends` holds 0 and then
/// the end of each text.
[[nodiscard]] Column texts(std::string name, std::vector<std::int64_t> ends, std::string bytes);
/// A column of lists of numbers, laid out like texts.
[[nodiscard]] Column lists(std::string name, std::vector<std::int64_t> ends,
                           std::vector<std::uint64_t> elements);
/// A column of few different texts: element i is texts[positions[i]].
[[nodiscard]] Column choices(std::string name, std::vector<std::int32_t> positions, Column texts);
/// A table of columns of the same length.
[[nodiscard]] Column table(std::string name, std::int64_t length, std::vector<Column> columns);

/// Fills the structures, which the receiver releases. The array shares the column's memory.
void export_schema(const Column& column, ArrowSchema& schema);
void export_array(const Column& column, ArrowArray& array);

}  // namespace takt::columns
