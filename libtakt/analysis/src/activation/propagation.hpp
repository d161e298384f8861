#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "system/system.hpp"
#include "takt/curves/derived_curve.hpp"

namespace takt::analysis {

/// The activation curves that follow from the current bounds.
///
/// Two families (ros-llama S-3.2, S-3.4): η holds in any window; η^b holds only in windows of the
/// executor that begin at a quiet time, and leaves out the jitter of senders on the same executor.
class Curves {
 public:
  explicit Curves(const System& system);
  Curves(const Curves&) = delete;
  Curves& operator=(const Curves&) = delete;

  /// η_i (Def. 2) and η^b_i (Def. 7).
  [[nodiscard]] const curves::DerivedCurve& activations(CallbackIndex callback) const {
    return ordinary_.activations[callback.value()];
  }
  [[nodiscard]] const curves::DerivedCurve& busy_activations(CallbackIndex callback) const {
    return busy_.activations[callback.value()];
  }
  /// η_{i,j} (Def. 1) of System::edges[edge].
  [[nodiscard]] const curves::DerivedCurve& edge(std::size_t edge) const {
    return ordinary_.edges[edge];
  }

  /// The callback's activations of its own. They come from outside the model, so both families
  /// count them alike. Empty if there are none.
  [[nodiscard]] const curves::DerivedCurve& own(CallbackIndex callback) const {
    return own_[callback.value()].curve;
  }

  /// How a callback of the executor runs in a window in which not all of its callbacks run.
  enum class Runs {
    always,  ///< and none of its instances waits or runs as the window begins
    once,    ///< in an instance that may have begun before the window
    never,
    unknown,  ///< any number of its instances may wait or run as the window begins
  };
  /// Derives activations anew for such windows. Valid until the next call.
  void derive_within(ExecutorIndex executor, const std::function<Runs(CallbackIndex)>& runs) const;
  [[nodiscard]] const curves::DerivedCurve& activations_within(CallbackIndex callback) const {
    return within_->activations[callback.value()];
  }

  /// The callback's activations of its own have changed, and so have all curves derived from them.
  void renew(CallbackIndex callback);

  /// Forgets what was derived for a component's callbacks and edges. Only components of several
  /// executors need that: a single executor derives all of it anew before it uses any.
  void restart(const Component& component);

  /// From now on the curves of the component's callbacks, and those of the edges that leave them,
  /// have at most `most` terms: longer curves are replaced by simpler ones above them.
  void limit_terms(const Component& component, std::size_t most);

  /// The work of deriving curves since the last call, in units of Effort: it counts each step of
  /// propagate(), terms and joins.
  [[nodiscard]] std::size_t take_work() const { return std::exchange(work_, 0); }

  /// Recomputes the curves of an executor's callbacks and of the edges that leave it, from the
  /// edges that enter it and from the bounds of its callbacks. Returns whether a curve of an edge
  /// that leaves it has changed.
  bool propagate(ExecutorIndex executor, const std::vector<Duration>& response);
  /// Takes one step of propagate() for η alone.
  bool follow(const PropagationStep& step, const std::vector<Duration>& response);

 private:
  /// Never null.
  using Join = std::shared_ptr<const curves::JoinCurve>;
  struct Family {
    std::vector<curves::DerivedCurve> edges;
    std::vector<curves::DerivedCurve> activations;
    std::vector<Join> joins;
    std::vector<Join> partial_joins;
  };
  Family make_family() const;

  /// Takes one step of propagate() for η^b, after the same step for η.
  void follow_busy(const PropagationStep& step);
  void sum_activations(CallbackIndex callback, Family& family, bool busy) const;
  void build_join(std::size_t index, Family& family, bool busy) const;
  /// Adds the activations by the join to a curve of that callback or of an edge that leaves it.
  void add_join(curves::DerivedCurve& curve, const Join& by, Duration shift,
                CallbackIndex callback) const;
  /// Ends the derivation of a curve of that callback or of an edge that leaves it.
  void finish(curves::DerivedCurve& curve, CallbackIndex callback) const;
  [[nodiscard]] std::size_t most_terms(CallbackIndex callback) const {
    return most_terms_[system_[callback].executor.value()];
  }
  /// Sets `curve` to the activations of the edge's sender that make it publish there, shifted.
  void pass_on(const TriggerEdge& edge, Family& family, bool busy, Duration shift,
               curves::DerivedCurve& curve) const;
  /// The curve of an edge within the family: an edge from elsewhere has only its ordinary one.
  [[nodiscard]] const curves::DerivedCurve& edge_curve(std::size_t edge, const Family& family,
                                                       bool busy) const {
    return busy && system_.edges[edge].local ? family.edges[edge] : ordinary_.edges[edge];
  }

  /// Activations given by the model.
  struct Own {
    curves::ActivationSource source;
    curves::DerivedCurve curve{};
  };

  const System& system_;
  /// By executor.
  std::vector<std::size_t> most_terms_;
  mutable std::size_t work_ = 0;
  std::vector<Own> own_;
  Family ordinary_;
  Family busy_;
  /// The curves of the last derive_within().
  mutable std::optional<Family> within_;
  curves::ActivationCurve once_ =
      curves::ActivationCurve::periodic(curves::longest_time, Duration{0});
  curves::ActivationSource once_source_{.curve = &once_};
  curves::DerivedCurve scratch_;
};

}  // namespace takt::analysis
