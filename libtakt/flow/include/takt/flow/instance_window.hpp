#pragma once

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
  /// A bit for each chain that begins with this instance and was seen complete, by the chain's
  /// number among those that begin with the callback.
  std::uint64_t completed = 0;
};

/// A fixed number of instances, the most recent ones, by id.
class InstanceWindow {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 17;

  InstanceRecord* find(execution::InstanceId id) {
    InstanceRecord& record = records_[position(id)];
    return record.id == id && id != execution::InstanceId::none ? &record : nullptr;
  }
  /// Adds a record; the one `capacity` ids before is forgotten.
  void put(const InstanceRecord& record) { records_[position(record.id)] = record; }

 private:
  static std::size_t position(execution::InstanceId id) {
    return static_cast<std::size_t>(id) & (capacity - 1);
  }
  std::vector<InstanceRecord> records_ = std::vector<InstanceRecord>(capacity);
};

}  // namespace takt::flow
