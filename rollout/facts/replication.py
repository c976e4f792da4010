"""Where the server stands in its topology: channels to its sources, its replicas, its cluster."""

from rollout.facts.database import Database, Row, flag, number, word
from rollout.facts.frame import read
from rollout.facts.model import Channel, Galera, Replication
from rollout.facts.unknown import Known


def parse_replication(database: Database) -> Replication:
    """Read the topology's facts."""
    variables, status = database.pairs("variables"), database.pairs("status")
    return Replication(
        server_id=number(variables, "server_id"),
        read_only=flag(variables, "read_only"),
        channels=read(database.table("channels"), lambda rows: tuple(map(_channel, rows))),
        replicas=read(database.table("replicas"), lambda rows: tuple(row["host"].rsplit(":", 1)[0] for row in rows)),
        galera=_galera(variables, status),
        gtid_current_pos=word(variables, "gtid_current_pos"),
    )


def _channel(row: Row) -> Channel:
    behind = row["Seconds_Behind_Master"]
    return Channel(
        name=row.get("Connection_name", ""),
        source_host=row["Master_Host"],
        source_port=int(row["Master_Port"]),
        io_running=row["Slave_IO_Running"],
        sql_running=row["Slave_SQL_Running"],
        seconds_behind=None if behind == "NULL" else int(behind),
        using_gtid=row.get("Using_Gtid", "No"),
        last_error=row.get("Last_SQL_Error") or row.get("Last_IO_Error") or "",
        source_server_id=int(row.get("Master_Server_Id", "0")) or None,
    )


def _galera(variables: Known[dict[str, str]], status: Known[dict[str, str]]) -> Known[Galera | None]:
    """Return the node's state; None where the server is no node of a cluster."""

    def node(fields: dict[str, str]) -> Galera:
        return Galera(
            state=fields["wsrep_local_state_comment"],
            ready=fields["wsrep_ready"] == "ON",
            connected=fields["wsrep_connected"] == "ON",
            cluster_status=fields["wsrep_cluster_status"],
            cluster_size=int(fields["wsrep_cluster_size"]),
            cluster_uuid=fields["wsrep_cluster_state_uuid"],
            provider_version=fields.get("wsrep_provider_version", ""),
        )

    return read(variables, lambda fields: read(status, node) if fields.get("wsrep_on", "OFF") == "ON" else None)
