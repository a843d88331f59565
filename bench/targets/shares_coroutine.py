"""Known shares of time, in coroutines that asyncio runs as tasks."""
import asyncio

import shares
import support

clock = support.clock


async def tenth(account):
    await asyncio.sleep(0)
    account.enter()
    while clock() < account.until:
        pass
    account.leave()


async def third(account):
    await asyncio.sleep(0)
    account.enter()
    while clock() < account.until:
        pass
    account.leave()


async def most(account):
    await asyncio.sleep(0)
    account.enter()
    while clock() < account.until:
        pass
    account.leave()


async def everything(work):
    bank = shares.Bank()
    while work.goes_on():
        bank.pay()
        await asyncio.gather(tenth(bank.tenth), third(bank.third), most(bank.most))


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    loop = asyncio.new_event_loop()
    loop.run_until_complete(everything(work))


if __name__ == "__main__":
    main()
