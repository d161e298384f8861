#include "takt/synthesis/node_inputs.hpp"

#include <algorithm>

namespace takt::synthesis {
namespace {

std::uint64_t bit(std::size_t input) { return std::uint64_t{1} << input; }

/// Whether all of `part` is in `whole`.
bool holds(std::uint64_t whole, std::uint64_t part) { return (whole & part) == part; }

}  // namespace

void NodeInputs::arrive(Held& held, std::size_t input, model::JoinKind kind) {
  if (kind == model::JoinKind::and_ && ++held.waiting[input] <= 0) {
    return;
  }
  held.fresh |= bit(input);
}

/// A publication used up what was held.
void NodeInputs::use(Output& output, Held& held, model::JoinKind kind) const {
  held.always &= held.fresh;
  Duration cost{};
  for (std::size_t input = 0; input < output.since.size(); ++input) {
    if (holds(held.always, bit(input))) cost = bounded(cost + output.since[input]);
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
  const auto found = held.situations.find({held.fresh, static_cast<std::uint8_t>(input)});
  if (found != held.situations.end()) {
    ++found->second;
  } else if (held.situations.size() < max_situations) {
    held.situations[{held.fresh, static_cast<std::uint8_t>(input)}] = 1;
  } else {
    output.too_many = true;
    output.newest.situations.clear();
    output.all.situations.clear();
  }
}

void NodeInputs::run(Output& output, std::size_t input, bool publishes, Duration cost) {
  output.since.resize(position_.size());
  // An input that is new now held nothing for the publications before.
  output.all.waiting.resize(position_.size(), -static_cast<std::int64_t>(output.publications));
  output.since[input] = bounded(output.since[input] + cost);
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

void NodeInputs::add(ObservedCallbackIndex subscription, const std::set<TopicIndex>& outputs,
                     Duration cost) {
  Activity& activity = activities_[subscription];
  ++activity.runs;
  activity.short_runs += cost <= longest_keeping ? 1u : 0u;
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
    run(output, input, outputs.contains(topic), cost);
  }
  run(unused_, input, false, cost);
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
      held->always = ~Mask{0};
      held->situations.clear();
    }
    output.publications_before = output.publications;
    output.too_many = false;
  };
  for (auto& [topic, output] : outputs_) {
    forget(output);
  }
  forget(unused_);
}

const NodeInputs::Held* NodeInputs::held(model::JoinKind kind, TopicIndex topic) const {
  const auto output = outputs_.find(topic);
  if (output == outputs_.end() || output->second.too_many || too_many_) {
    return nullptr;
  }
  return kind == model::JoinKind::newest ? &output->second.newest : &output->second.all;
}

std::optional<NodeInputs::Mask> NodeInputs::mask_of(
    const std::set<ObservedCallbackIndex>& members) const {
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

bool NodeInputs::agrees(model::JoinKind kind, const std::set<ObservedCallbackIndex>& members,
                        TopicIndex topic) const {
  const Held* const state = held(kind, topic);
  const auto mask = mask_of(members);
  if (state == nullptr || !mask || !holds(state->always, *mask)) {
    return false;
  }
  return std::ranges::none_of(state->situations, [&](const auto& situation) {
    return holds(situation.first.first, *mask);
  });
}

std::set<ObservedCallbackIndex> NodeInputs::always_present(model::JoinKind kind,
                                                           TopicIndex topic) const {
  std::set<ObservedCallbackIndex> present;
  if (const Held* const state = held(kind, topic)) {
    for (const auto& [subscription, position] : position_) {
      if (holds(state->always, bit(position))) {
        present.insert(subscription);
      }
    }
  }
  return present;
}

std::uint64_t NodeInputs::waits_for(model::JoinKind kind,
                                    const std::set<ObservedCallbackIndex>& members,
                                    ObservedCallbackIndex absent, TopicIndex topic) const {
  const Held* const state = held(kind, topic);
  const auto all = mask_of(members);
  if (state == nullptr || !all) {
    return 0;
  }
  const Mask others = *all & ~bit(position_.at(absent));
  std::uint64_t count = 0;
  for (const auto& [situation, times] : state->situations) {
    const auto& [fresh, ran] = situation;
    count += others != 0 && holds(fresh, others) && holds(*all, bit(ran)) ? times : 0;
  }
  return count;
}

std::uint64_t NodeInputs::publications(TopicIndex topic) const {
  const auto output = outputs_.find(topic);
  return output == outputs_.end()
             ? 0
             : output->second.publications - output->second.publications_before;
}

std::size_t NodeInputs::situations() const {
  std::size_t count = unused_.newest.situations.size() + unused_.all.situations.size();
  for (const auto& [topic, output] : outputs_) {
    count += output.newest.situations.size() + output.all.situations.size();
  }
  return count;
}

const execution::CostCurve& NodeInputs::cost(model::JoinKind kind, TopicIndex topic) const {
  const Output& output = outputs_.at(topic);
  return kind == model::JoinKind::newest ? output.newest.cost : output.all.cost;
}

}  // namespace takt::synthesis
