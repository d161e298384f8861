#include "takt/flow/flows.hpp"

#include <utility>

#include "takt/base/try.hpp"

namespace takt::flow {
namespace {

/// The window consists of so many parts. All but the last are followed when it is full, because
/// runs that have not ended, or whose message becomes known late, are among the last; the first
/// half is then forgotten.
constexpr std::size_t window_parts = 8;

}  // namespace

/// Whether the callback is known only from what its thread was seen to do. The first message of
/// such a thread belongs to no instance of it, so flows begin with its messages and not with its
/// runs, unless the runs take messages.
bool FlowTracker::is_made_of_messages(const execution::Objects& objects,
                                      execution::ObservedCallbackIndex callback) const {
  const execution::Callback& known = objects[callback];
  return known.event_source && known.handle == 0 && evidence_.of(callback).reads.empty();
}

FlowTracker::FlowTracker(FlowOptions options)
    : options_(std::move(options)), collector_({options_.instances, options_.asked}) {}

void FlowTracker::on_instance(const execution::Database& database,
                              const execution::CallbackInstance& instance) {
  evidence_.on_instance(database, instance);
  if (is_made_of_messages(database.objects(), instance.callback)) {
    return;
  }
  runs_too_long_ += static_cast<std::uint64_t>(instance.id) < next_ ? 1u : 0u;
  store_.on_instance(database, instance);
  make_room(database);
}

void FlowTracker::make_room(const execution::Database& database) {
  const std::uint64_t rows = store_.rows() + states_.rows();
  if (rows < (marks_.size() + 1) * options_.window / window_parts) {
    return;
  }
  marks_.push_back({store_.end(), states_.counts()});
  if (marks_.size() < window_parts) {
    return;
  }
  // A name that nothing has yet may appear later; finish() reports it if it does not.
  static_cast<void>(evaluate(database, marks_[window_parts - 2].rows.run));
  const Mark& middle = marks_[window_parts / 2 - 1];
  store_.drop_before(middle.rows);
  states_.drop_before(middle.times_off);
  marks_.erase(marks_.begin(), marks_.begin() + window_parts / 2);
}

void FlowTracker::on_publication(const execution::Database& database,
                                 const execution::Publication& publication) {
  evidence_.on_publication(database, publication);
  if (publication.instance != InstanceId::none &&
      is_made_of_messages(database.objects(), publication.callback)) {
    execution::Publication by_itself = publication;
    by_itself.instance = InstanceId::none;
    by_itself.callback = {};
    store_.on_publication(database, by_itself);
  } else {
    store_.on_publication(database, publication);
  }
  make_room(database);
}

void FlowTracker::on_take(const execution::Database& database, const execution::Take& take) {
  store_.on_take(database, take);
  make_room(database);
}

void FlowTracker::on_read(const execution::Database& database, const execution::Read& read) {
  evidence_.on_read(database, read);
  store_.on_read(database, read);
  make_room(database);
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
  make_room(database);
}

void FlowTracker::on_wakeup(const execution::Database& database, const execution::Occurrence& at,
                            const tracepoints::SchedWakeup& wakeup) {
  states_.on_wakeup(database, at, wakeup);
  make_room(database);
}

void FlowTracker::on_steady_state(const execution::Database& database, Instant time) {
  evidence_.on_steady_state(database, time);
}

Result<void> FlowTracker::evaluate(const execution::Database& database, std::uint64_t end) {
  const execution::Objects& objects = database.objects();
  Ends ends;
  if (options_.from) {
    ends.from = TAKT_TRY(select_source(objects, "--from", *options_.from));
  }
  if (options_.to) {
    ends.to = TAKT_TRY(select_sink(objects, "--to", *options_.to));
  }
  const events::Threads& threads = database.threads();
  clocks_ = store_.clocks().estimate(threads.hosts().size());
  if (threads.hosts().size() > 1) {
    store_.align(threads, clocks_);
    states_.align(threads, clocks_);
  }
  const History history(store_);
  const model::Model* const joins = options_.joins_of_model ? options_.model : nullptr;
  links::Evidence evidence = evidence_;
  evidence.use_start_up(objects);
  auto known = find_links(objects, evidence, joins, options_.inference,
                          options_.links ? &*options_.links : nullptr);
  links_ = std::move(known.links);
  lines_ = std::move(known.lines);
  unknown_ = std::move(known.unknown);
  std::optional<Causality> causality(std::in_place, history, objects, links_);
  if (has_too_many_ways(history, objects, *causality) && doubt_links(links_)) {
    causality.emplace(history, objects, links_);
  }
  const Splitter splitter(history, database, states_);
  collector_.collect({history, database, *causality, splitter, clocks_}, ends, next_, end);
  links_ = causality->links();  // with what the stamps told
  next_ = end;
  return {};
}

Result<void> FlowTracker::finish(const execution::Database& database) {
  auto done = evaluate(database, store_.end_run());
  collector_.finish();
  return done;
}

}  // namespace takt::flow
