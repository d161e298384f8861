#include "takt/flow/causality.hpp"

#include <algorithm>
#include <deque>
#include <tuple>

#include "takt/base/grow.hpp"

namespace takt::flow {

std::string_view to_string(LinkKind kind) {
  switch (kind) {
    case LinkKind::direct:
      return "direct";
    case LinkKind::periodic_async:
      return "periodic_async";
    case LinkKind::partial_sync:
      break;
  }
  return "partial_sync";
}

std::string_view to_string(LinkOrigin origin) {
  switch (origin) {
    case LinkOrigin::declared:
      return "declared";
    case LinkOrigin::model:
      return "model";
    case LinkOrigin::inferred:
      return "inferred";
    case LinkOrigin::ambiguous:
      break;
  }
  return "ambiguous";
}

Causality::Causality(const History& history, const execution::Objects& objects,
                     std::vector<Group> groups)
    : history_(history),
      objects_(objects),
      groups_(std::move(groups)),
      firings_(groups_.size()),
      used_(groups_.size()),
      users_(groups_.size()) {
  const Store& store = history.store();
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    const Group& group = groups_[number];
    if (group.origin == LinkOrigin::ambiguous) {
      continue;
    }
    for (const auto input : group.inputs) {
      grow_to(of_input_, input).push_back(number);
    }
    for (const auto output : group.outputs) {
      grow_to(of_publisher_, output).push_back(number);
      for (const PublicationId message : history.messages_of(output)) {
        const InstanceId run = store.find(message)->run;
        if (store.find(run) != nullptr) {
          firings_[number].push_back(run);
        }
      }
    }
    std::ranges::sort(firings_[number]);
    const auto repeated = std::ranges::unique(firings_[number]);
    firings_[number].erase(repeated.begin(), repeated.end());
    if (group.kind == LinkKind::partial_sync) {
      const bool bound = binds_on_arrival(number);
      group.is_queued || bound ? replay(number, bound) : find_used(number);
      for (std::size_t i = 0; i < used_[number].size(); ++i) {
        if (used_[number][i] != InstanceId::none) {
          users_[number].emplace_back(used_[number][i], i / group.inputs.size());
        }
      }
      std::ranges::sort(users_[number]);
    }
  }
}

/// Each firing uses up the messages that came since the one before. Where callbacks overlap, a
/// message that came while it ran is for the next firing. If there is no other one, this firing
/// used it: the two runs raced for the lock.
void Causality::find_used(std::size_t number) {
  const Store& store = history_.store();
  const Group& group = groups_[number];
  std::vector<InstanceId> newest(group.inputs.size(), InstanceId::none);
  for (const InstanceId id : firings_[number]) {
    const Run& firing = *store.find(id);
    const bool is_member = std::ranges::find(group.inputs, firing.callback) != group.inputs.end();
    for (std::size_t i = 0; i < group.inputs.size(); ++i) {
      std::optional<InstanceId> input;
      if (firing.callback == group.inputs[i]) {
        newest[i] = id;
      } else if (is_member) {
        input = history_.last_ended(group.inputs[i], firing.start);
        if (!input || *input <= newest[i]) {
          input = history_.first_after(group.inputs[i], newest[i]);
        }
        if (input && (*input <= newest[i] || store.find(*input)->end > firing.end)) {
          input.reset();
        }
        newest[i] = input.value_or(newest[i]);
      }
      used_[number].push_back(input.value_or(InstanceId::none));
    }
  }
}

/// Whether the executor completed sets when messages came: then it keeps and chooses only messages
/// that complete one. Where callbacks complete sets themselves, it keeps all messages or none.
bool Causality::binds_on_arrival(std::size_t number) const {
  const Store& store = history_.store();
  const auto was_chosen = [&](InstanceId id) { return store.find(id)->was_chosen; };
  const auto was_passed_over = [&](InstanceId id) {
    const Message* const message = store.find(store.find(id)->source);
    return !was_chosen(id) && message != nullptr && !message->intra_process;
  };
  return std::ranges::any_of(firings_[number], was_chosen) &&
         std::ranges::any_of(groups_[number].inputs, [&](auto input) {
           return std::ranges::any_of(history_.runs_of(input), was_passed_over);
         });
}

/// Replays the messages to find which firing used which: in the order of the messages if sets are
/// `bound` when messages come, however late the callbacks run; else in that of the runs.
void Causality::replay(std::size_t number, bool bound) {
  const Store& store = history_.store();
  const Group& group = groups_[number];
  const std::size_t inputs = group.inputs.size();
  struct Arrival {
    Instant time;
    InstanceId run;
    std::size_t input;
  };
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const InstanceId run : history_.runs_of(group.inputs[i])) {
      const Run& row = *store.find(run);
      arrivals.push_back({bound ? row.activation : row.start, run, i});
    }
    // A message that completed a set has used it up, even if its callback never runs.
    for (const Instant time : bound ? store.unhandled(group.inputs[i]) : std::vector<Instant>()) {
      arrivals.push_back({time, InstanceId::none, i});
    }
  }
  std::ranges::sort(arrivals, {}, [](const Arrival& a) { return std::tuple(a.time, a.run); });
  used_[number].assign(firings_[number].size() * inputs, InstanceId::none);
  std::vector<std::deque<InstanceId>> waiting(inputs);
  for (const Arrival& arrival : arrivals) {
    if (!group.is_queued) {
      waiting[arrival.input].clear();
    }
    waiting[arrival.input].push_back(arrival.run);
    const auto firing = std::ranges::lower_bound(firings_[number], arrival.run);
    const bool fires = firing != firings_[number].end() && *firing == arrival.run;
    const bool is_complete = std::ranges::none_of(waiting, &std::deque<InstanceId>::empty);
    if (fires) {
      const auto row = static_cast<std::size_t>(firing - firings_[number].begin()) * inputs;
      for (std::size_t i = 0; i < inputs; ++i) {
        if (i != arrival.input && !waiting[i].empty()) {
          used_[number][row + i] = waiting[i].front();
        }
      }
    }
    for (auto& messages : waiting) {
      if (is_complete) {
        messages.pop_front();
      } else if (fires) {
        messages.clear();  // something is not in the trace; the next set begins anew
      }
    }
  }
}

bool Causality::is_stored(execution::ObservedCallbackIndex callback) const {
  return callback.value() < of_input_.size() && !of_input_[callback.value()].empty();
}

void Causality::add_stored(const Message& message, const Run& sender, std::size_t number,
                           std::vector<Input>& inputs) const {
  const Group& group = groups_[number];
  const bool is_timer = objects_[sender.callback].timer.has_value();
  if (group.kind == LinkKind::periodic_async) {
    if (!is_timer || objects_[sender.callback].process != group.process) {
      return;
    }
    for (const auto callback : group.inputs) {
      if (const auto input = history_.last_ended(callback, sender.start)) {
        inputs.push_back({*input, group.kind, number});
      }
    }
    return;
  }
  if (std::ranges::find(group.inputs, sender.callback) == group.inputs.end()) {
    return;
  }
  const auto& firings = firings_[number];
  const auto firing = std::ranges::lower_bound(firings, message.run) - firings.begin();
  const auto* const used = &used_[number][static_cast<std::size_t>(firing) * group.inputs.size()];
  for (std::size_t i = 0; i < group.inputs.size(); ++i) {
    if (used[i] != InstanceId::none) {
      inputs.push_back({used[i], group.kind, number});
    }
  }
}

void Causality::inputs(PublicationId id, std::vector<Input>& inputs) const {
  inputs.clear();
  const Store& store = history_.store();
  const Message* const message = store.find(id);
  const Run* const sender = message == nullptr ? nullptr : store.find(message->run);
  if (sender == nullptr) {
    return;
  }
  inputs.push_back({message->run, LinkKind::direct, 0});
  if (message->publisher && message->publisher->value() < of_publisher_.size()) {
    for (const std::size_t group : of_publisher_[message->publisher->value()]) {
      add_stored(*message, *sender, group, inputs);
    }
  }
}

void Causality::outputs(InstanceId id,
                        std::vector<std::pair<PublicationId, LinkKind>>& outputs) const {
  outputs.clear();
  const Store& store = history_.store();
  const Run* const run = store.find(id);
  if (run == nullptr) {
    return;
  }
  for (const PublicationId message : history_.sent_by(id)) {
    outputs.emplace_back(message, LinkKind::direct);
  }
  if (!is_stored(run->callback)) {
    return;
  }
  std::vector<Input> used;
  const auto add = [&](std::size_t number, InstanceId firing, auto is_used) {
    const auto& of_group = groups_[number].outputs;
    bool found = false;
    for (const PublicationId message : history_.sent_by(firing)) {
      const auto& publisher = store.find(message)->publisher;
      if (publisher && std::ranges::find(of_group, *publisher) != of_group.end() &&
          is_used(message)) {
        outputs.emplace_back(message, groups_[number].kind);
        found = true;
      }
    }
    return found;
  };
  for (const std::size_t number : of_input_[run->callback.value()]) {
    const auto& firings = firings_[number];
    if (groups_[number].kind == LinkKind::partial_sync) {
      const auto user = std::ranges::lower_bound(users_[number], std::pair(id, std::size_t{0}));
      if (user != users_[number].end() && user->first == id) {
        add(number, firings[user->second], [](PublicationId) { return true; });
      }
      continue;
    }
    auto firing = std::ranges::partition_point(
        firings, [&](InstanceId other) { return store.find(other)->end <= run->end; });
    // The search ends at the first output that does not use this run: later ones use newer runs.
    for (bool found = true; found && firing != firings.end(); ++firing) {
      found = add(number, *firing, [&](PublicationId message) {
        inputs(message, used);
        return std::ranges::any_of(used, [&](const Input& input) {
          return input.run == id && input.kind != LinkKind::direct && input.group == number;
        });
      });
      // Where callbacks overlap, a firing that began before the end of this run could not use it
      // yet.
      found = found || store.find(*firing)->start < run->end;
    }
  }
}

}  // namespace takt::flow
