#include "walk.hpp"

#include <algorithm>
#include <ranges>

#include "transforms.hpp"

namespace takt::flow {
namespace {

enum : std::uint32_t { is_callback = 0, is_user = 1, is_publisher = 2 };

/// Ways longer than this go round in circles, which a damaged trace may contain.
constexpr std::size_t most_hops = 256;

/// How often a way passes a callback. A callback may await a service several times.
std::ptrdiff_t most_passes(execution::CallbackKind kind) {
  using execution::CallbackKind;
  return kind == CallbackKind::service || kind == CallbackKind::client ? 8 : 1;
}

/// How often a way passes a callback whose node sends to itself, to try again. A message may be
/// tried more often; then it has no flow.
constexpr std::ptrdiff_t most_tries = 64;

}  // namespace

std::uint32_t key_of(const Step& step) {
  if (!step.callback) {
    const std::size_t publisher = step.publisher ? step.publisher->value() + 1 : 0;
    return static_cast<std::uint32_t>(4 * publisher) + is_publisher;
  }
  return static_cast<std::uint32_t>(4 * step.callback->value()) +
         (step.is_user ? is_user : is_callback);
}

Step step_of(std::uint32_t key) {
  Step step;
  if (key % 4 != is_publisher) {
    step.callback = execution::ObservedCallbackIndex(key / 4);
    step.is_user = key % 4 == is_user;
  } else if (key / 4 != 0) {
    step.publisher = execution::PublisherIndex(key / 4 - 1);
  }
  return step;
}

PathCollector::Walk::Walk(PathCollector& collector, const LinkedHistory& recorded, const Ends& ends)
    : collector_(collector),
      recorded_(recorded),
      history_(recorded.history),
      objects_(recorded.database.objects()),
      ends_(ends),
      inputs_(most_hops + 1) {}

/// Where joins may have used several messages, all ways are followed over the newest of them, and
/// those over such joins once more over the oldest.
template <typename Follow>
void PathCollector::Walk::from(PublicationId last, std::uint64_t number, Follow follow) {
  last_ = last;
  number_ = number;
  met_uncertain_ = false;
  for (const bool oldest : {false, true}) {
    if (oldest && !met_uncertain_) break;
    takes_oldest_ = oldest;
    ways_ = 0;
    steps_ = 0;
    follow();
  }
}

void PathCollector::Walk::from_run(InstanceId sink) {
  from(PublicationId::none, static_cast<std::uint64_t>(sink),
       [&] { before_run(sink, LinkKind::direct, 0); });
}

void PathCollector::Walk::from_message(PublicationId sink) {
  from(sink, static_cast<std::uint64_t>(history_.store().find(sink)->run),
       [&] { before_message(sink, 0); });
}

void PathCollector::Walk::begin_at(const Hop& source, std::uint32_t node) {
  if (++ways_ > most_ways) {
    ++collector_.unlinked_.ways_not_followed;
    return;
  }
  // A message that is source and sink is no flow.
  if (hops_.empty() || (takes_oldest_ && uncertain_ == 0)) {
    return;
  }
  const auto path = collector_.path(node);
  if (!path) {
    ++collector_.unlinked_.ways_not_followed;
    return;
  }
  Trail trail{{source}, last_, uncertain_ > 0, takes_oldest_};
  trail.hops.insert(trail.hops.end(), hops_.rbegin(), hops_.rend());
  collector_.add(*path, recorded_, trail, number_);
}

void PathCollector::Walk::begin_at_sender(PublicationId id, std::uint32_t node) {
  const Message& message = *history_.store().find(id);
  Step step;
  InstanceId run = InstanceId::none;
  if (history_.store().find(message.run) != nullptr) {
    run = message.run;
    step.callback = message.callback;
  } else {
    step.publisher = message.publisher;
  }
  begin_at({PublicationId::none, run, LinkKind::direct}, collector_.child(node, key_of(step)));
}

bool PathCollector::Walk::step() {
  ++steps_;
  if (steps_ == most_steps + 1) {
    ++collector_.unlinked_.ways_not_followed;
  }
  return steps_ <= most_steps;
}

/// Not if the way came round to the callback itself. Through its own node alone it may: that is no
/// loop of the system, but another try.
bool PathCollector::Walk::may_pass(execution::ObservedCallbackIndex callback) const {
  const auto passes = std::ranges::count(passed_, callback);
  if (passes < most_passes(objects_[callback].kind)) return true;
  const auto node = objects_.node_of(objects_[callback]);
  const auto since = passed_ | std::views::reverse |
                     std::views::take_while([&](auto between) { return between != callback; });
  return node && passes < most_tries && std::ranges::all_of(since, [&](auto between) {
           return objects_.node_of(objects_[between]) == node;
         });
}

void PathCollector::Walk::before_run(InstanceId id, LinkKind kind, std::uint32_t parent) {
  const Store& store = history_.store();
  const Run& run = *store.find(id);
  if (depth_ == most_hops || !may_pass(run.callback)) {
    return;
  }
  if (!step()) {
    return;
  }
  const std::uint32_t node = collector_.child(parent, key_of({run.callback, {}, false}));
  const bool is_sink = hops_.empty() && last_ == PublicationId::none;
  const Message* const message = store.find(run.source);
  if (ends_.from && ends_.from->has(run.callback) && !is_sink) {
    begin_at({PublicationId::none, id, kind}, node);
  } else if (message == nullptr || is_own_transform(objects_, *message, run)) {
    const bool is_cut = run.source != PublicationId::none && message == nullptr;
    collector_.unlinked_.beyond_window += is_cut ? 1u : 0u;
    if (!is_cut && !objects_[run.callback].timer) {
      collector_.unlinked_.sources_not_in_trace += message == nullptr ? 1u : 0u;
      if (!ends_.from && !is_sink) {
        begin_at({PublicationId::none, id, kind}, node);
      }
    }
  } else {
    hops_.push_back({run.source, id, kind});
    passed_.push_back(run.callback);
    before_message(run.source, node);
    passed_.pop_back();
    hops_.pop_back();
  }
}

void PathCollector::Walk::before_message(PublicationId id, std::uint32_t node) {
  if (ways_ > most_ways || steps_ > most_steps || depth_ == most_hops) {
    return;
  }
  const Message& message = *history_.store().find(id);
  const bool is_source =
      ends_.from && ((message.publisher && ends_.from->has(*message.publisher)) ||
                     (message.run != InstanceId::none && ends_.from->has(message.callback)));
  if (is_source) {
    begin_at_sender(id, node);
    return;
  }
  auto& inputs = inputs_[depth_];
  recorded_.causality.inputs(id, inputs);
  if (inputs.empty()) {
    if (!ends_.from) {
      begin_at_sender(id, node);
    }
    return;
  }
  ++depth_;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input input = inputs[i];
    const auto& sender = objects_[message.callback];
    const InstanceId run = takes_oldest_ ? input.oldest : input.run;
    if (run == InstanceId::none) continue;
    const std::size_t uncertain = input.is_certain() ? 0 : 1;
    met_uncertain_ = met_uncertain_ || uncertain > 0;
    uncertain_ += uncertain;
    if (input.kind == LinkKind::direct && sender.timer && !sender.triggers) {
      if (!ends_.from) {
        begin_at_sender(id, node);
      }
    } else if (input.kind == LinkKind::periodic_async) {
      before_run(run, input.kind, collector_.child(node, key_of({message.callback, {}, true})));
    } else {
      before_run(run, input.kind, node);
    }
    uncertain_ -= uncertain;
  }
  --depth_;
}

}  // namespace takt::flow
