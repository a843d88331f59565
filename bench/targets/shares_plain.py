"""Known shares of time, in plain functions."""
import shares
import support

clock = support.clock


def tenth(account):
    account.enter()
    while clock() < account.until:
        pass
    account.leave()


def third(account):
    account.enter()
    while clock() < account.until:
        pass
    account.leave()


def most(account):
    account.enter()
    while clock() < account.until:
        pass
    account.leave()


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    bank = shares.Bank()
    while work.goes_on():
        bank.pay()
        tenth(bank.tenth)
        third(bank.third)
        most(bank.most)


if __name__ == "__main__":
    main()
