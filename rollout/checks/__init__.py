"""What must hold on a host, as pure functions of facts: before and after a change, or at any time.

`run_checks` is used by `rollout apply` (with what the plan says), `rollout verify` and the pytest plugin (with what
the inventory says). No check passes on a value that is unknown.
"""
