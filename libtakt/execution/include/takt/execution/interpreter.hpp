#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "takt/events/event.hpp"
#include "takt/events/fields.hpp"
#include "takt/events/threads.hpp"
#include "takt/execution/callback_tracker.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/object_tracker.hpp"
#include "takt/execution/observer.hpp"
#include "takt/execution/occurrence.hpp"
#include "takt/execution/publication_tracker.hpp"
#include "takt/execution/run_clocks.hpp"
#include "takt/execution/take_tracker.hpp"
#include "takt/execution/thread_tracker.hpp"

namespace takt::execution {

/// Turns events into objects, instances and messages (message-flow 3.3), in a single pass in time
/// order: from a recording, or from a running robot one event at a time. It allocates nothing for
/// an event once warm, and its memory is bounded by the number of objects: what happened is handed
/// to the observers and forgotten.
class Interpreter {
 public:
  /// `threads` outlives the interpreter. It may grow between batches.
  explicit Interpreter(const events::Threads& threads);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Adds an observer, which outlives the interpreter, before the first event.
  void add(Observer& observer) { observers_.push_back(&observer); }

  void consume(const events::Batch& batch);
  /// The next event; its texts and lists are in the batch.
  void consume(const events::Event& event, const events::Batch& batch);
  /// After the last event: completes what is complete and counts what is not.
  void finish();

  /// What is known so far. Complete after finish().
  [[nodiscard]] const Database& database() const { return database_; }

 private:
  /// One handler for each event; those without one add nothing to what others tell.
  template <typename Fields>
  void on(const Occurrence&, const Fields&) {}
  template <tracepoints::Initialisation Fields>
  void on(const Occurrence& at, const Fields& object);
  void on(const Occurrence& at, const tracepoints::RclLifecycleTransition& change);
  void on(const Occurrence& at, const tracepoints::CallbackStart& start);
  void on(const Occurrence& at, const tracepoints::CallbackEnd& end);
  void on(const Occurrence& at, const tracepoints::ThreadCpuTime& cpu);
  void on(const Occurrence& at, const tracepoints::CallbackRelease& release);
  void on(const Occurrence& at, const tracepoints::ExecutorInit& executor);
  void on(const Occurrence& at, const tracepoints::RateSleep& sleep);
  void on(const Occurrence& at, const tracepoints::RateWakeup&);
  void on(const Occurrence& at, const tracepoints::RateStop&);
  void on(const Occurrence& at, const tracepoints::LimitedSpin& spin);
  void on(const Occurrence& at, const tracepoints::WaitableTriggered& triggered);
  void on(const Occurrence& at, const tracepoints::MessageKept& kept);
  void on(const Occurrence& at, const tracepoints::MessageChosen& chosen);
  void on(const Occurrence& at, const tracepoints::RclcppExecutorWaitForWork& wait);
  void on(const Occurrence& at, const tracepoints::RclcppExecutorGetNextReady&);
  void on(const Occurrence& at, const tracepoints::RclcppExecutorExecute&);
  void on(const Occurrence& at, const tracepoints::RclcppPublish& publish);
  void on(const Occurrence& at, const tracepoints::RclPublish& publish);
  void on(const Occurrence& at, const tracepoints::RmwPublish& publish);
  void on(const Occurrence& at, const tracepoints::RclcppIntraPublish& publish);
  void on(const Occurrence& at, const tracepoints::DdsWrite& write);
  void on(const Occurrence& at, const tracepoints::DdsReceive& receive);
  void on(const Occurrence& at, const tracepoints::LinkSend& send);
  void on(const Occurrence& at, const tracepoints::LinkReceive& receive);
  void on(const Occurrence& at, const tracepoints::SchedSwitch& change);
  void on(const Occurrence& at, const tracepoints::SchedWakeup& wakeup);
  void on(const Occurrence& at, const tracepoints::RmwTake& take);
  void on(const Occurrence& at, const tracepoints::RmwSendRequest& request);
  void on(const Occurrence& at, const tracepoints::RmwTakeRequest& take);
  void on(const Occurrence& at, const tracepoints::RmwSendResponse& response);
  void on(const Occurrence& at, const tracepoints::RmwTakeResponse& take);
  void on(const Occurrence& at, const tracepoints::RclcppRingBufferEnqueue& enqueue);
  void on(const Occurrence& at, const tracepoints::RclcppRingBufferDequeue& dequeue);
  void on(const Occurrence& at, const tracepoints::RclcppRingBufferClear& clear);

  void watch_start_up(Instant now);
  void publish(std::optional<Publication> publication);
  void take(const Received* received);
  /// A request or response that is sent.
  [[nodiscard]] static Publication call(const Occurrence& at, Publication::Kind kind,
                                        TopicIndex service);
  /// It was sent, and may have been taken before.
  void send(const Publication& publication, const MessageIndex::Key& key);
  /// An instance of a service has the request, and its response is yet to be sent.
  void serve(const CallbackInstance& instance, const MessageIndex::Key& request);
  /// A response that no running instance sends belongs to the one that had its request.
  void answer(Publication& response, const MessageIndex::Key& request) const;
  /// The instances that took a message before its publication was told get it now.
  void link_late(const MessageIndex::Key& key, PublicationId id);
  /// Gives an instance what its thread took.
  void activate(CallbackInstance& instance, const Callback& callback);
  /// A thread took what no event will name the callback of.
  void start_unannounced(const Occurrence& at, ObservedCallbackIndex callback);
  /// The executor speaks up, so what ran without a name has ended; `time`: when.
  void end_unannounced(ThreadIndex thread, Instant time);
  /// An executor without events has chosen what it runs next, so what ran without a name has ended;
  /// nobody knows when, but after the last that is known of it.
  void end_before_take(ThreadIndex thread);
  void ended(const CallbackInstance& instance);
  /// The same if there is one.
  void ended_if(const CallbackInstance* instance);
  /// Adds the instance that runs on the publication's thread. Returns that of an event source if it
  /// ends by the publication.
  const CallbackInstance* enclose(Publication& publication);
  void announce(PublicationId id);

  /// Gives the instance that begins or ends on a thread now the time by the scheduler's events.
  void tell_run_time(const Occurrence& at);

  /// Calls a function of every observer.
  template <typename... Parameters, typename... Arguments>
  void tell(void (Observer::*function)(const Database&, Parameters...),
            const Arguments&... arguments) {
    for (Observer* const observer : observers_) {
      (observer->*function)(database_, arguments...);
    }
  }

  /// The publication whose messages go into ring buffers now.
  struct InProcess {
    PublicationId id = PublicationId::none;
    std::optional<PublisherIndex> publisher;
  };
  InProcess& in_process(ThreadIndex thread);

  Database database_;
  std::vector<Observer*> observers_;
  ObjectTracker object_tracker_;
  CallbackTracker callbacks_;
  ThreadTracker threads_;
  RunClocks run_clocks_;
  PublicationTracker publications_;
  TakeTracker takes_;
  std::vector<InProcess> in_process_;  // by thread
  /// What triggered each waitable and has not been run yet, in order.
  std::vector<std::deque<PublicationId>> triggers_;
  /// The latest requests that instances have, as publications of their responses.
  MessageIndex served_{std::size_t{1} << 14};
};

}  // namespace takt::execution
