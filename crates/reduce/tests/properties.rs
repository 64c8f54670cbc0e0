//! What holds whatever the case and whatever is interesting about it: never worse, still interesting, the same each time, and as
//! small as the passes can make it.

use generate::Generator;
use model::{Case, Level, Product, Seed, casefile};
use proptest::prelude::*;
use reduce::{Budget, Predicate, Reduced, Scope, Size, reduce, strategy::InOrder};

fn shrink(case: &Case, product: Product, predicate: &mut dyn Predicate, budget: Budget) -> Reduced {
    reduce(case, product, Scope::Whole, predicate, &mut InOrder, budget)
}

fn generated(product: Product, seed: u64, number: u64) -> Case {
    let version = "10.11.6".parse().unwrap();
    let levels = [Level::ReadCommitted, Level::RepeatableRead];
    Generator::new(Seed(seed), product, &version, &levels).case(number).case
}

fn products() -> impl Strategy<Value = Product> {
    prop::sample::select(vec![Product::Mariadb, Product::Sqlite, Product::Postgres, Product::Reference])
}

/// Interesting is what still has all of these, as they are, in this order, and tables at all.
fn has(case: &Case, wanted: &[(String, String)]) -> bool {
    let mut left = wanted.iter().peekable();
    for step in &case.steps {
        let session = &case.sessions[step.session].name;
        if left.peek().is_some_and(|(name, sql)| name == session && *sql == step.sql) {
            left.next();
        }
    }
    left.peek().is_none()
}

fn wanted(case: &Case, picks: &[prop::sample::Index]) -> Vec<(String, String)> {
    let mut steps: Vec<usize> = picks.iter().map(|pick| pick.index(case.steps.len())).collect();
    steps.sort_unstable();
    steps.dedup();
    let of =
        |step: usize| (case.sessions[case.steps[step].session].name.clone(), case.steps[step].sql.clone());
    steps.into_iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_comes_is_smaller_interesting_and_a_case(
        product in products(),
        seed in any::<u32>(),
        number in 0..5000u64,
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let case = generated(product, seed.into(), number);
        let wanted = wanted(&case, &picks);
        let once = shrink(&case, product, &mut |case: &Case| has(case, &wanted), Budget { candidates: 5000 });
        let again = shrink(&case, product, &mut |case: &Case| has(case, &wanted), Budget { candidates: 5000 });
        prop_assert_eq!(&once, &again);
        prop_assert!(once.finished);
        prop_assert!(has(&once.case, &wanted));
        prop_assert!(Size::of(&once.case) <= Size::of(&case));
        prop_assert!(casefile::print(&once.case).is_ok());
        // Beside what is wanted stays only what the format asks for: a BEGIN for an end.
        prop_assert!(once.case.steps.len() <= 2 * wanted.len(), "{:#?}", once.case.steps);
        let further = shrink(&once.case, product, &mut |case: &Case| has(case, &wanted), Budget { candidates: 5000 });
        prop_assert_eq!(further.case, once.case);
    }

    #[test]
    fn whatever_the_answers_nothing_gets_worse(
        product in products(),
        seed in any::<u32>(),
        number in 0..5000u64,
        answers in prop::collection::vec(any::<bool>(), 1..64),
        candidates in 0..120u64,
    ) {
        let case = generated(product, seed.into(), number);
        let mut accepted: Vec<Case> = vec![case.clone()];
        let mut asked = 0;
        let result = shrink(&case, product, &mut |case: &Case| {
            asked += 1;
            let yes = answers[asked % answers.len()];
            if yes {
                accepted.push(case.clone());
            }
            yes
        }, Budget { candidates });
        prop_assert!(asked as u64 <= candidates);
        prop_assert_eq!(asked as u64, result.tried);
        // Each accepted one is smaller than the one before, or has only other names, and the answer is the last of them.
        let counts = |size: &Size| (size.steps, size.sessions, size.setup, size.special, size.bytes);
        let fine = |pair: &[Case]| {
            let (before, after) = (Size::of(&pair[0]), Size::of(&pair[1]));
            after < before || counts(&after) <= counts(&before)
        };
        prop_assert!(accepted.windows(2).all(fine));
        prop_assert_eq!(&result.case, accepted.last().unwrap());
    }

    #[test]
    fn what_nothing_may_be_left_out_of_stays(product in products(), seed in any::<u32>(), number in 0..5000u64) {
        let case = generated(product, seed.into(), number);
        let result = shrink(&case, product, &mut |_: &Case| false, Budget { candidates: 5000 });
        prop_assert!(result.finished);
        prop_assert_eq!(result.case, case);
    }
}
