//! The system under analysis, as it is read.

use response_time_analysis::arrival::{self, ArrivalBound};
use response_time_analysis::supply::{self, SupplyBound};
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::{self, JobCostModel};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Polled,
    /// Bypasses the ready set: a timer of an old executor.
    Privileged,
    /// Alone on its executor.
    Source,
}

pub enum Activation {
    Periodic { period: u64, jitter: u64 },
    Distances(Vec<u64>),
}

impl Activation {
    /// A model of its own, whose caches start empty.
    pub fn model(&self) -> Box<dyn ArrivalBound> {
        match self {
            Activation::Periodic { period, jitter } => {
                Box::new(arrival::Sporadic::new(Duration::from(*period), Duration::from(*jitter)))
            }
            Activation::Distances(distances) => Box::new(arrival::ExtrapolatingCurve::new(
                distances.iter().map(|ns| Duration::from(*ns)).collect(),
            )),
        }
    }
}

pub struct Callback {
    pub executor: usize,
    pub kind: Kind,
    pub costs: Vec<u64>,
    /// None: derived from the edges.
    pub activation: Option<Activation>,
}

impl Callback {
    /// The cheapest of the crate's models that is exact for these costs.
    pub fn cost_model(&self) -> Box<dyn JobCostModel> {
        let costs = || self.costs.iter().map(|ns| Service::from(*ns));
        match self.costs.len() {
            1 => Box::new(wcet::Scalar::new(Service::from(self.costs[0]))),
            2 => Box::new(wcet::Curve::new(costs().collect())),
            _ => Box::new(wcet::ExtrapolatingCurve::new(wcet::Curve::new(costs().collect()))),
        }
    }
}

pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub delay: u64,
    /// None: all predecessors of `from`.
    pub triggers: Option<Vec<usize>>,
}

impl Edge {
    pub fn is_triggered_by(&self, predecessor: usize) -> bool {
        self.triggers.as_ref().map_or(true, |triggers| triggers.contains(&predecessor))
    }
}

#[derive(Default)]
pub struct System {
    pub limit: u64,
    pub executors: Vec<Box<dyn SupplyBound>>,
    pub callbacks: Vec<Callback>,
    pub edges: Vec<Edge>,
    pub chains: Vec<Vec<usize>>,
}

impl System {
    pub fn add_executor(&mut self, values: &[u64]) {
        let (budget, period, deadline) = (values[0], values[1], values[2]);
        self.executors.push(if budget == period {
            Box::new(supply::Dedicated::new())
        } else if deadline == period {
            Box::new(supply::Periodic::new(Service::from(budget), Duration::from(period)))
        } else {
            Box::new(supply::Constrained::new(
                Service::from(budget),
                Duration::from(deadline),
                Duration::from(period),
            ))
        });
    }

    pub fn add_callback(&mut self, executor: usize, kind: &str, costs: Vec<u64>) {
        let kind = match kind {
            "polled" => Kind::Polled,
            "privileged" => Kind::Privileged,
            "source" => Kind::Source,
            _ => panic!("not a kind of callback: {kind}"),
        };
        self.callbacks.push(Callback { executor, kind, costs, activation: None });
    }

    pub fn set_periodic(&mut self, values: &[u64]) {
        self.callbacks[values[0] as usize].activation =
            Some(Activation::Periodic { period: values[1], jitter: values[2] });
    }

    pub fn set_distances(&mut self, values: &[u64]) {
        self.callbacks[values[0] as usize].activation =
            Some(Activation::Distances(values[1..].to_vec()));
    }

    pub fn add_edge(&mut self, values: &[u64], triggers: Option<Vec<u64>>) {
        self.edges.push(Edge {
            from: values[0] as usize,
            to: values[1] as usize,
            delay: values[2],
            triggers: triggers.map(|ids| ids.iter().map(|id| *id as usize).collect()),
        });
    }

    pub fn add_chain(&mut self, callbacks: &[u64]) {
        self.chains.push(callbacks.iter().map(|id| *id as usize).collect());
    }
}
