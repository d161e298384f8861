#include "takt/execution/database.hpp"

#include <algorithm>

namespace takt::execution {

std::map<ClientIndex, Database::Calls> Database::unanswered() const {
  std::map<ClientIndex, Calls> found;
  for (const auto& [call, time] : awaited_) {
    Calls& calls = found[call.first];
    ++calls.count;
    calls.first = std::min(calls.first, time);
  }
  return found;
}

Schedule Database::schedule(ThreadIndex thread) const {
  const events::Thread& known = threads_[thread];
  const auto told = schedules_.find({threads_[known.process].host, known.id});
  return told != schedules_.end() ? told->second : value_at(observed_schedules_, thread);
}

}  // namespace takt::execution
