#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace takt::capture::ebpf {

/// A set of addresses of which most questions are about other numbers: those are answered by a
/// look at one bit.
class AddressSet {
 public:
  void insert(std::uint64_t address) {
    bits_[place(address) / 64] |= std::uint64_t{1} << (place(address) % 64);
    addresses_.insert(address);
  }
  [[nodiscard]] bool contains(std::uint64_t address) const {
    return (bits_[place(address) / 64] >> (place(address) % 64) & 1) != 0 &&
           addresses_.contains(address);
  }
  [[nodiscard]] std::size_t size() const { return addresses_.size(); }
  [[nodiscard]] auto begin() const { return addresses_.begin(); }
  [[nodiscard]] auto end() const { return addresses_.end(); }

 private:
  static constexpr int place_bits = 16;

  /// The upper bits of a product depend on all bits of the address.
  static std::size_t place(std::uint64_t address) {
    return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15U) >> (64 - place_bits));
  }

  std::array<std::uint64_t, (std::size_t{1} << place_bits) / 64> bits_{};
  std::unordered_set<std::uint64_t> addresses_;
};

}  // namespace takt::capture::ebpf
