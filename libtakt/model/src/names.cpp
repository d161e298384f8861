#include "takt/model/names.hpp"

#include "takt/base/names.hpp"

namespace takt::model {

namespace {

constexpr Names executor_kinds{std::to_array<Name<ExecutorKind>>({
#define TAKT_EXECUTOR_KIND(kind, traits, rules) {ExecutorKind::kind, #kind},
#include "takt/base/executor_kinds.def"
#undef TAKT_EXECUTOR_KIND
})};

constexpr Names timer_handlings{std::to_array<Name<TimerHandling>>({
    {TimerHandling::polled, "polled"},
    {TimerHandling::privileged, "privileged"},
})};

constexpr Names callback_orders{std::to_array<Name<CallbackOrder>>({
    {CallbackOrder::unknown, "unknown"},
    {CallbackOrder::registered, "registered"},
    {CallbackOrder::any_in_category, "any_in_category"},
    {CallbackOrder::by_node, "by_node"},
})};

constexpr Names callback_kinds{std::to_array<Name<CallbackKind>>({
    {CallbackKind::timer, "timer"},
    {CallbackKind::subscription, "subscription"},
    {CallbackKind::service, "service"},
    {CallbackKind::client, "client"},
    {CallbackKind::waitable, "waitable"},
    {CallbackKind::event_source, "event_source"},
})};

constexpr Names join_kinds{std::to_array<Name<JoinKind>>({
    {JoinKind::and_, "and"},
    {JoinKind::newest, "newest"},
})};

constexpr Names goal_kinds{std::to_array<Name<GoalKind>>({
    {GoalKind::latency, "latency"},
    {GoalKind::reaction, "reaction"},
    {GoalKind::age, "age"},
})};

constexpr Names transports{std::to_array<Name<Transport>>({
    {Transport::shared_memory, "shared_memory"},
})};

constexpr const auto& names_of(ExecutorKind) { return executor_kinds; }
constexpr const auto& names_of(TimerHandling) { return timer_handlings; }
constexpr const auto& names_of(CallbackOrder) { return callback_orders; }
constexpr const auto& names_of(CallbackKind) { return callback_kinds; }
constexpr const auto& names_of(JoinKind) { return join_kinds; }
constexpr const auto& names_of(GoalKind) { return goal_kinds; }
constexpr const auto& names_of(Transport) { return transports; }

}  // namespace

std::string_view to_string(ExecutorKind kind) { return executor_kinds.of(kind); }
std::string_view to_string(TimerHandling timers) { return timer_handlings.of(timers); }
std::string_view to_string(CallbackOrder order) { return callback_orders.of(order); }
std::string_view to_string(CallbackKind kind) { return callback_kinds.of(kind); }
std::string_view to_string(JoinKind kind) { return join_kinds.of(kind); }
std::string_view to_string(GoalKind kind) { return goal_kinds.of(kind); }
std::string_view to_string(Transport transport) { return transports.of(transport); }

template <typename Kind>
std::optional<Kind> from_string(std::string_view name) {
  return names_of(Kind{}).find(name);
}

template <typename Kind>
std::vector<std::string_view> list_names() {
  std::vector<std::string_view> list;
  for (const auto& [value, name] : names_of(Kind{}).all) list.push_back(name);
  return list;
}

template <typename Kind>
std::string all_names() {
  return names_of(Kind{}).list();
}

template std::optional<ExecutorKind> from_string<ExecutorKind>(std::string_view);
template std::optional<TimerHandling> from_string<TimerHandling>(std::string_view);
template std::optional<CallbackOrder> from_string<CallbackOrder>(std::string_view);
template std::optional<CallbackKind> from_string<CallbackKind>(std::string_view);
template std::optional<JoinKind> from_string<JoinKind>(std::string_view);
template std::optional<GoalKind> from_string<GoalKind>(std::string_view);
template std::optional<Transport> from_string<Transport>(std::string_view);
template std::vector<std::string_view> list_names<ExecutorKind>();
template std::vector<std::string_view> list_names<TimerHandling>();
template std::vector<std::string_view> list_names<CallbackOrder>();
template std::vector<std::string_view> list_names<CallbackKind>();
template std::vector<std::string_view> list_names<JoinKind>();
template std::vector<std::string_view> list_names<GoalKind>();
template std::vector<std::string_view> list_names<Transport>();
template std::string all_names<ExecutorKind>();
template std::string all_names<TimerHandling>();
template std::string all_names<CallbackOrder>();
template std::string all_names<CallbackKind>();
template std::string all_names<JoinKind>();
template std::string all_names<GoalKind>();
template std::string all_names<Transport>();

}  // namespace takt::model
