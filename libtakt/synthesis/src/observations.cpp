#include "observations.hpp"

#include <algorithm>
#include <string_view>

namespace takt::synthesis {
namespace {

using execution::CallbackInstance;
using execution::CallbackKind;
using execution::InstanceId;
using execution::Publication;

/// Log messages are no output of a callback's function.
constexpr std::string_view log_topic = "/rosout";

template <typename T, typename Tag>
T& at(std::vector<T>& list, Index<Tag> index) {
  if (index.value() >= list.size()) {
    list.resize(index.value() + 1);
  }
  return list[index.value()];
}

}  // namespace

void Observations::add(const execution::Interpreter& interpreter, const Publication& publication) {
  if (publication.instance == InstanceId::none || publication.repeats_intra_process) {
    return;
  }
  OutputObservation& output = outputs_[{publication.callback, publication.topic}];
  const Publication* const cause = interpreter.publication(publication.cause);
  if (cause != nullptr && cause->instance != InstanceId::none) {
    ++output.by_cause[cause->callback];
  }
  Sent& sent = at(sent_, publication.thread);
  if (sent.instance != publication.instance) {
    sent.instance = publication.instance;
    sent.topics.clear();
  }
  output.most_per_instance = std::max(output.most_per_instance, ++sent.topics[publication.topic]);
}

void Observations::add_message(const CallbackInstance& instance, const Publication* publication,
                               CallbackObservation& callback) {
  if (publication == nullptr || publication->instance == InstanceId::none) {
    ++callback.activated_from_outside;
    return;
  }
  ++callback.activated_by[publication->callback];
  EdgeObservation& edge = edges_[{publication->callback, instance.callback, publication->topic}];
  ++edge.count;
  edge.shortest = std::min(edge.shortest, *instance.taken - publication->sent);
  if (instance.first_after_wait && *instance.wait_begin < publication->sent &&
      publication->sent <= *instance.wait_end) {
    edge.longest_visible = std::max(edge.longest_visible.value_or(Duration(0)),
                                    *instance.wait_end - publication->sent);
  }
}

void Observations::add(const execution::Interpreter& interpreter,
                       const CallbackInstance& instance) {
  const execution::Objects& objects = interpreter.objects();
  const execution::Callback& owner = objects[instance.callback];
  executors_.on_instance(instance);
  CallbackObservation& callback = at(callbacks_, instance.callback);
  ++callback.count;
  callback.execution_time.add(instance.execution_time());
  if (instance.overhead) {
    at(overheads_, instance.thread).add(*instance.overhead);
  }
  const Publication* const publication = interpreter.publication(instance.source);
  callback.activations.add(publication != nullptr ? publication->sent
                                                  : instance.taken.value_or(instance.start));
  if (owner.kind != CallbackKind::timer) {
    add_message(instance, publication, callback);
  }

  const auto node = objects.node_of(owner);
  if (owner.kind != CallbackKind::subscription || !node) {
    return;
  }
  auto& log = logs_[*node].entries;
  if (log.size() < max_log) {
    TopicSet topics;
    if (const Sent& sent = at(sent_, instance.thread); sent.instance == instance.id) {
      for (const auto& [topic, count] : sent.topics) {
        if (objects[topic] != log_topic) {
          topics.insert(topic);
        }
      }
    }
    const auto number = static_cast<std::uint32_t>(output_sets_.size());
    const auto outputs = output_sets_.try_emplace(std::move(topics), number).first->second;
    log.push_back({instance.callback, outputs, instance.execution_time()});
  }
}

void Observations::restart(Instant time) {
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (callbacks_[i].count != 0) {
      in_start_up_.insert(CallbackIndex(i));
    }
  }
  callbacks_.clear();
  edges_.clear();
  outputs_.clear();
  for (auto& [node, log] : logs_) {
    log.steady_from = log.entries.size();
  }
  overheads_.clear();
  executors_ = {};
  steady_since_ = time;
}

}  // namespace takt::synthesis
