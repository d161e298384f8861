#include "takt/viewer/table.hpp"

#include <fmt/format.h>

#include <cassert>
#include <nlohmann/json.hpp>

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

/// Bytes of a column on disk that are written at once.
constexpr std::size_t buffered = std::size_t{1} << 16;

}  // namespace

Table::Table(std::initializer_list<Column> columns) : Table(Storage(), {}, columns) {}

Table::Table(const Storage& storage, std::string_view name, std::initializer_list<Column> columns)
    : on_disk_(storage.on_disk()), folder_(storage.folder().string()) {
  for (const Column& column : columns) {
    parts_.push_back({column, {}, 0, {}});
    if (on_disk_) {
      parts_.back().file.open(storage.folder() / fmt::format("{}.{}", name, column.name),
                              std::ios::binary | std::ios::trunc);
    }
  }
}

void Table::add(std::initializer_list<std::int64_t> row) {
  assert(row.size() == parts_.size());
  ++rows_;
  auto part = parts_.begin();
  for (const std::int64_t value : row) {
    if (on_disk_) {
      part->bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
      if (part->bytes.size() >= buffered) {
        part->file << part->bytes;
        part->bytes.clear();
      }
    } else {
      append(part->bytes, part->column.coding == Coding::delta ? value - part->previous : value);
      part->previous = value;
    }
    ++part;
  }
}

Result<void> Table::close() {
  for (Part& part : parts_) {
    if (!on_disk_) {
      continue;
    }
    part.file << part.bytes;
    part.bytes.clear();
    part.file.close();
    if (part.file.fail()) {
      return error("{}: cannot be written: is the disk full?", folder_);
    }
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
