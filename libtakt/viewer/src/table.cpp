#include "takt/viewer/table.hpp"

#include <fmt/format.h>

#include <cassert>
#include <nlohmann/json.hpp>
#include <optional>

#include "column_file.hpp"
#include "takt/base/try.hpp"

namespace takt::viewer {
namespace {

/// Seven bits a byte, the lowest first; the lowest bit of all is the sign.
void append(std::string& bytes, std::int64_t value) {
  auto rest = value < 0 ? (~static_cast<std::uint64_t>(value) << 1) | 1
                        : static_cast<std::uint64_t>(value) << 1;
  for (; rest >= 0x80; rest >>= 7) {
    bytes += static_cast<char>((rest & 0x7f) | 0x80);
  }
  bytes += static_cast<char>(rest);
}

}  // namespace

struct Table::Part {
  Column column;
  /// On disk.
  std::optional<ColumnWriter> file;
  /// In memory.
  std::string bytes;
  std::int64_t previous = 0;
};

Table::Table(std::initializer_list<Column> columns) : Table(Storage(), {}, columns) {}

Table::Table(const Storage& storage, std::string_view name, std::initializer_list<Column> columns) {
  parts_.reserve(columns.size());
  for (const Column& column : columns) {
    Part& part = parts_.emplace_back(Part{column, {}, {}, 0});
    if (storage.on_disk()) {
      part.file.emplace(storage.folder(), name, column.name);
    }
  }
}

Table::~Table() = default;
Table::Table(Table&& other) noexcept = default;

void Table::add(std::initializer_list<std::int64_t> row) {
  assert(row.size() == parts_.size());
  ++rows_;
  auto part = parts_.begin();
  for (const std::int64_t value : row) {
    if (part->file) {
      part->file->add(value);
    } else {
      append(part->bytes, part->column.coding == Coding::delta ? value - part->previous : value);
      part->previous = value;
    }
    ++part;
  }
}

Result<void> Table::close() {
  for (Part& part : parts_) {
    if (!part.file) {
      continue;
    }
    TAKT_TRY(part.file->close());
  }
  return {};
}

std::string Table::block() const {
  auto header = nlohmann::ordered_json{{"rows", rows_}, {"columns", nlohmann::json::array()}};
  for (const Part& part : parts_) {
    header["columns"].push_back(
        {{"name", part.column.name},
         {"coding", part.column.coding == Coding::delta ? "delta" : "plain"},
         {"bytes", part.bytes.size()}});
  }
  const std::string text = header.dump();
  std::string block;
  for (int shift = 0; shift < 32; shift += 8) {
    block += static_cast<char>((text.size() >> shift) & 0xff);
  }
  block += text;
  for (const Part& part : parts_) {
    block += part.bytes;
  }
  return block;
}

}  // namespace takt::viewer
