#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model_facts.hpp"
#include "takt/base/error.hpp"
#include "takt/policy/describe.hpp"

namespace takt::policy {

using scheduling::LocalIndex;

/// The description of one executor while it is made.
struct Draft {
  Draft(ModelFacts& model_facts, ExecutorIndex executor_index, model::ExecutorKind kind,
        const Options& given);

  [[nodiscard]] bool is_here(CallbackIndex callback) const {
    return model[callback].executor == index;
  }
  [[nodiscard]] LocalIndex local(CallbackIndex callback) const {
    return LocalIndex(facts.position(callback));
  }

  /// Whether a callback of the executor has a priority of its own or an inherited one.
  [[nodiscard]] bool any_priority() const;

  /// Orders by the model's priorities, callbacks without one last; by rate if no callback has one.
  void order_by_priority();
  void order_by_rate();
  void order_by(const std::vector<std::int64_t>& priorities);
  void order_by_inherited_deadline();
  void order_by_deadline(const std::vector<Duration>& deadlines);

  ModelFacts& facts;
  const model::Model& model;
  ExecutorIndex index;
  const model::Executor& executor;
  const Options& options;
  Description description;

 private:
  void add_urgencies();
};

/// Completes the description of an executor of the kind: rule, order, chains, table. Each kind has
/// one such function, describe_<kind>, in kinds/.
using DescribeKind = Result<void>(Draft&);

#define TAKT_EXECUTOR_KIND(kind, traits, rules) DescribeKind describe_##kind;
#include "takt/base/executor_kinds.def"
#undef TAKT_EXECUTOR_KIND

}  // namespace takt::policy
