# The server's process: its file, maps, environment and memory.

executable=
if [ "$main_pid" != 0 ] && [ -n "$main_pid" ]; then
  process=/proc/$main_pid
  answer exe '' readlink "$process/exe"
  executable=$(readlink "$process/exe" 2>/dev/null)
  executable=${executable% (deleted)}
  answer maps '' awk '$6 ~ "^/" && !seen[$6 $7]++' "$process/maps"
  environ() {
    need tr grep || return
    tr '\000' '\n' <"$process/environ" | grep -E '^(LD_PRELOAD|MALLOC_CONF)=' || [ -r "$process/environ" ]
  }
  answer environ '' environ
  answer domain '' cat "$process/attr/current"
  answer process-status '' cat "$process/status"
  answer smaps '' awk '
    function row() { if (range != "") print range, name, rss, anonymous, lazy, swap }
    $1 ~ "^[0-9a-f]+-[0-9a-f]+$" { row(); range = $1; name = $6 == "" ? "-" : $6; rss = anonymous = lazy = swap = 0; next }
    $1 == "Rss:" { rss = $2 }
    $1 == "Anonymous:" { anonymous = $2 }
    $1 == "LazyFree:" { lazy = $2 }
    $1 == "Swap:" { swap = $2 }
    END { row() }' "$process/smaps"
fi
