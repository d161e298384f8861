#include "takt/policy/describe.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "draft.hpp"
#include "takt/base/try.hpp"
#include "takt/model/names.hpp"

namespace takt::policy {

namespace {

using model::ExecutorTrait;

constexpr auto describe_kind = std::to_array<DescribeKind*>({
#define TAKT_EXECUTOR_KIND(kind, traits, rules) describe_##kind,
#include "takt/base/executor_kinds.def"
#undef TAKT_EXECUTOR_KIND
});

/// The callback's group; none: reentrant. Callbacks of one node exclude each other (component-cps
/// 5) unless "callback_group" names another group. The prefixes keep names of groups apart from
/// names of nodes.
std::optional<std::string> group_of(const model::Callback& callback) {
  if (!callback.callback_group) return "node " + callback.node;
  if (*callback.callback_group == model::reentrant_group) return std::nullopt;
  return "group " + *callback.callback_group;
}

void add_threads(Draft& draft) {
  Description& description = draft.description;
  if (draft.executor.threads == 1) return;
  if (!has(description.kind, ExecutorTrait::several_threads)) {
    description.warnings.push_back(
        fmt::format("executor \"{}\": runs with one thread instead of {}, as {} executors have",
                    draft.executor.id, draft.executor.threads, to_string(description.kind)));
    return;
  }
  description.threads = draft.executor.threads;
  std::map<std::string, std::size_t> known;
  for (const CallbackIndex callback : description.callbacks) {
    const std::optional<std::string> name = group_of(draft.model[callback]);
    if (!name) {
      description.groups.reentrant.push_back(draft.local(callback));
      continue;
    }
    auto& exclusive = description.groups.exclusive;
    const auto [group, added] = known.try_emplace(*name, exclusive.size());
    if (added) exclusive.emplace_back();
    exclusive[group->second].push_back(draft.local(callback));
  }
}

}  // namespace

Describer::Describer(const model::Model& model, Options options)
    : facts_(std::make_unique<ModelFacts>(model)), options_(std::move(options)) {}

Describer::~Describer() = default;

const std::vector<CallbackIndex>& Describer::callbacks(ExecutorIndex executor) {
  return facts_->callbacks(executor);
}

Result<Description> Describer::describe(ExecutorIndex executor) {
  return describe(executor, facts_->model[executor].kind);
}

Result<Description> Describer::describe(ExecutorIndex executor, model::ExecutorKind kind) {
  Draft draft(*facts_, executor, kind, options_);
  TAKT_TRY(describe_kind.at(static_cast<std::size_t>(kind))(draft));
  add_threads(draft);
  return std::move(draft.description);
}

Result<Description> describe(const model::Model& model, ExecutorIndex executor,
                             model::ExecutorKind kind, const Options& options) {
  return Describer(model, options).describe(executor, kind);
}

}  // namespace takt::policy
