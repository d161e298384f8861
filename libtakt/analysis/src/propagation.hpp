#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "derived_curve.hpp"
#include "system.hpp"

namespace takt::analysis {

/// The activation curves that follow from the current bounds.
///
/// Two families (ros-llama S-3.2, S-3.4): η holds in any window; η^b only in windows of the
/// executor that begin at a quiet time, and spares the jitter of senders on the same executor.
class Curves {
 public:
  explicit Curves(const System& system);
  Curves(const Curves&) = delete;
  Curves& operator=(const Curves&) = delete;

  /// η_i (Def. 2) and η^b_i (Def. 7).
  [[nodiscard]] const DerivedCurve& activations(CallbackIndex callback) const {
    return ordinary_.activations[callback.value()];
  }
  [[nodiscard]] const DerivedCurve& busy_activations(CallbackIndex callback) const {
    return busy_.activations[callback.value()];
  }
  /// η_{i,j} (Def. 1) of System::edges[edge].
  [[nodiscard]] const DerivedCurve& edge(std::size_t edge) const { return ordinary_.edges[edge]; }

  /// The callback's given curve has changed, and so have all curves derived from it.
  void renew(CallbackIndex callback);

  /// Forgets what the component's executors send to each other.
  void restart(const Component& component);

  /// Recomputes the curves of an executor's callbacks and of the edges that leave it from those of
  /// the edges that enter it and from the bounds of its callbacks. True if a curve of an edge that
  /// leaves it has changed.
  bool propagate(ExecutorIndex executor, const std::vector<Duration>& response);
  /// A step of this for η alone.
  bool follow(const PropagationStep& step, const std::vector<Duration>& response);

 private:
  struct Family {
    std::vector<DerivedCurve> edges;
    std::vector<DerivedCurve> activations;
    std::vector<JoinCurve> joins;
    std::vector<Source> join_sources;
    std::vector<JoinCurve> partial_joins;
    std::vector<Source> partial_sources;
  };
  Family make_family() const;

  /// A step of propagate() for η^b, which is after the same one for η.
  void follow_busy(const PropagationStep& step);
  void sum_activations(CallbackIndex callback, Family& family, bool busy);
  void build_join(std::size_t index, Family& family, bool busy);
  void add_join(DerivedCurve& curve, const JoinCurve& join, const Source& source, Duration shift);
  /// What the sender of the edge is activated by and passes on along it, shifted.
  void pass_on(const TriggerEdge& edge, Family& family, bool busy, Duration shift,
               DerivedCurve& curve);
  /// The curve of an edge within the family: an edge from elsewhere has only its ordinary one.
  [[nodiscard]] const DerivedCurve& edge_curve(std::size_t edge, const Family& family,
                                               bool busy) const {
    return busy && system_.edges[edge].local ? family.edges[edge] : ordinary_.edges[edge];
  }

  /// A curve given by the model. A curve is told apart by its source's address: of two sources one
  /// is current, and each change takes the other.
  struct Given {
    std::array<Source, 2> source;
    std::size_t current = 0;
  };

  const System& system_;
  std::vector<Given> given_;
  Family ordinary_;
  Family busy_;
  DerivedCurve scratch_;
};

}  // namespace takt::analysis
