#include "takt/flow/causality.hpp"

#include <algorithm>
#include <deque>
#include <tuple>

#include "takt/base/grow.hpp"
#include "takt/links/held_messages.hpp"

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

LinkKind kind_of(const links::Link& link) {
  return link.kind == links::Link::Kind::sampled ? LinkKind::periodic_async
                                                 : LinkKind::partial_sync;
}

Causality::Causality(const History& history, const execution::Objects& objects,
                     std::vector<links::Link> links)
    : history_(history),
      objects_(objects),
      links_(std::move(links)),
      firings_(links_.size()),
      used_(links_.size()),
      users_(links_.size()) {
  const Store& store = history.store();
  for (std::size_t number = 0; number < links_.size(); ++number) {
    const links::Link& link = links_[number];
    if (link.grounds == links::Grounds::ambiguous) {
      continue;
    }
    for (const auto input : link.inputs) {
      grow_to(of_input_, input).push_back(number);
    }
    for (const auto output : link.outputs) {
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
    if (link.kind == links::Link::Kind::joined) {
      const bool bound = binds_on_arrival(number);
      link.join == model::JoinKind::and_ || bound ? replay(number, bound) : find_used(number);
      for (std::size_t i = 0; i < used_[number].size(); ++i) {
        if (used_[number][i] != InstanceId::none) {
          users_[number].emplace_back(used_[number][i], i / link.inputs.size());
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
  const links::Link& link = links_[number];
  std::vector<InstanceId> newest(link.inputs.size(), InstanceId::none);
  for (const InstanceId id : firings_[number]) {
    const Run& firing = *store.find(id);
    const bool is_member = std::ranges::find(link.inputs, firing.callback) != link.inputs.end();
    for (std::size_t i = 0; i < link.inputs.size(); ++i) {
      std::optional<InstanceId> input;
      if (firing.callback == link.inputs[i]) {
        newest[i] = id;
      } else if (is_member) {
        input = history_.last_ended(link.inputs[i], firing.start);
        if (!input || *input <= newest[i]) {
          input = history_.first_after(link.inputs[i], newest[i]);
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
         std::ranges::any_of(links_[number].inputs, [&](auto input) {
           return std::ranges::any_of(history_.runs_of(input), was_passed_over);
         });
}

/// Replays the messages to find which firing used which: in the order of the messages if sets are
/// `bound` when messages come, however late the callbacks run; else in that of the runs.
void Causality::replay(std::size_t number, bool bound) {
  const Store& store = history_.store();
  const links::Link& link = links_[number];
  const std::size_t inputs = link.inputs.size();
  struct Arrival {
    Instant time;
    InstanceId run;
    std::size_t input;
  };
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const InstanceId run : history_.runs_of(link.inputs[i])) {
      const Run& row = *store.find(run);
      arrivals.push_back({bound ? row.activation : row.start, run, i});
    }
    // A message that completed a set has used it up, even if its callback never runs.
    for (const Instant time : bound ? store.unhandled(link.inputs[i]) : std::vector<Instant>()) {
      arrivals.push_back({time, InstanceId::none, i});
    }
  }
  std::ranges::sort(arrivals, {}, [](const Arrival& a) { return std::tuple(a.time, a.run); });
  used_[number].assign(firings_[number].size() * inputs, InstanceId::none);
  links::HeldMessages<std::deque<InstanceId>> held(link.join, inputs);
  for (const Arrival& arrival : arrivals) {
    held.arrive(arrival.input, arrival.run);
    const auto firing = std::ranges::lower_bound(firings_[number], arrival.run);
    const bool fires = firing != firings_[number].end() && *firing == arrival.run;
    if (fires) {
      const auto row = static_cast<std::size_t>(firing - firings_[number].begin()) * inputs;
      for (std::size_t i = 0; i < inputs; ++i) {
        if (i != arrival.input && !held.of(i).empty()) {
          used_[number][row + i] = held.of(i).front();
        }
      }
    }
    if (held.is_complete()) {
      held.use();
    } else if (fires) {
      held.clear();  // something is not in the trace; the next set begins anew
    }
  }
}

bool Causality::is_stored(execution::ObservedCallbackIndex callback) const {
  return callback.value() < of_input_.size() && !of_input_[callback.value()].empty();
}

void Causality::add_stored(const Message& message, const Run& sender, std::size_t number,
                           std::vector<Input>& inputs) const {
  const links::Link& link = links_[number];
  if (link.kind == links::Link::Kind::sampled) {
    const execution::Callback& reader = objects_[sender.callback];
    if (link.reader ? link.reader != sender.callback
                    : !reader.timer || reader.process != link.process) {
      return;
    }
    for (const auto callback : link.inputs) {
      if (const auto input = history_.last_ended(callback, sender.start)) {
        inputs.push_back({*input, LinkKind::periodic_async, number});
      }
    }
    return;
  }
  if (std::ranges::find(link.inputs, sender.callback) == link.inputs.end()) {
    return;
  }
  const auto& firings = firings_[number];
  const auto firing = std::ranges::lower_bound(firings, message.run) - firings.begin();
  const auto* const used = &used_[number][static_cast<std::size_t>(firing) * link.inputs.size()];
  for (std::size_t i = 0; i < link.inputs.size(); ++i) {
    if (used[i] != InstanceId::none) {
      inputs.push_back({used[i], LinkKind::partial_sync, number});
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
    for (const std::size_t link : of_publisher_[message->publisher->value()]) {
      add_stored(*message, *sender, link, inputs);
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
    const auto& of_link = links_[number].outputs;
    bool found = false;
    for (const PublicationId message : history_.sent_by(firing)) {
      const auto& publisher = store.find(message)->publisher;
      if (publisher && std::ranges::find(of_link, *publisher) != of_link.end() &&
          is_used(message)) {
        outputs.emplace_back(message, kind_of(links_[number]));
        found = true;
      }
    }
    return found;
  };
  for (const std::size_t number : of_input_[run->callback.value()]) {
    const auto& firings = firings_[number];
    if (links_[number].kind == links::Link::Kind::joined) {
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
          return input.run == id && input.kind != LinkKind::direct && input.link == number;
        });
      });
      // Where callbacks overlap, a firing that began before the end of this run could not use it
      // yet.
      found = found || store.find(*firing)->start < run->end;
    }
  }
}

}  // namespace takt::flow
