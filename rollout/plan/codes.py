"""What the codes of this room mean and what to do, for `rollout explain`."""

CODES: dict[str, str] = {
    "within_budget": "The run goes on: fewer hosts failed than the failure budget allows. Nothing is to be done.",
    "budget_used_up": (
        "Exactly as many hosts failed as may fail. The run goes on, one host at a time, and the next failure ends it. "
        "Look at the failed hosts now: rollout status."
    ),
    "nothing_left": "No host of the run is left to change. Hosts that were held back are named with the reason.",
    "run_aborted": (
        "Abort was asked for. Hosts that ran were finished, no other was started. "
        "Go on with rollout apply --resume, or take the changed hosts back with rollout rollback."
    ),
    "host_blocked": (
        "A host of the run is blocked and the run stops before it touches another. Remove the reason that the plan "
        "names, leave the host out with --limit, or pass over blocked hosts with --skip-blocked (a blocked replica "
        "then keeps its primary back too)."
    ),
    "canary_failed": (
        "A host of the canary wave failed, could not be reached, or did not pass its health gate. The canary stops the "
        "run whatever the failure budget is. Find the cause on that host before going on with rollout apply --resume."
    ),
    "budget_exceeded": (
        "More hosts failed than max_failures or max_fail_percentage allow; the tighter limit holds, for the whole run "
        "and not for each wave. Failed, recovered, rolled back, unreachable, stale and unknown hosts count, and "
        "changed hosts whose health gate failed. Find the cause, then rollout apply --resume, or rollout rollback."
    ),
    "wave_failed_whole": (
        "Every host that was tried in a wave of two or more failed. That speaks against the change rather than against "
        "the hosts, so the run stops whatever the failure budget is. whole_wave_stops: false leaves it to the budget."
    ),
    "pause_between": "A wave is over and the policy asks a person before the next one. Answer yes to go on.",
    "switchover_needed": (
        "The next host is a primary and the policy wants it switched first. Its replicas are changed. Make one of them "
        "the primary, then rollout apply --resume: the old primary is then found as a replica."
    ),
}
