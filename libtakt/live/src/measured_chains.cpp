#include "takt/live/measured_chains.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "takt/base/grow.hpp"
#include "takt/execution/names.hpp"

namespace takt::live {

namespace {

/// The models have the same callbacks on the same executors, edges, joins and chains.
bool same_structure(const model::Model& a, const model::Model& b) {
  const auto callbacks = [](const model::Callback& x, const model::Callback& y) {
    return x.id == y.id && x.executor == y.executor;
  };
  const auto edges = [](const model::Edge& x, const model::Edge& y) {
    return x.from == y.from && x.to == y.to && x.topic == y.topic;
  };
  const auto chains = [](const model::Chain& x, const model::Chain& y) {
    return x.id == y.id && x.callbacks == y.callbacks && x.goal == y.goal && x.kind == y.kind;
  };
  return std::ranges::equal(a.callbacks, b.callbacks, callbacks) &&
         std::ranges::equal(a.edges, b.edges, edges) && a.joins == b.joins &&
         std::ranges::equal(a.chains, b.chains, chains);
}

/// The chains lead through the same callbacks, and the same time of them is measured. They may be
/// called otherwise: a goal's only way gets another name when a second one appears.
bool same_chain(const model::Model& a, const model::Chain& x, const model::Model& b,
                const model::Chain& y) {
  const auto same = [&](model::CallbackIndex i, model::CallbackIndex j) {
    return a[i].id == b[j].id;
  };
  return x.end_topic == y.end_topic && x.kind == y.kind &&
         std::ranges::equal(x.callbacks, y.callbacks, same);
}

/// The index of the chain of `before` that the chain of `now` was: of several that lead through the
/// same callbacks, the one of its name.
std::optional<std::size_t> former_of(const model::Model& before, const model::Model& now,
                                     const model::Chain& chain) {
  std::optional<std::size_t> found;
  for (std::size_t c = 0; c < before.chains.size(); ++c) {
    if (!same_chain(before, before.chains[c], now, chain)) continue;
    if (!found || before.chains[c].id == chain.id) found = c;
  }
  return found;
}

}  // namespace

void MeasuredChains::on_instance(const execution::Database& database,
                                 const execution::CallbackInstance& instance) {
  auto& sent = grow_to(sent_, instance.thread);
  const bool is_its = sent && sent->instance == instance.id;
  recent_.push_back({instance, is_its ? std::exchange(sent, {}) : std::nullopt});
  if (recent_.size() > most_recent) recent_.pop_front();
  if (measurer_) measurer_->on_instance(database, instance);
}

void MeasuredChains::on_publication(const execution::Database& database,
                                    const execution::Publication& publication) {
  if (execution::housekeeping_of(database.objects()[publication.topic]) ==
      execution::Housekeeping::none) {
    grow_to(sent_, publication.thread) = publication;
  }
  if (measurer_) measurer_->on_publication(database, publication);
}

void MeasuredChains::on_read(const execution::Database& database, const execution::Read& read) {
  if (measurer_) measurer_->on_read(database, read);
}

void MeasuredChains::on_late_source(const execution::Database& database,
                                    execution::InstanceId instance,
                                    execution::PublicationId source) {
  const auto late = std::ranges::find(recent_ | std::views::reverse, instance,
                                      [](const Recent& recent) { return recent.instance.id; });
  if (late != recent_.rend()) late->instance.source = source;
  if (measurer_) measurer_->on_late_source(database, instance, source);
}

std::vector<execution::CallbackInstance> MeasuredChains::instances(execution::ThreadIndex thread,
                                                                   Instant after) const {
  std::vector<execution::CallbackInstance> found;
  for (const Recent& recent : recent_ | std::views::reverse) {
    if (recent.instance.end <= after) break;
    if (recent.instance.thread == thread) found.push_back(recent.instance);
  }
  std::ranges::reverse(found);
  return found;
}

bool MeasuredChains::was_reported(std::size_t chain, execution::InstanceId end,
                                  Instant completion) const {
  return was_measured_[chain] && completion <= replaced_ && !unreported_.contains(end);
}

void MeasuredChains::replace(const model::Model& model, const execution::Database& database,
                             bool others) {
  if (measurer_ && !others && same_structure(*model_, model)) return;
  if (others) {
    // Programs that have ended have no place in the new model, and others have their names.
    if (measurer_) measurer_->finish();
    recent_.clear();
  }
  unreported_ = measurer_ ? measurer_->pending() : std::set<execution::InstanceId>{};
  replaced_ = recent_.empty() ? Instant{} : recent_.back().instance.end;
  was_measured_.assign(model.chains.size(), false);
  auto replacement = std::make_unique<const model::Model>(model);
  std::vector<ChainWindow> windows(model.chains.size());
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    const auto& chain = model.chains[c];
    const auto former = model_ ? former_of(*model_, model, chain) : std::nullopt;
    was_measured_[c] = former.has_value();
    if (former && model_->chains[*former].goal == chain.goal) windows[c] = windows_[*former];
    if (model.chains[c].goal) windows[c].set_goal(*model.chains[c].goal);
  }
  windows_ = std::move(windows);
  const auto completed = [this](const flow::ChainInstance& seen) {
    if (was_reported(seen.chain, seen.path.back(), seen.completion)) return;
    const model::CallbackIndex first = model_->chains[seen.chain].callbacks.front();
    const Instant since = seen.since + measurer_->correction(first);
    windows_[seen.chain].add(seen.completion, seen.completion - since);
    if (completed_) completed_(model_->chains[seen.chain].id, since, seen.completion);
  };
  const auto unfollowed = [this](const flow::UnfollowedEnd& end) {
    if (was_reported(end.chain, end.instance, end.completion)) return;
    windows_[end.chain].add_unfollowed(end.completion, end.reason);
  };
  measurer_ = std::make_unique<flow::Measurer>(*replacement, completed,
                                               flow::Measurer::Keep::counts, unfollowed);
  model_ = std::move(replacement);
  if (const auto steady = database.steady_since()) measurer_->on_steady_state(database, *steady);
  for (const Recent& recent : recent_) {
    if (recent.sent) measurer_->on_publication(database, *recent.sent);
    measurer_->on_instance(database, recent.instance);
  }
  measurer_->follow_until(followed_until_);
}

}  // namespace takt::live
