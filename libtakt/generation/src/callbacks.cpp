#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "draft.hpp"
#include "takt/model/order.hpp"

namespace takt::generation {

namespace {

/// A few activations close together, then a pause: minimum distances over two such bursts.
model::MinDistanceActivation burst(Draft& draft, std::int64_t period) {
  const auto size = draft.random.between(2, 4);
  std::vector<std::int64_t> gaps;
  for (std::int64_t n = 1; n < size; ++n) gaps.push_back(draft.random.between(0, period / 8));
  gaps.push_back(size * period - std::reduce(gaps.begin(), gaps.end()));
  gaps.insert(gaps.end(), gaps.begin(), gaps.end());
  model::MinDistanceActivation activation{{Duration{0}}};
  for (std::size_t n = 1; n < gaps.size() / 2 + 1; ++n) {
    std::int64_t least = gaps.front() + gaps.back() + size * period;
    for (std::size_t first = 0; first + n <= gaps.size(); ++first) {
      const auto begin = gaps.begin() + static_cast<std::ptrdiff_t>(first);
      least = std::min(least, std::reduce(begin, begin + static_cast<std::ptrdiff_t>(n)));
    }
    activation.values.emplace_back(least);
  }
  return activation;
}

model::Activation activation(Draft& draft, CallbackKind kind) {
  const Shape& shape = draft.shape;
  const auto period =
      draft.random.between(shape.shortest_period.count(), shape.longest_period.count());
  if (draft.random.chance(shape.burst)) return burst(draft, period);
  const auto jitter =
      draft.random.chance(shape.jitter) ? draft.random.between(1, 2 * period) : std::int64_t{0};
  const bool sporadic = kind == CallbackKind::timer || kind == CallbackKind::event_source
                            ? draft.with(shape.sporadic_timer)
                            : kind == CallbackKind::subscription || draft.random.chance(50);
  if (sporadic) return model::SporadicActivation{Duration{period}, Duration{jitter}};
  model::PeriodicActivation periodic{.period = Duration{period}, .jitter = Duration{jitter}};
  // A model cannot decide when a real timer begins.
  if (!draft.as_ros && draft.with(shape.phase)) {
    periodic.phase = Duration{draft.random.between(0, period - 1)};
  }
  return periodic;
}

model::Callback& new_callback(Draft& draft, ExecutorIndex executor, CallbackKind kind) {
  model::Callback& callback = draft.model.callbacks.emplace_back();
  callback.id = "c" + std::to_string(draft.model.callbacks.size() - 1);
  callback.node = "/n";
  if (draft.shape.most_threads > 1) {
    callback.node += std::to_string(draft.random.between(1, draft.shape.most_threads));
  }
  callback.executor = executor;
  callback.kind = kind;
  return callback;
}

void add_source(Draft& draft, ExecutorIndex executor, CallbackKind kind) {
  model::Callback& source = new_callback(draft, executor, kind);
  source.activation = activation(draft, kind);
}

/// A service, and for each of its callers a client that gets the response, which runs where its
/// caller does.
void add_service(Draft& draft, ExecutorIndex executor, const std::vector<CallbackIndex>& callers) {
  const CallbackIndex service{draft.model.callbacks.size()};
  new_callback(draft, executor, CallbackKind::service);
  for (const CallbackIndex caller : callers) {
    const CallbackIndex client{draft.model.callbacks.size()};
    const std::string node = draft.model[caller].node;
    new_callback(draft, draft.model[caller].executor, CallbackKind::client).node = node;
    add_edge(draft, caller, service);
    model::Edge& response = add_edge(draft, service, client);
    if (callers.size() > 1) response.triggered_by = {caller};
  }
}

/// Like add_receiver(), but adds only what real nodes can run.
void add_ros_receiver(Draft& draft, ExecutorIndex executor, CallbackIndex sender) {
  Random& random = draft.random;
  const CallbackIndex receiver{draft.model.callbacks.size()};
  std::vector<CallbackIndex> senders{sender};
  const CallbackIndex second = draft.any_callback();
  if (second != sender && random.chance(draft.shape.second_sender)) senders.push_back(second);
  const auto room = draft.most_callbacks - std::ssize(draft.model.callbacks);
  if (random.chance(50) && std::ssize(senders) < room) {
    add_service(draft, executor, senders);
    return;
  }
  new_callback(draft, executor, CallbackKind::subscription);
  for (const CallbackIndex from : senders) add_edge(draft, from, receiver);
  if (senders.size() > 1 && draft.with(draft.shape.join)) {
    const auto join = random.chance(50) ? model::JoinKind::and_ : model::JoinKind::newest;
    draft.model.joins.push_back({.callback = receiver, .kind = join, .inputs = senders});
  } else if (draft.with(draft.shape.own_activation)) {
    draft.model.callbacks[receiver.value()].activation =
        activation(draft, CallbackKind::subscription);
  }
}

void add_receiver(Draft& draft, ExecutorIndex executor, CallbackIndex sender) {
  if (draft.as_ros) return add_ros_receiver(draft, executor, sender);
  constexpr std::array kinds{CallbackKind::subscription, CallbackKind::subscription,
                             CallbackKind::service, CallbackKind::client};
  Random& random = draft.random;
  const Shape& shape = draft.shape;
  const CallbackIndex receiver{draft.model.callbacks.size()};
  const CallbackIndex second = draft.any_callback();
  CallbackKind kind = kinds[static_cast<std::size_t>(random.between(0, 3))];
  if (draft.with(shape.any_source)) kind = CallbackKind::waitable;
  new_callback(draft, executor, kind);
  add_edge(draft, sender, receiver);
  if (draft.with(shape.own_activation)) {
    draft.model.callbacks.back().activation = activation(draft, kind);
  }
  if (second == sender || !random.chance(shape.second_sender)) return;
  add_edge(draft, second, receiver);
  if (!random.chance(shape.join)) return;
  const auto join = random.chance(50) ? model::JoinKind::and_ : model::JoinKind::newest;
  draft.model.joins.push_back({.callback = receiver, .kind = join, .inputs = {sender, second}});
}

void add_callback(Draft& draft, ExecutorIndex executor) {
  constexpr std::array other_sources{CallbackKind::service, CallbackKind::client,
                                     CallbackKind::waitable};
  Random& random = draft.random;
  const std::vector<CallbackIndex> local = draft.callbacks_of(executor);
  if (!draft.model.callbacks.empty() && random.chance(draft.shape.message_driven)) {
    const bool remote = local.empty() || random.chance(draft.shape.remote_sender);
    add_receiver(draft, executor, remote ? draft.any_callback() : random.pick(local));
  } else if (draft.with(draft.shape.any_source)) {
    const CallbackKind kind = other_sources[static_cast<std::size_t>(random.between(0, 2))];
    // Nothing activates a client that sends no request.
    const bool lone_client = draft.as_ros && kind == CallbackKind::client;
    add_source(draft, executor, lone_client ? CallbackKind::service : kind);
  } else {
    add_source(draft, executor,
               random.chance(60) ? CallbackKind::timer : CallbackKind::subscription);
  }
}

}  // namespace

void add_callbacks(Draft& draft) {
  Random& random = draft.random;
  model::Model& model = draft.model;
  // Event sources fill their executors at once; the rest is spread over the others.
  std::vector<ExecutorIndex> others;
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    if (has(model.executors[e].kind, model::ExecutorTrait::outside_ros)) {
      add_source(draft, ExecutorIndex{e}, CallbackKind::event_source);
    } else {
      others.emplace_back(e);
    }
  }
  draft.most_callbacks = random.between(draft.shape.fewest_callbacks, draft.shape.most_callbacks);
  const auto is_full = [&draft] {
    return std::ssize(draft.model.callbacks) >= draft.most_callbacks;
  };
  for (std::size_t i = 0; !others.empty() && !is_full(); ++i) {
    add_callback(draft, i < others.size() ? others[i] : random.pick(others));
  }
  // Registration decides priorities within a category; keep it independent of the graph's order.
  for (model::Callback& callback : model.callbacks) callback.registration = random.between(0, 1000);
}

void add_urgencies(Draft& draft) {
  const Shape& shape = draft.shape;
  Random& random = draft.random;
  for (model::Callback& callback : draft.model.callbacks) {
    const ExecutorKind kind = draft.model[callback.executor].kind;
    if (kind == ExecutorKind::fixed_priority || draft.with(shape.priority)) {
      callback.priority = random.between(1, 5);
    }
    const bool has_deadline =
        (kind == ExecutorKind::edf && callback.activation && !random.chance(50)) ||
        draft.with(shape.deadline);
    if (has_deadline) callback.deadline = Duration{random.between(1, shape.longest_period.count())};
    if (draft.with(shape.queue_depth)) callback.queue_depth = random.between(1, 3);
    if (draft.with(shape.callback_group)) {
      callback.callback_group = random.chance(50) ? "reentrant" : random.chance(50) ? "a" : "b";
    }
  }
}

}  // namespace takt::generation
