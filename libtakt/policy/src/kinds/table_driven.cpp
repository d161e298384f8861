#include <optional>
#include <string_view>
#include <vector>

#include "draft.hpp"

namespace takt::policy {

namespace {

struct Table {
  struct Slot {
    Duration start{};
    Duration end{};
    std::string_view callback;
    /// None: the executor has no such callback.
    std::optional<scheduling::LocalIndex> local;
  };
  Duration cycle{};
  std::vector<Slot> slots;
};

/// The table of the options, else the model's; none if neither has one.
std::optional<Table> table_of(const Draft& draft) {
  Table table;
  const auto given = draft.options.tables.find(draft.executor.id);
  if (given != draft.options.tables.end()) {
    table.cycle = given->second.cycle;
    for (const auto& [start, end, id] : given->second.slots) {
      Table::Slot& slot = table.slots.emplace_back(Table::Slot{start, end, id, {}});
      for (const CallbackIndex callback : draft.description.callbacks) {
        if (draft.model[callback].id == id) slot.local = draft.local(callback);
      }
    }
    return table;
  }
  if (!draft.executor.table) return std::nullopt;
  table.cycle = draft.executor.table->cycle;
  table.slots.reserve(draft.executor.table->entries.size());
  for (const auto& [times, callback] : draft.executor.table->entries) {
    Table::Slot& slot =
        table.slots.emplace_back(Table::Slot{times.start, times.end, draft.model[callback].id, {}});
    if (draft.is_here(callback)) slot.local = draft.local(callback);
  }
  return table;
}

}  // namespace

Result<void> describe_table_driven(Draft& draft) {
  const std::optional<Table> table = table_of(draft);
  if (!table) {
    return error(
        "executor \"{}\" is table-driven: give its slots in the model as \"table\", or in the "
        "option \"tables\", or choose another kind",
        draft.executor.id);
  }
  const std::string& id = draft.executor.id;
  if (table->cycle <= Duration{0}) return error("tables[\"{}\"].cycle: must be above 0", id);
  if (table->slots.empty()) return error("tables[\"{}\"].slots: needs at least one slot", id);
  scheduling::PolicyDescription& policy = draft.description.policy;
  policy.rule = scheduling::Rule::table;
  policy.cycle = table->cycle;
  policy.slots.reserve(table->slots.size());
  Duration before{};
  for (std::size_t i = 0; i < table->slots.size(); ++i) {
    const auto& [start, end, callback, local] = table->slots[i];
    if (start < before || end <= start || end > table->cycle) {
      return error(
          "tables[\"{}\"].slots[{}]: [{}, {}) ns; slots come in order, do not overlap, and end "
          "within the cycle of {} ns",
          id, i, start.count(), end.count(), table->cycle.count());
    }
    before = end;
    if (!local) {
      return error("tables[\"{}\"].slots[{}].callback: \"{}\" is no callback of this executor", id,
                   i, callback);
    }
    policy.slots.push_back({start, end, *local});
  }
  return {};
}

}  // namespace takt::policy
