#include "takt/shapes/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace takt::shapes {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

model::Model independent(model::ExecutorKind kind, std::int64_t count, std::int64_t percent) {
  model::Model model;
  model::Executor& executor = model.executors.emplace_back();
  executor.id = "e0";
  executor.kind = kind;
  executor.order = model::CallbackOrder::registered;
  for (std::int64_t i = 0; i < count; ++i) {
    const Duration period = milliseconds{10} + nanoseconds{(i * i * 7919) % 900'000'007};
    model::Callback& callback = model.callbacks.emplace_back();
    callback.id = fmt::format("c{}", i);
    callback.executor = model::ExecutorIndex{0};
    callback.kind = model::CallbackKind::timer;
    callback.registration = i;
    callback.execution_time = {std::max(epsilon, period * percent / (100 * count))};
    callback.activation = model::PeriodicActivation{period, {}};
    callback.priority = count - i;
    if (kind == model::ExecutorKind::edf) callback.deadline = period;
  }
  return model;
}

model::Model chain(model::ExecutorKind kind, std::size_t length, std::size_t executors) {
  model::Model model;
  for (std::size_t e = 0; e < executors; ++e) {
    model::Executor& executor = model.executors.emplace_back();
    executor.id = fmt::format("e{}", e);
    executor.kind = kind;
    executor.order = model::CallbackOrder::registered;
  }
  model::Chain& whole = model.chains.emplace_back();
  whole.id = "whole";
  for (std::size_t i = 0; i < length; ++i) {
    model::Callback& callback = model.callbacks.emplace_back();
    callback.id = fmt::format("c{}", i);
    callback.executor = model::ExecutorIndex{i * executors / length};
    callback.kind = i == 0 ? model::CallbackKind::timer : model::CallbackKind::subscription;
    callback.registration = static_cast<std::int64_t>(i);
    callback.execution_time = {nanoseconds{1000}};
    if (i == 0) callback.activation = model::PeriodicActivation{milliseconds{100}, {}};
    if (i > 0) {
      model::Edge edge;
      edge.from = model::CallbackIndex{i - 1};
      edge.to = model::CallbackIndex{i};
      model.edges.push_back(edge);
    }
    whole.callbacks.emplace_back(i);
  }
  return model;
}

namespace {

/// Callbacks on one executor that take input from the one before and from a source of their own.
model::Model from_sources(std::size_t count, std::optional<model::JoinKind> join, Duration cost,
                          Duration period, Duration longer) {
  model::Model model;
  model::Executor& executor = model.executors.emplace_back();
  executor.id = "e0";
  executor.order = model::CallbackOrder::registered;
  const auto add = [&](bool source) {
    const std::size_t index = model.callbacks.size();
    model::Callback& callback = model.callbacks.emplace_back();
    callback.id = fmt::format("c{}", index);
    callback.executor = model::ExecutorIndex{0};
    callback.kind = source ? model::CallbackKind::timer : model::CallbackKind::subscription;
    callback.registration = static_cast<std::int64_t>(index);
    callback.execution_time = {cost};
    if (source) {
      const Duration own = period + static_cast<std::int64_t>(index) * longer;
      callback.activation = model::PeriodicActivation{own, {}};
    }
    return model::CallbackIndex{index};
  };
  const auto send = [&](model::CallbackIndex from, model::CallbackIndex to) {
    model::Edge edge;
    edge.from = from;
    edge.to = to;
    model.edges.push_back(edge);
  };
  model::CallbackIndex before = add(true);
  for (std::size_t i = 0; i < count; ++i) {
    const model::CallbackIndex other = add(true);
    const model::CallbackIndex next = add(false);
    send(before, next);
    send(other, next);
    if (join) model.joins.push_back({.callback = next, .kind = *join, .inputs = {before, other}});
    before = next;
  }
  return model;
}

}  // namespace

model::Model nested_joins(model::JoinKind kind, std::size_t count) {
  return from_sources(count, kind, nanoseconds{100}, milliseconds{100}, nanoseconds{0});
}

model::Model confluence(model::ExecutorKind kind, std::size_t count) {
  model::Model model =
      from_sources(count, std::nullopt, epsilon, std::chrono::seconds{100}, nanoseconds{1});
  model.executors.front().kind = kind;
  return model;
}

std::string_view to_string(Structure structure) {
  switch (structure) {
    case Structure::independent:
      return "independent";
    case Structure::chain:
      return "chain";
    case Structure::fan_out:
      return "fan-out";
    case Structure::nested_joins:
      return "nested joins";
    case Structure::cycle:
      return "cycle";
  }
  return "";
}

model::Model structured(model::ExecutorKind kind, Structure structure, std::size_t count,
                        std::int64_t percent) {
  if (structure == Structure::independent) {
    return independent(kind, static_cast<std::int64_t>(count), percent);
  }
  const bool several = structure == Structure::chain || structure == Structure::cycle;
  const std::size_t executors = several ? std::min<std::size_t>(10, count) : 1;
  model::Model model;
  for (std::size_t e = 0; e < executors; ++e) {
    model::Executor& executor = model.executors.emplace_back();
    executor.id = fmt::format("e{}", e);
    executor.kind = kind;
    executor.order = model::CallbackOrder::registered;
  }
  const Duration period = milliseconds{100};
  const auto share = static_cast<std::int64_t>(100 * (count + executors - 1) / executors);
  for (std::size_t i = 0; i < count; ++i) {
    const bool source = i == 0 || (structure == Structure::nested_joins && i % 2 == 1);
    model::Callback& callback = model.callbacks.emplace_back();
    callback.id = fmt::format("c{}", i);
    callback.executor =
        model::ExecutorIndex{structure == Structure::cycle ? i % executors : i * executors / count};
    callback.kind = source ? model::CallbackKind::timer : model::CallbackKind::subscription;
    callback.registration = static_cast<std::int64_t>(i);
    callback.execution_time = {std::max(epsilon, period * percent / share)};
    callback.priority = static_cast<std::int64_t>(count - i);
    if (source) callback.activation = model::PeriodicActivation{period, {}};
    const auto receive = [&](std::size_t from) {
      model::Edge edge;
      edge.from = model::CallbackIndex{from};
      edge.to = model::CallbackIndex{i};
      model.edges.push_back(edge);
      return edge.from;
    };
    if (source) continue;
    if (structure == Structure::fan_out) {
      receive((i - 1) / 10);
    } else if (structure == Structure::nested_joins) {
      const auto before = receive(i - 2);
      const auto other = receive(i - 1);
      model.joins.push_back({.callback = model::CallbackIndex{i},
                             .kind = model::JoinKind::newest,
                             .inputs = {before, other}});
    } else {
      receive(i - 1);
    }
  }
  return model;
}

}  // namespace takt::shapes
