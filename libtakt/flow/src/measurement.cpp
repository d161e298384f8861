#include "takt/flow/measurement.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "instance_window.hpp"
#include "message_ways.hpp"
#include "takt/execution/curves.hpp"
#include "takt/execution/distribution.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/flow/join_state.hpp"
#include "takt/flow/matching.hpp"
#include "takt/flow/timer_grid.hpp"
#include "takt/model/topics.hpp"

namespace takt::flow {
namespace {

using Json = nlohmann::ordered_json;
using execution::CallbackInstance;
using execution::Distribution;
using execution::InstanceId;
using execution::Publication;

constexpr std::size_t max_samples = 2000;
/// The piece of the run that the timeline shows, from the end of start-up.
constexpr Duration timeline_length = std::chrono::milliseconds(300);
constexpr std::size_t max_timeline = 5000;
/// How many instances later a chain's end is followed back: its beginnings have ended by then, and
/// publications whose host's clock is behind have been seen.
constexpr std::size_t follow_delay = InstanceWindow::capacity / 2;
constexpr std::size_t chains_per_record = 64;

/// `origin`: what the values are relative to.
Json statistics(const Distribution& values, Duration origin, bool with_samples) {
  Json json;
  if (values.count() != 0) {
    json = {{"min", (values.min() - origin).count()},
            {"mean", (values.mean() - origin).count()},
            {"p50", (values.percentile(0.50) - origin).count()},
            {"p99", (values.percentile(0.99) - origin).count()},
            {"max", (values.max() - origin).count()}};
  } else {
    json = {
        {"min", nullptr}, {"mean", nullptr}, {"p50", nullptr}, {"p99", nullptr}, {"max", nullptr}};
  }
  if (with_samples) {
    json["samples"] = Json::array();
    for (const Duration sample : values.samples(max_samples)) {
      json["samples"].push_back((sample - origin).count());
    }
  }
  return json;
}

struct CallbackState {
  std::optional<TimerGrid> grid;
  std::optional<JoinState> join;
  /// Of a join: the input that a message of a predecessor or topic counts for.
  std::map<model::CallbackIndex, std::size_t> input_of_sender;
  std::map<std::string, std::size_t> input_of_topic;
  std::map<model::CallbackIndex, std::size_t> edge_from;  // predecessor → edge
  std::vector<std::size_t> first_in;                      // chains
  std::vector<std::size_t> last_in;

  std::uint64_t count = 0;
  Distribution execution_time;
  Distribution response_time;  // relative to the grid's phase
  execution::DistanceCurve activations;

  /// What times relative to the grid lack.
  [[nodiscard]] Duration phase() const {
    return grid ? grid->phase().time_since_epoch() : Duration(0);
  }
};

struct ChainState {
  Distribution latency;  // relative to the phase of the first callback's grid
  std::uint64_t begun = 0;
  std::uint64_t completed = 0;
};

struct EdgeState {
  std::uint64_t count = 0;
  Distribution delay;
  /// Of the messages whose way was recorded: in the sender, between the processes, and in the
  /// receiver until it took them.
  Distribution sending;
  Distribution transport;
  Distribution waiting;
};

struct Shown {
  model::CallbackIndex callback;
  Instant activation;
  Instant start;
  Instant end;
};

}  // namespace

class Measurement::Implementation {
 public:
  explicit Implementation(const model::Model& model);

  void add(const CallbackInstance& instance);
  void add_late_source(InstanceId instance, execution::PublicationId source);
  void reset(Instant time);
  std::string to_json(const events::Source& source, const execution::Pass& pass);

  const execution::Interpreter* interpreter_ = nullptr;
  MessageWays ways_;

 private:
  void add_way(EdgeState& edge, const CallbackInstance& instance, const Publication& publication);
  void follow(InstanceId end);
  void follow(InstanceRecord& end, std::size_t chain);
  bool completes_join(CallbackState& state, const std::string& topic,
                      std::optional<model::CallbackIndex> sender);
  Json callbacks_json() const;
  Json chains_json() const;
  Json edges_json() const;
  Json timeline_json() const;
  Json executors_json() const;

  const model::Model& model_;
  Matcher matcher_;
  std::vector<CallbackState> callbacks_;
  std::vector<ChainState> chains_;
  std::vector<EdgeState> edges_;
  InstanceWindow window_;
  std::deque<InstanceId> to_follow_;
  InstanceId newest_ = InstanceId::none;
  std::unordered_map<std::uint64_t, execution::PublicationId> late_sources_;
  std::optional<Instant> steady_since_;
  std::vector<Shown> timeline_;
};

Measurement::Implementation::Implementation(const model::Model& model)
    : model_(model),
      matcher_(model),
      callbacks_(model.callbacks.size()),
      chains_(model.chains.size()),
      edges_(model.edges.size()) {
  for (std::size_t i = 0; i < model.edges.size(); ++i) {
    callbacks_[model.edges[i].to.value()].edge_from.emplace(model.edges[i].from, i);
  }
  for (const model::Join& join : model.joins) {
    CallbackState& state = callbacks_[join.callback.value()];
    state.join.emplace(join.kind, join.inputs.size());
    for (std::size_t i = 0; i < join.inputs.size(); ++i) {
      state.input_of_sender[join.inputs[i]] = i;
      state.input_of_topic[model::topic_name(model,
                                             model.edges[state.edge_from.at(join.inputs[i])])] = i;
    }
  }
  for (std::size_t i = 0; i < model.chains.size(); ++i) {
    callbacks_[model.chains[i].callbacks.front().value()].first_in.push_back(i);
    callbacks_[model.chains[i].callbacks.back().value()].last_in.push_back(i);
  }
}

bool Measurement::Implementation::completes_join(CallbackState& state, const std::string& topic,
                                                 std::optional<model::CallbackIndex> sender) {
  if (sender) {
    if (const auto input = state.input_of_sender.find(*sender);
        input != state.input_of_sender.end()) {
      return state.join->arrive(input->second);
    }
  }
  const auto input = state.input_of_topic.find(topic);
  return input != state.input_of_topic.end() && state.join->arrive(input->second);
}

void Measurement::Implementation::add(const CallbackInstance& instance) {
  newest_ = std::max(newest_, instance.id);
  const execution::Objects& objects = interpreter_->objects();
  const auto match = matcher_.match(objects, instance.callback);
  if (!match) {
    return;
  }
  CallbackState& state = callbacks_[match->callback.value()];

  execution::PublicationId source = instance.source;
  if (const auto late = late_sources_.find(static_cast<std::uint64_t>(instance.id));
      late != late_sources_.end()) {
    source = late->second;
    late_sources_.erase(late);
  }
  const Publication* const publication = interpreter_->publication(source);
  std::optional<model::CallbackIndex> sender;
  if (publication != nullptr && publication->instance != InstanceId::none) {
    if (const auto matched = matcher_.match(objects, publication->callback)) {
      sender = matched->callback;
    }
  }
  Duration delay{};
  if (const auto edge = sender ? state.edge_from.find(*sender) : state.edge_from.end();
      edge != state.edge_from.end()) {
    assert(publication != nullptr);
    delay = model_.edges[edge->second].delay;
    EdgeState& measured = edges_[edge->second];
    ++measured.count;
    // Its arrival is visible if it ended the executor's wait.
    if (instance.first_after_wait && *instance.wait_begin < publication->sent &&
        publication->sent <= *instance.wait_end) {
      measured.delay.add(*instance.wait_end - publication->sent);
    }
    add_way(measured, instance, *publication);
  }
  if (state.join && !completes_join(state, match->topic, sender)) {
    return;
  }

  InstanceRecord record;
  record.id = instance.id;
  record.callback = match->callback;
  record.end = instance.end;
  if (const auto& timer = objects[instance.callback].timer) {
    if (!state.grid) {
      state.grid.emplace(objects[*timer].period);
    }
    record.activation = Instant(state.grid->add(instance));
  } else if (publication != nullptr) {
    record.activation =
        std::min(publication->sent + delay, instance.taken.value_or(instance.start));
    record.cause = publication->instance;
  } else {
    record.activation = instance.start;
  }
  window_.put(record);

  ++state.count;
  state.execution_time.add(instance.execution_time());
  state.response_time.add(instance.end - record.activation);
  state.activations.add(record.activation);
  for (const std::size_t chain : state.first_in) {
    ++chains_[chain].begun;
  }
  if (!state.last_in.empty()) {
    to_follow_.push_back(instance.id);
  }
  while (!to_follow_.empty() &&
         static_cast<std::uint64_t>(newest_) - static_cast<std::uint64_t>(to_follow_.front()) >
             follow_delay) {
    follow(to_follow_.front());
    to_follow_.pop_front();
  }
  if (timeline_.empty() || (instance.start < timeline_.front().start + timeline_length &&
                            timeline_.size() < max_timeline)) {
    timeline_.push_back({match->callback, record.activation, instance.start, instance.end});
  }
}

void Measurement::Implementation::add_way(EdgeState& edge, const CallbackInstance& instance,
                                          const Publication& publication) {
  const execution::Objects& objects = interpreter_->objects();
  const auto& subscription = objects[instance.callback].subscription;
  if (!publication.publisher || !subscription || !instance.taken) {
    return;
  }
  const auto way = ways_.find({objects[*publication.publisher].gid, publication.source_timestamp},
                              objects[*subscription].process);
  if (way) {
    edge.sending.add(way->written - publication.sent);
    edge.transport.add(way->received - way->written);
    edge.waiting.add(*instance.taken - way->received);
  }
}

void Measurement::Implementation::add_late_source(InstanceId instance,
                                                  execution::PublicationId source) {
  InstanceRecord* const record = window_.find(instance);
  const Publication* const publication = interpreter_->publication(source);
  if (record != nullptr && publication != nullptr) {
    record->cause = publication->instance;
  } else {
    late_sources_[static_cast<std::uint64_t>(instance)] = source;
  }
}

void Measurement::Implementation::follow(InstanceId id) {
  InstanceRecord* const end = window_.find(id);
  if (end == nullptr) {
    return;
  }
  for (const std::size_t chain : callbacks_[end->callback.value()].last_in) {
    follow(*end, chain);
  }
}

/// Goes back from the end of a chain to its beginning; does nothing if the message came another
/// way.
void Measurement::Implementation::follow(InstanceRecord& end, std::size_t chain) {
  const auto& path = model_.chains[chain].callbacks;
  InstanceRecord* current = &end;
  for (std::size_t i = path.size() - 1; i > 0; --i) {
    current = window_.find(current->cause);
    if (current == nullptr || current->callback != path[i - 1]) {
      return;
    }
  }
  if (steady_since_ && current->end < *steady_since_) {
    return;
  }
  chains_[chain].latency.add(end.end - current->activation);
  const auto& starting = callbacks_[path.front().value()].first_in;
  const auto number = static_cast<std::size_t>(std::find(starting.begin(), starting.end(), chain) -
                                               starting.begin());
  const std::uint64_t bit = number < chains_per_record ? std::uint64_t{1} << number : 0;
  chains_[chain].completed += (current->completed & bit) == 0 ? 1u : 0u;
  current->completed |= bit;
}

void Measurement::Implementation::reset(Instant time) {
  steady_since_ = time;
  to_follow_.clear();
  timeline_.clear();
  for (CallbackState& state : callbacks_) {
    state.count = 0;
    state.execution_time = {};
    state.response_time = {};
    state.activations = {};
  }
  std::fill(chains_.begin(), chains_.end(), ChainState{});
  std::fill(edges_.begin(), edges_.end(), EdgeState{});
}

Json Measurement::Implementation::callbacks_json() const {
  Json list = Json::array();
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    const CallbackState& state = callbacks_[i];
    Json distances = Json::array();
    for (const Duration distance : state.activations.values()) {
      distances.push_back(distance.count());
    }
    list.push_back({{"id", model_.callbacks[i].id},
                    {"count", state.count},
                    {"execution_time", statistics(state.execution_time, Duration(0), true)},
                    // Its activations were recorded, so its bound can be held against it.
                    {"bound_relevant", state.count != 0},
                    {"response_time", statistics(state.response_time, state.phase(), true)},
                    {"min_distance", distances}});
  }
  return list;
}

Json Measurement::Implementation::chains_json() const {
  Json list = Json::array();
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    const ChainState& state = chains_[i];
    const CallbackState& first = callbacks_[model_.chains[i].callbacks.front().value()];
    Json chain{{"id", model_.chains[i].id}, {"count", state.latency.count()}};
    chain.update(statistics(state.latency, first.phase(), true));
    chain["incomplete"] = state.begun - std::min(state.begun, state.completed);
    list.push_back(std::move(chain));
  }
  return list;
}

Json Measurement::Implementation::edges_json() const {
  Json list = Json::array();
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const model::Edge& edge = model_.edges[i];
    list.push_back({{"from", model_[edge.from].id},
                    {"to", model_[edge.to].id},
                    {"count", edges_[i].count},
                    {"delay", statistics(edges_[i].delay, Duration(0), false)}});
    if (edges_[i].transport.count() != 0) {
      list.back()["way"] = {{"count", edges_[i].transport.count()},
                            {"sending", statistics(edges_[i].sending, Duration(0), false)},
                            {"transport", statistics(edges_[i].transport, Duration(0), false)},
                            {"waiting", statistics(edges_[i].waiting, Duration(0), false)}};
    }
  }
  return list;
}

Json Measurement::Implementation::timeline_json() const {
  Json list = Json::array();
  for (const Shown& shown : timeline_) {
    const Duration phase = callbacks_[shown.callback.value()].phase();
    list.push_back({{"executor", model_[model_[shown.callback].executor].id},
                    {"callback", model_[shown.callback].id},
                    {"activation", (shown.activation.time_since_epoch() + phase).count()},
                    {"start", shown.start.time_since_epoch().count()},
                    {"end", shown.end.time_since_epoch().count()}});
  }
  return list;
}

Json Measurement::Implementation::executors_json() const {
  Json list = Json::array();
  for (const execution::ExecutorThread& thread : interpreter_->objects().executor_threads) {
    list.push_back({{"id", thread.executor},
                    {"policy", thread.policy},
                    {"runtime", thread.runtime.count()},
                    {"deadline", thread.deadline.count()},
                    {"period", thread.period.count()},
                    {"priority", thread.priority},
                    {"cpu", thread.cpu}});
  }
  return list;
}

std::string Measurement::Implementation::to_json(const events::Source& source,
                                                 const execution::Pass& pass) {
  for (const InstanceId end : to_follow_) {
    follow(end);
  }
  to_follow_.clear();
  Json json{{"format", "takt/measurement"}, {"version", 1}};
  json["provenance"] = execution::provenance(source, *interpreter_, pass, steady_since_);
  json["provenance"]["warnings"] = execution::warnings(source, *interpreter_);
  json["losses"] = execution::losses(source.losses(), interpreter_->anomalies());
  json["executors"] = executors_json();
  json["callbacks"] = callbacks_json();
  json["chains"] = chains_json();
  json["edges"] = edges_json();
  json["timeline"] = timeline_json();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Measurement::Measurement(const model::Model& model)
    : implementation_(std::make_unique<Implementation>(model)) {}

Measurement::~Measurement() = default;

void Measurement::watch(const execution::Interpreter& interpreter) {
  implementation_->interpreter_ = &interpreter;
}

void Measurement::on_dds_write(const execution::DdsMessage& message, Instant time) {
  implementation_->ways_.write(message, time);
}

void Measurement::on_dds_receive(const execution::DdsMessage& message,
                                 execution::ProcessIndex process, Instant time) {
  implementation_->ways_.receive(message, process, time);
}

void Measurement::on_instance(const CallbackInstance& instance) { implementation_->add(instance); }

void Measurement::on_late_source(InstanceId instance, execution::PublicationId source) {
  implementation_->add_late_source(instance, source);
}

void Measurement::on_steady_state(Instant time) { implementation_->reset(time); }

std::string Measurement::to_json(const events::Source& source, const execution::Pass& pass) {
  return implementation_->to_json(source, pass);
}

}  // namespace takt::flow
