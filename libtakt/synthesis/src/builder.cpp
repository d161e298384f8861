#include "builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "kinds.hpp"
#include "sampling.hpp"
#include "takt/base/grow.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/execution/names.hpp"
#include "takt/links/infer.hpp"
#include "takt/model/limits.hpp"
#include "takt/model/names.hpp"
#include "takt/model/order.hpp"
#include "takt/model/prompt_delay.hpp"
#include "takt/model/trigger_order.hpp"

namespace takt::synthesis {
namespace {

/// A callback counts as activated from outside if at least one in so many of its messages has an
/// unknown origin. Fewer are taken for losses at the beginning and end of the trace.
constexpr std::uint64_t outside_ratio = 100;

/// If so many instances that a predecessor activated published nothing, its messages are taken to
/// trigger no publication.
constexpr std::uint64_t least_silent_instances = 8;

/// So many calls, each as many instances after the one before, are regular.
constexpr std::uint64_t least_regular_calls = 3;

/// If one instance publishes several messages on a topic, at most so many become edges.
constexpr std::uint64_t max_messages = 16;

Duration in_range(Duration time) { return std::clamp(time, Duration(0), curves::longest_time); }

std::vector<Duration> in_range(std::vector<Duration> times) {
  std::ranges::transform(times, times.begin(), [](Duration time) { return in_range(time); });
  return times;
}

/// What the members of a join, or a callback alone, have shown; none: no instance suspended itself,
/// or nothing recorded tells.
std::optional<model::Suspension> suspension_of(
    const std::vector<const CallbackObservation*>& members) {
  std::vector<Duration> curve;
  std::vector<Duration> times;
  for (const CallbackObservation* member : members) {
    curve = curves::merge_costs(std::move(curve), member->suspension.time.values());
    times = curves::merge_costs(std::move(times), member->suspension.times.values());
  }
  if (times.empty() || times.back() == Duration{0}) return std::nullopt;
  // A curve goes on above what it leaves out.
  constexpr Duration most{model::most_suspensions};
  while (times.size() > 1 && times.back() > most) times.pop_back();
  times.front() = std::min(times.front(), most);
  model::Suspension suspension{.curve = in_range(std::move(curve))};
  suspension.set_times(curves::as_counts(times));
  return suspension;
}

/// The activations by several sources, at least one: n of them hold at least n / k of one of k.
model::MinDistanceActivation together(const std::vector<model::MinDistanceActivation>& sources) {
  if (sources.size() == 1) return sources.front();
  std::vector<curves::ActivationCurve> curves;
  std::size_t longest = 0;
  for (const model::MinDistanceActivation& source : sources) {
    curves.push_back(curves::ActivationCurve::min_distance(source.values));
    longest = std::max(longest, source.values.size());
  }
  model::MinDistanceActivation all;
  const std::size_t count = std::min(longest * sources.size(), curves::most_values);
  for (std::size_t n = 1; n <= count; ++n) {
    const auto of_one = static_cast<std::int64_t>((n + sources.size() - 1) / sources.size());
    Duration shortest = curves::longest_time;
    for (const curves::ActivationCurve& curve : curves) {
      shortest = std::min(shortest, curve.distance(of_one));
    }
    all.values.push_back(shortest);
  }
  return all;
}

/// The costs of several curves together, and without the largest one of all.
struct Merged {
  std::vector<Duration> values;
  std::vector<Duration> without;
  Duration largest{};
  Instant time;
};

Merged merged(const std::vector<const execution::CostCurve*>& curves) {
  Merged result;
  const auto largest =
      std::ranges::max_element(curves, {}, [](const auto* curve) { return curve->largest(); });
  for (const execution::CostCurve* curve : curves) {
    result.values = curves::merge_costs(std::move(result.values), curve->values());
    result.without =
        curves::merge_costs(std::move(result.without),
                            curve == *largest ? curve->values_without_largest() : curve->values());
  }
  if (!curves.empty()) {
    result.largest = (*largest)->largest();
    result.time = (*largest)->time_of_largest();
  }
  return result;
}

/// The core that is the only one for all threads; none: there are others, or it is not known.
std::optional<std::int64_t> core_of(const std::vector<execution::ThreadIndex>& threads,
                                    const execution::Database& database) {
  std::optional<std::int64_t> found;
  for (const execution::ThreadIndex thread : threads) {
    const std::string cores = database.schedule(thread).cores;
    std::int64_t core = 0;
    const auto [end, failed] = std::from_chars(cores.data(), cores.data() + cores.size(), core);
    const bool is_one = failed == std::errc{} && end == cores.data() + cores.size();
    if (!is_one || core < 0 || core > model::most_cpu || (found && *found != core)) return {};
    found = core;
  }
  return found;
}

model::Supply supply_of(const std::optional<execution::ExecutorThread>& announced) {
  if (!announced || announced->policy != "deadline") {
    return model::DedicatedSupply{};
  }
  const Duration deadline =
      announced->deadline.count() > 0 ? announced->deadline : announced->period;
  const bool is_valid = announced->runtime.count() > 0 && announced->runtime <= deadline &&
                        deadline <= announced->period && announced->period <= curves::longest_time;
  if (!is_valid) {
    return model::DedicatedSupply{};
  }
  return model::ReservationSupply{announced->runtime, announced->period, deadline};
}

}  // namespace

Builder::Builder(const Observations& observations, const execution::Database& database,
                 Instant begin, Instant end, const model::Model* declared,
                 const links::Declarations* declarations)
    : observations_(observations),
      database_(database),
      objects_(database.objects()),
      threads_(database.threads()),
      begin_(begin),
      end_(end),
      declared_(declared) {
  auto known = links::all_links(observations.links(), objects_, declarations);
  links_ = std::move(known.links);
  warnings_ = std::move(known.lines);
}

model::Model Builder::build() {
  choose_joins();
  add_executors();
  add_callbacks();
  add_groups();
  note_times();
  add_edges();
  add_sampled_edges();
  return std::move(model_);
}

std::map<model::CallbackIndex, bool> Builder::filters() const {
  std::map<model::CallbackIndex, bool> found;
  for (const links::Link& link : links_) {
    if (!link.matches_stamps) continue;
    for (const Observed input : link.inputs) {
      if (const auto callback = callback_of_.find(input); callback != callback_of_.end()) {
        found[callback->second] = link.last_is_of_set;
      }
    }
  }
  return found;
}

bool Builder::is_activated_from_outside(Observed index) const {
  const CallbackObservation& observation = *observations_.callback(index);
  std::uint64_t outside = observation.activated_from_outside;
  for (const auto& [from, count] : observation.activated_by) {
    outside += is_explained(index, from) ? 0 : count;
  }
  return outside * outside_ratio >= observation.count;
}

/// A sender that did not run after start-up is not part of the model, and what it sent in an
/// earlier phase is no edge.
bool Builder::is_explained(Observed index, Observed sender) const {
  return observations_.callback(sender) != nullptr && observations_.has_edge(sender, index);
}

Builder::Observed Builder::representative(Observed callback) const {
  const auto joined = join_of_.find(callback);
  return joined == join_of_.end() ? callback : joins_[joined->second].members.front();
}

/// Whether a model can express the join: each member has one sender, and no two have the same.
bool Builder::can_join(const ObservedJoin& join) const {
  std::set<Observed> senders;
  for (const Observed member : join.members) {
    std::set<Observed> own;
    for (const auto& [sender, count] : observations_.callback(member)->activated_by) {
      own.insert(representative(sender));
    }
    if (own.size() != 1 || is_activated_from_outside(member) ||
        !senders.insert(*own.begin()).second) {
      return false;
    }
  }
  return true;
}

void Builder::choose_joins() {
  ObservedJoins found = find_joins(observations_, objects_, links_, declared_);
  std::ranges::move(links::warnings(links_, objects_, false), std::back_inserter(warnings_));
  std::ranges::move(found.warnings, std::back_inserter(warnings_));
  // Whether a join is possible depends on which of its senders are joins. So at first all are taken
  // for joins; then impossible ones are left out until all are possible.
  for (;;) {
    join_of_.clear();
    joins_.clear();
    for (const ObservedJoin& join : found.joins) {
      const bool overlaps = std::ranges::any_of(
          join.members, [this](Observed member) { return join_of_.contains(member); });
      if (overlaps) continue;
      for (const Observed member : join.members) join_of_[member] = joins_.size();
      joins_.push_back(join);
    }
    const auto none =
        std::ranges::find_if(joins_, [this](const ObservedJoin& join) { return !can_join(join); });
    if (none == joins_.end()) return;
    std::erase_if(found.joins,
                  [&](const ObservedJoin& join) { return join.members == none->members; });
  }
}

void Builder::add_executors() {
  const auto executors = observations_.executors().executors(objects_, threads_);
  const auto ids = execution::executor_ids(executors, threads_);
  for (std::size_t i = 0; i < executors.size(); ++i) {
    const execution::Executor& observed = executors[i];
    model::Executor executor;
    executor.id = ids[i];
    executor.name = ids[i];
    executor.kind = model::from_string<model::ExecutorKind>(observed.kind())
                        .value_or(model::ExecutorKind::single_threaded);
    if (has(executor.kind, model::ExecutorTrait::several_threads)) {
      executor.threads = observed.thread_count();
    } else if (has(executor.kind, model::ExecutorTrait::outside_ros) != observed.is_source) {
      executor.kind = model::ExecutorKind::single_threaded;  // it runs other callbacks
    }
    executor.unclassifiable = why_unclassifiable(observed);
    if (observed.announced) {
      executor.timers = model::from_string<TimerHandling>(observed.announced->timers)
                            .value_or(TimerHandling::polled);
      if (observed.announced->cpu >= 0) {
        executor.cpu = observed.announced->cpu;
      }
    }
    if (!executor.cpu) executor.cpu = core_of(observed.threads, database_);
    executor.order = order_of(observed, ids[i]);
    executor.supply = supply_of(observed.announced);
    std::vector<const execution::CostCurve*> overheads;
    std::vector<execution::ThreadIndex> threads = observed.threads;
    for (const auto& group : observed.former) {
      threads.insert(threads.end(), group.begin(), group.end());
    }
    for (const execution::ThreadIndex thread : threads) {
      if (observed.is_source) break;  // it is the overhead of its thread's other callbacks
      const bool turns = has(executor.kind, model::ExecutorTrait::several_threads);
      const auto* overhead = observations_.overhead(thread, turns);
      if (overhead != nullptr && !overhead->empty()) overheads.push_back(overhead);
    }
    const Merged overhead = merged(overheads);
    executor.overhead = in_range(overhead.values);
    note_outlier({"overhead", executor.id, {}, overhead.largest, overhead.time, overhead.without});
    const bool shares_process =
        std::count_if(executors.begin(), executors.end(), [&](const execution::Executor& other) {
          return other.process == observed.process;
        }) > 1;
    if (shares_process) {
      executor.process = process_label(observed.process);
    }
    for (const Observed callback : observed.callbacks) {
      executor_of_[callback] = model::ExecutorIndex(i);
    }
    note_unnamed_work(observed, model::ExecutorIndex(i));
    if (observed.tells_no_waits && !observed.announced && !observed.is_source &&
        observed.threads.size() == 1) {
      warnings_.push_back(
          fmt::format("executor {} told of no waits and is taken for one of events; rclcpp's "
                      "StaticSingleThreadedExecutor and loops over a wait set tell of none, too: "
                      "if it is one of those, bounds on it do not hold; if it is another, record "
                      "its events (ros2:rclcpp_executor_*)",
                      ids[i]));
    }
    threads_of_.push_back(observed.threads);
    model_.executors.push_back(std::move(executor));
  }
}

/// The order that the executor's library keeps, unless the recording contradicts it.
model::CallbackOrder Builder::order_of(const execution::Executor& observed, const std::string& id) {
  using enum model::CallbackOrder;
  const execution::ThreadIndex thread = observed.threads.front();
  const CallbackOrders& orders = observations_.orders();
  model::CallbackOrder order = unknown;
  if (observed.announced) {
    order = registered;
  } else if (value_at(objects_.client_libraries, observed.process) ==
             execution::ClientLibrary::rclpy) {
    // What was found in the memory of a running process is in no order.
    const bool is_recovered = std::ranges::any_of(
        objects_.recoveries,
        [&](const execution::Recovery& each) { return each.process == observed.process; });
    order = is_recovered ? unknown : by_node;
  } else if (value_at(objects_.client_libraries, observed.process) ==
                 execution::ClientLibrary::rclcpp &&
             !orders.has_intra_process(thread)) {
    order = any_in_category;
  }
  if (observed.thread_count() > 1) return order;
  const auto [windows, contradicting] = orders.counts(thread, order);
  if (contradicting == 0) return order;
  warnings_.push_back(
      fmt::format("executor {} ran what it found ready together in another order than \"{}\" in {} "
                  "of {} cases, so nothing is assumed of its order",
                  id, model::to_string(order), contradicting, windows));
  return unknown;
}

/// Containers count their processes from 1 each, so several may have the same name and number.
std::string Builder::process_label(execution::ProcessIndex index) const {
  const events::Process& process = threads_[index];
  const auto& all = threads_.processes();
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(index.value());
  const auto before = std::count_if(all.begin(), end, [&](const events::Process& other) {
    return other.id == process.id && other.name == process.name;
  });
  const std::string label = fmt::format("{}-{}", process.name, process.id);
  return before == 0 ? label : fmt::format("{}#{}", label, before + 1);
}

std::set<std::string> Builder::callbacks_on(execution::ThreadIndex thread,
                                            const model::Model& built) const {
  std::set<std::string> ids;
  for (const auto& [observed, callback] : callback_of_) {
    const auto& threads = threads_of_[executor_of_.at(observed).value()];
    if (std::ranges::count(threads, thread) > 0) ids.insert(built[callback].id);
  }
  return ids;
}

/// An event source is classified by what its thread did as a source. Whether its thread turned into
/// something else later is reported separately (threads_json in synthesizer.cpp).
std::optional<std::string> Builder::why_unclassifiable(const execution::Executor& observed) const {
  if (observed.is_source) {
    const execution::Callback& callback = objects_[observed.callbacks.front()];
    if (!objects_[*callback.event_source].is_opaque) return std::nullopt;
    return "its thread serves an executor now and then, and nobody knows when it sends";
  }
  if (observed.announced && observed.announced->kind == "gate") {
    return "it holds messages until their slots (docs/shaping.md)";
  }
  for (const execution::ThreadIndex thread : observed.threads) {
    const std::string_view reason = value_at(database_.thread_histories(), thread).reason();
    if (!reason.empty()) return std::string(reason);
  }
  return std::nullopt;
}

void Builder::note_unnamed_work(const execution::Executor& observed,
                                model::ExecutorIndex executor) {
  // Takt's own executors run nothing unnamed but responses, and are throttled by reservations.
  // It is not known when unclassifiable executors are at work at all.
  if (observed.thread_count() != 1 || observed.announced || observed.is_source ||
      why_unclassifiable(observed)) {
    return;
  }
  const auto activity = value_at(database_.executor_activity(), observed.threads.front());
  if (activity.unnamed_runs != 0) {
    unnamed_work_.push_back(
        {executor, activity.unnamed_runs, activity.unnamed_time, activity.longest_unnamed});
  }
}

void Builder::note_outlier(Outlier outlier) {
  outlier.value = in_range(outlier.value);
  outlier.without = in_range(std::move(outlier.without));
  const bool is_distance = outlier.of == "activation";
  if (outlier.without.size() < (is_distance ? 2 : 1)) return;
  const Duration next = outlier.without[is_distance ? 1 : 0];
  const auto [less, more] = std::minmax(outlier.value, next);
  if (is_distance == (outlier.value < next) && less * 5 < more * 4) {
    outliers_.push_back(std::move(outlier));
  }
}

void Builder::note_times() {
  for (const auto& [observed, callback] : callback_of_) {
    const CallbackObservation& observation = *observations_.callback(observed);
    ObservedTimes& times = observed_times_[model_[callback].id];
    times.count += observation.count;
    times.shortest = std::min(times.shortest, observation.shortest);
    times.longest = std::max(times.longest, observation.execution_time.largest());
    times.total = bounded(times.total + observation.total);
  }
}

std::optional<Duration> Builder::phase(const execution::Timer& timer) const {
  const bool recovered = std::ranges::any_of(
      objects_.recoveries, [&](const auto& recovery) { return recovery.process == timer.process; });
  if (!observations_.observing().timer_phases || recovered) return std::nullopt;
  return modulo(timer.since.time_since_epoch(), timer.period);
}

/// The period of a callback's event source; 0: it has none.
Duration Builder::source_period(const execution::Callback& callback) const {
  return callback.event_source ? objects_[*callback.event_source].period : Duration{0};
}

bool Builder::keeps_period(Observed timer) const {
  const auto& grid = observations_.callback(timer)->grid;
  return !grid || grid->keeps_period();
}

std::optional<model::Activation> Builder::activation(Observed index) const {
  const execution::Callback& callback = objects_[index];
  if (callback.timer && !callback.triggers) {
    const execution::Timer& timer = objects_[*callback.timer];
    if (timer.period >= epsilon && timer.period <= curves::longest_time && keeps_period(index)) {
      return model::PeriodicActivation{timer.period, Duration(0), phase(timer)};
    }
  } else if (const Duration period = source_period(callback);
             period >= epsilon && period <= curves::longest_time) {
    return model::PeriodicActivation{period, Duration(0)};
  } else if (!is_activated_from_outside(index)) {
    return std::nullopt;
  }
  return min_distance(index, own_activations(index));
}

const execution::DistanceCurve& Builder::own_activations(Observed index) const {
  const CallbackObservation& observation = *observations_.callback(index);
  // What the edges explain comes in addition to a callback's own activations. Messages of senders
  // that are not part of the model have no edges, so with them every activation counts.
  const bool edges_explain = std::ranges::all_of(observation.activated_by, [&](const auto& sender) {
    return is_explained(index, sender.first);
  });
  const bool is_timer = objects_[index].timer && !objects_[index].triggers;
  return edges_explain && !is_timer ? observation.activations_from_outside
                                    : observation.activations;
}

Duration Builder::observed_time(Observed index) const {
  if (const auto since = observations_.callback(index)->since) return end_ - *since;
  const auto node = objects_.node_of(objects_[index]);
  const auto phases = node ? observations_.phases().find(*node) : observations_.phases().end();
  return end_ - (phases == observations_.phases().end() ? begin_ : phases->second.since);
}

model::MinDistanceActivation Builder::min_distance(
    Observed index, const execution::DistanceCurve& activations) const {
  auto values = activations.bounded_by(observed_time(index));
  // Times beyond the range of models would only repeat the longest one.
  while (values.size() > 2 && values.back() > curves::longest_time &&
         values[values.size() - 2] > Duration{0}) {
    values.pop_back();
  }
  return model::MinDistanceActivation{in_range(std::move(values))};
}

std::optional<std::int64_t> Builder::queue_depth(std::span<const Observed> members) const {
  std::int64_t largest = 0;
  for (const Observed member : members) {
    const auto& subscription = objects_[member].subscription;
    const std::int64_t depth = subscription ? objects_[*subscription].queue_depth : 0;
    if (depth <= 0) return std::nullopt;
    largest = std::max(largest, depth);
  }
  return largest;
}

void Builder::add_callback(Observed index, const std::string& id) {
  const execution::Callback& observed = objects_[index];
  const auto join = join_of_.find(index);
  if (join != join_of_.end()) {
    const Observed first = joins_[join->second].members.front();
    if (const auto known = callback_of_.find(first); known != callback_of_.end()) {
      callback_of_[index] = known->second;
      return;
    }
  }
  model::Callback callback;
  callback.id = id;
  callback.name = execution::display_name(objects_, observed);
  callback.node = objects_.node_name(observed);
  callback.executor = executor_of_.at(index);
  callback.kind = kind_of(observed.kind);
  if (observed.triggers) {
    // In models a timer is periodic. Where it comes in its executor's order is left open.
    callback.kind = model::CallbackKind::waitable;
    model_.executors[callback.executor.value()].order = model::CallbackOrder::unknown;
  } else if (observed.timer && !keeps_period(index)) {
    warnings_.push_back(fmt::format(
        "{} did not keep the period with which it was made, {}: it was changed, or follows another "
        "clock; its activations are those that were seen, and nothing guarantees that others "
        "follow no closer",
        id, execution::compact_duration(objects_[*observed.timer].period)));
  }
  callback.registration = std::count_if(
      model_.callbacks.begin(), model_.callbacks.end(),
      [&](const model::Callback& other) { return other.executor == callback.executor; });
  if (const auto topic = objects_.topic_of(observed)) {
    callback.topic = objects_[*topic];
  }
  callback.queue_depth = queue_depth({&index, 1});
  const CallbackObservation& observation = *observations_.callback(index);
  callback.execution_time = observation.cost();
  std::vector<const CallbackObservation*> members{&observation};
  callback.activation = activation(index);
  if (join != join_of_.end()) {
    callback.id = callback.node + ":";
    callback.topic.reset();
    callback.queue_depth = queue_depth(joins_[join->second].members);
    std::vector<const execution::CostCurve*> costs;
    std::vector<Duration> cost = joins_[join->second].execution_time;
    for (const Observed member : joins_[join->second].members) {
      callback.id +=
          (callback.id.ends_with(':') ? "" : "+") + objects_[*objects_.topic_of(objects_[member])];
      const CallbackObservation& of_member = *observations_.callback(member);
      cost = curves::merge_costs(std::move(cost), of_member.cost());
      costs.push_back(&of_member.execution_time);
      members.push_back(&of_member);
    }
    const Merged runs = merged(costs);
    const auto without = curves::merge_costs(joins_[join->second].without_largest, runs.without);
    note_outlier({"execution_time", callback.id, {}, cost.front(), runs.time, without});
    callback.execution_time = std::move(cost);
  } else {
    note_outlier({"execution_time",
                  id,
                  {},
                  callback.execution_time.front(),
                  observation.execution_time.time_of_largest(),
                  observation.cost_without_largest()});
  }
  callback.execution_time = in_range(std::move(callback.execution_time));
  callback.suspension = suspension_of(members);
  std::vector<const execution::CostCurve*> suspensions;
  for (const CallbackObservation* member : members) {
    if (!member->suspension.time.empty()) suspensions.push_back(&member->suspension.time);
  }
  const Merged sleeps = merged(suspensions);
  note_outlier({"suspension", callback.id, {}, sleeps.largest, sleeps.time, sleeps.without});
  if (callback.activation &&
      std::holds_alternative<model::MinDistanceActivation>(*callback.activation)) {
    const execution::DistanceCurve& activations = own_activations(index);
    const auto& values = std::get<model::MinDistanceActivation>(*callback.activation).values;
    note_outlier({"activation",
                  callback.id,
                  {},
                  values.size() > 1 ? values[1] : Duration{0},
                  activations.time_of_shortest(),
                  activations.bounded_without_shortest(observed_time(index))});
  }
  callback_of_[index] = model::CallbackIndex(model_.callbacks.size());
  model_.callbacks.push_back(std::move(callback));
}

void Builder::add_groups() {
  std::map<execution::NodeIndex, std::vector<Observed>> nodes;
  for (const auto& [callback, known] : callback_of_) {
    const auto node = objects_.node_of(objects_[callback]);
    if (node && model_[model_[known].executor].threads > 1) {
      nodes[*node].push_back(callback);
    }
  }
  for (const auto& [node, callbacks] : nodes) {
    const auto names = observations_.overlaps().groups(objects_[node].full_name(), callbacks);
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      model_.callbacks[callback_of_.at(callbacks[i]).value()].callback_group = names[i];
    }
  }
}

void Builder::set_inference(model::Join& join, const ObservedJoin& observed) const {
  if (!observed.confidence) {
    return;
  }
  join.confidence = observed.confidence;
  for (std::size_t n = 0; n < observed.members.size(); ++n) {
    const Observed member = observed.members[n];
    if (observations_.publishes(member)) {
      join.completed_by.push_back(join.inputs[n]);
    } else {
      join.keeping_time = std::max(
          join.keeping_time, in_range(observations_.callback(member)->execution_time.largest()));
    }
  }
}

void Builder::add_callbacks() {
  const auto ids = execution::callback_ids(objects_);
  for (std::size_t i = 0; i < objects_.callbacks.size(); ++i) {
    if (observations_.callback(Observed(i)) != nullptr) {
      add_callback(Observed(i), ids[i]);
    }
  }
  for (std::size_t i = 0; i < joins_.size(); ++i) {
    const auto& members = joins_[i].members;
    model::Join join{callback_of_.at(members.front()), joins_[i].kind, {}, {}};
    for (const Observed member : members) {
      join.inputs.push_back(
          callback_of_.at(observations_.callback(member)->activated_by.begin()->first));
    }
    set_inference(join, joins_[i]);
    model_.joins.push_back(std::move(join));
  }
}

std::uint64_t Builder::messages_per_instance(Observed from, TopicIndex topic) const {
  const auto output = observations_.outputs().find({from, topic});
  const std::uint64_t most =
      output == observations_.outputs().end() ? 1 : output->second.most_per_instance;
  return std::clamp<std::uint64_t>(most, 1, max_messages);
}

std::optional<std::vector<model::CallbackIndex>> Builder::triggers(Observed from,
                                                                   TopicIndex topic) const {
  const auto& causes = observations_.callback(from)->activated_by;
  const auto output = observations_.outputs().find({from, topic});
  if (join_of_.contains(from) || output == observations_.outputs().end()) {
    return std::nullopt;
  }
  std::set<model::CallbackIndex> triggering;
  std::set<model::CallbackIndex> silent;
  for (const auto& [cause, count] : causes) {
    const auto known = callback_of_.find(cause);
    if (known == callback_of_.end()) {
      continue;
    }
    const bool publishes = output->second.by_cause.contains(cause);
    (publishes || count < least_silent_instances ? triggering : silent).insert(known->second);
  }
  std::erase_if(silent, [&](model::CallbackIndex c) { return triggering.contains(c); });
  if (silent.empty()) {
    return std::nullopt;
  }
  return std::vector(triggering.begin(), triggering.end());
}

std::optional<model::MessageShare> Builder::calling(Observed caller, TopicIndex service) const {
  // What was sent counts, also where a service did not get it.
  const auto sent = observations_.outputs().find({caller, service});
  const std::uint64_t calls = sent == observations_.outputs().end() ? 0 : sent->second.count;
  const std::uint64_t runs = observations_.callback(caller)->count;
  // A run or a call that the ends of the recording cut off makes no share.
  if (calls == 0 || calls + 1 >= runs) {
    return std::nullopt;
  }
  // For regular calls the distance counts, as the ends of the recording would distort the quotient.
  const auto regular = static_cast<std::int64_t>(sent->second.most_between);
  if (calls >= least_regular_calls && sent->second.fewest_between == sent->second.most_between) {
    return regular > 1 ? std::optional(model::MessageShare{1, regular}) : std::nullopt;
  }
  const std::uint64_t common = std::gcd(calls, runs);
  return model::MessageShare{static_cast<std::int64_t>(calls / common),
                             static_cast<std::int64_t>(runs / common)};
}

std::optional<std::vector<model::CallbackIndex>> Builder::callers(
    Observed service, const EdgeObservation& response) const {
  std::set<model::CallbackIndex> all;
  for (const auto& [caller, count] : observations_.callback(service)->activated_by) {
    if (const auto known = callback_of_.find(caller); known != callback_of_.end()) {
      all.insert(known->second);
    }
  }
  std::set<model::CallbackIndex> answered;
  for (const auto& [caller, count] : response.by_caller) {
    if (const auto known = callback_of_.find(caller); known != callback_of_.end()) {
      answered.insert(known->second);
    }
  }
  if (answered.empty() || answered == all) {
    return std::nullopt;
  }
  return std::vector(answered.begin(), answered.end());
}

LongestDelay Builder::delay(const EdgeObservation& edge, const model::Callback& from,
                            const model::Callback& to) const {
  const bool alone = model_[to.executor].threads == 1;
  // A thread that sends looks for work next (ros-llama S-1.4). With several, another one wakes up.
  if (from.executor == to.executor && alone) {
    return {.longest = Duration(0)};
  }
  LongestDelay visible = alone ? edge.longest_visible_alone : edge.longest_visible;
  // Where only delays to prompt threads count and there was none, even the shortest one may have
  // been that of a receiver which waited for a processor.
  const bool assumes = observations_.observing().prompt != nullptr;
  const Duration shortest =
      assumes ? std::min<Duration>(edge.shortest, model::prompt_delay) : edge.shortest;
  visible.longest = in_range(visible.longest.value_or(shortest));
  return visible;
}

Duration Builder::travel(const EdgeObservation& edge, const model::Callback& from,
                         const model::Callback& to) const {
  const bool alone = model_[to.executor].threads == 1;
  if (from.executor == to.executor && alone) return Duration{0};
  const LongestDelay& travel = alone ? edge.longest_travel_alone : edge.longest_travel;
  return in_range(travel.longest.value_or(Duration{0}));
}

Duration Builder::waiting(const EdgeObservation& edge, const model::Callback& reader,
                          TopicIndex topic) {
  const EdgeObservation::Takes& takes = edge.takes;
  if (takes.left == 0) return Duration{0};
  const auto* const timer =
      reader.activation ? std::get_if<model::PeriodicActivation>(&*reader.activation) : nullptr;
  Duration longest = takes.longest;
  std::string limit = "how many may wait there is not known, so the longest time seen counts";
  if (timer != nullptr && takes.queue_depth > 0) {
    const Duration others =
        std::min(timer->period, curves::longest_time / takes.queue_depth) * (takes.queue_depth - 1);
    longest = std::max(longest, others);
    limit = fmt::format("the bound counts {} others before a message", takes.queue_depth - 1);
  }
  warnings_.push_back(
      fmt::format("\"{}\" does not read the newest message of {}: {} of {} takes left a newer one "
                  "in the queue; {}",
                  reader.id, objects_[topic], takes.left, takes.runs, limit));
  return longest;
}

void Builder::add_edges() {
  struct Together {
    LongestDelay delay;
    Duration waiting{};
    Duration travel{};
    std::uint64_t messages = 0;
    std::uint64_t observed = 0;
    bool by_memory = false;
    std::optional<std::vector<model::CallbackIndex>> triggers;
    std::optional<model::MessageShare> share;
  };
  const auto is_response = [this](Observed from, Observed to) {
    return objects_[from].kind == execution::CallbackKind::service &&
           objects_[to].kind == execution::CallbackKind::client;
  };
  std::map<std::tuple<model::CallbackIndex, model::CallbackIndex, TopicIndex>, Together> together;
  std::vector<std::uint64_t> observed_messages;
  for (const auto& [key, edge] : observations_.edges()) {
    const auto& [from, to, topic] = key;
    const auto sender = callback_of_.find(from);
    const auto receiver = callback_of_.find(to);
    if (sender == callback_of_.end() || receiver == callback_of_.end()) {
      continue;
    }
    Together& entry = together[{sender->second, receiver->second, topic}];
    const execution::Callback& activated = objects_[to];
    const LongestDelay delays =
        activated.triggers ? LongestDelay{.longest = in_range(objects_[*activated.timer].period)}
                           : delay(edge, model_[sender->second], model_[receiver->second]);
    entry.delay.add(*delays.longest, delays.time);
    if (delays.second) entry.delay.add(*delays.second, delays.time);
    entry.waiting = std::max(entry.waiting, waiting(edge, model_[receiver->second], topic));
    entry.travel =
        std::max(entry.travel, travel(edge, model_[sender->second], model_[receiver->second]));
    entry.messages = std::max(entry.messages, messages_per_instance(from, topic));
    entry.observed += edge.count;
    entry.by_memory = entry.by_memory || edge.by_memory;
    // Each instance has to call at most once, whatever activates the caller: else the share would
    // be one of something else.
    if (objects_[to].kind == execution::CallbackKind::service && entry.messages == 1 &&
        !join_of_.contains(from) && !triggers(from, topic)) {
      entry.share = calling(from, topic);
    }
    entry.triggers = is_response(from, to) ? callers(from, edge) : triggers(from, topic);
  }
  for (const auto& [key, entry] : together) {
    const auto& [from, to, topic] = key;
    if (entry.delay.second) {
      note_outlier({"delay",
                    model_[from].id,
                    model_[to].id,
                    *entry.delay.longest,
                    entry.delay.time,
                    {*entry.delay.second}});
    }
    // An edge stands for one message of an instance, so several need several edges.
    for (std::uint64_t i = 0; i < entry.messages; ++i) {
      const std::string& name = objects_[topic];
      model::Edge& edge = model_.edges.emplace_back();
      edge.from = from;
      edge.to = to;
      if (!name.empty()) edge.topic = name;
      edge.delay = in_range(*entry.delay.longest + entry.waiting);
      if (entry.travel > edge.delay) edge.travel = entry.travel;
      if (entry.by_memory) edge.transport = model::Transport::shared_memory;
      edge.triggered_by = entry.triggers;
      model::set_message_share(edge, entry.share);
      observed_messages.push_back(entry.observed);
    }
  }
  break_cycles(observed_messages);
}

/// The thread takes what callbacks hand to it, as a timer takes what they keep. A model cannot say
/// which messages it takes if there are several such threads, or one that sends on several topics,
/// and a periodic one would seem to take all that wait.
void Builder::add_hand_over(const links::Link& link) {
  if (link.inputs.empty()) return;  // declared of subscriptions that the recording does not show
  std::set<Observed> threads;
  for (const execution::PublisherIndex output : link.outputs) {
    for (const auto& [key, sent] : observations_.outputs()) {
      const auto& [sender, topic] = key;
      if (topic == objects_[output].topic && objects_[sender].event_source &&
          objects_.node_of(objects_[sender]) == objects_[output].node) {
        threads.insert(sender);
      }
    }
  }
  if (threads.empty()) return;
  const Observed thread = *threads.begin();
  const auto sends_on = std::ranges::count_if(
      observations_.outputs(), [&](const auto& output) { return output.first.first == thread; });
  const auto to = callback_of_.find(thread);
  if (threads.size() > 1 || sends_on > 1 || to == callback_of_.end() ||
      source_period(objects_[thread]) > Duration{0}) {
    warnings_.push_back(
        fmt::format("{} hands messages to a thread that publishes on {}: flows have this link, "
                    "and no chain of a model does",
                    objects_.node_name(objects_[link.inputs.front()]),
                    objects_[objects_[link.outputs.front()].topic]));
    return;
  }
  for (std::size_t i = 0; i < link.inputs.size(); ++i) {
    const auto from = callback_of_.find(link.inputs[i]);
    if (from == callback_of_.end() || join_of_.contains(link.inputs[i])) continue;
    model::Edge& edge = model_.edges.emplace_back();
    edge.from = from->second;
    edge.to = to->second;
    if (!link.confidence.empty()) edge.confidence = link.confidence[i];
  }
}

/// A callback that receives transforms passes on the messages that wait for them.
void Builder::add_waiting_for_transform(const links::Link& link) {
  const auto from = callback_of_.find(link.inputs.front());
  if (from == callback_of_.end()) return;
  for (const execution::Subscription& subscription : objects_.subscriptions) {
    const auto to = callback_of_.find(subscription.callback);
    const auto& publishers = observations_.links().of(subscription.callback).publishers;
    const bool passes_on = std::ranges::any_of(link.outputs, [&](execution::PublisherIndex output) {
      return publishers.contains(output);
    });
    if (!execution::is_transform(objects_[subscription.topic]) || !passes_on ||
        to == callback_of_.end() || to->second == from->second) {
      continue;
    }
    for (model::Edge& onward : model_.edges) {
      const bool is_of_link = std::ranges::any_of(link.outputs, [&](auto output) {
        return onward.topic == objects_[objects_[output].topic];
      });
      if (onward.from == to->second && onward.triggered_by && is_of_link) {
        onward.triggered_by->push_back(from->second);
      }
    }
    model::Edge& edge = model_.edges.emplace_back();
    edge.from = from->second;
    edge.to = to->second;
    edge.confidence = link.confidence.front();
  }
}

/// Timers read what subscriptions keep, without a message.
void Builder::add_sampled_edges() {
  std::set<std::pair<model::CallbackIndex, model::CallbackIndex>> known;
  for (const links::Link& link : links_) {
    if (link.is_handed || (link.grounds == links::Grounds::declared && !link.reader)) {
      add_hand_over(link);
    }
    if (link.waits_for_transform) add_waiting_for_transform(link);
    if (!link.is_taken) continue;
    const auto reader = callback_of_.find(*link.reader);
    if (reader == callback_of_.end() || model::samples_messages(model_[reader->second])) continue;
    for (const Observed input : link.inputs) {
      const auto topic = objects_.topic_of(objects_[input]);
      if (!topic) continue;
      warnings_.push_back(fmt::format(
          "\"{}\" uses messages of {} that it took itself, without being activated by them: flows "
          "have this link, and no chain of a model does",
          model_[reader->second].id, objects_[*topic]));
    }
  }
  for (const SampledInput& input : find_sampled_inputs(observations_, objects_, links_)) {
    const auto from = callback_of_.find(input.subscription);
    const auto to = callback_of_.find(input.timer);
    const auto topic = objects_.topic_of(objects_[input.subscription]);
    if (to != callback_of_.end() && topic &&
        observations_.links().is_taken_to_store(input.subscription)) {
      warnings_.push_back(fmt::format(
          "\"{}\" {} messages of {} that something else of its node took itself: flows "
          "have this link, and no chain of a model does",
          model_[to->second].id, input.confidence ? "seems to use" : "uses", objects_[*topic]));
    }
    if (from == callback_of_.end() || to == callback_of_.end() ||
        (input.confidence && join_of_.contains(input.subscription)) ||
        !known.insert({from->second, to->second}).second) {
      continue;
    }
    if (model_[to->second].kind != model::CallbackKind::timer) {
      warnings_.push_back(
          fmt::format("\"{}\" {} to read what \"{}\" keeps, but is no timer: the link is left out",
                      model_[to->second].id, input.confidence ? "seems" : "is declared",
                      model_[from->second].id));
      continue;
    }
    model::Edge& edge = model_.edges.emplace_back();
    edge.from = from->second;
    edge.to = to->second;
    edge.confidence = input.confidence;
  }
}

void Builder::break_cycles(const std::vector<std::uint64_t>& observed_messages) {
  if (model::trigger_order(model_).cycle.empty()) return;
  std::vector<std::size_t> order(model_.edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t e) { return observed_messages[e]; });
  const std::vector<model::Edge> edges = std::exchange(model_.edges, {});
  std::map<model::CallbackIndex, std::set<Observed>> cut_off;
  for (const std::size_t e : order) {
    const model::Edge& edge = edges[e];
    model_.edges.push_back(edge);
    const std::string cycle = model::trigger_order(model_).cycle;
    if (cycle.empty()) continue;
    model_.edges.pop_back();
    warnings_.push_back(
        fmt::format("messages of \"{}\" to \"{}\" are left out: {} would be a cycle without end; "
                    "they count as if they came from outside, as often as was seen, and no chain "
                    "leads over them",
                    model_[edge.from].id, model_[edge.to].id, cycle));
    for (const auto& [key, observed] : observations_.edges()) {
      const auto& [from, to, topic] = key;
      const auto sender = callback_of_.find(from);
      const auto receiver = callback_of_.find(to);
      if (sender != callback_of_.end() && sender->second == edge.from &&
          receiver != callback_of_.end() && receiver->second == edge.to) {
        cut_off[edge.to].insert(to);
      }
    }
  }
  for (const auto& [receiver, members] : cut_off) {
    std::vector<model::MinDistanceActivation> activations;
    for (const Observed member : members) {
      activations.push_back(min_distance(member, observations_.callback(member)->activations));
    }
    model_.callbacks[receiver.value()].activation = together(activations);
  }
  keep_what_edges_support();
}

/// Trigger sets and joins may name predecessors only.
void Builder::keep_what_edges_support() {
  std::set<std::pair<model::CallbackIndex, model::CallbackIndex>> connected;
  for (const model::Edge& edge : model_.edges) connected.insert({edge.from, edge.to});
  for (model::Edge& edge : model_.edges) {
    if (!edge.triggered_by) continue;
    std::erase_if(*edge.triggered_by, [&](model::CallbackIndex trigger) {
      return !connected.contains({trigger, edge.from});
    });
  }
  std::erase_if(model_.joins, [&](const model::Join& join) {
    return std::ranges::any_of(join.inputs, [&](model::CallbackIndex input) {
      return !connected.contains({input, join.callback});
    });
  });
}

}  // namespace takt::synthesis
