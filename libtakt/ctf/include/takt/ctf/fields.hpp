#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "takt/tracepoints/events.hpp"

namespace takt::ctf {

/// The fields of programs' events as bytes of a stream, in the order of the list.
class Fields {
 public:
  /// A gid has `gid_size` bytes.
  explicit Fields(std::size_t gid_size) : gid_size_(gid_size) {}

  /// The bytes last until the next call.
  template <typename Event>
  [[nodiscard]] std::span<const std::byte> encode(const Event& event) {
    bytes_.clear();
    Event::for_each_field(event, [this](const auto& field) { put(field); });
    return bytes_;
  }

 private:
  void put(std::uint64_t value) { append(std::as_bytes(std::span(&value, 1))); }
  void put(std::int64_t value) { append(std::as_bytes(std::span(&value, 1))); }
  void put(bool flag) {
    const std::int32_t value = flag ? 1 : 0;
    append(std::as_bytes(std::span(&value, 1)));
  }
  void put(std::string_view text) {
    append(std::as_bytes(std::span(text)));
    bytes_.push_back(std::byte{0});
  }
  void put(std::span<const tracepoints::Handle> handles) {
    put(std::uint64_t{handles.size()});
    append(std::as_bytes(handles));
  }
  void put(const tracepoints::Gid& gid) {
    for (const std::uint64_t half : gid) {
      for (int shift = 56; shift >= 0; shift -= 8) {
        bytes_.push_back(static_cast<std::byte>(half >> shift));
      }
    }
    bytes_.resize(bytes_.size() + gid_size_ - sizeof gid);
  }
  void append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  std::size_t gid_size_;
  std::vector<std::byte> bytes_;
};

}  // namespace takt::ctf
