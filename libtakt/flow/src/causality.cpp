#include "takt/flow/causality.hpp"

#include <algorithm>

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
      break;
  }
  return "inferred";
}

Causality::Causality(const History& history, const execution::Objects& objects,
                     std::vector<Group> groups)
    : history_(history), objects_(objects), groups_(std::move(groups)), firings_(groups_.size()) {
  const Store& store = history.store();
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    const Group& group = groups_[number];
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
  }
}

bool Causality::is_stored(execution::ObservedCallbackIndex callback) const {
  return callback.value() < of_input_.size() && !of_input_[callback.value()].empty();
}

void Causality::add_stored(const Message& message, const Run& sender, std::size_t number,
                           std::vector<Input>& inputs) const {
  const Store& store = history_.store();
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
  // What was stored before the previous output went into that one.
  const auto& firings = firings_[number];
  const auto firing = std::ranges::lower_bound(firings, message.run);
  const Run* const previous = firing == firings.begin() ? nullptr : store.find(*std::prev(firing));
  for (const auto callback : group.inputs) {
    if (callback == sender.callback) {
      continue;
    }
    const auto input = history_.last_ended(callback, message.begin);
    if (input && (previous == nullptr || store.find(*input)->start >= previous->end)) {
      inputs.push_back({*input, group.kind, number});
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
  for (const std::size_t number : of_input_[run->callback.value()]) {
    const auto& firings = firings_[number];
    auto firing = std::ranges::partition_point(
        firings, [&](InstanceId other) { return store.find(other)->end <= run->end; });
    // The first output that uses it no more ends the search: later ones use what came later.
    for (bool found = true; found && firing != firings.end(); ++firing) {
      found = false;
      for (const PublicationId message : history_.sent_by(*firing)) {
        const auto& publisher = store.find(message)->publisher;
        if (!publisher || std::ranges::find(groups_[number].outputs, *publisher) ==
                              groups_[number].outputs.end()) {
          continue;
        }
        inputs(message, used);
        const auto use = std::ranges::find_if(used, [&](const Input& input) {
          return input.run == id && input.kind != LinkKind::direct && input.group == number;
        });
        if (use != used.end()) {
          outputs.emplace_back(message, use->kind);
          found = true;
        }
      }
      // Where callbacks overlap, one that began before the end of this run could not use it yet.
      found = found || store.find(*firing)->start < run->end;
    }
  }
}

}  // namespace takt::flow
