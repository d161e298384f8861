//! Propagation of activation curves along the edges (ros-llama S-3.2 and S-3.4).

use response_time_analysis::arrival::ArrivalBound;
use response_time_analysis::time::Duration;

use crate::system::System;

/// The crate counts the polling points of a busy window by the busy-window curve over the response
/// time, while Def. 5 counts them by the ordinary curve. A caller who wants Def. 5 passes this
/// response time, beyond every window that is searched, and has the curve answer it.
pub const POLLING_POINT_PROBE: u64 = 1 << 60;

/// A source's curve, shifted by the response times and delays on the way from it.
#[derive(Clone, Copy)]
struct Shifted {
    source: usize,
    by: u64,
}

/// The activations of a callback: a sum of shifted sources.
pub struct Curve {
    parts: Vec<Box<dyn ArrivalBound>>,
    polling_points: usize,
}

impl Curve {
    pub fn with_polling_points(mut self, count: usize) -> Self {
        self.polling_points = count;
        self
    }
}

impl ArrivalBound for Curve {
    fn number_arrivals(&self, delta: Duration) -> usize {
        if delta == Duration::from(POLLING_POINT_PROBE) {
            return self.polling_points;
        }
        self.parts.number_arrivals(delta)
    }

    fn steps_iter<'a>(&'a self) -> Box<dyn Iterator<Item = Duration> + 'a> {
        self.parts.steps_iter()
    }

    fn clone_with_jitter(&self, jitter: Duration) -> Box<dyn ArrivalBound> {
        self.parts.clone_with_jitter(jitter)
    }
}

/// The curves of a system for given response times.
pub struct Propagation<'a> {
    pub system: &'a System,
    /// None: the callback is activated by messages.
    pub sources: &'a [Option<Box<dyn ArrivalBound>>],
    pub response_times: &'a [u64],
}

impl Propagation<'_> {
    /// η_i: Defs. 1 and 2.
    pub fn activations(&self, callback: usize) -> Curve {
        self.curve(self.into(callback, &|edge| self.edge(edge)))
    }

    /// η^b_i on the callback's executor: Defs. 6 and 7.
    pub fn busy_window_activations(&self, callback: usize) -> Curve {
        let executor = self.system.callbacks[callback].executor;
        self.curve(self.into(callback, &|edge| self.busy_window_edge(edge, executor)))
    }

    fn into(&self, callback: usize, along: &dyn Fn(usize) -> Vec<Shifted>) -> Vec<Shifted> {
        if self.sources[callback].is_some() {
            return vec![Shifted { source: callback, by: 0 }];
        }
        let edges = &self.system.edges;
        (0..edges.len()).filter(|edge| edges[*edge].to == callback).flat_map(along).collect()
    }

    /// The activations of an edge's start that publish along the edge.
    fn triggering(&self, index: usize, along: &dyn Fn(usize) -> Vec<Shifted>) -> Vec<Shifted> {
        let edge = &self.system.edges[index];
        self.into(edge.from, &|other| {
            let triggers = edge.is_triggered_by(self.system.edges[other].from);
            if triggers { along(other) } else { Vec::new() }
        })
    }

    fn edge(&self, index: usize) -> Vec<Shifted> {
        let edge = &self.system.edges[index];
        let by = self.response_times[edge.from].saturating_sub(1) + edge.delay;
        let mut parts = self.triggering(index, &|other| self.edge(other));
        parts.iter_mut().for_each(|part| part.by += by);
        parts
    }

    fn busy_window_edge(&self, index: usize, executor: usize) -> Vec<Shifted> {
        let from = self.system.edges[index].from;
        if self.system.callbacks[from].executor != executor {
            return self.edge(index);
        }
        self.triggering(index, &|other| self.busy_window_edge(other, executor))
    }

    fn curve(&self, shifted: Vec<Shifted>) -> Curve {
        let part = |shifted: Shifted| {
            let source = self.sources[shifted.source].as_ref().expect("a source has a curve");
            source.clone_with_jitter(Duration::from(shifted.by))
        };
        Curve { parts: shifted.into_iter().map(part).collect(), polling_points: 0 }
    }
}
