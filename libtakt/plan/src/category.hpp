#pragma once

#include "takt/model/model.hpp"
#include "takt/scheduling/policy.hpp"

namespace takt::plan {

/// What executors sort a callback of the kind into.
[[nodiscard]] inline scheduling::Category category(model::CallbackKind kind) {
  switch (kind) {
    case model::CallbackKind::timer:
    case model::CallbackKind::event_source:
      return scheduling::Category::timer;
    case model::CallbackKind::subscription:
      return scheduling::Category::subscription;
    case model::CallbackKind::service:
      return scheduling::Category::service;
    case model::CallbackKind::client:
      return scheduling::Category::client;
    case model::CallbackKind::waitable:
      break;
  }
  return scheduling::Category::waitable;
}

}  // namespace takt::plan
