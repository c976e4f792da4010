# Versions of the files on disk, and what bears on loading a library into them.

server_binary() { # the file that the unit starts, or the usual places
  for file in "$executable" "$starts" /usr/sbin/mariadbd /usr/libexec/mariadbd /usr/sbin/mysqld /usr/libexec/mysqld; do
    case ${file##*/} in mariadbd | mysqld) if [ -x "$file" ]; then readlink -f "$file" && return; fi ;; esac
  done
  echo 'no mariadbd and no mysqld in any of the usual places' >&2
  return 4
}

either() { # run the first of two programs that is there
  program=$1
  command -v "$program" >/dev/null 2>&1 || program=$2
  shift 2
  "$program" "$@"
}

capabilities() { # getcap; where it is missing, tar shows whether the extended attribute is there
  if command -v getcap >/dev/null 2>&1; then
    getcap "$1"
  else
    need tar head tr grep || return
    tar --xattrs --xattrs-include=security.capability -cf - -C / "${1#/}" | head -c 2048 | tr -c '[:print:]' '\n' |
      grep -o 'SCHILY.xattr.security.capability' || :
  fi
}

elf_header() { # the first 20 bytes: class, byte order and machine of an ELF file
  need head od || return
  head -c 20 "$1" | od -An -v -tx1
}

answer server-binary '' server_binary
binary=$(server_binary 2>/dev/null)
if [ -n "$binary" ]; then
  answer server-version '' "$binary" --no-defaults --version
  answer capabilities '' capabilities "$binary"
  answer server-elf '' elf_header "$binary"
fi
answer client-version '' either mariadb mysql --version
answer backup-version '' either mariadb-backup mariabackup --version
option_files() { # from the option files, only the options that are asked for: others may be secret
  need my_print_defaults grep || return
  my_print_defaults "$@" | grep -E '^--(version|datadir|socket|malloc[-_]lib)=' || :
}
answer server-options '' option_files --mysqld
answer safe-options '' option_files mysqld_safe
