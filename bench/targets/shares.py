"""How three functions take exactly 10, 30 and 60% of the time.

Each has an account, into which every round pays its share; it works until the
account is empty, so whatever it overdraws (by a preemption, say) it pays back
in the next rounds. Rounds differ in length, as a fixed length could beat with
the sampling period. What lies between the functions takes some microseconds of
each round of milliseconds.

The functions themselves, called tenth, third and most, are in shares_plain,
shares_generator and shares_coroutine.
"""
import random

import support

SHARES = {"tenth": 0.1, "third": 0.3, "most": 0.6}
ROUND = 0.008  # seconds, on average

clock = support.clock


class Account(object):
    def __init__(self, share):
        self.share = share
        self.left = 0.0
        self.began = self.until = 0.0

    def enter(self):
        self.began = clock()
        self.until = self.began + self.left

    def leave(self):
        self.left -= clock() - self.began


class Bank(object):
    def __init__(self):
        self.rng = random.Random(11)
        self.tenth = Account(SHARES["tenth"])
        self.third = Account(SHARES["third"])
        self.most = Account(SHARES["most"])

    def pay(self):
        length = ROUND * self.rng.uniform(0.5, 1.5)
        for account in (self.tenth, self.third, self.most):
            account.left += account.share * length
