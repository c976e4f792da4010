"""What a change is worth on one host, before it is made; and how good that was, afterwards.

Facts and described workloads go in, values go out: nothing here talks to a host. Two questions have two models. A
described workload asks again as soon as it is answered, so it is a closed queueing network (`queueing`, `described`).
A live host serves the queries that come, so it is an open system (`contention`, `live`).
"""
