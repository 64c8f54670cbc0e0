//! Tries candidates, layer by layer, until nothing more works.

use std::{cell::RefCell, collections::BTreeSet};

use dialect::ParseCache;
use model::{Case, Product, casefile};

use crate::{
    Budget, Predicate, Reduced, Scope, Size, Strategy, Trial,
    layers::{self, Layer},
    strategy::Offer,
    view::{Candidate, View},
};

/// Reduces a case of a product. The same case, product, budget, strategy and answers give the same result.
pub fn reduce(
    case: &Case,
    product: Product,
    scope: Scope,
    predicate: &mut dyn Predicate,
    strategy: &mut dyn Strategy,
    budget: Budget,
) -> Reduced {
    let case = match scope {
        Scope::Whole => bare(case),
        Scope::KeepExpectations => case.clone(),
    };
    let mut search = Search {
        writable: casefile::print(&case).is_ok(),
        parsed: RefCell::new(ParseCache::new(product)),
        size: Size::of(&case),
        known: BTreeSet::from([key(&case)]),
        case,
        trail: Vec::new(),
        predicate,
        strategy,
        left: budget.candidates,
        tried: 0,
        over: false,
    };
    let layers = match scope {
        Scope::Whole => layers::ALL,
        Scope::KeepExpectations => layers::KEEP_EXPECTATIONS,
    };
    let mut finished = false;
    while !finished && search.goes_on() {
        let before = search.tried_and_found();
        layers.iter().for_each(|layer| search.layer(layer));
        finished = search.goes_on() && search.tried_and_found().1 == before.1;
    }
    if scope == Scope::Whole {
        search.rename();
        finished &= search.goes_on();
    }
    Reduced { case: search.case, trail: search.trail, tried: search.tried, finished }
}

/// The case without what it expects.
fn bare(case: &Case) -> Case {
    let mut bare = case.clone();
    bare.steps.iter_mut().for_each(|step| step.expect.clear());
    bare.final_state.clear();
    bare.fails.clear();
    bare
}

struct Search<'a> {
    parsed: RefCell<ParseCache>,
    /// Can the case be written as a file? If so, it stays that way.
    writable: bool,
    case: Case,
    size: Size,
    trail: Vec<Case>,
    predicate: &'a mut dyn Predicate,
    strategy: &'a mut dyn Strategy,
    left: u64,
    tried: u64,
    over: bool,
    /// What was tried already, so that it is not tried again.
    known: BTreeSet<Key>,
}

impl Search<'_> {
    fn goes_on(&mut self) -> bool {
        self.over |= self.predicate.over();
        self.left > 0 && !self.over
    }

    fn tried_and_found(&self) -> (u64, usize) {
        (self.tried, self.trail.len())
    }

    /// Tries what a layer lists, as the strategy chooses. After a success the list is made anew.
    fn layer(&mut self, layer: &Layer) {
        let mut from = (0, 0);
        let mut offers = self.offers(layer);
        while self.goes_on() {
            let places: Vec<Offer> = offers.iter().map(|(offer, _)| *offer).collect();
            let Some(chosen) = self.strategy.choose(&places, from) else { return };
            let (offer, candidate) = offers.remove(chosen);
            from = (offer.pass, offer.at);
            let Some(worked) = self.tries(layer.name, candidate, false) else { continue };
            self.strategy.learn(offer.operation, worked);
            if worked {
                offers = self.offers(layer);
            }
        }
    }

    fn offers(&self, layer: &Layer) -> Vec<(Offer, Candidate)> {
        let view = View { case: &self.case, parsed: &self.parsed };
        let mut offers = Vec::new();
        for (pass, list) in layer.passes.iter().enumerate() {
            for (at, candidate) in list(view).into_iter().enumerate() {
                offers.push((Offer { operation: candidate.operation, pass, at }, candidate));
            }
        }
        offers
    }

    /// Gives everything its usual name; where that does not work at once, one kind of name at a time.
    fn rename(&mut self) {
        for kinds in layers::names::KINDS {
            if !self.goes_on() {
                return;
            }
            let view = View { case: &self.case, parsed: &self.parsed };
            let case = layers::names::renamed(view, kinds);
            if case != self.case
                && self.tries("names", Candidate { operation: "rename", case }, true) == Some(true)
                && kinds.len() > 1
            {
                return;
            }
        }
    }

    /// Is the candidate interesting? None if it is not worth trying.
    fn tries(&mut self, layer: &'static str, candidate: Candidate, renamed: bool) -> Option<bool> {
        let Candidate { operation, case } = candidate;
        let size = Size::of(&case);
        if case.steps.is_empty()
            || if renamed { size.bytes > self.size.bytes } else { size >= self.size }
            || !self.known.insert(key(&case))
            || self.writable && casefile::print(&case).is_err()
        {
            return None;
        }
        self.left -= 1;
        self.tried += 1;
        let worked = self.predicate.holds(&case);
        if worked {
            self.trail.push(std::mem::replace(&mut self.case, case));
            self.size = size;
        }
        self.predicate.tried(&Trial { number: self.tried, layer, operation, worked, best: &self.case });
        Some(worked)
    }
}

/// What tells two candidates apart: sessions, setup and steps.
type Key = (Vec<String>, Vec<String>, Vec<(usize, String)>);

fn key(case: &Case) -> Key {
    let steps = case.steps.iter().map(|step| (step.session, step.sql.clone()));
    let sessions = case.sessions.iter().map(|session| {
        let level = session.level.map_or("", model::Level::short);
        format!("{} {level} {}", session.name, session.autocommit)
    });
    (sessions.collect(), case.setup.statements.clone(), steps.collect())
}
