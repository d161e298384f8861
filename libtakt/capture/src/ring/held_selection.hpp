#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "takt/base/descriptor.hpp"
#include "takt/capture/ring/mapping.hpp"

namespace takt::capture::ring {

/// What a recorder wants of a process whose ring it does not read, since LTTng records it. It is in
/// the ring as long as this object lives; then the process gives everything again. A ring has one
/// selection: it belongs to who has the ring's lock, as its reader has.
class HeldSelection {
 public:
  /// `memory`: of the ring, stays the caller's; `text`: as selection_text() has it. None: not a
  /// ring, or another recorder has it, whose selection is left alone.
  [[nodiscard]] static std::optional<HeldSelection> put(int memory, std::string_view text);

  HeldSelection(HeldSelection&&) noexcept = default;
  HeldSelection& operator=(HeldSelection&&) = delete;
  ~HeldSelection();

 private:
  HeldSelection(Mapping mapping, Descriptor lock)
      : mapping_(std::move(mapping)), lock_(std::move(lock)) {}

  Mapping mapping_;
  Descriptor lock_;
};

}  // namespace takt::capture::ring
