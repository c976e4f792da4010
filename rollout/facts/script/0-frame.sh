# What one look at a host runs, with /bin/sh, in one round trip. It changes nothing on the host: what it needs on disk
# (apt's cache of the lists, and the lists themselves where a refresh is asked for) lies in one private directory that
# goes away at the end.
#
# Set above this line by the program: mark sent_at unit defaults_file login backup_directory
# monitoring_paths refresh deep refusal
#
# Every answer is framed by the random mark, so that nothing a command prints can pass for a frame:
#   MARK begin NAME ARGUMENT / what it printed / MARK err STATUS / what it complained of / MARK end

LC_ALL=C LANGUAGE=C
export LC_ALL LANGUAGE
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH
umask 077
exec 3>&1
work=$(mktemp -d "${TMPDIR:-/tmp}/rollout-probe.XXXXXX" 2>/dev/null) || work=
trap 'if [ -n "$work" ]; then rm -rf "$work"; fi' EXIT
trap 'exit 129' HUP INT PIPE TERM
if [ -n "$login" ] && [ -n "$work" ]; then
  printf '%s' "$login" >"$work/login.cnf"
  defaults_file=$work/login.cnf
fi
unset login

answer() { # NAME ARGUMENT COMMAND...: run the command and frame what it printed
  printf '%s begin %s %s\n' "$mark" "$1" "$2"
  shift 2
  complaint=$("$@" 2>&1 >&3 3>&- </dev/null)
  status=$?
  printf '\n%s err %s\n%s\n%s end\n' "$mark" "$status" "$complaint" "$mark"
}

say() { # NAME STATUS TEXT COMPLAINT: frame what is known already
  printf '%s begin %s \n%s\n%s err %s\n%s\n%s end\n' "$mark" "$1" "$3" "$mark" "$2" "$4" "$mark"
}

need() { # COMMAND...: the first that is missing is named; a pipeline would hide it
  for program in "$@"; do
    if ! command -v "$program" >/dev/null 2>&1; then
      echo "$program: not found" >&2
      return 127
    fi
  done
}

limit() { # SECONDS COMMAND...: a command that may hang ends after that time, where the host has timeout(1)
  if command -v timeout >/dev/null 2>&1; then
    timeout "$@"
  else
    shift
    "$@"
  fi
}

printf 'rollout-probe 1 %s\n' "$mark"
say sent 0 "$sent_at" ''
say refusal 0 "$refusal" ''
answer time-begin '' date +%s.%N
