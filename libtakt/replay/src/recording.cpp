#include "takt/replay/recording.hpp"

namespace takt::replay {

void Recording::on_release(const execution::Database& database, const execution::Release& release) {
  const auto match = matcher_.match(database.objects(), release.callback);
  if (!match) return;
  executors_[model_[match->callback].executor.value()].releases.push_back(
      {.callback = match->callback,
       .entity = release.callback,
       .time = release.time,
       .activation = release.activation,
       .origin = release.origin,
       .completed = release.completed});
}

void Recording::on_instance(const execution::Database& database,
                            const execution::CallbackInstance& instance) {
  const auto match = matcher_.match(database.objects(), instance.callback);
  if (!match) {
    ++unknown_instances_;
    return;
  }
  using enum ExecutorRecord::Instance::Message;
  const bool is_subscription =
      database.objects()[instance.callback].kind == execution::CallbackKind::subscription;
  executors_[model_[match->callback].executor.value()].instances.push_back(
      {.callback = match->callback,
       .entity = instance.callback,
       .start = instance.start,
       .end = instance.end,
       .message = !is_subscription || !instance.taken ? none
                  : instance.was_chosen               ? taken_and_chosen
                                                      : taken});
}

}  // namespace takt::replay
