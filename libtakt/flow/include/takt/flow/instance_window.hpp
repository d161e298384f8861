#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
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
  /// The message that activated this one, and the instance that sent it.
  execution::PublicationId source = execution::PublicationId::none;
  execution::InstanceId cause = execution::InstanceId::none;
  /// How long its message had been sent before there was a subscription that could read it.
  Duration before_reader{};
};

/// The most recent instances by id, at most `capacity` of them, and which chains that begin with
/// them were seen complete. Takes memory for as many as there are.
class InstanceWindow {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 17;

  /// `chains`: the most chains that begin with one callback.
  explicit InstanceWindow(std::size_t chains)
      : chains_(chains), completed_(least_capacity * chains), records_(least_capacity) {}

  InstanceRecord* find(execution::InstanceId id) {
    InstanceRecord& record = records_[position(id)];
    return record.id == id && id != execution::InstanceId::none ? &record : nullptr;
  }
  /// Adds a record; the one `capacity` ids before is forgotten. The record's id is less than
  /// `capacity` behind the newest one.
  void put(const InstanceRecord& record) {
    while (is_taken(position(record.id), record.id) && records_.size() < capacity) {
      grow();
    }
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
  static constexpr std::size_t least_capacity = std::size_t{1} << 10;

  [[nodiscard]] std::size_t position(execution::InstanceId id) const {
    return static_cast<std::size_t>(id) & (records_.size() - 1);
  }
  /// Whether another instance has a place.
  [[nodiscard]] bool is_taken(std::size_t place, execution::InstanceId id) const {
    const execution::InstanceId there = records_[place].id;
    return there != execution::InstanceId::none && there != id;
  }
  /// Doubles the number of places.
  void grow() {
    const std::vector<InstanceRecord> records = std::exchange(records_, {});
    const std::vector<bool> completed = std::exchange(completed_, {});
    records_.resize(2 * records.size());
    completed_.resize(2 * completed.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const execution::InstanceId id = records[i].id;
      if (id == execution::InstanceId::none) {
        continue;
      }
      records_[position(id)] = records[i];
      const auto bits = completed.begin() + static_cast<std::ptrdiff_t>(i * chains_);
      std::copy_n(bits, chains_, begin_of(id));
    }
  }
  /// Where the bits of an instance's chains begin.
  std::vector<bool>::iterator begin_of(execution::InstanceId id) {
    return completed_.begin() + static_cast<std::ptrdiff_t>(position(id) * chains_);
  }

  std::size_t chains_;
  std::vector<bool> completed_;
  /// Their number is a power of two.
  std::vector<InstanceRecord> records_;
};

}  // namespace takt::flow
