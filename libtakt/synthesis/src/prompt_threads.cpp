#include "takt/synthesis/prompt_threads.hpp"

#include "takt/base/grow.hpp"

namespace takt::synthesis {

void PromptThreads::on_instance(const execution::Database& /*database*/,
                                const execution::CallbackInstance& instance) {
  if (covers(instance.thread, instance.start)) ++grow_to(runs_, instance.callback);
}

}  // namespace takt::synthesis
