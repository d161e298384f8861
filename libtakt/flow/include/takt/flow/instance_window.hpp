#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// An instance of a callback of the model.
struct InstanceRecord {
  execution::InstanceId id = execution::InstanceId::none;
  model::CallbackIndex callback;
  /// For a timer, its TimerGrid's correction has to be added.
  Instant activation;
  Instant end;
  /// The instance that sent the message that activated this one.
  execution::InstanceId cause = execution::InstanceId::none;
};

/// A fixed number of instances, the most recent ones, by id, and which chains that begin with them
/// were seen complete.
class InstanceWindow {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 17;

  /// `chains`: the most chains that begin with one callback.
  explicit InstanceWindow(std::size_t chains) : chains_(chains), completed_(capacity * chains) {}

  InstanceRecord* find(execution::InstanceId id) {
    InstanceRecord& record = records_[position(id)];
    return record.id == id && id != execution::InstanceId::none ? &record : nullptr;
  }
  /// Adds a record; the one `capacity` ids before is forgotten. The record's id is less than
  /// `capacity` behind the newest one.
  void put(const InstanceRecord& record) {
    InstanceRecord& place = records_[position(record.id)];
    assert(place.id <= record.id);
    place = record;
    const auto first = begin_of(record.id);
    std::fill(first, first + static_cast<std::ptrdiff_t>(chains_), false);
  }
  /// Notes that a chain was seen complete that begins with an instance of the window. `chain` is
  /// its number among the chains that begin with the callback. Returns whether that was not known.
  bool complete(execution::InstanceId id, std::size_t chain) {
    auto bit = begin_of(id) + static_cast<std::ptrdiff_t>(chain);
    const bool was_known = *bit;
    *bit = true;
    return !was_known;
  }

 private:
  static std::size_t position(execution::InstanceId id) {
    return static_cast<std::size_t>(id) & (capacity - 1);
  }
  /// Where the bits of an instance's chains begin.
  std::vector<bool>::iterator begin_of(execution::InstanceId id) {
    return completed_.begin() + static_cast<std::ptrdiff_t>(position(id) * chains_);
  }

  std::size_t chains_;
  std::vector<bool> completed_;
  std::vector<InstanceRecord> records_ = std::vector<InstanceRecord>(capacity);
};

}  // namespace takt::flow
