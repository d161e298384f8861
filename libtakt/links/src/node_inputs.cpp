#include "takt/links/node_inputs.hpp"

#include <algorithm>

namespace takt::links {
namespace {

std::uint64_t bit(std::size_t input) { return std::uint64_t{1} << input; }

/// Whether all of `part` is in `whole`.
bool holds(std::uint64_t whole, std::uint64_t part) { return (whole & part) == part; }

/// Whether an input is a member of a join, as far as its absences tell.
bool is_usual(std::uint64_t absences, std::uint64_t publications) {
  return absences * NodeInputs::runs_per_exception <= publications;
}

}  // namespace

void NodeInputs::arrive(Held& held, std::size_t input, model::JoinKind kind) {
  if (kind == model::JoinKind::and_ && ++held.waiting[input] <= 0) {
    return;
  }
  held.fresh |= bit(input);
}

/// Forgets what was held: it may take part in so many joins that nothing tells them apart.
void NodeInputs::give_up(Output& output) {
  output.too_many = true;
  for (Held* const held : {&output.newest, &output.all}) {
    held->sets.clear();
    held->silences.clear();
  }
}

/// A publication used up what was held. It counts already.
void NodeInputs::use(Output& output, Held& held, model::JoinKind kind) {
  if (!output.too_many) {
    if (held.sets.size() == max_situations && !held.sets.contains(held.fresh)) {
      give_up(output);
    } else {
      ++held.sets[held.fresh];
    }
  }
  Duration cost{};
  for (std::size_t input = 0; input < output.since.size(); ++input) {
    held.absences[input] += holds(held.fresh, bit(input)) ? 0u : 1u;
    if (is_usual(held.absences[input], output.in_this_phase())) {
      cost = bounded(cost + output.since[input]);
    }
  }
  held.cost.add(cost);
  if (kind == model::JoinKind::newest) {
    held.fresh = 0;
    return;
  }
  for (std::size_t input = 0; input < held.waiting.size(); ++input) {
    if (--held.waiting[input] <= 0) {
      held.fresh &= ~bit(input);
    }
  }
}

void NodeInputs::count_silence(Output& output, Held& held, std::size_t input) {
  if (output.too_many) {
    return;
  }
  const std::pair situation{held.fresh, static_cast<std::uint8_t>(input)};
  if (held.silences.size() == max_situations && !held.silences.contains(situation)) {
    give_up(output);
  } else {
    ++held.silences[situation];
  }
}

void NodeInputs::run(Output& output, std::size_t input, bool publishes,
                     const execution::CallbackInstance& instance) {
  const std::size_t inputs = position_.size();
  if (output.since.size() < inputs) {
    // An input that is new now held nothing for the publications before.
    output.since.resize(inputs);
    output.unchosen.resize(inputs);
    output.all.waiting.resize(inputs, -static_cast<std::int64_t>(output.publications));
    output.newest.absences.resize(inputs, output.in_this_phase());
    output.all.absences.resize(inputs, output.in_this_phase());
  }
  output.since[input] = bounded(output.since[input] + instance.execution_time());
  output.unchosen[input] += publishes && !instance.was_chosen ? 1u : 0u;
  arrive(output.newest, input, model::JoinKind::newest);
  arrive(output.all, input, model::JoinKind::and_);
  if (!publishes) {
    count_silence(output, output.newest, input);
    count_silence(output, output.all, input);
    return;
  }
  ++output.publications;
  use(output, output.newest, model::JoinKind::newest);
  use(output, output.all, model::JoinKind::and_);
  std::ranges::fill(output.since, Duration{0});
}

void NodeInputs::add(const execution::CallbackInstance& instance,
                     const std::set<TopicIndex>& outputs) {
  const ObservedCallbackIndex subscription = instance.callback;
  Activity& activity = activities_[subscription];
  ++activity.runs;
  activity.short_runs += instance.execution_time() <= longest_keeping ? 1u : 0u;
  activity.sending_runs += outputs.empty() ? 0u : 1u;
  activity.on_arrival.note(instance);
  activity.outputs.insert(outputs.begin(), outputs.end());
  const auto input = position_.try_emplace(subscription, position_.size()).first->second;
  if (input >= max_subscriptions) {
    too_many_ = true;
    return;
  }
  for (const TopicIndex topic : outputs) {
    outputs_.try_emplace(topic, unused_);
  }
  for (auto& [topic, output] : outputs_) {
    run(output, input, outputs.contains(topic), instance);
  }
  run(unused_, input, false, instance);
}

void NodeInputs::restart() {
  for (auto& [topic, output] : outputs_) {
    output.newest.cost = {};
    output.all.cost = {};
    std::ranges::fill(output.since, Duration{0});
  }
  std::ranges::fill(unused_.since, Duration{0});
}

void NodeInputs::begin_phase() {
  restart();
  activities_.clear();
  const auto forget = [](Output& output) {
    for (Held* const held : {&output.newest, &output.all}) {
      std::ranges::fill(held->absences, std::uint64_t{0});
      held->sets.clear();
      held->silences.clear();
    }
    std::ranges::fill(output.unchosen, std::uint64_t{0});
    output.publications_before = output.publications;
    output.too_many = false;
  };
  for (auto& [topic, output] : outputs_) {
    forget(output);
  }
  forget(unused_);
}

std::set<TopicIndex> NodeInputs::outputs_of(const Members& members) const {
  std::set<TopicIndex> topics;
  for (const ObservedCallbackIndex member : members) {
    if (const auto known = activities_.find(member); known != activities_.end()) {
      topics.insert(known->second.outputs.begin(), known->second.outputs.end());
    }
  }
  return topics;
}

const NodeInputs::Output* NodeInputs::find(TopicIndex topic) const {
  const auto output = outputs_.find(topic);
  return output == outputs_.end() || output->second.too_many || too_many_ ? nullptr
                                                                          : &output->second;
}

std::optional<NodeInputs::Mask> NodeInputs::mask_of(const Members& members) const {
  Mask mask = 0;
  for (const ObservedCallbackIndex member : members) {
    const auto position = position_.find(member);
    if (position == position_.end() || position->second >= max_subscriptions) {
      return std::nullopt;
    }
    mask |= bit(position->second);
  }
  return mask;
}

bool NodeInputs::complete_on_arrival(const Members& members) const {
  SetsOnArrival all;
  for (const ObservedCallbackIndex member : members) {
    const auto known = activities_.find(member);
    if (known != activities_.end()) all += known->second.on_arrival;
  }
  return all.holds();
}

std::optional<std::uint64_t> NodeInputs::exceptions(model::JoinKind kind, const Members& members,
                                                    TopicIndex topic) const {
  const Output* const output = find(topic);
  const auto mask = mask_of(members);
  if (output == nullptr || !mask) {
    return std::nullopt;
  }
  std::uint64_t count = 0;
  if (complete_on_arrival(members)) {
    for (const ObservedCallbackIndex member : members) {
      count += output->unchosen[position_.at(member)];
    }
    return count;
  }
  const Held& held = kind == model::JoinKind::newest ? output->newest : output->all;
  for (const auto& [fresh, times] : held.sets) {
    count += holds(fresh, *mask) ? 0 : times;
  }
  for (const auto& [situation, times] : held.silences) {
    const auto& [fresh, ran] = situation;
    count += holds(fresh, *mask) && holds(*mask, bit(ran)) ? times : 0;
  }
  return count;
}

std::optional<std::uint64_t> NodeInputs::absences(model::JoinKind kind,
                                                  ObservedCallbackIndex subscription,
                                                  TopicIndex topic) const {
  const Output* const output = find(topic);
  const auto position = position_.find(subscription);
  if (output == nullptr || position == position_.end()) {
    return std::nullopt;
  }
  const Held& held = kind == model::JoinKind::newest ? output->newest : output->all;
  return held.absences[position->second];
}

NodeInputs::Members NodeInputs::usually_present(model::JoinKind kind, TopicIndex topic) const {
  Members present;
  for (const auto& [subscription, position] : position_) {
    const auto absent = absences(kind, subscription, topic);
    if (absent && is_usual(*absent, publications(topic))) {
      present.insert(subscription);
    }
  }
  return present;
}

std::uint64_t NodeInputs::waits_for(model::JoinKind kind, const Members& members,
                                    ObservedCallbackIndex absent, TopicIndex topic) const {
  const Output* const output = find(topic);
  const auto all = mask_of(members);
  if (output == nullptr || !all) {
    return 0;
  }
  const Held& held = kind == model::JoinKind::newest ? output->newest : output->all;
  const Mask others = *all & ~bit(position_.at(absent));
  std::uint64_t count = 0;
  for (const auto& [situation, times] : held.silences) {
    const auto& [fresh, ran] = situation;
    count += others != 0 && holds(fresh, others) && holds(*all, bit(ran)) ? times : 0;
  }
  return count;
}

std::uint64_t NodeInputs::publications(TopicIndex topic) const {
  const auto output = outputs_.find(topic);
  return output == outputs_.end() ? 0 : output->second.in_this_phase();
}

std::size_t NodeInputs::situations() const {
  const auto count = [](const Output& output) {
    return output.newest.sets.size() + output.newest.silences.size() + output.all.sets.size() +
           output.all.silences.size();
  };
  std::size_t all = count(unused_);
  for (const auto& [topic, output] : outputs_) {
    all += count(output);
  }
  return all;
}

const execution::CostCurve& NodeInputs::cost(model::JoinKind kind, TopicIndex topic) const {
  const Output& output = outputs_.at(topic);
  return kind == model::JoinKind::newest ? output.newest.cost : output.all.cost;
}

}  // namespace takt::links
