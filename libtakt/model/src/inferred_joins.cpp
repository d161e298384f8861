#include "takt/model/inferred_joins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "takt/model/order.hpp"

namespace takt::model {

namespace {

class Separation {
 public:
  explicit Separation(const Model& model) : original_(model), result_{model, {}, {}} {
    result_.callback_of.reserve(model.callbacks.size());
    for (std::size_t i = 0; i < model.callbacks.size(); ++i) result_.callback_of.emplace_back(i);
    for (const Callback& callback : model.callbacks) ids_.insert(callback.id);
    // Between two callbacks there is room for those that stand for the inputs of one.
    std::size_t most_inputs = 1;
    for (const Join& join : model.joins) most_inputs = std::max(most_inputs, join.inputs.size());
    number_registrations(result_.model);
    for (Callback& callback : result_.model.callbacks) {
      callback.registration *= static_cast<std::int64_t>(most_inputs);
    }
  }

  SeparatedModel run() {
    choose_joins();
    for (const Join* join : separated_) add_callbacks(*join);
    std::erase_if(result_.model.joins,
                  [this](const Join& join) { return variant_of_.contains(join.callback); });
    separate_edges();
    separate_chains();
    return std::move(result_);
  }

 private:
  /// The callbacks that stand for one that joined, by the input whose messages activate them.
  using Variants = std::map<CallbackIndex, CallbackIndex>;

  void choose_joins() {
    std::set<CallbackIndex> chosen;
    bool goes_on = true;
    while (goes_on) {
      goes_on = false;
      for (const Join& join : original_.joins) {
        const bool follows = std::ranges::any_of(
            join.inputs, [&](CallbackIndex input) { return chosen.contains(input); });
        if (!(join.confidence || follows) || !chosen.insert(join.callback).second) continue;
        separated_.push_back(&join);
        goes_on = true;
      }
    }
  }

  void add_callbacks(const Join& join) {
    const auto completes = [&](CallbackIndex input) {
      return !join.confidence || join.completed_by.empty() ||
             std::ranges::count(join.completed_by, input) > 0;
    };
    const auto first = std::ranges::find_if(join.inputs, completes);
    Variants& variants = variant_of_[join.callback];
    std::int64_t place = result_.model[join.callback].registration;
    for (const CallbackIndex input : join.inputs) {
      const std::int64_t registration = place++;
      if (first == join.inputs.end() ? variants.empty() : input == *first) {
        variants[input] = join.callback;
        result_.model.callbacks[join.callback.value()].registration = registration;
        continue;
      }
      Callback copy = result_.model[join.callback];
      copy.activation.reset();  // its own activations stay with the original
      copy.registration = registration;
      for (std::size_t n = 2; !ids_.insert(copy.id).second; ++n) {
        copy.id = fmt::format("{} (input {})", original_[join.callback].id, n);
      }
      const CallbackIndex variant{result_.model.callbacks.size()};
      if (first != join.inputs.end() && !completes(input)) {
        copy.execution_time = {join.keeping_time};
        silent_.insert(variant);
      }
      variants[input] = variant;
      result_.model.callbacks.push_back(std::move(copy));
      result_.callback_of.push_back(join.callback);
    }
  }

  /// All callbacks that stand for `callback`.
  [[nodiscard]] std::vector<CallbackIndex> variants(CallbackIndex callback) const {
    const auto found = variant_of_.find(callback);
    if (found == variant_of_.end()) return {callback};
    std::vector<CallbackIndex> all;
    for (const auto& [input, variant] : found->second) all.push_back(variant);
    return all;
  }

  /// The callback that stands for `to` where messages of `from` activate it.
  [[nodiscard]] CallbackIndex receiver(CallbackIndex from, CallbackIndex to) const {
    const auto found = variant_of_.find(to);
    if (found == variant_of_.end()) return to;
    const auto variant = found->second.find(from);
    return variant == found->second.end() ? to : variant->second;
  }

  void separate_edges() {
    std::vector<Edge> edges;
    for (const Edge& edge : original_.edges) {
      for (const CallbackIndex from : variants(edge.from)) {
        if (silent_.contains(from)) continue;
        Edge separate = edge;
        separate.from = from;
        separate.to = receiver(edge.from, edge.to);
        if (edge.triggered_by) {
          separate.triggered_by->clear();
          for (const CallbackIndex trigger : *edge.triggered_by) {
            if (receiver(trigger, edge.from) != from) continue;
            std::ranges::copy_if(variants(trigger), std::back_inserter(*separate.triggered_by),
                                 [this](CallbackIndex each) { return !silent_.contains(each); });
          }
        }
        edges.push_back(std::move(separate));
      }
    }
    result_.model.edges = std::move(edges);
  }

  void separate_chains() {
    result_.model.chains.clear();
    std::set<std::string> ids;
    for (const Chain& chain : original_.chains) ids.insert(chain.id);
    for (std::size_t i = 0; i < original_.chains.size(); ++i) {
      const Chain& chain = original_.chains[i];
      for (const CallbackIndex first : variants(chain.callbacks.front())) {
        Chain copy = chain;
        copy.callbacks = separate(chain.callbacks, first);
        const bool is_broken = std::ranges::any_of(
            copy.callbacks.begin(), copy.callbacks.end() - 1,
            [this](CallbackIndex callback) { return silent_.contains(callback); });
        if (is_broken) continue;
        for (std::size_t n = 2; first != chain.callbacks.front() && !ids.insert(copy.id).second;
             ++n) {
          copy.id = fmt::format("{} (input {})", chain.id, n);
        }
        result_.model.chains.push_back(std::move(copy));
        result_.chain_of.push_back(i);
      }
    }
  }

  [[nodiscard]] std::vector<CallbackIndex> separate(const std::vector<CallbackIndex>& path,
                                                    CallbackIndex first) const {
    std::vector<CallbackIndex> separated{first};
    for (std::size_t n = 1; n < path.size(); ++n) {
      separated.push_back(receiver(path[n - 1], path[n]));
    }
    return separated;
  }

  const Model& original_;
  SeparatedModel result_;
  std::vector<const Join*> separated_;
  std::map<CallbackIndex, Variants> variant_of_;
  /// Variants that send nothing.
  std::set<CallbackIndex> silent_;
  std::set<std::string> ids_;
};

}  // namespace

bool has_inferred_joins(const Model& model) {
  return std::ranges::any_of(model.joins,
                             [](const Join& join) { return join.confidence.has_value(); });
}

SeparatedModel separate_inferred_joins(const Model& model) { return Separation(model).run(); }

}  // namespace takt::model
