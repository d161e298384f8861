#include "schedule.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>

#include "executor_semantics.hpp"
#include "least_supply.hpp"
#include "takt/model/message_share.hpp"
#include "takt/model/order.hpp"

namespace takt::brute_force {

using model::CallbackIndex;
using model::Model;

namespace {

std::vector<std::int64_t> counts(const std::vector<Duration>& durations) {
  std::vector<std::int64_t> result;
  for (const Duration duration : durations) result.push_back(duration.count());
  return result;
}

/// Costs of consecutive instances such that no n of them exceed the n-th value of the curve.
class Costs {
 public:
  explicit Costs(const std::vector<std::int64_t>& curve) : curve_(&curve) {}

  /// The most that the next instance may cost.
  [[nodiscard]] std::int64_t most() const {
    std::int64_t most = curve_->empty() ? 0 : curve_->front();
    std::int64_t before = 0;
    for (std::size_t n = 1; n < curve_->size() && n <= past_.size(); ++n) {
      before += past_[past_.size() - n];
      most = std::min(most, (*curve_)[n] - before);
    }
    return most;
  }

  void spend(std::int64_t cost) {
    past_.push_back(cost);
    if (past_.size() >= curve_->size()) past_.pop_front();
  }

 private:
  const std::vector<std::int64_t>* curve_;
  std::deque<std::int64_t> past_;
};

/// The shortest spans of 2, 3, … activations of a source: as many as there are in a schedule, or as
/// follow from each other.
std::vector<std::int64_t> distances(const model::Activation& activation) {
  std::vector<std::int64_t> result;
  const auto periodic = [&](std::int64_t period, std::int64_t jitter) {
    constexpr std::int64_t most_activations = 20'000;
    const std::int64_t count = jitter == 0 ? 1 : most_activations;
    for (std::int64_t n = 1; n <= count; ++n) {
      result.push_back(std::max<std::int64_t>(0, n * period - jitter));
    }
  };
  if (const auto* p = std::get_if<model::PeriodicActivation>(&activation)) {
    periodic(p->period.count(), p->jitter.count());
  } else if (const auto* s = std::get_if<model::SporadicActivation>(&activation)) {
    periodic(s->min_separation.count(), s->jitter.count());
  } else {
    result = counts(std::get<model::MinDistanceActivation>(activation).values);
    result.erase(result.begin());
  }
  return result;
}

constexpr std::size_t no_instance = std::numeric_limits<std::size_t>::max();

struct Instance {
  CallbackIndex callback;
  /// The instance whose message activated this one.
  std::size_t parent = no_instance;
  std::int64_t activation = 0;
  std::int64_t origin = 0;
};

struct Message {
  std::int64_t arrival = 0;
  std::size_t edge = 0;
  std::size_t sender = 0;
};

}  // namespace

struct CompiledModel {
  /// An edge that activates.
  struct TriggerEdge {
    const model::Edge* edge;
    /// Its index in the model.
    std::size_t object;
  };

  CompiledModel(const Model& m, Sending s, Supplying by) : model(m), sending(s), supplying(by) {
    policy::Describer describer(model);
    for (std::size_t e = 0; e < model.executors.size(); ++e) {
      auto described = describer.describe(model::ExecutorIndex{e});
      assert(described && "the model's executors can be described");
      executors.push_back(*std::move(described));
    }
    for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
      costs.push_back(counts(model.callbacks[i].execution_time));
      const auto& suspension = model.callbacks[i].suspension;
      suspensions.push_back(suspension ? counts(suspension->curve) : std::vector<std::int64_t>{});
      times_suspended.push_back(suspension ? suspension->times_curve()
                                           : std::vector<std::int64_t>{});
    }
    for (const model::Executor& executor : model.executors) {
      overheads.push_back(counts(executor.overhead));
    }
    for (std::size_t e = 0; e < model.edges.size(); ++e) {
      const model::Edge& edge = model.edges[e];
      if (model::samples_messages(model[edge.to])) continue;
      edges.push_back({&edge, e});
    }
    for (const model::Callback& callback : model.callbacks) {
      const bool source = callback.activation.has_value();
      spans.push_back(source ? distances(*callback.activation) : std::vector<std::int64_t>{});
    }
  }

  const Model model;
  const Sending sending;
  const Supplying supplying;
  std::vector<policy::Description> executors;
  std::vector<std::vector<std::int64_t>> costs;
  std::vector<std::vector<std::int64_t>> suspensions;
  std::vector<std::vector<std::int64_t>> times_suspended;
  std::vector<std::vector<std::int64_t>> overheads;
  std::vector<TriggerEdge> edges;
  /// The spans of every source, see distances().
  std::vector<std::vector<std::int64_t>> spans;
};

namespace {

/// The processor time of one executor: of each ε whether it is supplied.
class Supply {
 public:
  Supply(const model::Supply& supply, std::size_t executor, Choices& choices)
      : executor_(executor), choices_(choices) {
    if (const auto* reservation = std::get_if<model::ReservationSupply>(&supply)) {
      reservation_ = *reservation;
      // Chosen 0, the first budget comes as early as it can and ends at 0, when everything starts.
      start_ = -reservation_->budget.count() +
               choices(Freedom::supply, executor, reservation_->period.count());
      slack_ = reservation_->deadline.count() - reservation_->budget.count();
      position_ = start_ + choices(Freedom::supply, executor, slack_ + 1);
    } else if (const auto* slots = std::get_if<model::SlotSupply>(&supply)) {
      slots_ = *slots;
      // Chosen 0, the first slot has just ended when everything starts.
      phase_ = slots_->slots.front().end.count() +
               choices(Freedom::supply, executor, slots_->cycle.count());
    }
  }

  /// Whether [t, t + ε) is supplied; t must not decrease.
  bool at(std::int64_t t) {
    if (slots_) {
      const Duration place{(t + phase_) % slots_->cycle.count()};
      return std::ranges::any_of(slots_->slots, [&](const model::Slot& slot) {
        return place >= slot.start && place < slot.end;
      });
    }
    if (!reservation_) return true;
    while (t >= start_ + reservation_->period.count()) {
      start_ += reservation_->period.count();
      // Chosen 0, this budget comes as late as it can.
      position_ = start_ + slack_ - choices_(Freedom::supply, executor_, slack_ + 1);
    }
    return t >= position_ && t < position_ + reservation_->budget.count();
  }

 private:
  std::size_t executor_;
  Choices& choices_;
  std::optional<model::ReservationSupply> reservation_;
  std::optional<model::SlotSupply> slots_;
  std::int64_t phase_ = 0;
  std::int64_t start_ = 0;
  std::int64_t slack_ = 0;
  std::int64_t position_ = 0;
};

struct Thread {
  Supply supply;
  /// In place of `supply`, if only its bound holds.
  std::optional<LeastSupply> least;
  Costs overheads;
  /// When the last instance completed.
  std::int64_t completion = -1;

  /// The instance that runs, how much of its cost is spent, and when it publishes.
  std::size_t running = no_instance;
  std::int64_t spent = 0;
  std::int64_t cost = 0;
  struct Publication {
    std::int64_t after;
    std::size_t edge;
  };
  std::vector<Publication> publications{};
  /// The instance suspends itself for so long when so much of its cost is spent; in order.
  struct Pause {
    std::int64_t after;
    std::int64_t length;
  };
  std::deque<Pause> pauses{};

  [[nodiscard]] bool is_suspended() const {
    return running != no_instance && !pauses.empty() && pauses.front().after == spent;
  }
};

struct Executor {
  std::unique_ptr<ExecutorSemantics> semantics;
  std::vector<Queue> queues;
  /// Sets of queues whose callbacks exclude each other on different threads.
  std::vector<std::vector<scheduling::LocalIndex>> exclusive_groups;
  std::vector<Thread> threads{};
  /// By queue: a thread that runs its instances is supplied no more than it must be.
  std::vector<bool> withheld{};
  /// Selects when it is next supplied, not at the very end of the instance before.
  bool lazy = false;
  /// Time that releases take before anything else (component-cps 3.7): of each one, and still to
  /// be spent.
  std::int64_t release_overhead = 0;
  std::int64_t releasing = 0;
};

class Run {
 public:
  Run(const CompiledModel& compiled, Choices& choices, std::int64_t horizon)
      : compiled_(compiled), model_(compiled.model), choices_(choices), horizon_(horizon) {
    const Model& model = model_;
    observation_.callbacks.resize(model.callbacks.size());
    observation_.chains.resize(model.chains.size());
    for (const auto& curve : compiled.costs) costs_.emplace_back(curve);
    for (const auto& curve : compiled.suspensions) suspensions_.emplace_back(curve);
    for (const auto& curve : compiled.times_suspended) times_suspended_.emplace_back(curve);
    position_.resize(model.callbacks.size());
    for (std::size_t e = 0; e < model.executors.size(); ++e) {
      const model::Executor& executor = model.executors[e];
      std::vector<Queue> queues;
      const policy::Description& described = compiled.executors[e];
      for (const CallbackIndex callback : described.callbacks) {
        position_[callback.value()] = queues.size();
        const auto kind = model[callback].kind;
        const bool privileged =
            kind == model::CallbackKind::event_source ||
            (kind == model::CallbackKind::timer && executor.timers == TimerHandling::privileged);
        queues.push_back({.callback = callback,
                          .local = queues.size(),
                          .kind = kind,
                          .node = model[callback].node,
                          .privileged = privileged,
                          .excluded = false,
                          .pending = {}});
      }
      const bool lazy = choices(Freedom::selection, e, 2) == 1;
      const auto choose = [&choices, e](std::int64_t options) {
        return choices(Freedom::selection, e, options);
      };
      executors_.push_back({.semantics = make_semantics(described, executor.order, choose),
                            .queues = std::move(queues),
                            .exclusive_groups = described.groups.exclusive,
                            .lazy = lazy,
                            .release_overhead = executor.release_overhead.count()});
      const auto* reservation = std::get_if<model::ReservationSupply>(&executor.supply);
      const bool by_bound = compiled.supplying == Supplying::bounds && reservation != nullptr;
      if (by_bound && !described.callbacks.empty()) {
        supply_by_bound(e, *reservation);
        continue;
      }
      for (std::int64_t thread = 0; thread < executor.threads; ++thread) {
        executors_.back().threads.push_back({.supply = Supply(executor.supply, e, choices),
                                             .least = std::nullopt,
                                             .overheads = Costs(compiled.overheads[e])});
      }
    }
    for (const model::Join& join : model.joins) {
      joins_.push_back({&join, std::vector<std::deque<std::size_t>>(join.inputs.size())});
    }
    last_arrival_.resize(compiled.edges.size());
    plan_releases();
  }

  Observation run() {
    for (std::int64_t t = 0; t < 4 * horizon_; ++t) {
      advance(t);
      bool busy = !messages_.empty() || next_release_ < releases_.size();
      for (std::size_t e = 0; e < executors_.size(); ++e) {
        const Executor& executor = executors_[e];
        busy =
            busy ||
            std::ranges::any_of(
                executor.threads,
                [](const Thread& thread) { return thread.running != no_instance; }) ||
            std::ranges::any_of(executor.queues, [](const Queue& q) { return !q.pending.empty(); });
      }
      if (!busy) break;
    }
    return std::move(observation_);
  }

  std::vector<std::vector<std::int64_t>> waiting() {
    const std::int64_t stretch = horizon_ / static_cast<std::int64_t>(stretches);
    std::vector<std::vector<std::int64_t>> result;
    for (std::int64_t t = 0; result.size() < stretches; ++t) {
      advance(t);
      if ((t + 1) % stretch != 0) continue;
      result.emplace_back(model_.callbacks.size());
      for (const Executor& executor : executors_) {
        for (const Queue& queue : executor.queues) {
          result.back()[queue.callback.value()] = std::ssize(queue.pending);
        }
      }
    }
    return result;
  }

 private:
  struct Release {
    std::int64_t at;
    CallbackIndex callback;
  };
  struct JoinState {
    const model::Join* join;
    /// The senders of the messages that wait, of each input.
    std::vector<std::deque<std::size_t>> waiting;
  };

  /// Chosen 0, no thread is supplied more than it must be, whatever it runs.
  void supply_by_bound(std::size_t e, const model::ReservationSupply& reservation) {
    Executor& executor = executors_[e];
    const std::int64_t queues = std::ssize(executor.queues);
    const bool of_one_group = choices_(Freedom::supply, e, 2) == 1;
    const scheduling::LocalIndex one(
        static_cast<std::size_t>(choices_(Freedom::supply, e, queues)));
    executor.withheld.assign(executor.queues.size(), !of_one_group);
    executor.withheld[one.value()] = true;
    for (const auto& group : executor.exclusive_groups) {
      if (std::ranges::find(group, one) == group.end()) continue;
      for (const scheduling::LocalIndex member : group) executor.withheld[member.value()] = true;
    }
    if (model_.executors[e].threads > 1) {
      std::vector<std::int64_t> ranks(executor.queues.size());
      for (std::int64_t& rank : ranks) rank = choices_(Freedom::selection, e, queues);
      std::vector<std::size_t> order(executor.queues.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::stable_sort(order, {}, [&](std::size_t q) { return ranks[q]; });
      executor.semantics = make_preference(std::move(order));
    }
    const auto bound = curves::SupplyBound::reservation(reservation.budget, reservation.period,
                                                        reservation.deadline);
    for (std::int64_t thread = 0; thread < model_.executors[e].threads; ++thread) {
      executor.threads.push_back({.supply = Supply(model::DedicatedSupply{}, e, choices_),
                                  .least = LeastSupply(bound),
                                  .overheads = Costs(compiled_.overheads[e])});
    }
  }

  /// The activations of every source, each as early as its curve allows, or chosen later.
  void plan_releases() {
    for (std::size_t i = 0; i < model_.callbacks.size(); ++i) {
      if (!model_.callbacks[i].activation) continue;
      if (const auto* grid =
              std::get_if<model::PeriodicActivation>(&*model_.callbacks[i].activation);
          grid != nullptr && grid->phase) {
        plan_grid(CallbackIndex{i}, *grid);
        continue;
      }
      const auto& spans = compiled_.spans[i];
      const std::int64_t pause = spans.back() / std::ssize(spans) + 2;
      std::vector<std::int64_t> times;
      for (std::int64_t earliest = 0;;) {
        const std::int64_t at = earliest + choices_(Freedom::release, i, pause);
        if (at > horizon_) break;
        times.push_back(at);
        releases_.push_back({at, CallbackIndex{i}});
        earliest = at;
        for (std::size_t n = 0; n < spans.size() && n < times.size(); ++n) {
          earliest = std::max(earliest, times[times.size() - 1 - n] + spans[n]);
        }
      }
    }
    std::ranges::stable_sort(releases_, {}, &Release::at);
  }

  /// Chosen 0, the first activation is as late as it may be and the others are not late at all.
  void plan_grid(CallbackIndex callback, const model::PeriodicActivation& grid) {
    const std::int64_t late = grid.jitter.count();
    std::int64_t last = 0;
    for (std::int64_t due = grid.phase->count(); due <= horizon_; due += grid.period.count()) {
      const std::int64_t choice = choices_(Freedom::release, callback.value(), late + 1);
      last = std::max(last, due + (due == grid.phase->count() ? late - choice : choice));
      releases_.push_back({last, callback});
    }
  }

  /// All activations and arrivals at t, before anything is selected at t; before them, messages
  /// that were sent as something was selected in the ε before.
  void deliver(std::int64_t t) {
    receive_until(t - 1);
    for (; next_release_ < releases_.size() && releases_[next_release_].at == t; ++next_release_) {
      release(releases_[next_release_].callback);
      activate(releases_[next_release_].callback, no_instance, t);
    }
    receive_until(t);
  }

  void receive_until(std::int64_t t) {
    std::vector<Message> later;
    for (const Message& message : messages_) {
      if (message.arrival > t) {
        later.push_back(message);
      } else {
        receive(message, message.arrival);
      }
    }
    messages_ = std::move(later);
  }

  void receive(const Message& message, std::int64_t t) {
    const model::Edge& edge = *compiled_.edges[message.edge].edge;
    release(edge.to);
    const auto joined = std::ranges::find_if(joins_, [&](const JoinState& state) {
      return state.join->callback == edge.to &&
             std::ranges::count(state.join->inputs, edge.from) > 0;
    });
    if (joined == joins_.end()) return activate(edge.to, message.sender, t);
    JoinState& state = *joined;
    const auto input =
        std::ranges::find(state.join->inputs, edge.from) - state.join->inputs.begin();
    auto& waiting = state.waiting[static_cast<std::size_t>(input)];
    if (state.join->kind == model::JoinKind::newest) waiting.clear();
    waiting.push_back(message.sender);
    if (std::ranges::any_of(state.waiting, [](const auto& queue) { return queue.empty(); })) return;
    for (auto& queue : state.waiting) queue.pop_front();
    activate(edge.to, message.sender, t);
  }

  void release(CallbackIndex callback) {
    Executor& executor = executors_[model_[callback].executor.value()];
    executor.releasing += executor.release_overhead;
  }

  void activate(CallbackIndex callback, std::size_t parent, std::int64_t t) {
    Executor& executor = executors_[model_[callback].executor.value()];
    const std::int64_t origin = parent == no_instance ? t : instances_[parent].origin;
    const std::size_t queue = position_[callback.value()];
    executor.queues[queue].pending.push_back({t, origin, instances_.size()});
    executor.semantics->activated(queue, executor.queues[queue].pending.back());
    instances_.push_back({callback, parent, t, origin});
  }

  /// All executors in [t, t + ε).
  void advance(std::int64_t t) {
    deliver(t);
    for (std::size_t e = 0; e < executors_.size(); ++e) advance(e, t);
  }

  /// Executor e in [t, t + ε).
  void advance(std::size_t e, std::int64_t t) {
    Executor& executor = executors_[e];
    for (const std::size_t next : threads_in_turn(executor)) {
      Thread& thread = executor.threads[next];
      const bool supplied = is_supplied(executor, thread, t);
      if (supplied && executor.releasing > 0) {
        --executor.releasing;
        continue;
      }
      // Selecting needs the processor: at the end of an instance the executor still has it, but an
      // executor that waits for work cannot select before it is supplied.
      const bool just_completed =
          thread.completion == t && !executor.lazy && executor.releasing == 0;
      if (thread.running == no_instance && (supplied || just_completed)) start(e, thread, t);
      if (thread.is_suspended()) {
        if (--thread.pauses.front().length > 0) continue;
        thread.pauses.pop_front();
        if (thread.least) thread.least->begin_anew();
        continue;
      }
      if (thread.running == no_instance || !supplied) continue;
      ++thread.spent;
      for (const auto& publication : thread.publications) {
        if (publication.after == thread.spent) publish(publication.edge, thread.running, t + 1);
      }
    }
    // Whoever ends now excludes others until now.
    for (Thread& thread : executor.threads) {
      if (thread.running == no_instance || thread.spent < thread.cost) continue;
      if (thread.is_suspended()) continue;
      complete(thread.running, t + 1);
      exclude(executor, instances_[thread.running].callback, false);
      thread.completion = t + 1;
      thread.running = no_instance;
    }
  }

  /// With given budgets it makes no difference which thread goes first.
  std::vector<std::size_t> threads_in_turn(const Executor& executor) const {
    std::vector<std::size_t> turn(executor.threads.size());
    std::iota(turn.begin(), turn.end(), std::size_t{0});
    if (compiled_.supplying == Supplying::bounds) {
      std::ranges::stable_sort(turn, {},
                               [&](std::size_t i) { return executor.threads[i].completion; });
    }
    return turn;
  }

  bool is_supplied(const Executor& executor, Thread& thread, std::int64_t t) const {
    if (!thread.least) return thread.supply.at(t);
    const bool withheld = thread.running != no_instance && !thread.is_suspended() &&
                          executor.withheld[position_[instances_[thread.running].callback.value()]];
    return thread.least->next(!withheld);
  }

  void exclude(Executor& executor, CallbackIndex callback, bool excluded) {
    const scheduling::LocalIndex running(position_[callback.value()]);
    for (const auto& group : executor.exclusive_groups) {
      if (std::ranges::find(group, running) == group.end()) continue;
      for (const scheduling::LocalIndex member : group) {
        executor.queues[member.value()].excluded = excluded;
      }
    }
  }

  void start(std::size_t e, Thread& thread, std::int64_t t) {
    Executor& executor = executors_[e];
    const auto selected = executor.semantics->select(executor.queues, t);
    if (!selected) return;
    auto& pending = executor.queues[selected->queue].pending;
    const auto position = pending.begin() + static_cast<std::ptrdiff_t>(selected->position);
    thread.running = position->instance;
    pending.erase(position);
    thread.spent = 0;
    const CallbackIndex callback = instances_[thread.running].callback;
    exclude(executor, callback, true);
    const std::int64_t overhead = choose_cost(thread.overheads, 0, Freedom::overhead, e);
    thread.cost =
        overhead + choose_cost(costs_[callback.value()], 1, Freedom::cost, callback.value());
    choose_pauses(thread, callback);
    thread.publications.clear();
    for (std::size_t n = 0; n < compiled_.edges.size(); ++n) {
      const CompiledModel::TriggerEdge& edge = compiled_.edges[n];
      if (edge.edge->from != callback || !triggers(*edge.edge, thread.running)) continue;
      // Chosen 0, at completion; the last choice is not to publish at all, and the one before it is
      // at the start. That is left out where another thread might take the message at once: it has
      // its turn in the next ε only.
      const bool at_start =
          stays_here(*edge.edge) && model_[model_[callback].executor].threads == 1;
      const std::int64_t silent = thread.cost - overhead + (at_start ? 1 : 0);
      const bool may_be_silent = compiled_.sending == Sending::at_most_once ||
                                 model::message_share(*edge.edge).has_value();
      const auto choice = choices_(Freedom::publish, edge.object, silent + (may_be_silent ? 1 : 0));
      if (choice == silent) continue;
      const std::int64_t after = thread.cost - choice;
      if (after == 0) {
        publish(n, thread.running, t);
      } else {
        thread.publications.push_back({after, n});
      }
    }
  }

  /// Chosen 0, the instance sleeps as often as it may as soon as it has begun, the longest last.
  void choose_pauses(Thread& thread, CallbackIndex callback) {
    thread.pauses.clear();
    const std::size_t c = callback.value();
    if (!model_[callback].suspension) return;
    const std::int64_t most = times_suspended_[c].most();
    std::int64_t left = 0;
    if (most > 0) {
      left = choose_cost(suspensions_[c], 0, Freedom::suspension, c);
    } else {
      suspensions_[c].spend(0);
    }
    std::int64_t after = 1;
    for (std::int64_t times = most; times > 0 && left > 0; --times) {
      after += choices_(Freedom::suspension, c, thread.cost - after + 1);
      const std::int64_t length = times == 1 ? left : 1 + choices_(Freedom::suspension, c, left);
      left -= length;
      if (!thread.pauses.empty() && thread.pauses.back().after == after) {
        thread.pauses.back().length += length;
      } else {
        thread.pauses.push_back({after, length});
      }
      after = std::min(after + 1, thread.cost);
    }
    times_suspended_[c].spend(std::ssize(thread.pauses));
  }

  [[nodiscard]] bool stays_here(const model::Edge& edge) const {
    return model_[edge.from].executor == model_[edge.to].executor;
  }

  std::int64_t choose_cost(Costs& costs, std::int64_t least, Freedom freedom, std::size_t object) {
    const std::int64_t most = costs.most();
    if (most <= least) {
      costs.spend(most);
      return most;
    }
    const std::int64_t cost = most - choices_(freedom, object, most - least + 1);
    costs.spend(cost);
    return cost;
  }

  /// Whether the instance publishes along the edge, considering what activated it.
  bool triggers(const model::Edge& edge, std::size_t instance) const {
    const std::size_t parent = instances_[instance].parent;
    if (!edge.triggered_by) return true;
    if (parent == no_instance) return false;
    return std::ranges::find(*edge.triggered_by, instances_[parent].callback) !=
           edge.triggered_by->end();
  }

  void publish(std::size_t n, std::size_t sender, std::int64_t t) {
    const CompiledModel::TriggerEdge& edge = compiled_.edges[n];
    const std::int64_t most = edge.edge->delay.count();
    const std::int64_t delay = most - choices_(Freedom::delay, edge.object, most + 1);
    // Messages of an edge do not overtake each other.
    last_arrival_[n] = std::max(last_arrival_[n], t + delay);
    messages_.push_back({last_arrival_[n], n, sender});
  }

  void complete(std::size_t index, std::int64_t t) {
    const Instance& instance = instances_[index];
    std::int64_t& longest = observation_.callbacks[instance.callback.value()];
    longest = std::max(longest, t - instance.activation);
    for (std::size_t c = 0; c < model_.chains.size(); ++c) {
      const auto start = start_of_chain(model_.chains[c].callbacks, index);
      if (start) observation_.chains[c] = std::max(observation_.chains[c], t - *start);
    }
  }

  /// When the instances that led to this one passed through the whole chain: the first's
  /// activation.
  std::optional<std::int64_t> start_of_chain(const std::vector<CallbackIndex>& chain,
                                             std::size_t index) const {
    for (std::size_t n = chain.size(); n-- > 0;) {
      if (index == no_instance || instances_[index].callback != chain[n]) return std::nullopt;
      if (n == 0) return instances_[index].activation;
      index = instances_[index].parent;
    }
    return std::nullopt;
  }

  const CompiledModel& compiled_;
  const Model& model_;
  Choices& choices_;
  std::int64_t horizon_;
  Observation observation_;
  std::vector<Executor> executors_;
  std::vector<Costs> costs_;
  std::vector<Costs> suspensions_;
  std::vector<Costs> times_suspended_;
  std::vector<std::size_t> position_;
  std::vector<JoinState> joins_;
  std::vector<Release> releases_;
  std::size_t next_release_ = 0;
  std::vector<Message> messages_;
  std::vector<std::int64_t> last_arrival_;
  std::vector<Instance> instances_;
};

}  // namespace

Scheduler::Scheduler(const Model& model, Sending sending, Supplying supplying)
    : compiled_(std::make_unique<CompiledModel>(model, sending, supplying)) {}
Scheduler::~Scheduler() = default;

Choices Scheduler::no_choices() const {
  const Model& model = compiled_->model;
  return Choices(std::max({model.callbacks.size(), model.edges.size(), model.executors.size()}));
}

std::vector<std::vector<std::int64_t>> Scheduler::waiting(Choices& choices,
                                                          std::int64_t horizon) const {
  choices.rewind();
  return Run(*compiled_, choices, horizon).waiting();
}

Observation Scheduler::run(Choices& choices, std::int64_t horizon) const {
  choices.rewind();
  return Run(*compiled_, choices, horizon).run();
}

}  // namespace takt::brute_force
