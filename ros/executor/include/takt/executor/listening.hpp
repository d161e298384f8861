#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "takt/base/error.hpp"

namespace takt::executor {

/// An executor's being told of what comes for an entity, as long as this object lives or until
/// somebody else listens to the entity: an entity tells the one who asked last, also if the
/// executor that it was taken from has not let go of it yet.
class Listening {
 public:
  /// Listens to nothing.
  Listening() = default;

  /// Ends an earlier listening to the entity at address `source`, then calls `begin`, which lets
  /// the entity tell the caller; `end` undoes it. Neither must listen to anything.
  [[nodiscard]] static Result<Listening> begin(const void* source,
                                               const std::function<Result<void>()>& begin,
                                               std::function<Result<void>()> end);

  Listening(Listening&& other) noexcept { swap(other); }
  Listening& operator=(Listening&& other) noexcept {
    Listening(std::move(other)).swap(*this);
    return *this;
  }
  ~Listening() { (void)end(); }

  /// When it has returned, nothing is told any more. Does nothing the second time.
  [[nodiscard]] Result<void> end();

 private:
  void swap(Listening& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(number_, other.number_);
  }

  const void* source_ = nullptr;
  /// Among all listenings; 0: it has ended.
  std::uint64_t number_ = 0;
};

}  // namespace takt::executor
