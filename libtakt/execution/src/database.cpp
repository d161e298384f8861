#include "takt/execution/database.hpp"

#include <algorithm>
#include <set>

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

std::map<SubscriptionIndex, std::uint64_t> Database::unheard() const {
  std::map<SubscriptionIndex, std::uint64_t> found;
  std::set<ObservedCallbackIndex> hearing;
  for (std::size_t i = 0; i < heard_.size(); ++i) {
    if (heard_[i].takes != 0) hearing.insert(objects_.subscriptions[i].callback);
  }
  for (std::size_t i = 0; i < heard_.size() && !hearing.empty(); ++i) {
    const Subscription& subscription = objects_.subscriptions[i];
    const bool is_newest = objects_[subscription.callback].subscription == SubscriptionIndex(i);
    if (!is_newest || hearing.contains(subscription.callback)) continue;
    const auto sent = sent_.find({threads_[subscription.process].host, subscription.topic});
    if (sent != sent_.end() && sent->second > heard_[i].sent_before) {
      found[SubscriptionIndex(i)] = sent->second - heard_[i].sent_before;
    }
  }
  return found;
}

Schedule Database::schedule(ThreadIndex thread) const {
  const events::Thread& known = threads_[thread];
  const auto told = schedules_.find({threads_[known.process].host, known.id});
  return told != schedules_.end() ? told->second : value_at(observed_schedules_, thread);
}

}  // namespace takt::execution
