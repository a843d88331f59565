#!/usr/bin/env python3
"""A small shop closes its books: a program to point a profiler at.

It reads a day's orders (CSV) and the catalogue (JSON), checks addresses, looks
for customers who ordered twice by mistake, prices every order, and prints the
day's figures, while a thread packs the invoices away. It runs for some seconds
and is slow in the ways programs are: a nested loop nobody thought about, a
regular expression that backtracks, a helper called a million times, a wait for
somebody else's server, and a thread that compresses.

Three of these are easily cured. A profile tells which.
"""
import collections
import csv
import hashlib
import io
import json
import queue
import random
import re
import sys
import threading
import time
import zlib

ORDERS = 6000
ARTICLES = 300
COPIES = 8  # of each invoice, for the tax office
STREETS = ["High Street", "Mill Lane", "Station Road", "Church Walk", "The Green"]

Order = collections.namedtuple("Order", "number customer address article count day")


# --- what comes in ---

def make_catalogue(rng):
    """The catalogue as the head office sends it."""
    return json.dumps([
        {"id": i, "name": "article %d" % i, "price": rng.randrange(100, 9000),
         "weight": rng.random() * 5, "discounts": [[5, 3], [10, 8], [50, 15]]}
        for i in range(ARTICLES)])


def make_orders(rng):
    """The orders as the till wrote them."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(Order._fields)
    for number in range(ORDERS):
        if number == 0 or rng.random() > 0.01:  # else the same once more
            address = "%d %s %s" % (rng.randrange(1, 200), rng.choice(STREETS),
                                    "".join(rng.choices("abcde", k=rng.randrange(12, 17))))
            what = ["customer %d" % rng.randrange(900), address, rng.randrange(ARTICLES),
                    rng.randrange(1, 60), rng.randrange(7)]
        writer.writerow([number] + what)
    return out.getvalue()


def read_orders(text):
    orders = []
    for row in csv.DictReader(io.StringIO(text)):
        orders.append(Order(int(row["number"]), row["customer"], row["address"],
                            int(row["article"]), int(row["count"]), int(row["day"])))
    return orders


def read_catalogue(text):
    return {article["id"]: article for article in json.loads(text)}


# --- checking ---

# Two ways to match the same letters: a mismatch at the end tries them all.
ADDRESS = re.compile(r"^\d+ (?:[A-Z][a-z]+ )+(?:[a-z]+)*[0-9]$")


def bad_addresses(orders):
    """Addresses of the first orders that lack the digit of a postcode."""
    seen = {}
    for order in orders[:600]:
        if order.address not in seen:
            seen[order.address] = ADDRESS.match(order.address) is None
    return [address for address, bad in seen.items() if bad]


def repeated_orders(orders):
    """Pairs of orders that look like one order sent twice."""
    repeated = []
    for i, first in enumerate(orders):
        for second in orders[i + 1:i + 3000]:
            if (first.article == second.article
                    and first.count == second.count
                    and first.customer == second.customer):
                repeated.append((first.number, second.number))
    return repeated


# --- money ---

def discount(article, count):
    """Percent off, by the steps in the catalogue."""
    percent = 0
    for least, off in article["discounts"]:
        if count >= least:
            percent = off
    return percent


def postage(article, count):
    weight = article["weight"] * count
    return 390 if weight < 2 else 590 + int(weight) * 45


def price(order, catalogue):
    article = catalogue[order.article]
    goods = article["price"] * order.count
    goods -= goods * discount(article, order.count) // 100
    return goods + postage(article, order.count)


class Ledger:
    """What was taken, by day and by customer."""

    def __init__(self):
        self.days = collections.Counter()
        self.customers = collections.Counter()

    def book(self, order, amount):
        self.days[order.day] += amount
        self.customers[order.customer] += amount

    def best_customers(self, count):
        return sorted(self.customers.items(), key=lambda item: -item[1])[:count]


def close_books(orders, catalogue, days=120):
    """The ledger of the last days; each day books the standing orders again."""
    ledger = Ledger()
    for _ in range(days):
        for order in orders:
            ledger.book(order, price(order, catalogue))
    return ledger


# --- the archive, a thread of its own ---

class Archive(threading.Thread):
    """Packs invoices away as they come; None ends it."""

    def __init__(self):
        super().__init__(name="archive")
        self.invoices = queue.Queue()
        self.packed = 0

    def run(self):
        while True:
            text = self.invoices.get()
            if text is None:
                return
            self.packed += len(self.pack(text))
            time.sleep(0.05)  # the tape drive

    def pack(self, text):
        return zlib.compress(text.encode() * COPIES, 9)


def invoice_line(order, catalogue):
    line = "%06d %-14s %9.2f" % (order.number, order.customer, price(order, catalogue) / 100)
    return line + " " + hashlib.sha512(line.encode()).hexdigest()


def write_invoices(archive, orders, catalogue, batch=300):
    for start in range(0, len(orders), batch):
        lines = [invoice_line(order, catalogue) for order in orders[start:start + batch]]
        archive.invoices.put("\n".join(lines))


# --- the day ---

def fetch_exchange_rate():
    """Stands for a call to somebody else's server."""
    time.sleep(0.4)
    return 1.17


def print_report(ledger, rate, repeated, bad, archive):
    print("taken per day of the week:")
    for day in sorted(ledger.days):
        print("  %d  %14.2f EUR" % (day, ledger.days[day] * rate / 100))
    print("best customers:")
    for customer, amount in ledger.best_customers(3):
        print("  %-14s %14.2f EUR" % (customer, amount * rate / 100))
    print("%d orders look repeated, %d addresses look wrong" % (len(repeated), len(bad)))
    print("%d bytes of invoices packed" % archive.packed)


def main():
    rng = random.Random(2024)
    catalogue = read_catalogue(make_catalogue(rng))
    orders = read_orders(make_orders(rng))
    archive = Archive()
    archive.start()
    write_invoices(archive, orders, catalogue)
    rate = fetch_exchange_rate()
    bad = bad_addresses(orders)
    repeated = repeated_orders(orders)
    ledger = close_books(orders, catalogue)
    archive.invoices.put(None)
    archive.join()
    print_report(ledger, rate, repeated, bad, archive)


if __name__ == "__main__":
    sys.exit(main())
