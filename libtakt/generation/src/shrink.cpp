#include "takt/generation/shrink.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "takt/model/validate.hpp"

namespace takt::generation {

namespace {

using model::CallbackIndex;
using model::ExecutorIndex;
using model::Model;

template <typename List>
void erase_at(List& list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

/// Calls change(reference) for every reference to a callback in the model.
template <typename Change>
void for_each_reference(Model& model, Change change) {
  for (model::Executor& executor : model.executors) {
    if (!executor.table) continue;
    for (auto& entry : executor.table->entries) change(entry.callback);
  }
  for (model::Edge& edge : model.edges) {
    change(edge.from);
    change(edge.to);
    if (edge.triggered_by) std::ranges::for_each(*edge.triggered_by, change);
  }
  for (model::Join& join : model.joins) {
    change(join.callback);
    std::ranges::for_each(join.inputs, change);
    std::ranges::for_each(join.completed_by, change);
  }
  for (model::Chain& chain : model.chains) std::ranges::for_each(chain.callbacks, change);
}

void leave_out_callback(Model& model, CallbackIndex callback) {
  const auto gone = [&](CallbackIndex other) { return other == callback; };
  erase_at(model.callbacks, callback.value());
  for (model::Executor& executor : model.executors) {
    if (!executor.table) continue;
    std::erase_if(executor.table->entries, [&](const auto& e) { return gone(e.callback); });
    if (executor.table->entries.empty()) executor.table.reset();
  }
  std::erase_if(model.edges, [&](const auto& edge) { return gone(edge.from) || gone(edge.to); });
  for (model::Edge& edge : model.edges) {
    if (edge.triggered_by) std::erase_if(*edge.triggered_by, gone);
  }
  for (model::Join& join : model.joins) {
    std::erase_if(join.inputs, gone);
    std::erase_if(join.completed_by, gone);
  }
  std::erase_if(model.joins,
                [&](const auto& join) { return gone(join.callback) || join.inputs.empty(); });
  for (model::Chain& chain : model.chains) std::erase_if(chain.callbacks, gone);
  std::erase_if(model.chains, [](const auto& chain) { return chain.callbacks.empty(); });
  for_each_reference(model, [&](CallbackIndex& other) {
    if (other > callback) other = CallbackIndex{other.value() - 1};
  });
}

/// Leaves out an edge and, unless another edge leads the same way, everything that refers to it.
void leave_out_edge(Model& model, std::size_t index) {
  const model::Edge edge = model.edges[index];
  erase_at(model.edges, index);
  const auto same_way = [&](const model::Edge& other) {
    return other.from == edge.from && other.to == edge.to;
  };
  if (std::ranges::any_of(model.edges, same_way)) return;
  for (model::Edge& other : model.edges) {
    if (other.from == edge.to && other.triggered_by) std::erase(*other.triggered_by, edge.from);
  }
  for (model::Join& join : model.joins) {
    if (join.callback == edge.to) std::erase(join.inputs, edge.from);
  }
  std::erase_if(model.joins, [](const auto& join) { return join.inputs.empty(); });
}

void leave_out_executor(Model& model, ExecutorIndex executor) {
  for (std::size_t i = model.callbacks.size(); i-- > 0;) {
    if (model.callbacks[i].executor == executor) leave_out_callback(model, CallbackIndex{i});
  }
  erase_at(model.executors, executor.value());
  for (model::Callback& callback : model.callbacks) {
    if (callback.executor > executor) {
      callback.executor = ExecutorIndex{callback.executor.value() - 1};
    }
  }
}

void leave_out_link(Model& model, model::LinkIndex link) {
  erase_at(model.links, link.value());
  for (model::Edge& edge : model.edges) {
    if (!edge.link) continue;
    if (*edge.link == link) {
      edge.link.reset();
    } else if (*edge.link > link) {
      edge.link = model::LinkIndex{edge.link->value() - 1};
    }
  }
}

/// All models that are simpler in one thing. Those that leave out most come first.
class Simplifications {
 public:
  explicit Simplifications(const Model& model) : model_(model) {
    leave_out_objects();
    simplify_executors();
    simplify_callbacks();
    simplify_links();
    simplify_edges();
    simplify_joins();
    simplify_chains();
    with([](Model& m) {
      m.name.clear();
      m.provenance = "{}";
      m.unknown.clear();
    });
  }

  [[nodiscard]] std::vector<Model> take() { return std::move(models_); }

 private:
  template <typename Change>
  void with(Change change) {
    Model changed = model_;
    change(changed);
    if (changed != model_) models_.push_back(std::move(changed));
  }

  /// Adds models in which the time at `time(model)`, if there is one, is at its least, halved, or
  /// less by ε.
  template <typename Time>
  void with_less(Time time, Duration least = Duration{0}) {
    Model copy = model_;
    const Duration* const present = time(copy);
    if (present == nullptr) return;
    const Duration original = *present;
    for (const Duration less : {least, original / 2, original - epsilon}) {
      if (less >= least && less < original) with([&](Model& m) { *time(m) = less; });
    }
  }

  template <typename List>
  void without_each(List Model::*list) {
    for (std::size_t i = 0; i < (model_.*list).size(); ++i) {
      with([&](Model& m) { erase_at(m.*list, i); });
    }
  }

  void leave_out_objects() {
    for (std::size_t e = 0; e < model_.executors.size(); ++e) {
      with([&](Model& m) { leave_out_executor(m, ExecutorIndex{e}); });
    }
    for (std::size_t i = 0; i < model_.callbacks.size(); ++i) {
      with([&](Model& m) { leave_out_callback(m, CallbackIndex{i}); });
    }
    without_each(&Model::chains);
    without_each(&Model::joins);
    for (std::size_t e = 0; e < model_.edges.size(); ++e) {
      with([&](Model& m) { leave_out_edge(m, e); });
    }
  }

  void simplify_executors() {
    for (std::size_t e = 0; e < model_.executors.size(); ++e) {
      with([&](Model& m) { m.executors[e].supply = model::DedicatedSupply{}; });
      with([&](Model& m) { m.executors[e].overhead.clear(); });
      with([&](Model& m) { m.executors[e].release_overhead = Duration{0}; });
      with([&](Model& m) { m.executors[e].timers = TimerHandling::polled; });
      with([&](Model& m) { m.executors[e].order = model::CallbackOrder::registered; });
      with([&](Model& m) { m.executors[e].threads = 1; });
      with([&](Model& m) { m.executors[e].cpu.reset(); });
      with([&](Model& m) {
        m.executors[e].name.clear();
        m.executors[e].process.reset();
        m.executors[e].unknown.clear();
      });
      const auto reservation = [e](Model& m) {
        return std::get_if<model::ReservationSupply>(&m.executors[e].supply);
      };
      with_less([&](Model& m) { return reservation(m) ? &reservation(m)->budget : nullptr; });
      with_less([&](Model& m) { return reservation(m) ? &reservation(m)->deadline : nullptr; });
      simplify_slots(e);
    }
    // All executors of a processor say the same time here, so it changes in all of them.
    with([&](Model& m) {
      for (model::Executor& executor : m.executors) {
        auto* fixed = std::get_if<model::FixedPrioritySupply>(&executor.supply);
        if (fixed != nullptr) fixed->withheld = Duration{0};
      }
    });
  }

  void simplify_slots(std::size_t e) {
    const auto slots = [e](Model& m) {
      return std::get_if<model::SlotSupply>(&m.executors[e].supply);
    };
    Model copy = model_;
    const std::size_t count = slots(copy) ? slots(copy)->slots.size() : 0;
    for (std::size_t n = 0; n < count; ++n) {
      with([&](Model& m) { erase_at(slots(m)->slots, n); });
    }
    const auto& table = model_.executors[e].table;
    with_less(
        [&](Model& m) { return m.executors[e].table ? &m.executors[e].table->cycle : nullptr; });
    for (std::size_t n = 0; table && n < table->entries.size(); ++n) {
      with([&](Model& m) { erase_at(m.executors[e].table->entries, n); });
    }
  }

  void simplify_callbacks() {
    for (std::size_t i = 0; i < model_.callbacks.size(); ++i) {
      const auto callback = [i](Model& m) -> model::Callback& { return m.callbacks[i]; };
      with([&](Model& m) { callback(m).priority.reset(); });
      with([&](Model& m) { callback(m).deadline.reset(); });
      with([&](Model& m) { callback(m).queue_depth.reset(); });
      with([&](Model& m) { callback(m).callback_group.reset(); });
      with([&](Model& m) { callback(m).activation.reset(); });
      with([&](Model& m) { callback(m).registration = 0; });
      with([&](Model& m) {
        callback(m).name.clear();
        callback(m).topic.reset();
        callback(m).node = "/n";
        callback(m).unknown.clear();
      });
      with([&](Model& m) { callback(m).execution_time.resize(1); });
      with_less([&](Model& m) { return &callback(m).execution_time.front(); }, epsilon);
      simplify_suspension(i);
      with([&](Model& m) { make_source(m, CallbackIndex{i}); });
      simplify_activation(i);
    }
  }

  void simplify_suspension(std::size_t i) {
    const auto suspension = [i](Model & m) -> auto& { return m.callbacks[i].suspension; };
    with([&](Model& m) { suspension(m).reset(); });
    if (!model_.callbacks[i].suspension) return;
    with([&](Model& m) { suspension(m)->set_times({1}); });
    with([&](Model& m) { suspension(m)->times_in_a_row.clear(); });
    with([&](Model& m) { suspension(m)->curve.resize(1); });
    with_less([&](Model& m) { return &suspension(m)->curve.front(); }, epsilon);
  }

  /// Replaces the callback's incoming edges and its join by an activation of its own.
  static void make_source(Model& model, CallbackIndex callback) {
    std::erase_if(model.edges, [&](const auto& edge) { return edge.to == callback; });
    std::erase_if(model.joins, [&](const auto& join) { return join.callback == callback; });
    auto& activation = model.callbacks[callback.value()].activation;
    if (!activation) activation = model::PeriodicActivation{Duration{100}, Duration{0}};
  }

  void simplify_activation(std::size_t i) {
    const auto periodic = [i](Model& m) {
      auto& activation = m.callbacks[i].activation;
      return activation ? std::get_if<model::PeriodicActivation>(&*activation) : nullptr;
    };
    with_less([&](Model& m) { return periodic(m) ? &periodic(m)->jitter : nullptr; });
    with([&](Model& m) {
      auto& activation = m.callbacks[i].activation;
      if (!activation) return;
      if (const auto* sporadic = std::get_if<model::SporadicActivation>(&*activation)) {
        activation = model::PeriodicActivation{sporadic->min_separation, sporadic->jitter};
      } else if (const auto* spans = std::get_if<model::MinDistanceActivation>(&*activation)) {
        activation = model::PeriodicActivation{spans->values.back(), Duration{0}};
      }
    });
  }

  void simplify_links() {
    for (std::size_t i = 0; i < model_.links.size(); ++i) {
      with([&](Model& m) { leave_out_link(m, model::LinkIndex{i}); });
      with_less([&](Model& m) { return &m.links[i].overhead; });
    }
  }

  void simplify_edges() {
    for (std::size_t e = 0; e < model_.edges.size(); ++e) {
      with([&](Model& m) { m.edges[e].triggered_by.reset(); });
      with([&](Model& m) {
        m.edges[e].topic.reset();
        m.edges[e].message_size = 0;
        m.edges[e].confidence.reset();
      });
      with([&](Model& m) {
        m.edges[e].messages.reset();
        m.edges[e].instances.reset();
        m.edges[e].unknown.clear();
      });
      with([&](Model& m) { m.edges[e].link.reset(); });
      with([&](Model& m) { m.edges[e].priority = 0; });
      with([&](Model& m) { m.edges[e].message_size /= 2; });
      with_less([&](Model& m) { return &m.edges[e].delay; });
    }
  }

  void simplify_joins() {
    for (std::size_t j = 0; j < model_.joins.size(); ++j) {
      with([&](Model& m) { m.joins[j].confidence.reset(); });
      with([&](Model& m) { m.joins[j].completed_by.clear(); });
      with_less([&](Model& m) { return &m.joins[j].keeping_time; });
    }
  }

  void simplify_chains() {
    for (std::size_t c = 0; c < model_.chains.size(); ++c) {
      with([&](Model& m) { m.chains[c].callbacks.pop_back(); });
      with([&](Model& m) { erase_at(m.chains[c].callbacks, 0); });
      with([&](Model& m) {
        m.chains[c].goal.reset();
        m.chains[c].rank.reset();
        m.chains[c].kind = model::GoalKind::latency;
        m.chains[c].unknown.clear();
      });
    }
  }

  const Model& model_;
  std::vector<Model> models_;
};

}  // namespace

Model shrink(Model model, const std::function<bool(const Model&)>& fails) {
  for (bool simpler = true; std::exchange(simpler, false);) {
    for (Model& candidate : Simplifications(model).take()) {
      if (!model::validate(candidate, "shrunk") || !fails(candidate)) continue;
      model = std::move(candidate);
      simpler = true;
      break;
    }
  }
  return model;
}

}  // namespace takt::generation
