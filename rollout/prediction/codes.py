"""What each code of a prediction means, and what to do about it: the text of `rollout explain CODE`."""

VERDICTS: dict[str, str] = {
    "gain": (
        "The fix is likely to raise the highest rate that this host can serve: its list's mutex is used enough, and "
        "cores and workers are there to use what becomes free. The present rate does not change by itself. "
        "Plan it, and compare the measurement after the soak."
    ),
    "no_gain_expected": (
        "Nothing that a client would notice is likely to change; the reasons say why. The change may still be wanted "
        "(support, the same release everywhere): it is not needed for speed or memory."
    ),
    "cannot_tell": (
        "The facts do not carry a prediction: a counter is broken or young, something could not be read, the workload "
        "is one for which nobody has published runs, or the fit did not reproduce what was observed. "
        "The reasons say what is missing; a longer --sample at a busy hour often helps. Start with a canary."
    ),
    "loss_possible": (
        "Something may get worse: the simulated hit ratio under the fix is lower than now, or memory may grow. "
        "Try it on one host and look at predicted beside measured before the next."
    ),
}

NOTES: dict[str, str] = {
    # Reasons about speed
    "mutex_idle": "So little of buf_pool.mutex is used that taking its operations away cannot be noticed.",
    "workers_too_few": (
        "The workers that this host has had at most, or its cores, are all busy before the mutex is: they would not "
        "get further without it."
    ),
    "mutex_limits": "At a higher rate the mutex would be the limit before the cores are. The fix takes it away.",
    "range_too_wide": "The likeliest figures speak against a gain, the ends of the range for one. See the driver.",
    "clock_at_zero": (
        "10.4 moves no page on a hit until a first page was evicted since the start. None was, so hits cost no mutex "
        "operation and there is nothing to take away."
    ),
    "running_has_fix": "The running server carries the fix already.",
    "rehearsal_target": (
        "The target release is declared as a rehearsal (carries_lru_fix: false): it exercises the road and does not "
        "carry the fix, so nothing is promised for speed."
    ),
    "series_without_fix": (
        "The series of this host has no release with the fix. The long-term series that have it are 11.8 (from "
        "11.8.10) and 12.3 (from 12.3.4). This program makes no major upgrade; jemalloc still applies."
    ),
    "fix_not_here": "The repository of this host does not offer a release with the fix, so nothing changes for speed.",
    "policy_unknown": (
        "How the running server keeps its list cannot be told from its version (an Enterprise build, a series younger "
        "than this program, or no answer), so nothing is predicted for speed."
    ),
    "writes": (
        "More than a fifth of the statements write. Nobody has published mixed runs of the fix, and other latches may "
        "be the limit: throughput cannot be predicted."
    ),
    "io_bound": (
        "The host waits for its disks: nobody has published disk-bound runs of the fix. Throughput cannot be predicted."
    ),
    "idle": "The host serves next to no queries while it is looked at. Look again at its busy hour.",
    "server_young": "The server started too recently: its pool is cold and its counters say nothing yet. Plan later.",
    "counter_reset": "The server restarted between the two probes, so its counters give no rates. Plan again.",
    "counter_broken": (
        "Innodb_buffer_pool_read_requests stands still or is below the pages read, as on releases with MDEV-32920. "
        "Hit ratio and promotions a read cannot be computed from it, and nothing is divided by it."
    ),
    "counters_unknown": "Counters that are needed could not be read; the reason names them and says why.",
    "no_second_probe": (
        "There was one probe, so rates are means since the start of the server: busy hours are higher. The range is "
        "widened by a factor of three. Use --sample."
    ),
    "fitted": (
        "The simulator was fitted to the rates of this host and reproduces them: the hit ratio after the change "
        "and the moves that no counter shows come from it."
    ),
    "bad_fit": "The simulated workload does not reproduce the observed miss and promotion rates, so it is not used.",
    "hit_ratio_falls": "On the fitted workload the fix keeps fewer of the pages that are read again than now.",
    # Memory
    "allocator_kept": "The allocator is not to be changed, so memory stays as it is.",
    "other_allocator": "The server runs with tcmalloc; `--replace-allocator` is needed to change it.",
    "already_jemalloc": "The server runs with jemalloc already.",
    "arenas_small": "glibc's heap and arenas hold so little that giving all of it back would not be noticed.",
    "arenas_large": "glibc's heap and arenas hold much memory; what of it is free, jemalloc gives back to the kernel.",
    "pool_dominates": "Most of the server's memory is the buffer pool, which no allocator shrinks; the heap is small.",
    "memory_unknown": "What the allocator holds could not be read (it stands in /proc/PID/smaps, read as root).",
    "few_connections": "Few connections were ever open at once: glibc's arenas grow with the threads that allocate.",
    "tmp_on_disk": (
        "More than a third of the internal tmp tables went to disk (tmp_table_size, or BLOB columns). They grow the "
        "page cache of Aria, which is kept under either allocator, so less comes back than the arenas hold."
    ),
    "thp_always": (
        "transparent_hugepage is `always`: with jemalloc the memory in use can be larger than before. `madvise` or "
        "`never`, or thp:never in rollout_malloc_conf, avoids it."
    ),
    "decay_idle": (
        "jemalloc gives freed memory back while its threads are at work; with background_thread:true in "
        "rollout_malloc_conf it does so when the server is idle too. Without it a saving shows later, or less of it."
    ),
    "in_swap": "A part of the server is in swap: RSS alone would be misleading, so RSS and swap are compared together.",
    # Warnings
    "old_blocks_time_workaround": (
        "innodb_old_blocks_time is so large that no old page is ever moved: the known workaround before the fix. It "
        "costs scan resistance, since pages that were read after the pool filled leave first in, first out however "
        "hot they are. After the fix it is capped at 65,534 s (18.2 h) and is no longer needed: take it out then."
    ),
    "old_blocks_time_above_ceiling": (
        "innodb_old_blocks_time is above 65,534 s (18.2 h), where the fix caps it; its resolution becomes one second, "
        "rounded up."
    ),
    "old_blocks_time_rounded": "The fix counts innodb_old_blocks_time in whole seconds, rounded up.",
    "benchmark_dirty_pages": (
        "innodb_max_dirty_pages_pct is 1 or less: a benchmark's setting, under which a server writes all the time. It "
        "is not advised, and not changed by this program."
    ),
    "datadir_on_tmpfs": "The data directory is on a tmpfs: a benchmark's setting. All data is gone at a reboot.",
    "dump_pollutes": (
        "Only a dump is possible as backup here. It reads every table through the buffer pool: the share of the pool "
        "that it may replace is shown. One published study measured throughput between 12 and 69 % of normal meanwhile."
    ),
    "backup_beside_pool": "mariadb-backup reads files, not the buffer pool: what is cached stays cached.",
    # After the change
    "made_young_changed": (
        "Innodb_buffer_pool_pages_made_young is counted by the sweep after the fix, and by the reader before it: the "
        "two are not compared. FREE_PAGE_CLOCK is 0 for ever after the fix."
    ),
    "pool_still_cold": "The pool holds fewer than 90 % of the data pages it held before: nothing is compared yet.",
    "memory_young": (
        "What an allocator keeps grows with time and with the connections that were open at once, so a fresh process "
        "is always smaller. Memory is judged once the server has been up for an hour, or as long as before, and four "
        "fifths of the connections were open at once that were before. Until then it is shown and not judged."
    ),
    "load_differs": "The host serves another number of queries a second now: only figures a query are compared.",
    "miss_ratio_worse": (
        "After warm-up more of the reads miss than before, by more than the stated margin. `rollout report --ticket` "
        "prints the text of an upstream report with both sides' counters."
    ),
}

CODES: dict[str, str] = VERDICTS | NOTES
