"""Predictions on real hosts: what two probes of a loaded server say, and what it does under another setting."""

import time
from dataclasses import replace

import pytest

from rollout.facts.model import Facts
from rollout.facts.unknown import known_or
from rollout.lab.rehearsal import Rehearsal
from rollout.prediction.fit import fit
from rollout.prediction.live import predict
from rollout.prediction.observed import Observed, observed
from rollout.prediction.rates import rates
from rollout.remote import open_transport
from rollout.remote.probing import look_at
from rollout.settings import Host, Settings

pytestmark = [pytest.mark.fleet, pytest.mark.alone]

SAMPLE_SECONDS, WARM_SECONDS = 10, 20
# 200,000 rows, about twice the pool, read by key at random, a thousand times a second at most.
LOAD = """
printf '[mariadbd]\\ninnodb_buffer_pool_size=32M\\ninnodb_lru_scan_depth=100\\ninnodb_old_blocks_time=200\\n' \
  > /etc/mysql/mariadb.conf.d/zz-load.cnf
set -e
systemctl restart mariadb
mariadb -e "create database pred; use pred; create table t (id int primary key, pad char(250)) engine=innodb;
  insert into t select seq, repeat('x', 250) from seq_1_to_200000"
mariadb pred -e "analyze table t"
cat > /root/load.sql <<'END'
delimiter //
create procedure pred.work() begin
  declare stop datetime default now() + interval 3 minute;
  declare picked int;
  while now() < stop do
    set picked = 1 + floor(rand() * 200000);
    select pad into @x from pred.t where id = picked;
    do sleep(0.001);
  end while;
end //
END
mariadb < /root/load.sql
setsid mariadb -e 'call pred.work()' > /dev/null 2>&1 < /dev/null &
"""
LEAVES = "select stat_value from mysql.innodb_index_stats where table_name = 't' and stat_name = 'n_leaf_pages'"


def two_probes(host: Host) -> tuple[Facts, Facts]:
    """Look at a host twice."""
    transport = open_transport(host)
    try:
        first = look_at(transport, host).facts
        time.sleep(SAMPLE_SECONDS)
        return first, look_at(transport, host).facts
    finally:
        transport.close()


def seen(pair: tuple[Facts, Facts]) -> Observed:
    """Return what was observed; that the server is young does not matter to so small a pool."""
    found = observed(replace(rates(*pair), fatal=()), pair[1], "mariadb-10.5")
    assert isinstance(found, Observed), found
    return found


def test_the_fit_finds_what_is_read_and_what_another_setting_does(fleet: Rehearsal) -> None:
    """From rates alone: the pages of the table among those of all, and the promotions without old_blocks_time."""
    host = fleet.dirty("db1")
    fleet.text("db1", LOAD)
    time.sleep(WARM_SECONDS)
    pair = two_probes(host)
    found = fit(seen(pair))
    leaves = int(fleet.text("db1", f'mariadb -N -e "{LEAVES}"'))
    assert found.summary.good
    assert known_or(pair[1].pool.data_bytes, 0) / 16384 > 1.5 * leaves
    assert found.reads.pages == pytest.approx(leaves, rel=0.2)
    fleet.text("db1", "mariadb -e 'set global innodb_old_blocks_time=0'")
    time.sleep(WARM_SECONDS)
    changed = seen(two_probes(host))
    predicted = found.under("mariadb-10.5", old_blocks_time_ms=0)
    assert predicted.promotions / found.seen.requests == pytest.approx(changed.promotions / changed.requests, rel=0.25)
    assert found.hit_ratio(predicted) == pytest.approx(1 - changed.reads / changed.requests, abs=0.02)


def test_an_idle_host_gets_a_sentence_and_its_memory(fleet: Rehearsal) -> None:
    """A host that just started says so, and what its allocator holds is known."""
    prediction = predict(*two_probes(fleet.host("db2")), fix="available", settings=Settings())
    assert prediction.verdict == "cannot_tell"
    assert prediction.reasons[0].code in {"server_young", "idle"}
    assert prediction.memory.held_bytes
    assert prediction.memory.verdict == "no_gain_expected"
