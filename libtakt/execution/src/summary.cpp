#include "takt/execution/summary.hpp"

#include "takt/base/grow.hpp"

namespace takt::execution {

void Summarizer::on_instance(const Database& database, const CallbackInstance& instance) {
  summary_.executors.on_instance(database, instance);
  auto& activity = grow_to(summary_.callbacks, instance.callback);
  activity.execution_time.record(instance.execution_time());
  activity.totals.add(instance);
}

void Summarizer::on_publication(const Database& /*database*/, const Publication& publication) {
  if (publication.publisher && !publication.repeats_intra_process) {
    ++grow_to(summary_.publications, *publication.publisher);
  }
}

void Summarizer::on_take(const Database& database, const Take& take) {
  const Subscription& subscription = database.objects()[take.subscription];
  const Publication* const sent = database.publication(take.source);
  const bool is_thrown_away = subscription.has_buffer && sent != nullptr &&
                              sent->repeats_intra_process &&
                              database.threads()[sent->thread].process == subscription.process;
  if (!is_thrown_away) ++grow_to(summary_.takes, take.subscription);
}

}  // namespace takt::execution
