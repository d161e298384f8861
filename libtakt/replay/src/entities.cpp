#include "entities.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "takt/model/order.hpp"

namespace takt::replay {

using model::CallbackIndex;

std::vector<CallbackIndex> separate_entities(model::Model& model, ExecutorRecord& record) {
  std::vector<CallbackIndex> stands_for;
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) stands_for.emplace_back(i);
  // Objects of a recording are numbered as they were made, which is the order of registration.
  using Entity = std::pair<CallbackIndex, execution::ObservedCallbackIndex>;
  std::map<Entity, CallbackIndex> separate;
  for (const auto& release : record.releases) separate[{release.callback, release.entity}];
  for (const auto& instance : record.instances) separate[{instance.callback, instance.entity}];

  model::number_registrations(model);
  std::set<std::string> ids;
  for (const model::Callback& callback : model.callbacks) ids.insert(callback.id);
  std::optional<CallbackIndex> before;
  for (auto& [entity, callback] : separate) {
    callback = entity.first;
    if (std::exchange(before, callback) != callback) continue;
    callback = CallbackIndex{model.callbacks.size()};
    model::Callback copy = model[entity.first];
    for (std::size_t n = 2; !ids.insert(copy.id).second; ++n) {
      copy.id = fmt::format("{} ({})", model[entity.first].id, n);
    }
    model.callbacks.push_back(std::move(copy));
    stands_for.push_back(entity.first);
  }
  for (auto& release : record.releases) {
    release.callback = separate.at({release.callback, release.entity});
  }
  for (auto& instance : record.instances) {
    instance.callback = separate.at({instance.callback, instance.entity});
  }
  return stands_for;
}

}  // namespace takt::replay
