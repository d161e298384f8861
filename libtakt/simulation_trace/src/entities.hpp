#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/simulation/observer.hpp"
#include "takt/simulation/options.hpp"
#include "takt/tracepoints/events.hpp"
#include "takt/workload/plan.hpp"
#include "writer.hpp"

namespace takt::simulation_trace {

using tracepoints::Handle;

/// Objects are made so long before the simulation begins that readers take the start-up for over.
inline constexpr Instant objects_made = Instant(-std::chrono::seconds{2});

struct Publisher {
  Handle rcl = 0;
  Handle rmw = 0;
  /// The newest message, and the instance that sent it.
  simulation::MessageTag message = 0;
  std::uint64_t instance = 0;
};

struct Subscription {
  Handle rcl = 0;
  Handle rmw = 0;
  Handle callback = 0;
};

struct Client {
  Handle rcl = 0;
  Handle rmw = 0;
  tracepoints::Gid gid{};
  std::int64_t requests = 0;
};

/// How messages along an edge, or from outside the model, travel.
struct Route {
  enum class Kind { none, topic, request, response, trigger };

  Kind kind = Kind::none;
  /// The number of the publisher, or of the client that sends the request or gets the response.
  std::size_t sender = 0;
  /// Which of the receiver's subscriptions gets the message.
  std::size_t subscription = 0;
};

struct CallbackEntity {
  model::CallbackKind kind = model::CallbackKind::timer;
  std::size_t process = 0;
  bool is_join = false;
  /// Of its timer, service or client.
  Handle rcl = 0;
  Handle rmw = 0;
  /// In events about its instances; subscriptions have their own.
  Handle callback = 0;
  /// By topic.
  std::vector<Subscription> subscriptions;
  std::size_t client = 0;
  Route from_outside;
};

/// The objects of a running model, as `takt run` makes them.
class Entities {
 public:
  /// Tells the trace of all objects. Errors: what no program of ROS 2 could have.
  [[nodiscard]] static Result<Entities> create(const model::Model& model,
                                               const simulation::Options& options, Writer& writer);

  std::vector<CallbackEntity> callbacks;
  /// By edge.
  std::vector<Route> edges;
  std::vector<Publisher> publishers;
  std::vector<Client> clients;
  /// By executor and thread.
  std::vector<std::vector<ThreadContext>> threads;
  /// By process: the thread from which messages come that are not the model's.
  std::vector<ThreadContext> outside_threads;

 private:
  Entities(const model::Model& model, const simulation::Options& options, Writer& writer)
      : model_(model), options_(options), writer_(writer) {}

  void make(const workload::WorkloadPlan& plan);
  void make_process(const workload::WorkloadPlan& plan, const workload::WorkloadProcess& process);
  void make_callback(const workload::WorkloadPlan& plan, const workload::WorkloadCallback& planned);
  void make_subscription(CallbackEntity& entity, const workload::WorkloadCallback& planned,
                         const std::string& topic);
  void make_from_outside(const workload::WorkloadPlan& plan,
                         const workload::WorkloadProcess& process);
  void make_threads(const workload::WorkloadExecutor& planned, const std::string& name);
  void announce(model::ExecutorIndex executor, const ThreadContext& thread);
  void tell_links();
  void make_routes(const workload::WorkloadPlan& plan);
  [[nodiscard]] std::size_t make_publisher(const workload::WorkloadPlan& plan,
                                           const std::string& topic, const std::string& node);
  [[nodiscard]] std::size_t make_client(const std::string& service, const std::string& node);
  [[nodiscard]] Handle node(const std::string& name);
  [[nodiscard]] Handle name_callback(Handle callback, model::CallbackIndex index);
  [[nodiscard]] Handle next_handle() { return handle_ += 0x40; }
  template <typename Event>
  void tell(const Event& event);

  const model::Model& model_;
  const simulation::Options& options_;
  Writer& writer_;
  Handle handle_ = 0x550000000000;
  std::uint64_t gids_ = 0;
  std::int32_t thread_numbers_ = 1000;
  std::size_t process_ = 0;
  /// The thread that makes the objects of the process.
  ThreadContext main_{};
  /// The nodes of the process, by name.
  std::map<std::string, Handle> nodes_;
  std::map<std::pair<model::CallbackIndex, std::string>, std::size_t> publisher_of_;
  /// Clients of requests whose responses nobody waits for.
  std::map<std::pair<model::CallbackIndex, std::string>, std::size_t> lone_clients_;
};

}  // namespace takt::simulation_trace
