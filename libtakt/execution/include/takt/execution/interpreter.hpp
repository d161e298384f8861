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
#include "takt/execution/signalled_runs.hpp"
#include "takt/execution/take_tracker.hpp"
#include "takt/execution/thread_tracker.hpp"
#include "takt/execution/timed_publications.hpp"

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

  /// CLOCK_REALTIME less the times of the events (EventStream::epoch_offset).
  void set_epoch(Duration offset) { timed_.set_epoch(offset); }

  void consume(const events::Batch& batch);
  /// The next event; its texts and lists are in the batch.
  void consume(const events::Event& event, const events::Batch& batch);
  /// After the last event: completes what is complete and counts what is not.
  void finish();

  /// What is known so far. Complete after finish().
  [[nodiscard]] const Database& database() const { return database_; }

 private:
  /// One handler for each event. Events without a handler change nothing.
  template <typename Fields>
  void on(const Occurrence&, const Fields&) {}
  template <tracepoints::Initialisation Fields>
  void on(const Occurrence& at, const Fields& object);
  void on(const Occurrence& at, const tracepoints::RclTimerInit& timer);
  void on(const Occurrence& at, const tracepoints::RclLifecycleTransition& change);
  void on(const Occurrence& at, const tracepoints::UnrecordedProcess& found);
  void on(const Occurrence& at, const tracepoints::Selection& pattern);
  void on(const Occurrence& at, const tracepoints::ThreadScheduling& scheduling);
  void on(const Occurrence& at, const tracepoints::PageFaultUser& fault);
  void on(const Occurrence& at, const tracepoints::Foreign& event);
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
  void on(const Occurrence& at, const tracepoints::RclcppExecutorExecute& execute);
  void on(const Occurrence& at, const tracepoints::RclcppPublish& publish);
  void on(const Occurrence& at, const tracepoints::RclPublish& publish);
  void on(const Occurrence& at, const tracepoints::MessageStamp& message);
  void on(const Occurrence& at, const tracepoints::RmwPublish& publish);
  void on(const Occurrence& at, const tracepoints::RclcppIntraPublish& publish);
  void on(const Occurrence& at, const tracepoints::DdsWrite& write);
  void on(const Occurrence& at, const tracepoints::DdsReceive& receive);
  void on(const Occurrence& at, const tracepoints::LinkSend& send);
  void on(const Occurrence& at, const tracepoints::LinkReceive& receive);
  void on(const Occurrence& at, const tracepoints::RclCall& call);
  void on(const Occurrence& at, const tracepoints::SchedSwitch& change);
  void on(const Occurrence& at, const tracepoints::SchedWakeup& wakeup);
  void on(const Occurrence& at, const tracepoints::ShareTake& message);
  void on(const Occurrence& at, const tracepoints::RmwTake& take);
  void on(const Occurrence& at, const tracepoints::RmwSendRequest& request);
  void on(const Occurrence& at, const tracepoints::RmwTakeRequest& take);
  void on(const Occurrence& at, const tracepoints::RmwSendResponse& response);
  void on(const Occurrence& at, const tracepoints::RmwTakeResponse& take);
  void on(const Occurrence& at, const tracepoints::RclcppConstructRingBuffer& buffer);
  void on(const Occurrence& at, const tracepoints::RclcppRingBufferEnqueue& enqueue);
  void on(const Occurrence& at, const tracepoints::RclcppRingBufferDequeue& dequeue);
  void on(const Occurrence& at, const tracepoints::RclcppRingBufferClear& clear);

  void watch_start_up(Instant now);
  /// Whether the callback that makes an object does so again and again, as one with a timer that
  /// fires once for each message: that is no start-up, which it would keep from ending. A callback
  /// that makes nodes, as a component container's, or that leads a node through its life cycle,
  /// belongs to start-up however often it runs.
  [[nodiscard]] bool makes_again(const Occurrence& at, bool is_node);
  void note_made(const Occurrence& at, bool is_node);
  void publish(const Occurrence& at, std::optional<Publication> publication);
  void take(const Received* received);
  /// A request or response that is sent.
  [[nodiscard]] static Publication call(const Occurrence& at, Publication::Kind kind,
                                        TopicIndex service);
  /// Adds a request or response that was sent. It may have been taken already.
  void send(const Publication& publication, const MessageIndex::Key& key);
  /// Notes that an instance of a service handles the request, for the response that will be sent.
  void serve(const CallbackInstance& instance, const MessageIndex::Key& request);
  /// Before a thread takes a response: if it has taken one since its executor's last event, and
  /// what waits for it is not told (parts of rclpy's actions), nobody knows for which it goes on.
  void note_further_response(ThreadIndex thread);
  /// Gives a response that no running instance sends to the instance that handled its request.
  void answer(Publication& response, const MessageIndex::Key& request) const;
  /// Gives the publication to the instances that took its message before its event came.
  void link_late(const MessageIndex::Key& key, PublicationId id);
  /// Gives an instance the message that its thread took.
  void activate(CallbackInstance& instance, const Callback& callback);
  /// Notes if its message was sent before its subscription was made.
  void note_late_reader(CallbackInstance& instance, const Callback& callback);
  /// Tells that the callback which made a timer that fires once activated it thereby.
  PublicationId trigger(ObservedCallbackIndex timer, const Identities::Life& life);
  /// Notes an expiry of a timer whose executor runs an instance for each, in their order.
  void note_expiry(const Release& release);
  /// Gives the instance of a timer its expiry or, if it fires once, what activated it.
  void activate_timer(CallbackInstance& instance);
  /// A thread took a message whose callback no event will name.
  void start_unannounced(const Occurrence& at, ObservedCallbackIndex callback);
  /// Ends, at `time`, the instance whose end no event tells: the executor has emitted an event.
  void end_unannounced(ThreadIndex thread, Instant time);
  /// The same, now, as the executor goes on.
  void end_turn(const Occurrence& at);
  /// The same when an executor without events of its own takes a message: it has chosen what runs
  /// next. Nobody knows the time of the end, so the instance's last known activity is taken.
  void end_before_take(ThreadIndex thread);
  /// Ends the run that rclpy's executor has signalled on the thread, as it goes on to something
  /// else; the run is dropped if nothing shows when it ended.
  void leave_signalled(ThreadIndex thread);
  /// The executor of the thread has called the timer or taken the message of this callback, which
  /// runs if its executor signals it or, `unannounced`, if nothing else shows what it does.
  void choose(const Occurrence& at, ObservedCallbackIndex callback, bool unannounced);
  /// Whether callbacks of the process run unseen, so that nobody knows what a thread does.
  [[nodiscard]] bool hides_callbacks(ProcessIndex process) const;
  /// Finds out what the callback that starts is for, if no event said so when it was made.
  void adopt(const Occurrence& at, const tracepoints::CallbackStart& start);
  /// No callback handles the message that the thread took last: its program took it itself.
  void settle_take(const Occurrence& at);
  /// Before a thread publishes on a topic: if it serves no executor and took messages, the run
  /// begins that used them.
  void begin_taken(ThreadIndex thread, TopicIndex topic);
  /// When the message may have been left in its queue by what took from it before (Read::left_at).
  std::optional<Instant> left_at(const Received& received, InstanceId reader);
  void tell_read(const Received& received, ThreadIndex thread, InstanceId reader,
                 ObservedCallbackIndex reader_callback);
  void ended(const CallbackInstance& instance);
  /// Calls ended() if there is an instance.
  void ended_if(const CallbackInstance* instance);
  /// Gives the publication the instance that runs on its thread. If that is the instance of an
  /// event source and ends with the publication, returns it.
  const CallbackInstance* enclose(const Occurrence& at, Publication& publication);
  void announce(PublicationId id);
  /// Counts what is sent on each topic.
  void count_sent(const Publication& publication);

  /// Gives the instance that begins or ends now its processor time by the scheduler's events.
  void update_run_time(const Occurrence& at);
  /// How the thread has suspended itself, by the scheduler's events; none: there are none.
  std::optional<CallbackTracker::Waits> waits(ThreadIndex thread);

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
  TimedPublications timed_;
  TakeTracker takes_;
  SignalledRuns signalled_;
  /// By process: it tells what its executors and callbacks do.
  std::vector<char> names_callbacks_;
  /// By thread: the timer, subscription or service that rclcpp's executor runs now; 0: not said.
  std::vector<std::uint64_t> executing_;
  /// When the newest object was made that belongs to start-up.
  std::optional<Instant> last_made_;
  /// A callback that makes objects: the first instance that did.
  struct Maker {
    InstanceId first = InstanceId::none;
    bool makes_nodes = false;
  };
  std::vector<Maker> makers_;  // by callback
  /// By thread: since its executor's last event it has taken responses that are not told apart.
  std::vector<char> mixed_responses_;
  /// By callback: an event has told an end of it.
  std::vector<char> ends_;
  std::vector<InProcess> in_process_;  // by thread
  /// What a thread that serves no executor does with the messages that it takes.
  struct Taking {
    /// The newest message of each subscription since it published last, in the order in which it
    /// took them.
    std::vector<Received> unused;
    /// Messages for which it had no use when it took the next one.
    std::size_t replaced = 0;
    bool publishes = false;

    /// Whether it seems to take messages for others, who publish.
    [[nodiscard]] bool only_stores() const;
  };
  std::vector<Taking> taking_;  // by thread
  /// The queue of a subscription whose messages the program takes itself.
  struct Queue {
    /// What took from it last, and when.
    InstanceId reader = InstanceId::none;
    std::optional<Instant> taken;
    /// The last take before that reader's, unless the queue was empty since.
    std::optional<Instant> left_at;
  };
  std::vector<Queue> queues_;  // by subscription
  /// By waitable: the triggers whose instances have not started yet, oldest first.
  std::vector<std::deque<PublicationId>> triggers_;
  /// By callback of a timer: the expiries whose instances have not started yet, oldest first.
  std::vector<std::deque<Instant>> expiries_;
  /// The latest requests that instances have handled, held as publications of their responses.
  MessageIndex served_{std::size_t{1} << 14};
};

}  // namespace takt::execution
