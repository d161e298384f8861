#include "takt/scheduling/chain_edf.hpp"

#include <algorithm>
#include <cassert>

#include "factories.hpp"

namespace takt::scheduling {

ChainEdfPolicy::ChainEdfPolicy(std::size_t callbacks, std::span<const Chain> chains,
                               DeadlineRule rule, std::size_t capacity)
    : rule_(rule), members_(callbacks), waiting_(callbacks, capacity), ready_(callbacks) {
  for (const Chain& chain : chains) {
    assert(!chain.callbacks.empty());
    for (std::size_t position = 0; position < chain.callbacks.size(); ++position) {
      Member& member = members_[chain.callbacks[position].value()];
      assert((member.chains.empty() || (position == 0 && member.position == 0)) &&
             "chains share their first callback only");
      member.chains.push_back(chains_.size());
      member.position = position;
      member.timer = position == 0 && chain.period.has_value();
    }
    chains_.push_back({.chain = chain});
  }
}

Queueing ChainEdfPolicy::queueing(LocalIndex callback) const {
  return members_[callback.value()].timer ? Queueing::newest_only : Queueing::oldest_first;
}

void ChainEdfPolicy::release(LocalIndex callback, Instant /*activation*/, Instant origin) {
  const Member& member = members_[callback.value()];
  waiting_.push_back(callback, origin);
  if (member.position == 0) {
    for (const std::size_t chain : member.chains) {
      if (is_abandoned(chains_[chain])) chains_[chain].position = 0;
    }
  }
  update(callback);
}

void ChainEdfPolicy::withdraw(LocalIndex callback) {
  waiting_.pop_front(callback);
  update(callback);
}

bool ChainEdfPolicy::choose(LocalIndex& chosen) {
  if (ready_.empty()) return false;
  chosen = ready_.top();
  const Member& member = members_[chosen.value()];
  const Instant origin = waiting_.front(chosen);
  waiting_.pop_front(chosen);
  ready_.remove(chosen);
  for (const std::size_t chain : member.chains) {
    Progress& progress = chains_[chain];
    progress.running = true;
    if (member.position == 0) {
      progress.deadline = deadline_at_head(progress, origin);
      progress.origin = origin;
    }
  }
  return true;
}

void ChainEdfPolicy::completed(LocalIndex callback) {
  const Member& member = members_[callback.value()];
  for (const std::size_t chain : member.chains) {
    Progress& progress = chains_[chain];
    progress.running = false;
    progress.position = member.position + 1;
    if (progress.position == progress.chain.callbacks.size()) {
      progress.position = 0;
      if (progress.chain.period) {
        progress.deadline =
            progress.origin + *progress.chain.period + progress.chain.relative_deadline;
      }
    }
    update(progress.chain.callbacks[progress.position]);
  }
}

Instant ChainEdfPolicy::deadline_at_head(const Progress& progress, Instant origin) const {
  const bool frozen = rule_ == DeadlineRule::frozen_at_completion && progress.chain.period;
  return frozen && progress.deadline ? *progress.deadline
                                     : origin + progress.chain.relative_deadline;
}

/// Whether the chain has an instance in progress, but none of its callbacks waits or runs: a
/// message was lost, or a callback did not publish. Asked when the head is released again.
bool ChainEdfPolicy::is_abandoned(const Progress& progress) const {
  return progress.position > 0 && !progress.running &&
         waiting_.empty(progress.chain.callbacks[progress.position]);
}

/// Puts the callback among the ready ones if it may run, with its present key.
void ChainEdfPolicy::update(LocalIndex callback) {
  const Member& member = members_[callback.value()];
  ready_.remove(callback);
  if (waiting_.empty(callback)) return;
  std::optional<Key> key;
  for (const std::size_t chain : member.chains) {
    const Progress& progress = chains_[chain];
    if (progress.running || progress.position != member.position) return;
    const Instant deadline = member.position == 0
                                 ? deadline_at_head(progress, waiting_.front(callback))
                                 : *progress.deadline;
    const Key candidate{deadline, chain, member.position};
    key = key ? std::min(*key, candidate) : candidate;
  }
  if (key) ready_.insert(callback, *key);
}

namespace {

std::unique_ptr<Policy> make_chain_policy(const PolicyDescription& description, DeadlineRule rule,
                                          std::size_t capacity) {
  std::vector<ChainEdfPolicy::Chain> chains = description.chains;
  std::vector<bool> is_in_chain(description.callbacks.size());
  for (const ChainEdfPolicy::Chain& chain : chains) {
    for (const LocalIndex callback : chain.callbacks) is_in_chain[callback.value()] = true;
  }
  for (std::size_t i = 0; i < is_in_chain.size(); ++i) {
    if (is_in_chain[i]) continue;
    chains.push_back({.callbacks = {LocalIndex(i)},
                      .relative_deadline = description.callbacks[i].deadline,
                      .period = {}});
  }
  return std::make_unique<ChainEdfPolicy>(description.callbacks.size(), chains, rule, capacity);
}

}  // namespace

std::unique_ptr<Policy> make_chain_deadline(const PolicyDescription& description,
                                            std::size_t capacity) {
  return make_chain_policy(description, DeadlineRule::per_instance, capacity);
}

std::unique_ptr<Policy> make_frozen_chain_deadline(const PolicyDescription& description,
                                                   std::size_t capacity) {
  return make_chain_policy(description, DeadlineRule::frozen_at_completion, capacity);
}

}  // namespace takt::scheduling
