#pragma once

#include "takt/execution/names.hpp"
#include "takt/flow/store.hpp"

namespace takt::flow {

/// Whether a process receives its own /tf message, which says nothing new there. Without this rule
/// every user of transforms would seem to be in a loop (message-flow 3.6).
[[nodiscard]] inline bool is_own_transform(const execution::Objects& objects,
                                           const Message& message, const Run& receiver) {
  return execution::is_transform(objects[message.topic]) && message.publisher &&
         objects[*message.publisher].process == objects[receiver.callback].process;
}

}  // namespace takt::flow
