#include "engine.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "takt/model/order.hpp"

namespace takt::simulation {

using scheduling::Queueing;

namespace {

/// At most so many messages are on their way and instances wait: beyond that, a system is
/// hopelessly overloaded, and memory is limited. At most as many inputs of all chains wait.
constexpr std::int64_t most_waiting = 1'000'000;

/// The index of a message in the lower bits of its event's subject, below its place in the order of
/// sending.
constexpr std::uint64_t message_bits = 24;
static_assert(most_waiting < std::int64_t{1} << message_bits);

/// How the error says that too much waits, and nothing else.
constexpr std::string_view overload = "the system is overloaded";

/// How many events pass between two calls for progress.
constexpr std::int64_t progress_interval = 1'000'000;

}  // namespace

bool is_overload(const Error& error) { return error.message.find(overload) != std::string::npos; }

Engine::Engine(const model::Model& model, const Options& options, Observer* observer)
    : model_(model), options_(options), observer_(observer), network_(model) {}

void Engine::must_decide(ExecutorIndex index) {
  ExecutorState& executor = executors_[index.value()];
  if (std::exchange(executor.must_decide, true)) return;
  deciding_.push_back(index);
}

Result<Simulation> Engine::run(const Progress& progress) {
  const Instant end = Instant(options_.duration);
  std::int64_t reported = 0;
  while (!events_.empty() && events_.top().when < end) {
    now_ = events_.top().when;
    while (!events_.empty() && events_.top().when == now_) {
      const Event event = events_.top();
      events_.pop();
      take_in(event);
      // A burst may bring any number of instances within one instant.
      if (waiting_ > most_waiting) {
        return error(
            "after {} ms, {} instances and messages wait: {}; lower the load, limit the queues, or "
            "simulate a shorter time",
            now_.time_since_epoch().count() / 1'000'000, waiting_, overload);
      }
      if (progress && result_.events - reported >= progress_interval) {
        reported = result_.events;
        progress(now_.time_since_epoch());
      }
    }
    for (std::size_t i = 0; i < deciding_.size(); ++i) {
      executors_[deciding_[i].value()].must_decide = false;
      decide(deciding_[i]);
    }
    deciding_.clear();
    if (processors_changed_) follow_processors();
  }
  result_.unfinished = waiting_;
  for (const ThreadState& thread : threads_) result_.unfinished += thread.running ? 1 : 0;
  warn_of_inputs_left_out();
  return std::move(result_);
}

void Engine::warn_of_inputs_left_out() {
  for (std::size_t chain = 0; chain < inputs_.size(); ++chain) {
    if (inputs_[chain].left_out == 0) continue;
    result_.warnings.push_back(fmt::format(
        "the reaction times of chain \"{}\" lack {} inputs, which came while {} waited for an "
        "output",
        model_.chains[chain].id, inputs_[chain].left_out, most_inputs()));
  }
}

void Engine::take_in(const Event& event) {
  const auto subject = static_cast<std::size_t>(event.subject);
  switch (event.kind) {
    case EventKind::completion:
      end_work(subject);
      break;
    case EventKind::processors:
      if (event.subject != processors_plan_) break;
      done_.clear();
      processors_->advance(now_, done_);
      processors_changed_ = true;
      for (const std::size_t thread : done_) end_work(thread);
      break;
    case EventKind::resumption:
      resume(subject);
      break;
    case EventKind::message: {
      const std::size_t index = subject & ((std::size_t{1} << message_bits) - 1);
      --waiting_;
      const Message& message = messages_[index];
      arrive(message.link, message.origin, message.tag, message.chain_starts);
      free_messages_.push_back(index);
      break;
    }
    case EventKind::activation:
      options_.recorded ? repeat_release(subject) : begin_activation(CallbackIndex(subject));
      break;
    case EventKind::wake_up:
      must_decide(ExecutorIndex(subject));
      break;
  }
}

void Engine::schedule_activation(CallbackIndex callback) {
  if (const std::optional<Instant> release = state(callback).releases->next()) {
    events_.push(std::max(*release, now_), EventKind::activation, callback.value());
  }
}

/// A source is activated: a timer expires, a device delivers.
void Engine::begin_activation(CallbackIndex callback) {
  const Vertex& vertex = network_.vertices[callback.value()];
  CallbackState& activated = state(callback);
  // rcl's timers learn of further expiries only when they are called; others release each.
  if (activated.missed_periods != MissedPeriods::skipped) schedule_activation(callback);
  release(activated.executor);
  scratch_.assign(vertex.positions, not_on_chain);
  const MessageTag message = observer_ != nullptr ? observer_->on_outside(now_, callback) : 0;
  activate(callback, {.when = now_, .origin = now_, .message = message}, scratch_);
}

/// Repeats a recorded release and schedules the next one, in the same instant if need be.
void Engine::repeat_release(std::size_t index) {
  const RecordedRelease& release = (*options_.recorded)[index];
  if (index + 1 < options_.recorded->size()) {
    events_.push((*options_.recorded)[index + 1].when, EventKind::activation, index + 1);
  }
  scratch_.assign(network_.vertices[release.callback.value()].positions, not_on_chain);
  activate(release.callback, {.when = release.activation, .origin = release.origin}, scratch_);
}

void Engine::activate(CallbackIndex callback, const Activation& activation,
                      std::span<const Instant> chain_starts) {
  CallbackState& activated = state(callback);
  SimulatedCallback& result = result_.callbacks[callback.value()];
  ++result.activations;
  ++result_.events;
  note_inputs(callback, activation);
  ExecutorState& executor = executors_[activated.executor.value()];
  const std::size_t waiting =
      activated.waiting.add({.via = activation.via, .message = activation.message}, chain_starts);
  const auto displaced =
      executor.dispatch.release(activated.local, activation.when, activation.origin, waiting);
  ++waiting_;
  if (observer_ != nullptr) {
    observer_->on_release(callback, activation.when, activation.origin);
  }
  if (displaced) {
    activated.waiting.remove(*displaced);
    --waiting_;
    const bool is_newer_expiry =
        activated.missed_periods == MissedPeriods::replacing ||
        executor.dispatch.queueing(activated.local) == Queueing::newest_only;
    ++(is_newer_expiry ? result.skipped : result.discarded);
  }
  if (!executor.idle_threads.empty()) must_decide(activated.executor);
}

/// How many inputs of a chain may wait.
std::size_t Engine::most_inputs() const {
  return static_cast<std::size_t>(most_waiting) / inputs_.size();
}

/// The activation is an input of the chains that begin here.
void Engine::note_inputs(CallbackIndex callback, const Activation& activation) {
  for (const auto& [chain, onward] : network_.vertices[callback.value()].starting) {
    const auto sends = [&](std::size_t link) {
      return is_triggered(network_.links[link], activation.via);
    };
    if (!onward.empty() && std::ranges::none_of(onward, sends)) continue;
    Inputs& inputs = inputs_[chain];
    std::optional<Instant> since = activation.when;
    if (model_[callback].kind == model::CallbackKind::timer) {
      since = std::exchange(inputs.last_expiry, activation.when);
    }
    if (!since) continue;
    // Inputs of a chain without output wait for ever. Each chain has its own part of the limit, so
    // that such a chain takes nothing from the others.
    if (inputs.waiting.size() >= most_inputs()) {
      ++inputs.left_out;
      continue;
    }
    inputs.waiting.push_back({.activation = activation.when, .since = *since});
  }
}

/// Whether an instance that was activated by a message along the link `via` sends along this one.
bool Engine::is_triggered(const Link& link, std::size_t via) const {
  if (!link.triggered_by) return true;
  return via != Activation::external &&
         std::ranges::find(*link.triggered_by, network_.links[via].from) !=
             link.triggered_by->end();
}

void Engine::publish(const ThreadState& thread) {
  if (options_.recorded) return;
  const Vertex& vertex = network_.vertices[thread.callback.value()];
  for (const std::size_t index : vertex.outgoing) {
    const Link& link = network_.links[index];
    if (!is_triggered(link, thread.activation.via)) continue;
    if (link.share && !link.share->sends(might_have_sent_[index]++)) continue;
    const MessageTag tag =
        observer_ != nullptr ? observer_->on_send(now_, id_of(thread), index) : 0;
    const std::size_t positions = network_.vertices[link.to.value()].positions;
    Duration delay = link.delay;
    if (options_.releases == ReleaseModel::random && delay > Duration{0}) {
      delay = delays_[index].between(Duration{0}, delay);
    }
    const Instant arrival = std::max(now_ + delay, last_arrivals_[index]);
    // A message that was sent before and arrives now may not have been taken in yet.
    const bool follows_another = link.delay > Duration{0} && last_arrivals_[index] == arrival;
    last_arrivals_[index] = arrival;
    scratch_.assign(positions, not_on_chain);
    for (const auto& [from, to] : link.positions) scratch_[to] = thread.chain_starts[from];
    if (arrival == now_ && !follows_another && !link.follows_ends) {
      arrive(index, thread.activation.origin, tag, scratch_);
      continue;
    }
    if (free_messages_.empty()) {
      free_messages_.push_back(messages_.size());
      messages_.emplace_back();
    }
    const std::size_t message = free_messages_.back();
    free_messages_.pop_back();
    messages_[message].link = index;
    messages_[message].origin = thread.activation.origin;
    messages_[message].tag = tag;
    messages_[message].chain_starts = scratch_;
    events_.push(arrival, EventKind::message, sent_++ << message_bits | message);
    ++waiting_;
  }
}

void Engine::arrive(std::size_t index, Instant origin, MessageTag tag,
                    std::span<const Instant> chain_starts) {
  const Link& link = network_.links[index];
  const Activation activation{.when = now_, .via = index, .origin = origin, .message = tag};
  if (link.sampled) {
    const Vertex& vertex = network_.vertices[link.to.value()];
    const auto slot = std::ranges::find(vertex.sampled, index) - vertex.sampled.begin();
    InstanceQueue& kept = state(link.to).registers[static_cast<std::size_t>(slot)];
    if (kept.size() > 0) kept.drop_front();
    kept.push_back(activation, chain_starts);
    return;
  }
  release(state(link.to).executor);
  if (link.join_input) {
    join(link, activation, chain_starts);
  } else {
    activate(link.to, activation, chain_starts);
  }
}

/// Chains go on through the input that completes the set, their data through all inputs.
void Engine::join(const Link& link, const Activation& activation,
                  std::span<const Instant> chain_starts) {
  JoinInputs& join = *state(link.to).join;
  InstanceQueue& input = join.inputs[*link.join_input];
  const bool newest = network_.vertices[link.to.value()].join == model::JoinKind::newest;
  if (input.size() == 0) ++join.complete;
  if (newest && input.size() > 0) {
    input.drop_front();
    --waiting_;
  }
  input.push_back(activation, chain_starts);
  ++waiting_;
  const bool completes = join.complete == join.inputs.size();
  if (observer_ != nullptr) {
    observer_->on_input(activation.via, activation.message, completes);
  }
  if (!completes) return;
  // What came last may stand in scratch_.
  joined_.assign(chain_starts.begin(), chain_starts.end());
  for (InstanceQueue& each : join.inputs) {
    const std::span<const Instant> joined = each.front_chain_starts();
    for (std::size_t position = 0; position < joined.size(); ++position) {
      if (follows_data(position) && joined[position] != not_on_chain)
        joined_[position] = joined[position];
    }
    each.drop_front();
    --waiting_;
    if (each.size() == 0) --join.complete;
  }
  activate(link.to, activation, joined_);
}

/// A timer's expiry or a message reaches the executor, which takes time of its thread. An instance
/// that runs is over only when all that came meanwhile has been taken in.
void Engine::release(ExecutorIndex index) {
  ExecutorState& executor = executors_[index.value()];
  if (executor.release_overhead == Duration{0}) return;
  ThreadState& thread = threads_[executor.first_thread];
  if (thread.running || thread.releasing) {
    thread.releases += executor.release_overhead;
    return;
  }
  thread.releasing = true;
  executor.idle_threads.clear();
  work(executor.first_thread, executor.release_overhead);
}

void Engine::end_work(std::size_t index) {
  ThreadState& thread = threads_[index];
  if (thread.releases > Duration{0}) {
    work(index, std::exchange(thread.releases, Duration{0}));
  } else if (std::exchange(thread.releasing, false)) {
    executors_[thread.executor.value()].idle_threads.push_back(index);
    must_decide(thread.executor);
  } else if (!thread.pauses.empty()) {
    suspend(index);
  } else if (thread.left > Duration{0}) {
    interrupt(index);
  } else {
    complete(index);
  }
}

/// The instance suspends itself. Its thread stays its own meanwhile.
void Engine::suspend(std::size_t index) {
  events_.push(now_ + threads_[index].pauses.back().length, EventKind::resumption, index);
}

void Engine::resume(std::size_t index) {
  ThreadState& thread = threads_[index];
  thread.pauses.pop_back();
  const Duration left = std::exchange(thread.left, Duration{0});
  // Nothing that comes in this instant is before an instance that ends with its suspension.
  if (left == Duration{0} && thread.pauses.empty()) {
    end_work(index);
  } else {
    run(index, left);
  }
}

/// After a piece of an instance, the executor goes on with the most urgent instance.
void Engine::interrupt(std::size_t index) {
  ThreadState& thread = threads_[index];
  ExecutorState& executor = executors_[thread.executor.value()];
  CallbackState& interrupted = state(thread.callback);
  thread.running = false;
  interrupted.left = std::exchange(thread.left, Duration{0});
  thread.job.instance.payload = interrupted.waiting.add(
      {.via = thread.activation.via, .message = thread.activation.message}, thread.chain_starts);
  executor.dispatch.interrupted(thread.job);
  ++waiting_;
  executor.idle_threads.push_back(index);
  must_decide(thread.executor);
}

void Engine::complete(std::size_t index) {
  ThreadState& thread = threads_[index];
  ExecutorState& executor = executors_[thread.executor.value()];
  thread.running = false;
  ++result_.events;
  result_.callbacks[thread.callback.value()].response_time.record(now_ - thread.activation.when);
  for (const auto& [chain, position] : network_.vertices[thread.callback.value()].ending) {
    if (thread.chain_starts[position] != not_on_chain) {
      result_.chains[chain].latency.record(now_ - thread.chain_starts[position]);
    }
    if (thread.chain_starts[position + 1] != not_on_chain)
      record_output(chain, thread.chain_starts[position + 1]);
  }
  if (executor.longest_piece > Duration{0}) {
    // A message on a link is no instance of a callback.
  } else if (result_.timeline.size() < options_.timeline) {
    result_.timeline.push_back({thread.executor, thread.number, thread.callback,
                                thread.activation.when, thread.start, now_});
  } else {
    result_.timeline_is_partial = true;
  }
  executor.idle_threads.push_back(index);
  if (!publishes_at_start(executor)) publish(thread);
  if (observer_ != nullptr) observer_->on_end(now_, id_of(thread));
  executor.dispatch.completed(thread.job);
  must_decide(thread.executor);
}

/// Records an output of a chain that is based on what its first callback read when activated at
/// `activation`. All inputs until then are in it, or were replaced by newer ones.
void Engine::record_output(std::size_t chain, Instant activation) {
  SimulatedChain& result = result_.chains[chain];
  result.data_age.record(now_ - activation);
  Ring<Input>& waiting = inputs_[chain].waiting;
  while (!waiting.empty() && waiting.front().activation <= activation) {
    Input input;
    waiting.pop_front(input);
    result.reaction_time.record(now_ - input.since);
  }
}

void Engine::decide(ExecutorIndex index) {
  ExecutorState& executor = executors_[index.value()];
  if (executor.dispatch.goes_by_time()) {
    executor.dispatch.advance(now_);
    const std::optional<Instant> start = executor.dispatch.next_start();
    if (start && executor.wake_up != start) {
      executor.wake_up = start;
      events_.push(*start, EventKind::wake_up, index.value());
    }
  }
  while (!executor.idle_threads.empty()) {
    const std::size_t thread = executor.idle_threads.back();
    if (!next(thread)) return;
    executor.idle_threads.pop_back();
    start(thread);
  }
}

bool Engine::next(std::size_t index) {
  ThreadState& thread = threads_[index];
  scheduling::Dispatch& dispatch = executors_[thread.executor.value()].dispatch;
  const std::uint64_t before = dispatch.polling_points();
  const bool chosen = dispatch.next(thread.job);
  const bool polled = dispatch.polling_points() > before;
  if (polled && result_.polling_points.size() < options_.timeline) {
    result_.polling_points.push_back({thread.executor, now_});
  }
  if (observer_ != nullptr) observer_->on_decision(now_, id_of(thread), polled, chosen);
  return chosen;
}

/// Starts the thread's job.
void Engine::start(std::size_t index) {
  ThreadState& thread = threads_[index];
  const scheduling::Job& job = thread.job;
  ExecutorState& executor = executors_[thread.executor.value()];
  const CallbackIndex callback = executor.callbacks[job.callback.value()];
  CallbackState& started = state(callback);
  const Vertex& vertex = network_.vertices[callback.value()];
  thread.callback = callback;
  thread.start = now_;
  thread.running = true;
  thread.chain_starts.resize(vertex.positions);
  const Cause cause = started.waiting.take(job.instance.payload, thread.chain_starts);
  thread.activation = {.when = job.instance.activation,
                       .via = cause.via,
                       .origin = job.instance.origin,
                       .message = cause.message};
  --waiting_;
  for (const std::size_t position : vertex.beginning)
    thread.chain_starts[position] = thread.activation.when;
  sample_inputs(thread);
  if (started.missed_periods == MissedPeriods::skipped) {
    result_.callbacks[callback.value()].skipped += started.releases->skip_until(now_);
    schedule_activation(callback);
  }
  ++result_.events;
  if (started.left) {
    run_piece(index, *std::exchange(started.left, std::nullopt));
    return;
  }
  Duration time = started.execution_times.next();
  if (executor.overhead) time += executor.overhead->next();
  if (started.suspensions) started.suspensions->next(time, thread.pauses);
  if (observer_ != nullptr) tell_start(thread, time);
  if (publishes_at_start(executor)) publish(thread);
  started.suspensions ? run(index, time) : run_piece(index, time);
}

void Engine::tell_start(const ThreadState& thread, Duration processor_time) const {
  StartedInstance instance{.callback = thread.callback,
                           .edge = thread.activation.via,
                           .message = thread.activation.message,
                           .processor_time = processor_time,
                           .suspensions = static_cast<std::int64_t>(thread.pauses.size())};
  for (const Pause& pause : thread.pauses) instance.suspended += pause.length;
  observer_->on_start(now_, id_of(thread), instance);
}

/// Runs an instance that has `time` left to run, as far as its next suspension.
void Engine::run(std::size_t index, Duration time) {
  ThreadState& thread = threads_[index];
  const Duration until = thread.pauses.empty() ? time : thread.pauses.back().after;
  thread.left = time - until;
  work(index, until);
}

void Engine::run_piece(std::size_t index, Duration time) {
  ThreadState& thread = threads_[index];
  const Duration longest = executors_[thread.executor.value()].longest_piece;
  const Duration piece = longest > Duration{0} ? std::min(time, longest) : time;
  thread.left = time - piece;
  work(index, piece);
}

/// A message on a link has come when its last piece has: links do not publish at the start.
bool Engine::publishes_at_start(const ExecutorState& executor) const {
  return options_.publication == Publication::at_start && executor.longest_piece == Duration{0};
}

void Engine::work(std::size_t index, Duration time) {
  if (!threads_[index].supply) {
    processors_->start(index, now_, time);
    processors_changed_ = true;
  } else {
    events_.push(threads_[index].supply->finish(now_, time), EventKind::completion, index);
  }
}

/// A timer reads what has come last, and chains go on through what is new.
void Engine::sample_inputs(ThreadState& thread) {
  const Vertex& vertex = network_.vertices[thread.callback.value()];
  for (InstanceQueue& kept : state(thread.callback).registers) {
    if (kept.size() == 0) continue;
    scratch_.assign(vertex.positions, not_on_chain);
    const Activation activation = kept.pop_front(scratch_);
    for (std::size_t position = 0; position < vertex.positions; ++position) {
      if (scratch_[position] != not_on_chain) thread.chain_starts[position] = scratch_[position];
      if (!follows_data(position)) scratch_[position] = not_on_chain;
    }
    kept.push_back(activation, scratch_);
  }
}

/// Distributes the cores anew and waits for the next change of their use.
void Engine::follow_processors() {
  processors_changed_ = false;
  done_.clear();
  processors_->advance(now_, done_);
  assert(done_.empty() && "what ended now has been taken in");
  processors_->reschedule();
  ++processors_plan_;
  if (const std::optional<Instant> next = processors_->next_change()) {
    events_.push(*next, EventKind::processors, processors_plan_);
  }
}

}  // namespace takt::simulation
