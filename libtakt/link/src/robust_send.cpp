#include "takt/link/robust_send.hpp"

#include <algorithm>
#include <utility>

#include "takt/link/flow_control.hpp"

namespace takt::link {

RobustSend add_robust_send(Description& description, RobustOptions options,
                           const std::shared_ptr<FlowControl*>& flow) {
  const auto shared = std::make_shared<const RobustOptions>(std::move(options));
  const TaskIndex check(description.tasks.size());
  const TaskIndex send(check.value() + 1);
  const TaskIndex acknowledge(check.value() + 2);
  const auto allowed = [shared](const Activation& activation) {
    const auto passes = [&](const auto& checked) { return checked(activation); };
    if (shared->freshness > Duration{0} &&
        activation.now - activation.written > shared->freshness) {
      if (shared->warn) shared->warn(Failure::stale, activation);
      return false;
    }
    if (std::ranges::all_of(shared->checks, passes)) return true;
    if (shared->warn) shared->warn(Failure::refused, activation);
    return false;
  };
  TaskDescription checking{.name = shared->name + " checks",
                           .priority = shared->priority,
                           .inputs = {OnData{shared->channel}},
                           .samples = {},
                           .operation = Call{allowed},
                           .depth = shared->depth};
  if (shared->period > Duration{0}) {
    checking.inputs = {OnTimer{.period = shared->period}};
    checking.samples = shared->channel;
  }
  description.add(std::move(checking));
  description.add({.name = shared->name,
                   .priority = shared->priority,
                   .inputs = {OnSuccess{check}},
                   .samples = {},
                   .operation = Send{.stream = shared->stream, .peer = shared->peer},
                   .depth = shared->depth});
  const auto conclude = [shared, flow](const Activation& activation) {
    if (activation.outcome == Outcome::delivered) return true;
    Failure failure = Failure::unacknowledged;
    if (activation.outcome == Outcome::rejected) failure = Failure::rejected;
    if (activation.outcome == Outcome::dropped) failure = Failure::dropped;
    if (failure != Failure::dropped && activation.subject.restarts < shared->restarts) {
      if ((*flow)->restart(activation)) return true;
      failure = Failure::dropped;
    }
    if (shared->warn) shared->warn(failure, activation);
    return false;
  };
  description.add({.name = shared->name + " acknowledgement",
                   .priority = shared->priority,
                   .inputs = {OnEnd{send}, OnTimeout{.task = send, .after = shared->timeout}},
                   .samples = {},
                   .operation = Call{conclude},
                   // All instances of the sending task can time out at once.
                   .depth = shared->depth + 1});
  return {check, send, acknowledge};
}

}  // namespace takt::link
