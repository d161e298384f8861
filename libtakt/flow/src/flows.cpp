#include "takt/flow/flows.hpp"

#include <utility>

#include "takt/flow/inference.hpp"

namespace takt::flow {
namespace {

/// Whether the callback is known only from what its thread was seen to do. The first message of
/// such a thread belongs to no instance of it, so flows begin with its messages and not with its
/// runs.
bool is_made_of_messages(const execution::Objects& objects,
                         execution::ObservedCallbackIndex callback) {
  const execution::Callback& known = objects[callback];
  return known.event_source && known.handle == 0;
}

}  // namespace

FlowTracker::FlowTracker(FlowOptions options)
    : options_(std::move(options)), collector_({options_.instances, options_.asked}) {}

void FlowTracker::on_instance(const execution::Database& database,
                              const execution::CallbackInstance& instance) {
  if (is_made_of_messages(database.objects(), instance.callback)) {
    return;
  }
  store_.on_instance(database, instance);
  const std::uint64_t kept = store_.end_run() - store_.first_run();
  if (kept >= options_.window) {
    // Runs that have not ended, or whose message becomes known late, are among the last.
    const std::uint64_t settled = store_.end_run() - options_.window / 8;
    // A name that nothing has yet may appear later; finish() reports it if it does not.
    static_cast<void>(evaluate(database, settled));
    store_.drop_before(store_.end_run() - options_.window / 2);
    if (const Run* const first = store_.find(static_cast<InstanceId>(store_.first_run()))) {
      states_.drop_before(first->start);
    }
  }
}

void FlowTracker::on_publication(const execution::Database& database,
                                 const execution::Publication& publication) {
  if (publication.instance != InstanceId::none &&
      is_made_of_messages(database.objects(), publication.callback)) {
    execution::Publication by_itself = publication;
    by_itself.instance = InstanceId::none;
    by_itself.callback = {};
    store_.on_publication(database, by_itself);
    return;
  }
  store_.on_publication(database, publication);
}

void FlowTracker::on_take(const execution::Database& database, const execution::Take& take) {
  store_.on_take(database, take);
}

void FlowTracker::on_dds_write(const execution::Database& database,
                               const execution::DdsMessage& message, Instant time) {
  store_.on_dds_write(database, message, time);
}

void FlowTracker::on_dds_receive(const execution::Database& database,
                                 const execution::DdsMessage& message,
                                 execution::ProcessIndex process, Instant time) {
  store_.on_dds_receive(database, message, process, time);
}

void FlowTracker::on_late_source(const execution::Database& database, InstanceId instance,
                                 PublicationId source) {
  store_.on_late_source(database, instance, source);
}

void FlowTracker::on_switch(const execution::Database& database, const execution::Occurrence& at,
                            const tracepoints::SchedSwitch& change) {
  states_.on_switch(database, at, change);
}

void FlowTracker::on_wakeup(const execution::Database& database, const execution::Occurrence& at,
                            const tracepoints::SchedWakeup& wakeup) {
  states_.on_wakeup(database, at, wakeup);
}

Result<void> FlowTracker::evaluate(const execution::Database& database, std::uint64_t end) {
  const execution::Objects& objects = database.objects();
  Ends ends;
  if (options_.from) {
    auto from = select_source(objects, "--from", *options_.from);
    if (!from) {
      return tl::unexpected(from.error());
    }
    ends.from = std::move(*from);
  }
  if (options_.to) {
    auto to = select_sink(objects, "--to", *options_.to);
    if (!to) {
      return tl::unexpected(to.error());
    }
    ends.to = std::move(*to);
  }
  const events::Threads& threads = database.threads();
  clocks_ = store_.clocks().estimate(threads.hosts().size());
  if (threads.hosts().size() > 1) {
    store_.align(threads, clocks_);
    states_.align(threads, clocks_);
  }
  const History history(store_);
  groups_ = find_groups(objects, history, options_.model, options_.inference);
  std::optional<Causality> causality(std::in_place, history, objects, groups_);
  if (has_too_many_ways(history, objects, *causality) && doubt_groups(groups_, history)) {
    causality.emplace(history, objects, groups_);
  }
  const Splitter splitter(history, database, states_);
  collector_.collect({history, database, *causality, splitter, clocks_}, ends, next_, end);
  next_ = end;
  return {};
}

Result<void> FlowTracker::finish(const execution::Database& database) {
  auto done = evaluate(database, store_.end_run());
  collector_.finish();
  return done;
}

}  // namespace takt::flow
