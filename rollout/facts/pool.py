"""The InnoDB buffer pool and the workload, from the server's variables and counters."""

import re
from collections.abc import Mapping

from rollout.facts.database import Database, flag, fraction, number, word
from rollout.facts.frame import Answers, read
from rollout.facts.model import Pool, Workload
from rollout.facts.unknown import Known, Unknown, known_or

_POOL = "Innodb_buffer_pool_"


def parse_pool(database: Database) -> Pool:
    """Read the buffer pool's settings and counters."""
    variables, status = database.pairs("variables"), database.pairs("status")
    page_size = number(variables, "innodb_page_size")
    pages = read(database.value("data", "pages"), int)
    return Pool(
        size_bytes=number(variables, "innodb_buffer_pool_size"),
        page_size_bytes=page_size,
        instances=_instances(variables),
        pages_total=number(status, f"{_POOL}pages_total"),
        pages_data=number(status, f"{_POOL}pages_data"),
        pages_free=number(status, f"{_POOL}pages_free"),
        pages_dirty=number(status, f"{_POOL}pages_dirty"),
        pages_old=number(status, f"{_POOL}pages_old"),
        pages_misc=read(number(status, f"{_POOL}pages_misc"), _not_wrapped),
        read_requests=number(status, f"{_POOL}read_requests"),
        reads=number(status, f"{_POOL}reads"),
        read_ahead=number(status, f"{_POOL}read_ahead"),
        pages_made_young=number(status, f"{_POOL}pages_made_young"),
        pages_made_not_young=number(status, f"{_POOL}pages_made_not_young"),
        pages_lru_flushed=number(status, f"{_POOL}pages_lru_flushed"),
        wait_free=number(status, f"{_POOL}wait_free"),
        old_blocks_pct=number(variables, "innodb_old_blocks_pct"),
        old_blocks_time_ms=number(variables, "innodb_old_blocks_time"),
        lru_scan_depth=number(variables, "innodb_lru_scan_depth"),
        max_dirty_pages_pct=fraction(variables, "innodb_max_dirty_pages_pct"),
        fast_shutdown=number(variables, "innodb_fast_shutdown"),
        load_status=word(status, f"{_POOL}load_status"),
        dump_status=word(status, f"{_POOL}dump_status"),
        load_incomplete=flag(status, f"{_POOL}load_incomplete"),
        dump_pct=number(variables, "innodb_buffer_pool_dump_pct"),
        clock_started=clock_started(status),
        data_bytes=read(page_size, lambda size: read(pages, lambda count: count * size)),
    )


def _not_wrapped(count: int) -> Known[int]:
    """Refuse what the server shows when it takes more from a count than there was (compressed pages do that here)."""
    return count if count < 2**63 else Unknown(f"the server shows {count}: the count has wrapped below zero")


def _instances(variables: Known[dict[str, str]]) -> Known[int]:
    """Return the number of pool instances; from 10.5 on there is one, and later the variable is gone."""
    return read(variables, lambda fields: int(fields.get("innodb_buffer_pool_instances") or 1))


def clock_started(status: Known[dict[str, str]]) -> Known[bool]:
    """Tell whether the freed-page clock runs, before which no hit moves a page and no counter of it grows.

    Yes, when a page was ever made young or not young, or left the LRU list by eviction; no, when no page that came
    into the pool has left it. Else it is unknown. Source: buf_page_peek_if_too_old() and buf_LRU_remove_hashed() of
    the server before the fix.
    """
    if isinstance(status, Unknown):
        return status
    moved = (f"{_POOL}pages_made_young", f"{_POOL}pages_made_not_young", f"{_POOL}pages_lru_freed")
    if any(known_or(number(status, name), 0) > 0 for name in moved):
        return True
    came = [number(status, name) for name in ("Innodb_pages_read", "Innodb_pages_created")]
    there = number(status, f"{_POOL}pages_data")
    if isinstance(there, Unknown) or any(isinstance(count, Unknown) for count in came):
        return Unknown("the server does not count the pages that come in")
    if sum(known_or(count, 0) for count in came) <= there:
        return False
    return Unknown("pages have left the pool, and whether that moved the clock is not counted")


def parse_workload(answers: Answers, database: Database) -> Workload:
    """Read what the server is asked to do, and the host's clock at the moment of the counters."""
    variables, status = database.pairs("variables"), database.pairs("status")
    return Workload(
        monotonic_seconds=read(answers.text("uptime"), lambda text: float(text.split()[0])),
        questions=number(status, "Questions"),
        commands=_counters(status, r"Com_"),
        handlers=_counters(status, r"Handler_"),
        threads_running=number(status, "Threads_running"),
        threads_connected=number(status, "Threads_connected"),
        max_connections=number(variables, "max_connections"),
        max_used_connections=number(status, "Max_used_connections"),
        tmp_table_size_bytes=number(variables, "tmp_table_size"),
        max_heap_table_size_bytes=number(variables, "max_heap_table_size"),
        sort_buffer_size_bytes=number(variables, "sort_buffer_size"),
        join_buffer_size_bytes=number(variables, "join_buffer_size"),
        created_tmp_tables=number(status, "Created_tmp_tables"),
        created_tmp_disk_tables=number(status, "Created_tmp_disk_tables"),
        sorts=_counters(status, r"Sort_"),
        client_connections=read(database.value("clients", "clients"), int),
        at_work=known_or(read(database.table("at_work"), lambda rows: tuple(int(row["running"]) for row in rows)), ()),
    )


def _counters(status: Known[dict[str, str]], prefix: str) -> Known[Mapping[str, int]]:
    """Return the counters of a family, those that have counted something."""
    return read(
        status,
        lambda fields: {
            name: int(value)
            for name, value in fields.items()
            if re.match(prefix, name) and value.isdecimal() and value != "0"
        },
    )
