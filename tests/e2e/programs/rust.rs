// Rust as Python calls it: 10, 30 and 60% of the time in `tenth`, `third` and
// `Most::spend`, each of which has an account that it works off (see known.c of
// bench/targets), and a thread of its own that never runs Python. Functions
// whose code were the same would become one.
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

mod work {
    use super::*;

    const CHUNK: u32 = 4000; // turns between two looks at the clock

    #[inline(always)]
    fn churn(mut x: u64) -> u64 {
        for _ in 0..CHUNK {
            x = black_box(x.wrapping_mul(6364136223846793005)); // line: churn
        }
        x
    }

    fn turn(until: Instant, work: impl Fn(u64) -> u64) -> u64 {
        let mut x = 11;
        loop {
            x = work(x); // line: turn
            if Instant::now() >= until {
                return x;
            }
        }
    }

    pub trait Spender {
        fn spend(&self, until: Instant) -> u64;
    }

    pub struct Most;

    impl Spender for Most {
        #[inline(never)]
        fn spend(&self, until: Instant) -> u64 {
            turn(until, churn)
        }
    }

    #[inline(never)]
    pub fn tenth(until: Instant) -> u64 {
        black_box("tenth");
        turn(until, churn)
    }

    #[inline(never)]
    pub fn third(until: Instant) -> u64 {
        black_box("third");
        turn(until, churn)
    }

    #[inline(never)]
    pub fn alone(until: Instant) -> u64 {
        black_box("alone");
        turn(until, churn)
    }
}

struct Account {
    share: f64,
    left: f64,
    spend: fn(Instant) -> u64,
}

fn most(until: Instant) -> u64 {
    work::Spender::spend(black_box(&work::Most), until)
}

impl Account {
    #[inline(never)]
    fn work_off(&mut self) {
        let began = Instant::now();
        if self.left > 0.0 {
            black_box((self.spend)(began + Duration::from_secs_f64(self.left)));
            self.left -= began.elapsed().as_secs_f64();
        }
    }
}

#[no_mangle]
pub extern "C" fn rust_spend(seconds: f64) {
    let mut accounts = [
        Account { share: 0.1, left: 0.0, spend: work::tenth },
        Account { share: 0.3, left: 0.0, spend: work::third },
        Account { share: 0.6, left: 0.0, spend: most },
    ];
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end {
        for account in accounts.iter_mut() {
            account.left += account.share * 0.01;
            account.work_off();
        }
    }
}

#[no_mangle]
pub extern "C" fn rust_start(seconds: f64) {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    thread::Builder::new()
        .name("rust-pool-0".into())
        .spawn(move || black_box(work::alone(end)))
        .unwrap();
}
