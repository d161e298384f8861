#include "takt/execution/interpreter.hpp"

#include <utility>

#include "callback_tracker.hpp"
#include "message_index.hpp"
#include "object_tracker.hpp"
#include "publication_tracker.hpp"
#include "take_tracker.hpp"

namespace takt::execution {
namespace {

using events::Event;
using events::EventType;

/// How long no object must have been made for the system to be up.
constexpr Duration settling_time = std::chrono::seconds(1);

bool is_initialisation(EventType type) { return type < EventType::rclcpp_publish; }

std::int64_t as_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

class Interpreter::Implementation {
 public:
  Implementation(const events::Threads& threads, std::vector<Observer*> observers)
      : threads_(threads),
        observers_(std::move(observers)),
        objects_(threads, anomalies_),
        callbacks_(anomalies_),
        publications_(objects_, anomalies_),
        takes_(objects_, messages_, anomalies_) {}

  void consume(const Event& event, const events::Batch& batch);
  void finish();

  const events::Threads& threads_;
  std::vector<Observer*> observers_;
  Anomalies anomalies_;
  ObjectTracker objects_;
  CallbackTracker callbacks_;
  MessageIndex messages_;
  PublicationTracker publications_;
  TakeTracker takes_;
  std::vector<CallbackInstance> open_instances_;
  Totals totals_;

 private:
  void watch_start_up(Instant now);
  void start_callback(const Event& event, ProcessIndex process);
  void end_callback(const Event& event);
  void publish(std::optional<Publication> publication);
  void publish_in_process(const Event& event, ProcessIndex process);
  void send_request(const Event& event, ProcessIndex process);
  void enqueue(const Event& event, ProcessIndex process);
  void take(const Received* received);
  /// Adds the callback instance that runs on the publication's thread.
  void enclose(Publication& publication) const;
  void announce(PublicationId id);

  template <typename Function>
  void tell(Function&& function) {
    for (Observer* const observer : observers_) {
      function(*observer);
    }
  }

  /// The publication whose messages go into ring buffers now.
  struct InProcess {
    PublicationId id = PublicationId::none;
    std::optional<PublisherIndex> publisher;
  };
  InProcess& in_process(ThreadIndex thread);

  std::vector<InProcess> in_process_;  // by thread
  bool is_steady_ = false;
};

void Interpreter::Implementation::consume(const Event& event, const events::Batch& batch) {
  using enum EventType;
  if (is_initialisation(event.type)) {
    objects_.consume(event, batch);
    return;
  }
  if (!is_steady_) {
    watch_start_up(event.time);
  }
  const ProcessIndex process = threads_[event.thread].process;
  const auto& value = event.values;
  switch (event.type) {
    case callback_start:
      start_callback(event, process);
      break;
    case callback_end:
      end_callback(event);
      break;
    case thread_cpu_time:
      callbacks_.cpu_time(event.thread, Duration(as_signed(value[0])));
      break;
    case callback_release: {
      const Release release{objects_.callback(process, value[0]),
                            event.thread,
                            event.time,
                            Instant(Duration(as_signed(value[1]))),
                            Instant(Duration(as_signed(value[2]))),
                            as_signed(value[3])};
      tell([&release](Observer& observer) { observer.on_release(release); });
      break;
    }
    case message_kept:
      takes_.keep(event.thread, process, value[0]);
      break;
    case message_chosen:
      takes_.choose(event.thread, process, value[0]);
      break;
    case rclcpp_executor_wait_for_work:
      callbacks_.wait_begin(event.thread, event.time);
      break;
    case rclcpp_executor_get_next_ready:
    case rclcpp_executor_execute:
      callbacks_.wait_end(event.thread, event.time);
      break;
    case rclcpp_publish:
      publications_.rclcpp_publish(event.thread, event.time, value[0]);
      break;
    case rcl_publish:
      publications_.rcl_publish(event.thread, event.time, process, value[0], value[1]);
      break;
    case rmw_publish:
      publish(publications_.rmw_publish(event.thread, event.time, process, value[0], value[1],
                                        as_signed(value[2])));
      break;
    case rclcpp_intra_publish:
      publish_in_process(event, process);
      break;
    case dds_write:
    case dds_receive: {
      const DdsMessage message{{value[0], value[1]}, as_signed(value[2])};
      tell([&](Observer& observer) {
        event.type == dds_write ? observer.on_dds_write(message, event.time)
                                : observer.on_dds_receive(message, process, event.time);
      });
      break;
    }
    case rmw_take:
      if (value[3] != 0) {
        take(takes_.rmw_take(event.thread, event.time, process, value[0], as_signed(value[2]),
                             threads_.hosts().size() > 1));
      }
      break;
    case rmw_send_request:
      send_request(event, process);
      break;
    case rmw_take_request:
      if (value[5] != 0) {
        takes_.rmw_take_request(event.thread, event.time, process, value[0], {value[2], value[3]},
                                as_signed(value[4]));
      }
      break;
    case rclcpp_ring_buffer_enqueue:
      enqueue(event, process);
      break;
    case rclcpp_ring_buffer_dequeue:
      take(takes_.dequeue(event.thread, event.time, process, value[0], value[1]));
      break;
    case rclcpp_ring_buffer_clear:
      takes_.clear(process, value[0]);
      break;
    case rcl_lifecycle_transition:
      objects_.consume(event, batch);
      break;
    default:
      // What rcl and rclcpp add to a take, and a response's way back, is known from rmw already.
      break;
  }
}

void Interpreter::Implementation::watch_start_up(Instant now) {
  const auto& last = objects_.objects().initialised;
  if (last && now - *last >= settling_time) {
    is_steady_ = true;
    tell([&](Observer& observer) { observer.on_steady_state(*last + settling_time); });
  }
}

void Interpreter::Implementation::start_callback(const Event& event, ProcessIndex process) {
  const CallbackIndex callback = objects_.callback(process, event.values[0]);
  CallbackInstance& instance =
      callbacks_.start(event.thread, event.time, event.values[0], callback);
  instance.intra_process = event.values[1] != 0;
  const Callback& owner = objects_.objects()[callback];
  if (owner.kind == CallbackKind::unknown) {
    ++anomalies_.unknown_callback_instances;
    return;
  }
  if (const auto received = takes_.claim(event.thread, owner)) {
    instance.taken = received->time;
    instance.source = received->source;
    instance.was_chosen = received->was_chosen;
    if (received->unmatched != PublicationId::none) {
      takes_.bind(received->unmatched, instance.id);
    }
  }
}

void Interpreter::Implementation::end_callback(const Event& event) {
  publications_.abandon(event.thread);
  in_process(event.thread) = {};
  const CallbackInstance* const instance =
      callbacks_.end(event.thread, event.time, event.values[0]);
  if (instance != nullptr) {
    ++totals_.instances;
    totals_.with_cpu_time += instance->cpu_time ? 1u : 0u;
    tell([instance](Observer& observer) { observer.on_instance(*instance); });
  }
}

void Interpreter::Implementation::enclose(Publication& publication) const {
  if (const CallbackInstance* const current = callbacks_.current(publication.thread)) {
    publication.instance = current->id;
    publication.callback = current->callback;
    publication.cause = current->source;
  }
}

void Interpreter::Implementation::announce(PublicationId id) {
  const Publication* const publication = messages_.find(id);
  tell([publication](Observer& observer) { observer.on_publication(*publication); });
}

void Interpreter::Implementation::publish(std::optional<Publication> publication) {
  if (!publication) {
    return;
  }
  enclose(*publication);
  InProcess& before = in_process(publication->thread);
  publication->repeats_intra_process =
      before.publisher && before.publisher == publication->publisher;
  before = {};
  const MessageIndex::Key key{publication->topic, publication->source_timestamp, 0};
  const PublicationId id = messages_.add(*publication, key);
  announce(id);
  if (threads_.hosts().size() > 1) {
    takes_.publish_late(key, [this, id](InstanceId instance) {
      tell([=](Observer& observer) { observer.on_late_source(instance, id); });
    });
  }
}

void Interpreter::Implementation::publish_in_process(const Event& event, ProcessIndex process) {
  InProcess& current = in_process(event.thread);
  current = {};
  auto publication =
      publications_.intra_publish(event.thread, event.time, process, event.values[0]);
  if (publication) {
    enclose(*publication);
    current = {messages_.add(*publication), publication->publisher};
    announce(current.id);
  }
}

Interpreter::Implementation::InProcess& Interpreter::Implementation::in_process(
    ThreadIndex thread) {
  if (thread.value() >= in_process_.size()) {
    in_process_.resize(thread.value() + 1);
  }
  return in_process_[thread.value()];
}

void Interpreter::Implementation::send_request(const Event& event, ProcessIndex process) {
  const auto index = objects_.rmw_client(process, event.values[0]);
  if (!index) {
    ++anomalies_.unknown_publications;
    return;
  }
  const Client& client = objects_.objects()[*index];
  Publication request;
  request.topic = client.name;
  request.thread = event.thread;
  request.begin = event.time;
  request.sent = event.time;
  enclose(request);
  announce(messages_.add(
      request, TakeTracker::request_key(client.name, client.gid, as_signed(event.values[2]))));
}

void Interpreter::Implementation::enqueue(const Event& event, ProcessIndex process) {
  takes_.enqueue(process, event.values[0], event.values[1], in_process(event.thread).id);
}

void Interpreter::Implementation::take(const Received* received) {
  if (received != nullptr && received->subscription) {
    tell([received](Observer& observer) {
      observer.on_take(*received->subscription, received->time, received->source);
    });
  }
}

void Interpreter::Implementation::finish() {
  publications_.finish();
  takes_.finish();
  open_instances_ = callbacks_.finish();
  objects_.finish();
}

Interpreter::Interpreter(const events::Threads& threads, std::vector<Observer*> observers)
    : implementation_(std::make_unique<Implementation>(threads, std::move(observers))) {}

Interpreter::~Interpreter() = default;

void Interpreter::consume(const events::Batch& batch) {
  for (const Event& event : batch.events) {
    implementation_->consume(event, batch);
  }
}

void Interpreter::finish() { implementation_->finish(); }

const Objects& Interpreter::objects() const { return implementation_->objects_.objects(); }

const Anomalies& Interpreter::anomalies() const { return implementation_->anomalies_; }

const std::vector<CallbackInstance>& Interpreter::open_instances() const {
  return implementation_->open_instances_;
}

Interpreter::Totals Interpreter::totals() const { return implementation_->totals_; }

const Publication* Interpreter::publication(PublicationId id) const {
  return implementation_->messages_.find(id);
}

}  // namespace takt::execution
