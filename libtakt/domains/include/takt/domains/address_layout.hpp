#pragma once

#include <cstdint>

#include "takt/allocation/allocator.hpp"
#include "takt/base/error.hpp"
#include "takt/memory/memory_file.hpp"

namespace takt::domains {

using allocation::Bytes;

/// The three parts of an allocator that several processes map, in this order: what is a process's
/// own, what all share on the host, and the memory of the device (component-cps, Figure 2.2). Each
/// process has them somewhere else, but at the same distances, so that messages can be offsets.
struct AddressLayout {
  Bytes own = 0;             // a; a multiple of the page
  Bytes shared = 0;          // b; a multiple of shared_unit
  Bytes device = 0;          // c; a multiple of device_unit
  Bytes shared_unit = 4096;  // m; a multiple of the page
  Bytes device_unit = 4096;  // n

  /// Equation 2.1: where the device's part begins is a multiple of it. Error: sizes that are no
  /// multiples of their units, or units whose common multiple is too large.
  [[nodiscard]] Result<Bytes> boundary_unit() const;
  /// Equation 2.2: the address space to reserve, so that a place is within it.
  [[nodiscard]] Result<Bytes> reserved() const;
  /// Equation 2.3: where the first part begins, in a reservation that begins at `reservation`. As
  /// printed it uses the place itself, which it is to find.
  [[nodiscard]] Result<std::uintptr_t> place(std::uintptr_t reservation) const;
};

/// Address space for the three parts, reserved by one call, so that no other thread gets what is
/// between them, and without memory or access. What is beside them is given back.
class AddressRange {
 public:
  /// Error: as of the layout, or the kernel's reason.
  static Result<AddressRange> make(const AddressLayout& layout);

  [[nodiscard]] std::uintptr_t own() const { return begin_; }
  [[nodiscard]] std::uintptr_t shared() const { return own() + layout_.own; }
  [[nodiscard]] std::uintptr_t device() const { return shared() + layout_.shared; }
  [[nodiscard]] std::uintptr_t end() const { return device() + layout_.device; }

 private:
  AddressRange(const AddressLayout& layout, memory::Mapping mapping);

  AddressLayout layout_;
  memory::Mapping mapping_;
  std::uintptr_t begin_;
};

}  // namespace takt::domains
