//! Bounds of the crate `response-time-analysis`, for comparison with Takt's own.
//!
//! The crate offers the theorems; the callback graph, the trigger sets, the propagation of curves and
//! the outer fixed point are its caller's. This program is the plain caller that the documents
//! describe: the loop of ros-llama S-3.1 over Defs. 1, 2, 6 and 7, without any ingenuity.
//!
//! Standard input is a list of systems, one statement a line, times in nanoseconds:
//!
//! ```text
//! limit LIMIT                        searches give up beyond it
//! executor BUDGET PERIOD DEADLINE    BUDGET = PERIOD: a dedicated processor
//! callback EXECUTOR KIND COST…       KIND: polled, privileged or source; ET(1), ET(2), …
//! periodic CALLBACK PERIOD JITTER    external activation
//! distance CALLBACK D2 D3 …          external activation by its minimum distances
//! edge FROM TO DELAY TRIGGER…        predecessors of FROM that trigger TO; "*": all
//! chain CALLBACK…
//! analyse ANALYSIS POLLING REPEAT    see `Analysis` and `PollingPoints`
//! end                                forgets the system
//! ```
//!
//! Callbacks of an executor are given in the order of their priority, highest first. Each `analyse`
//! answers with one line: the processor time of the best of REPEAT runs, that of its last round
//! alone, "|", the callbacks' bounds, "|", and the chains' ("-": diverged).

mod bounds;
mod curves;
mod processor_time;
mod system;

use std::io::{self, BufRead, Write};

use bounds::{Analysis, Bounds, PollingPoints};
use system::System;

fn numbers(words: &[&str]) -> Vec<u64> {
    words.iter().map(|word| word.parse().expect("a number")).collect()
}

fn show(bounds: &[Option<u64>]) -> String {
    let words: Vec<String> =
        bounds.iter().map(|bound| bound.map_or("-".to_string(), |ns| ns.to_string())).collect();
    words.join(" ")
}

fn answer(system: &System, words: &[&str]) -> String {
    let analysis = Analysis::named(words[0]);
    let polling_points = PollingPoints::named(words[1]);
    let repeat: usize = words[2].parse().expect("a number of runs");
    let runs: Vec<Bounds> =
        (0..repeat.max(1)).map(|_| bounds::analyse(system, analysis, polling_points)).collect();
    let best = runs.iter().map(|run| run.elapsed).min().expect("at least one run");
    let round = runs.iter().map(|run| run.last_round).min().expect("at least one run");
    format!(
        "{} {} | {} | {}",
        best,
        round,
        show(&runs[0].callbacks),
        show(&runs[0].chains)
    )
}

fn main() -> io::Result<()> {
    let mut system = System::default();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["limit", limit] => system.limit = limit.parse().expect("a number"),
            ["executor", rest @ ..] => system.add_executor(&numbers(rest)),
            ["callback", executor, kind, costs @ ..] => {
                system.add_callback(executor.parse().expect("an index"), kind, numbers(costs));
            }
            ["periodic", rest @ ..] => system.set_periodic(&numbers(rest)),
            ["distance", rest @ ..] => system.set_distances(&numbers(rest)),
            ["edge", from, to, delay, triggers @ ..] => {
                let all = triggers.contains(&"*");
                let triggers = (!all).then(|| numbers(triggers));
                system.add_edge(&numbers(&[from, to, delay]), triggers);
            }
            ["chain", rest @ ..] => system.add_chain(&numbers(rest)),
            ["analyse", rest @ ..] => writeln!(out, "{}", answer(&system, rest))?,
            ["end"] => system = System::default(),
            _ => panic!("not a statement: {line}"),
        }
    }
    Ok(())
}
