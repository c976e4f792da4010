"""Which variables a restart changes, from what a server and its binaries say."""

from rollout.engine.variables import Becomes, Values, changing, read_values

# Rows as MariaDB 10.11.18 gave them; 10.11.18 prints FALSE where SYSTEM_VARIABLES says OFF, and 10 for 10.000000.
SAID = """running\tmax_connections\t222\tSQL
running\tslow_query_log\tON\tSQL
running\texpire_logs_days\t10.000000\tCONFIG
running\tinnodb_io_capacity_max\t2000\tCOMPILE-TIME
running\topen_files_limit\t20000\tAUTO
running\tdatadir\t/var/lib/mysql/\tCONFIG
running\taria_checkpoint_interval\t30\tCOMPILE-TIME
running\tlong_query_time\t10.000000\tSQL
a line of another kind
old\tmax_connections\t151\t
old\tslow_query_log\tFALSE\t
old\texpire_logs_days\t10\t
old\tinnodb_io_capacity_max\t2500\t
old\topen_files_limit\t1024\t
old\tdatadir\t/var/lib/mysql\t
old\taria_checkpoint_interval\t0\t
old\tlong_query_time\t10\t
file\tinnodb_io_capacity_max\t\t
"""


def test_only_what_the_restart_changes_is_named() -> None:
    """Set at run time and changed in a file; what the server works out itself or writes otherwise is left out."""
    assert [one.told for one in changing(read_values(SAID.splitlines()))] == [
        "innodb_io_capacity_max becomes 2500, is 2000 now (the option files were changed since the start)",
        "max_connections becomes 151, is 222 now (set at run time, and the option files say otherwise)",
        "slow_query_log becomes FALSE, is ON now (set at run time, and the option files say otherwise)",
    ]


def test_another_default_of_the_new_release_is_named_and_so_is_what_it_lacks() -> None:
    """Both binaries read the same files; places of files and the version itself are no news."""
    values = Values(
        running={"a": "1", "b": "2", "c": "3"},
        origins={"a": "COMPILE-TIME", "b": "COMPILE-TIME", "c": "SQL"},
        old={"a": "1", "b": "2", "c": "4", "version": "1", "plugin_dir": "/x"},
        new={"a": "7", "c": "3", "version": "2", "plugin_dir": "/y"},
    )
    assert changing(values) == (
        Becomes("a", "1", "7", "the new release has another default"),
        Becomes("b", "2", None, "the new release does not have it"),
    )


def test_long_lists_of_switches_are_told_by_their_difference() -> None:
    """A list that the binary cut off is not taken for switches that are gone."""
    one = Becomes("optimizer_switch", "a=on,mrr=on,z=off", "a=on,mrr=off", "why")
    assert one.told == "optimizer_switch becomes mrr=off, is mrr=on now (why)"
    assert Becomes("sql_mode", "A,B", "A", "why").told == "sql_mode becomes A, is A,B now (why)"


def test_a_binary_log_that_is_named_in_the_files_is_on() -> None:
    """`log_bin=mariadb-bin` is told as ON by the server that has read it; taken out of the files it is news."""
    on = Values(running={"log_bin": "ON"}, origins={"log_bin": "CONFIG"}, old={"log_bin": "mariadb-bin"})
    gone = Values(running={"log_bin": "ON"}, origins={"log_bin": "CONFIG"}, old={"log_bin": "(No default value)"})
    assert changing(on) == ()
    assert changing(gone) == (Becomes("log_bin", "ON", "OFF", "the option files were changed since the start"),)
