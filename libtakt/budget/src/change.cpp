#include "takt/budget/change.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/budget/influence.hpp"
#include "takt/budget/outlier.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/model/names.hpp"
#include "takt/model/validate.hpp"
#include "takt/yaml/quantities.hpp"

namespace takt::budget {

namespace {

using model::CallbackIndex;
using model::ExecutorIndex;
using model::ExecutorTrait;

constexpr std::string_view forms =
    "executor=KIND, executor(EXECUTOR)=KIND, order=ORDER, order(EXECUTOR)=ORDER, "
    "budget(EXECUTOR)=TIME, reserve(EXECUTOR)=TIME/TIME, priority(CALLBACK)=NUMBER, "
    "split(CALLBACK or NODE), move(CALLBACK or NODE)=EXECUTOR, time(CALLBACK or NODE)=TIME, "
    "execution_time(CALLBACK or NODE)=PERCENT%, suspension(CALLBACK or NODE)=PERCENT%, "
    "period(CALLBACK)=TIME, delay=TIME, "
    "goal(CHAIN)=TIME and without(OBSERVATION)";

/// Execution times become at most so many times as long.
constexpr std::int64_t most_percent = 10'000;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The parts of the text between commas that are not within parentheses.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    items.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return items;
}

/// "verb(of)=value"; parts that an item does not have are empty.
struct Item {
  std::string_view text;
  std::string_view verb;
  std::string_view of;
  std::string_view value;
};

Item parts_of(std::string_view text) {
  Item item{.text = text, .verb = {}, .of = {}, .value = {}};
  std::string_view left = text;
  // Identifiers may contain separators: the last parenthesis ends them.
  const auto close = text.rfind(')');
  const auto equals = text.find('=', close == std::string_view::npos ? 0 : close);
  if (equals != std::string_view::npos) {
    item.value = trimmed(text.substr(equals + 1));
    left = trimmed(text.substr(0, equals));
  }
  const auto open = left.find('(');
  if (open != std::string_view::npos && left.ends_with(')')) {
    item.of = trimmed(left.substr(open + 1, left.size() - open - 2));
    left = left.substr(0, open);
  }
  item.verb = trimmed(left);
  return item;
}

template <typename List>
std::string ids_of(const List& list) {
  constexpr std::size_t most = 10;
  std::vector<std::string_view> ids;
  for (const auto& each : list) ids.push_back(each.id);
  const std::string more = ids.size() > most ? ", …" : "";
  if (ids.size() > most) ids.resize(most);
  return fmt::format("{}{}", fmt::join(ids, ", "), more);
}

template <typename Index, typename List>
std::optional<Index> find(const List& list, std::string_view id) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].id == id) return Index{i};
  }
  return std::nullopt;
}

/// A callback, by its id or as goals and tables call it ("node:topic", "node (topic)"), or those of
/// a node.
std::vector<CallbackIndex> callbacks_named(std::string_view id, const model::Model& model) {
  if (const auto callback = find<CallbackIndex>(model.callbacks, id)) return {*callback};
  std::vector<CallbackIndex> callbacks;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    const model::Callback& callback = model.callbacks[c];
    const bool is_named =
        callback.node == id ||
        (callback.topic && (id == fmt::format("{}:{}", callback.node, *callback.topic) ||
                            id == fmt::format("{} ({})", callback.node, *callback.topic)));
    if (is_named) callbacks.emplace_back(c);
  }
  return callbacks;
}

Result<ExecutorIndex> executor_of(std::string_view text, std::string_view id,
                                  const model::Model& model) {
  if (const auto executor = find<ExecutorIndex>(model.executors, id)) return *executor;
  std::set<ExecutorIndex> of_node;
  for (const CallbackIndex callback : callbacks_named(id, model)) {
    of_node.insert(model[callback].executor);
  }
  if (of_node.size() == 1) return *of_node.begin();
  if (of_node.size() > 1) {
    return error("\"{}\": \"{}\" runs on {} executors; name one", text, id, of_node.size());
  }
  return error("\"{}\": there is no executor or node \"{}\"; executors are {}", text, id,
               ids_of(model.executors));
}

Result<ExecutorIndex> executor_of(const Item& item, const model::Model& model) {
  return executor_of(item.text, item.of, model);
}

Result<CallbackIndex> callback_of(const Item& item, const model::Model& model) {
  const auto callbacks = callbacks_named(item.of, model);
  if (callbacks.size() == 1) return callbacks.front();
  if (callbacks.size() > 1) {
    return error("\"{}\": \"{}\" has {} callbacks; name one", item.text, item.of, callbacks.size());
  }
  return error("\"{}\": there is no callback \"{}\", only {}", item.text, item.of,
               ids_of(model.callbacks));
}

std::vector<CallbackIndex> callbacks_on(ExecutorIndex executor, const model::Model& model) {
  std::vector<CallbackIndex> callbacks;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    if (model.callbacks[c].executor == executor) callbacks.emplace_back(c);
  }
  return callbacks;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.begin(), text.end(), number);
  if (text.empty() || read.ptr != text.end() || read.ec != std::errc{}) return std::nullopt;
  return number;
}

/// The kinds that callbacks of ROS may run on, for messages.
std::string kinds_of_ros() {
  std::vector<std::string_view> names;
  for (const std::string_view name : model::list_names<model::ExecutorKind>()) {
    if (!has(*model::from_string<model::ExecutorKind>(name), ExecutorTrait::outside_ros)) {
      names.push_back(name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The time in milliseconds, to the nanosecond: "2.5ms".
std::string in_milliseconds(Duration time) {
  std::string text = fmt::format("{}.{:06}", time.count() / 1'000'000, time.count() % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "ms";
}

Result<Change> new_kind(const Item& item, const model::Model& model) {
  const auto kind = model::from_string<model::ExecutorKind>(item.value);
  if (!kind || has(*kind, ExecutorTrait::outside_ros)) {
    return error("\"{}\": \"{}\" is no kind of executor; one of {}", item.text, item.value,
                 kinds_of_ros());
  }
  if (item.of.empty()) return NewKind{.executor = {}, .kind = *kind};
  const ExecutorIndex executor = TAKT_TRY(executor_of(item, model));
  return NewKind{.executor = executor, .kind = *kind};
}

Result<Change> new_order(const Item& item, const model::Model& model) {
  const auto order = model::from_string<model::CallbackOrder>(item.value);
  if (!order) {
    return error("\"{}\": \"{}\" is no order; one of {}", item.text, item.value,
                 model::all_names<model::CallbackOrder>());
  }
  if (item.of.empty()) return NewOrder{.executor = {}, .order = *order};
  const ExecutorIndex executor = TAKT_TRY(executor_of(item, model));
  return NewOrder{.executor = executor, .order = *order};
}

Result<Change> new_budget(const Item& item, const model::Model& model) {
  const ExecutorIndex executor = TAKT_TRY(executor_of(item, model));
  const auto* supply = std::get_if<model::ReservationSupply>(&model[executor].supply);
  if (supply == nullptr) {
    return error("\"{}\": executor \"{}\" has no reservation, and so no budget", item.text,
                 item.of);
  }
  const auto budget = yaml::parse_time(item.value);
  if (!budget || *budget > supply->deadline) {
    return error("\"{}\": a budget is a time with its unit, up to the reservation's {}", item.text,
                 in_milliseconds(supply->deadline));
  }
  return NewBudget{.executor = executor, .budget = *budget};
}

Result<Change> new_reservation(const Item& item, const model::Model& model) {
  const ExecutorIndex executor = TAKT_TRY(executor_of(item, model));
  const auto slash = item.value.find('/');
  const auto budget = yaml::parse_time(trimmed(item.value.substr(0, slash)));
  const auto period = slash == std::string_view::npos
                          ? std::nullopt
                          : yaml::parse_time(trimmed(item.value.substr(slash + 1)));
  if (!budget || !period || *budget > *period) {
    return error(
        "\"{}\": a reservation is a budget above 0 of a period that is no shorter: 3ms/5ms",
        item.text);
  }
  return NewReservation{.executor = executor, .budget = *budget, .period = *period};
}

Result<Change> new_priority(const Item& item, const model::Model& model) {
  const CallbackIndex callback = TAKT_TRY(callback_of(item, model));
  const auto priority = whole_number(item.value);
  if (!priority) {
    return error("\"{}\": a priority is a whole number; larger is more urgent", item.text);
  }
  return NewPriority{.callback = callback, .priority = *priority};
}

/// The callbacks that the item is of: one, a node's, or an executor's where nothing else has that
/// name.
Result<std::vector<CallbackIndex>> callbacks_of(const Item& item, const model::Model& model) {
  std::vector<CallbackIndex> callbacks = callbacks_named(item.of, model);
  if (!callbacks.empty()) return callbacks;
  if (const auto executor = find<ExecutorIndex>(model.executors, item.of)) {
    return callbacks_on(*executor, model);
  }
  return error("\"{}\": there is no callback, node or executor \"{}\"; executors are {}", item.text,
               item.of, ids_of(model.executors));
}

/// Reads "execution_time(CALLBACK or NODE)=66%" and the like: `what` become `least` % or more.
template <typename Share>
Result<Change> new_share(const Item& item, const model::Model& model, std::string_view what,
                         std::int64_t least) {
  const auto callbacks = TAKT_TRY(callbacks_of(item, model));
  Share result{.of = std::string(item.of), .callbacks = callbacks};
  const bool in_percent = item.value.ends_with('%');
  const auto percent =
      whole_number(trimmed(item.value.substr(0, item.value.size() - (in_percent ? 1 : 0))));
  if (!in_percent || !percent || *percent < least || *percent > most_percent) {
    return error("\"{}\": {} become {}% to {}% of what they are", item.text, what, least,
                 most_percent);
  }
  result.percent = static_cast<int>(*percent);
  return result;
}

Result<Change> longest_time(const Item& item, const model::Model& model) {
  const auto callbacks = TAKT_TRY(callbacks_of(item, model));
  const auto time = yaml::parse_time(item.value);
  if (!time) return error("\"{}\": an execution time is a time with its unit", item.text);
  return LongestTime{.of = std::string(item.of), .callbacks = callbacks, .time = *time};
}

Result<Change> new_period(const Item& item, const model::Model& model) {
  const CallbackIndex callback = TAKT_TRY(callback_of(item, model));
  if (!period_of(model[callback])) {
    return error("\"{}\": callback \"{}\" has no period of its own", item.text, item.of);
  }
  const auto period = yaml::parse_time(item.value);
  if (!period) return error("\"{}\": a period is a time with its unit", item.text);
  return NewPeriod{.callback = callback, .period = *period};
}

Result<Change> longest_delay(const Item& item) {
  const auto delay = yaml::parse_time(item.value);
  if (!delay) return error("\"{}\": a delay is a time with its unit", item.text);
  return LongestDelay{.delay = *delay};
}

Result<Change> new_goal(const Item& item, const model::Model& model) {
  const auto chain = std::ranges::find(model.chains, item.of, &model::Chain::id);
  if (chain == model.chains.end()) {
    return error("\"{}\": there is no chain \"{}\", only {}", item.text, item.of,
                 ids_of(model.chains));
  }
  const auto goal = yaml::parse_time(item.value);
  if (!goal) return error("\"{}\": a goal is a time with its unit", item.text);
  return NewGoal{.chain = static_cast<std::size_t>(chain - model.chains.begin()), .goal = *goal};
}

/// The callbacks that are to leave their executor.
Result<std::vector<CallbackIndex>> leaving(const Item& item, const model::Model& model) {
  std::vector<CallbackIndex> callbacks = callbacks_named(item.of, model);
  if (!callbacks.empty()) return callbacks;
  return error("\"{}\": there is no callback or node \"{}\"; callbacks are {}", item.text, item.of,
               ids_of(model.callbacks));
}

Result<Change> split(const Item& item, const model::Model& model) {
  const auto callbacks = TAKT_TRY(leaving(item, model));
  return Split{.of = std::string(item.of), .callbacks = callbacks};
}

Result<Change> move(const Item& item, const model::Model& model) {
  const auto callbacks = TAKT_TRY(leaving(item, model));
  const ExecutorIndex to = TAKT_TRY(executor_of(item.text, item.value, model));
  return Move{.of = std::string(item.of), .callbacks = callbacks, .to = to};
}

Result<Change> without(const Item& item, const model::Model& model) {
  const auto known = observations_of(model);
  for (const Observation& observation : known) {
    if (observation.without.of == item.of) return observation.without;
  }
  return error("\"{}\": the model's recording tells of no such observation{}", item.text,
               known.empty() ? "" : fmt::format(", but of \"{}\"", known.front().without.of));
}

Result<Change> parse_change(std::string_view text, const model::Model& model) {
  const Item item = parts_of(text);
  if (item.verb == "executor" && !item.value.empty()) return new_kind(item, model);
  if (item.verb == "order" && !item.value.empty()) return new_order(item, model);
  if (item.verb == "budget" && !item.value.empty()) return new_budget(item, model);
  if (item.verb == "reserve" && !item.value.empty()) return new_reservation(item, model);
  if (item.verb == "move" && !item.value.empty()) return move(item, model);
  if (item.verb == "time" && !item.value.empty()) return longest_time(item, model);
  if (item.verb == "priority" && !item.value.empty()) return new_priority(item, model);
  if (item.verb == "split" && !item.of.empty() && item.value.empty()) return split(item, model);
  if (item.verb == "execution_time" && !item.value.empty()) {
    return new_share<NewExecutionTime>(item, model, "execution times", 1);
  }
  if (item.verb == "suspension" && !item.value.empty()) {
    return new_share<NewSuspension>(item, model, "suspensions", 0);
  }
  if (item.verb == "period" && !item.value.empty()) return new_period(item, model);
  if (item.verb == "delay" && item.of.empty() && !item.value.empty()) return longest_delay(item);
  if (item.verb == "without" && !item.of.empty() && item.value.empty()) return without(item, model);
  if (item.verb == "goal" && !item.value.empty()) return new_goal(item, model);
  return error("\"{}\" is no change; changes are {}", text, forms);
}

void apply(const NewBudget& change, model::Model& model) {
  auto& supply = model.executors[change.executor.value()].supply;
  std::get<model::ReservationSupply>(supply).budget = change.budget;
}

void apply(const NewReservation& change, model::Model& model) {
  model.executors[change.executor.value()].supply =
      model::ReservationSupply{change.budget, change.period, change.period};
}

void apply(const NewPriority& change, model::Model& model) {
  model.callbacks[change.callback.value()].priority = change.priority;
}

void apply(const NewKind& change, model::Model& model) {
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    model::Executor& executor = model.executors[e];
    if (change.executor && *change.executor != ExecutorIndex{e}) continue;
    if (has(executor.kind, ExecutorTrait::outside_ros)) continue;
    executor.kind = change.kind;
    if (!has(change.kind, ExecutorTrait::several_threads)) executor.threads = 1;
    if (!has(change.kind, ExecutorTrait::table)) executor.table.reset();
    if (!has(change.kind, ExecutorTrait::release_thread)) executor.release_overhead = Duration{0};
  }
}

void apply(const NewOrder& change, model::Model& model) {
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    model::Executor& executor = model.executors[e];
    if (change.executor && *change.executor != ExecutorIndex{e}) continue;
    if (has(executor.kind, ExecutorTrait::outside_ros)) continue;
    executor.order = change.order;
  }
}

/// An id that no executor has yet.
std::string free_id(std::string wanted, const model::Model& model) {
  while (find<ExecutorIndex>(model.executors, wanted)) wanted += '\'';
  return wanted;
}

Duration slowest_message(const model::Model& model) {
  Duration slowest{0};
  for (const model::Edge& edge : model.edges) {
    if (model[edge.from].executor == model[edge.to].executor) continue;
    slowest = std::max(slowest, edge.delay);
  }
  return slowest;
}

/// Lets the callbacks run on that executor, registered after its own.
void run_on(ExecutorIndex executor, std::span<const CallbackIndex> callbacks, model::Model& model) {
  const Duration delay = slowest_message(model);
  const auto within = [&](const model::Edge& edge) {
    return model[edge.from].executor == model[edge.to].executor;
  };
  std::vector<model::Edge*> were_within;
  for (model::Edge& edge : model.edges) {
    if (within(edge)) were_within.push_back(&edge);
  }
  const auto registration = [&](CallbackIndex callback) { return model[callback].registration; };
  std::vector<CallbackIndex> in_order = callbacks_on(executor, model);
  const auto own = static_cast<std::ptrdiff_t>(in_order.size());
  std::ranges::copy_if(callbacks, std::back_inserter(in_order), [&](CallbackIndex callback) {
    return model[callback].executor != executor;
  });
  std::ranges::stable_sort(in_order.begin(), in_order.begin() + own, {}, registration);
  std::ranges::stable_sort(in_order.begin() + own, in_order.end(), {}, registration);
  std::int64_t next = 0;
  for (const CallbackIndex callback : in_order) {
    model.callbacks[callback.value()].executor = executor;
    model.callbacks[callback.value()].registration = next++;
  }
  for (model::Edge* edge : were_within) {
    if (!within(*edge)) edge->delay = std::max(edge->delay, delay);
  }
}

void apply(const Split& change, model::Model& model) {
  model::Executor made = model[model[change.callbacks.front()].executor];
  made.id = free_id(change.of, model);
  made.name.clear();
  made.cpu.reset();
  if (has(made.kind, ExecutorTrait::several_threads)) {
    made.kind = model::ExecutorKind::single_threaded;
    made.threads = 1;
  }
  const ExecutorIndex own{model.executors.size()};
  model.executors.push_back(std::move(made));
  run_on(own, change.callbacks, model);
}

void apply(const Move& change, model::Model& model) { run_on(change.to, change.callbacks, model); }

void apply(const LongestTime& change, model::Model& model) {
  for (const CallbackIndex callback : change.callbacks) {
    model.callbacks[callback.value()].execution_time = {change.time};
  }
}

void apply(const NewExecutionTime& change, model::Model& model) {
  for (const CallbackIndex callback : change.callbacks) {
    auto& curve = model.callbacks[callback.value()].execution_time;
    curve = curves::scaled(curve, change.percent);
  }
}

void apply(const NewSuspension& change, model::Model& model) {
  for (const CallbackIndex callback : change.callbacks) {
    auto& suspension = model.callbacks[callback.value()].suspension;
    if (!suspension) continue;
    if (change.percent == 0) {
      suspension.reset();
    } else {
      suspension->curve = curves::scaled(suspension->curve, change.percent);
    }
  }
}

void apply(const NewPeriod& change, model::Model& model) {
  auto& activation = model.callbacks[change.callback.value()].activation;
  activation = with_period(*activation, change.period);
}

void apply(const LongestDelay& change, model::Model& model) {
  for (model::Edge& edge : model.edges) edge.delay = std::min(edge.delay, change.delay);
}

void apply(const NewGoal& change, model::Model& model) {
  model.chains[change.chain].goal = change.goal;
}

void apply(const Without& change, model::Model& model) {
  if (const auto* overhead = std::get_if<Without::Overhead>(&change.target)) {
    model.executors[overhead->executor.value()].overhead = change.values;
  } else if (const auto* cost = std::get_if<Without::ExecutionTime>(&change.target)) {
    model.callbacks[cost->callback.value()].execution_time = change.values;
  } else if (const auto* sleep = std::get_if<Without::Suspension>(&change.target)) {
    auto& suspension = model.callbacks[sleep->callback.value()].suspension;
    if (change.values.back() == Duration{0}) {
      suspension.reset();
    } else if (suspension) {
      suspension->curve = change.values;
    }
  } else if (const auto* activation = std::get_if<Without::Activation>(&change.target)) {
    model.callbacks[activation->callback.value()].activation =
        model::MinDistanceActivation{change.values};
  } else {
    const auto& [from, to] = std::get<Without::Delay>(change.target);
    for (model::Edge& edge : model.edges) {
      if (edge.from == from && edge.to == to) {
        edge.delay = std::min(edge.delay, change.values.front());
      }
    }
  }
}

std::string text_of(const Without& change, const model::Model& /*model*/) {
  return fmt::format("without({})", change.of);
}

std::string text_of(const NewBudget& change, const model::Model& model) {
  return fmt::format("budget({})={}", model[change.executor].id, in_milliseconds(change.budget));
}

std::string text_of(const NewReservation& change, const model::Model& model) {
  return fmt::format("reserve({})={}/{}", model[change.executor].id, in_milliseconds(change.budget),
                     in_milliseconds(change.period));
}

std::string text_of(const Move& change, const model::Model& model) {
  return fmt::format("move({})={}", change.of, model[change.to].id);
}

std::string text_of(const LongestTime& change, const model::Model& /*model*/) {
  return fmt::format("time({})={}", change.of, in_milliseconds(change.time));
}

std::string text_of(const NewPriority& change, const model::Model& model) {
  return fmt::format("priority({})={}", model[change.callback].id, change.priority);
}

std::string of_executor(std::optional<ExecutorIndex> executor, const model::Model& model) {
  return executor ? fmt::format("({})", model[*executor].id) : "";
}

std::string text_of(const NewKind& change, const model::Model& model) {
  return fmt::format("executor{}={}", of_executor(change.executor, model),
                     model::to_string(change.kind));
}

std::string text_of(const NewOrder& change, const model::Model& model) {
  return fmt::format("order{}={}", of_executor(change.executor, model),
                     model::to_string(change.order));
}

std::string text_of(const Split& change, const model::Model& /*model*/) {
  return fmt::format("split({})", change.of);
}

std::string text_of(const NewExecutionTime& change, const model::Model& /*model*/) {
  return fmt::format("execution_time({})={}%", change.of, change.percent);
}

std::string text_of(const NewSuspension& change, const model::Model& /*model*/) {
  return fmt::format("suspension({})={}%", change.of, change.percent);
}

std::string text_of(const NewPeriod& change, const model::Model& model) {
  return fmt::format("period({})={}", model[change.callback].id, in_milliseconds(change.period));
}

std::string text_of(const LongestDelay& change, const model::Model& /*model*/) {
  return fmt::format("delay={}", in_milliseconds(change.delay));
}

std::string text_of(const NewGoal& change, const model::Model& model) {
  return fmt::format("goal({})={}", model.chains[change.chain].id, in_milliseconds(change.goal));
}

}  // namespace

std::optional<Duration> period_of(const model::Callback& callback) {
  if (!callback.activation) return std::nullopt;
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&*callback.activation)) {
    return periodic->period;
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&*callback.activation)) {
    return sporadic->min_separation;
  }
  return std::nullopt;
}

model::Activation with_period(model::Activation activation, Duration period) {
  if (auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    periodic->period = period;
  } else {
    std::get<model::SporadicActivation>(activation).min_separation = period;
  }
  return activation;
}

Result<std::vector<Change>> parse_changes(std::string_view text, const model::Model& model) {
  std::vector<Change> changes;
  for (const std::string_view item : items_of(text)) {
    Change change = TAKT_TRY(parse_change(item, model));
    changes.push_back(std::move(change));
  }
  return changes;
}

std::string to_string(const Change& change, const model::Model& model) {
  return std::visit([&](const auto& each) { return text_of(each, model); }, change);
}

std::string to_string(std::span<const Change> changes, const model::Model& model) {
  std::vector<std::string> texts;
  for (const Change& change : changes) texts.push_back(to_string(change, model));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<Change> shorter_callbacks(const model::Model& model,
                                      std::span<const std::size_t> chains, int percent) {
  std::set<ExecutorIndex> executors;
  for (const std::size_t chain : chains) {
    std::ranges::copy(influencing(model, model.chains[chain]),
                      std::inserter(executors, executors.end()));
  }
  std::vector<Change> changes;
  for (const ExecutorIndex executor : executors) {
    changes.emplace_back(
        NewExecutionTime{model[executor].id, callbacks_on(executor, model), percent});
  }
  return changes;
}

Result<void> apply(const Change& change, model::Model& model) {
  std::visit([&](const auto& each) { apply(each, model); }, change);
  return model::validate(model, to_string(change, model));
}

Result<model::Model> with_changes(std::string_view text, model::Model model) {
  for (const std::string_view item : items_of(text)) {
    const Change change = TAKT_TRY(parse_change(item, model));
    TAKT_TRY(apply(change, model));
  }
  return model;
}

}  // namespace takt::budget
