//! The loop of compositional performance analysis (ros-llama S-3.1) around the crate's theorems.

use response_time_analysis::arrival::ArrivalBound;
use response_time_analysis::demand::{Aggregate, RBF};
use response_time_analysis::ros2::{self, bw, rr};
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::JobCostModel;

use crate::curves::{Curve, Propagation, POLLING_POINT_PROBE};
use crate::processor_time;
use crate::system::{Kind, System};

#[derive(Clone, Copy)]
pub enum Analysis {
    RoundRobin,
    BusyWindow,
    Combined,
}

impl Analysis {
    pub fn named(name: &str) -> Self {
        match name {
            "round_robin" => Analysis::RoundRobin,
            "busy_window" => Analysis::BusyWindow,
            "combined" => Analysis::Combined,
            _ => panic!("not an analysis: {name}"),
        }
    }
}

/// How the busy-window analysis counts polling points.
#[derive(Clone, Copy)]
pub enum PollingPoints {
    /// By Def. 5: the ordinary curve over the response time, privileged callbacks none.
    Definition,
    /// As the crate does: the busy-window curve over the response time, privileged callbacks too.
    Crate,
}

impl PollingPoints {
    pub fn named(name: &str) -> Self {
        match name {
            "definition" => PollingPoints::Definition,
            "crate" => PollingPoints::Crate,
            _ => panic!("not a way to count polling points: {name}"),
        }
    }
}

pub struct Bounds {
    pub callbacks: Vec<Option<u64>>,
    pub chains: Vec<Option<u64>>,
    /// Processor time in nanoseconds.
    pub elapsed: u64,
    /// The part of `elapsed` that is left to a caller who knows all callbacks' bounds beforehand.
    pub last_round: u64,
}

pub fn analyse(system: &System, analysis: Analysis, polling_points: PollingPoints) -> Bounds {
    let start = processor_time::now();
    let count = system.callbacks.len();
    let model = |callback: &crate::system::Callback| Some(callback.activation.as_ref()?.model());
    let sources: Vec<_> = system.callbacks.iter().map(model).collect();
    let costs: Vec<_> = system.callbacks.iter().map(|callback| callback.cost_model()).collect();
    let mut response_times = vec![0; count];
    loop {
        let round_start = processor_time::now();
        let curves = Curves::new(&Propagation {
            system,
            sources: &sources,
            response_times: &response_times,
        });
        let round = Round {
            system,
            analysis,
            polling_points,
            costs: &costs,
            curves: &curves,
            response_times: &response_times,
        };
        let next: Option<Vec<u64>> =
            (0..count).map(|callback| round.subchain_bound(&[callback])).collect();
        let (callbacks, chains) = match next {
            None => (vec![None; count], vec![None; system.chains.len()]),
            Some(next) if next == response_times => (
                next.into_iter().map(Some).collect(),
                system.chains.iter().map(|chain| round.chain_bound(chain)).collect(),
            ),
            Some(next) => {
                response_times = next;
                continue;
            }
        };
        let now = processor_time::now();
        let (elapsed, last_round) = (now - start, now - round_start);
        return Bounds { callbacks, chains, elapsed, last_round };
    }
}

/// η and η^b of every callback, the latter answering for the polling points of Def. 5.
struct Curves {
    ordinary: Vec<Curve>,
    busy_window: Vec<Curve>,
}

impl Curves {
    fn new(propagation: &Propagation) -> Self {
        let callbacks = &propagation.system.callbacks;
        let ordinary: Vec<Curve> =
            (0..callbacks.len()).map(|callback| propagation.activations(callback)).collect();
        let polling_points = |callback: usize| match callbacks[callback].kind {
            Kind::Polled => {
                let response_time = Duration::from(propagation.response_times[callback]);
                ordinary[callback].number_arrivals(response_time)
            }
            Kind::Privileged | Kind::Source => 0,
        };
        let busy_window = (0..callbacks.len())
            .map(|callback| {
                propagation
                    .busy_window_activations(callback)
                    .with_polling_points(polling_points(callback))
            })
            .collect();
        Curves { ordinary, busy_window }
    }
}

type CostModel = Box<dyn JobCostModel>;

/// What all local analyses of one round share.
struct Round<'a> {
    system: &'a System,
    analysis: Analysis,
    polling_points: PollingPoints,
    costs: &'a [CostModel],
    curves: &'a Curves,
    response_times: &'a [u64],
}

impl<'a> Round<'a> {
    /// The bound of a subchain on one executor; none: no solution below the limit.
    fn subchain_bound(&self, subchain: &[usize]) -> Option<u64> {
        let last = *subchain.last().expect("a subchain has callbacks");
        match (self.system.callbacks[last].kind, self.analysis) {
            (Kind::Source, _) => self.source_bound(last),
            (Kind::Privileged, _) => self.privileged_bound(last),
            (Kind::Polled, Analysis::RoundRobin) => self.round_robin_bound(subchain),
            (Kind::Polled, Analysis::BusyWindow) => self.busy_window_bound(subchain),
            (Kind::Polled, Analysis::Combined) => {
                let bounds = [self.round_robin_bound(subchain), self.busy_window_bound(subchain)];
                bounds.into_iter().flatten().min()
            }
        }
    }

    /// S-3.7: the sum over maximal subchains on one executor, and the delays between them.
    fn chain_bound(&self, chain: &[usize]) -> Option<u64> {
        let system = self.system;
        let mut total = 0;
        let executor = |callback: usize| system.callbacks[callback].executor;
        let mut first = 0;
        for end in 1..=chain.len() {
            if end == chain.len() || executor(chain[end]) != executor(chain[first]) {
                total += self.subchain_bound(&chain[first..end])?;
                first = end;
            }
        }
        for pair in chain.windows(2).filter(|pair| executor(pair[0]) != executor(pair[1])) {
            let crosses = |edge: &&crate::system::Edge| [edge.from, edge.to] == pair;
            total += system.edges.iter().find(crosses).expect("a chain follows edges").delay;
        }
        Some(total)
    }

    fn round_robin_bound(&self, subchain: &[usize]) -> Option<u64> {
        let callbacks = self.sharing_executor(subchain[0]);
        let workload: Vec<_> = callbacks
            .iter()
            .map(|callback| {
                rr::Callback::new(
                    Duration::from(self.response_times[*callback]),
                    &self.curves.ordinary[*callback],
                    &self.costs[*callback],
                    self.callback_type(*callback),
                )
            })
            .collect();
        let members: Vec<_> = positions(&callbacks, subchain).map(|i| &workload[i]).collect();
        let bound =
            rr::rta_subchain(self.supply(subchain[0]), &workload, &members, self.limit());
        bound.ok().map(u64::from)
    }

    fn busy_window_bound(&self, subchain: &[usize]) -> Option<u64> {
        let callbacks = self.sharing_executor(subchain[0]);
        let workload: Vec<_> = callbacks
            .iter()
            .map(|callback| {
                let response_time = match self.polling_points {
                    PollingPoints::Definition => POLLING_POINT_PROBE,
                    PollingPoints::Crate => self.response_times[*callback],
                };
                bw::Callback::new(
                    Duration::from(response_time),
                    &self.curves.busy_window[*callback],
                    &self.costs[*callback],
                    self.callback_type(*callback),
                )
            })
            .collect();
        let members: Vec<_> = positions(&callbacks, subchain).map(|i| &workload[i]).collect();
        let bound =
            bw::rta_subchain(self.supply(subchain[0]), &workload, &members, self.limit());
        bound.ok().map(u64::from)
    }

    fn source_bound(&self, callback: usize) -> Option<u64> {
        let bound = ros2::rta_event_source(
            self.supply(callback),
            &self.demand(callback),
            self.limit(),
        );
        bound.ok().map(u64::from)
    }

    /// Privileged callbacks of higher priority interfere; one instance of any other blocks.
    fn privileged_bound(&self, callback: usize) -> Option<u64> {
        let callbacks = &self.system.callbacks;
        let mut others = self.sharing_executor(callback);
        others.retain(|other| *other != callback);
        let (interfering, blocking): (Vec<usize>, Vec<usize>) = others
            .into_iter()
            .partition(|other| *other < callback && callbacks[*other].kind == Kind::Privileged);
        // On a processor of its own, an instance that has begun has run for ε at least.
        let begun = u64::from(self.supply(callback).provided_service(Duration::from(1)));
        let blocking = blocking.iter().map(|other| callbacks[*other].costs[0] - begun).max();
        let bound = ros2::rta_timer(
            self.supply(callback),
            &self.demand(callback),
            &Aggregate::new(interfering.iter().map(|other| self.demand(*other)).collect()),
            Service::from(blocking.unwrap_or(0)),
            self.limit(),
        );
        bound.ok().map(u64::from)
    }

    fn demand(&self, callback: usize) -> RBF<&'a Curve, &'a CostModel> {
        RBF::new(&self.curves.ordinary[callback], &self.costs[callback])
    }

    fn supply(&self, callback: usize) -> &dyn response_time_analysis::supply::SupplyBound {
        &*self.system.executors[self.system.callbacks[callback].executor]
    }

    fn limit(&self) -> Duration {
        Duration::from(self.system.limit)
    }

    fn callback_type(&self, callback: usize) -> rr::CallbackType {
        match self.system.callbacks[callback].kind {
            Kind::Polled => rr::CallbackType::Polled(callback as rr::PolledCallbackPriority),
            Kind::Privileged => rr::CallbackType::Timer,
            Kind::Source => rr::CallbackType::EventSource,
        }
    }

    /// All callbacks of that callback's executor, in the order of priority.
    fn sharing_executor(&self, callback: usize) -> Vec<usize> {
        let callbacks = &self.system.callbacks;
        let executor = callbacks[callback].executor;
        (0..callbacks.len()).filter(|other| callbacks[*other].executor == executor).collect()
    }
}

fn positions<'c>(callbacks: &'c [usize], members: &'c [usize]) -> impl Iterator<Item = usize> + 'c {
    members.iter().map(|member| {
        callbacks.iter().position(|callback| callback == member).expect("on the same executor")
    })
}
