"""Known shares of time, in generators."""
import shares
import support

clock = support.clock


def tenth(account):
    while True:
        account.enter()
        while clock() < account.until:
            pass
        account.leave()
        yield


def third(account):
    while True:
        account.enter()
        while clock() < account.until:
            pass
        account.leave()
        yield


def most(account):
    while True:
        account.enter()
        while clock() < account.until:
            pass
        account.leave()
        yield


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    bank = shares.Bank()
    generators = (tenth(bank.tenth), third(bank.third), most(bank.most))
    while work.goes_on():
        bank.pay()
        for generator in generators:
            next(generator)


if __name__ == "__main__":
    main()
