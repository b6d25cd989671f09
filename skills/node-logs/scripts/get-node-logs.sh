#!/usr/bin/env bash
# Read a unit's journal, the kernel's, or a file below /var/log on the machine where this runs.
# Lines of the log are printed behind "| " with control characters as "?", so that none of them can
# pass for a line of the report. The one final line is "status: ...". Exit codes: 0 ok or no_match,
# 2 usage or filter_error, 3 source not to be had, 4 nothing there, 5 the source failed.
set -uo pipefail
export LC_ALL=C

ROOT=/var/log
TAIL=200      # matching lines shown
MOST=20000    # of them that may be asked for
WIDTH=2000    # bytes shown of one line
EMPTY=10      # the filter matched nothing: a verdict only once the source has ended well

usage() {
  printf 'get-node-logs: %s\n' "$1" >&2
  printf 'usage: (--unit UNIT | --kernel | --file PATH) [--since TIME] [--until TIME] [--boot N] ' >&2
  printf '[--grep ERE... | --grep-fixed WORDS...] [--tail 1..%d]\n' "$MOST" >&2
  exit 2
}

ended() { # STATUS CODE [NOTE]
  [ -z "${3-}" ] || printf 'note: %s\n' "$3"
  printf 'status: %s\n' "$1"
  exit "$2"
}

needs() { # STATUS CODE PROGRAM...
  local status=$1 code=$2 program
  shift 2
  for program; do
    command -v "$program" >/dev/null || ended "$status" "$code" "$program is not installed here"
  done
}

# What journalctl takes for a time: RFC 3339 becomes its own form in UTC, for it reads no other zone.
moment() {
  local ago='^[0-9]{1,6} ?(s|sec|m|min|h|hour|hours|d|day|days) ago$'
  local plain='^[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}(:[0-9]{2})?( UTC)?)?$'
  local rfc3339='^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$'
  if [[ $2 =~ $rfc3339 ]]; then
    date -u -d "$2" '+%Y-%m-%d %H:%M:%S UTC' || usage "$1 $2: no such time"
  elif [[ $2 =~ $ago || $2 =~ $plain || $2 =~ ^(today|yesterday|now)$ ]]; then
    printf '%s\n' "$2"
  else
    usage "$1 $2: write 2025-01-31T10:00:00Z, \"2025-01-31 10:00:00 UTC\" or \"1h ago\""
  fi
}

kind='' name='' since='' until='' boot='' tail=$TAIL mode='' patterns=()
while [ $# -gt 0 ]; do
  case $1 in
    --kernel)
      [ -z "$kind" ] || usage "one of --unit, --kernel and --file"
      kind=kernel
      shift
      continue
      ;;
    --unit | --file | --since | --until | --boot | --grep | --grep-fixed | --tail) ;;
    *) usage "$1: unknown" ;;
  esac
  [ $# -gt 1 ] || usage "$1: needs a value"
  [ -n "$2" ] || usage "$1: is empty"
  [[ $2 != *$'\n'* ]] || usage "$1: is more than one line"
  case $1 in
    --unit | --file)
      [ -z "$kind" ] || usage "one of --unit, --kernel and --file"
      kind=${1#--} name=$2
      ;;
    --since) since=$(moment "$1" "$2") || exit 2 ;;
    --until) until=$(moment "$1" "$2") || exit 2 ;;
    --boot)
      [[ $2 =~ ^(0|-?[1-9][0-9]{0,3}|[0-9a-f]{32})$ ]] || usage "--boot $2: 0, -1 or an id"
      boot=$2
      ;;
    --tail)
      [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] && [ "$2" -le "$MOST" ] || usage "--tail $2: from 1 to $MOST"
      tail=$2
      ;;
    --grep | --grep-fixed)
      [ -z "$mode" ] || [ "$mode" = "$1" ] || usage "--grep or --grep-fixed, not both"
      mode=$1
      patterns+=(-e "$2")
      ;;
  esac
  shift 2
done

[ -n "$kind" ] || usage "one of --unit, --kernel and --file is needed"
case $kind in
  unit)
    [[ $name =~ ^[A-Za-z0-9_][A-Za-z0-9@:_.\\-]{0,254}$ ]] || usage "--unit $name: no name of a unit"
    ;;
  file)
    [ -z "$since$until$boot" ] || usage "a file is read whole: no --since, --until or --boot"
    [[ $name != *[[:cntrl:]]* ]] || usage "--file: control characters"
    [[ $name == "$ROOT"/* ]] || usage "--file $name: not below $ROOT"
    ;;
esac
case $mode in
  --grep) mode=-E ;;
  --grep-fixed) mode=-F ;;
esac
if [ -n "$mode" ] && command -v grep >/dev/null; then
  grep -a "$mode" "${patterns[@]}" </dev/null
  [ $? -le 1 ] || usage "the pattern is not one that grep accepts"
fi

privileged=yes
if [ "$EUID" -ne 0 ] && [ "$kind" != file ]; then # whether a file is readable is asked below
  privileged=no
  for group in $(id -Gn); do
    case $group in systemd-journal | adm | wheel) privileged=group ;; esac
  done
fi

filtered=none
if [ -n "$mode" ]; then
  filtered=$(printf '%q ' "$mode" "${patterns[@]}")
else
  patterns=(-e '')
fi
window='the whole file'
[ "$kind" != file ] || boot='not known of a file'
if [ "$kind" != file ]; then
  [ -n "$since$until$boot" ] || since='1h ago'
  window="${since:-the beginning} to ${until:-now}"
fi
printf 'source: %s%s\n' "$kind" "${name:+ $name}"
printf 'window: %s\nboot: %s\nfilter: %s\n' "$window" "${boot:-any in the window}" "${filtered% }"
[ "$privileged" != no ] ||
  printf 'note: this account is not privileged here, so lines of others may be hidden from it\n'
needs filter_error 2 grep tee tail tr sed

if [ "$kind" = file ]; then
  needs source_error 3 realpath head wc cat
  [ -e "$name" ] || {
    [ -x "${name%/*}" ] || [ ! -d "${name%/*}" ] || ended forbidden 3 "its folder is closed to this account"
    ended not_found 4 "there is no such file; it may have been rotated away"
  }
  real=$(realpath -e -- "$name") || ended source_error 5 "the path cannot be resolved"
  [[ $real == "$ROOT"/* ]] || ended not_a_log_file 4 "it is a link that leads out of $ROOT"
  [ -f "$real" ] || ended not_a_log_file 4 "it is no regular file"
  [ -r "$real" ] || ended forbidden 3 "this account may not read it, so nothing is known of it"
  [ -s "$real" ] || ended empty_source 4 "the file is empty; it may have been rotated just now"
  zeros=$(head -c 4096 -- "$real" | tr -dc '\000' | wc -c) || ended source_error 5 "reading failed"
  [ "$zeros" -eq 0 ] || ended not_a_log_file 4 "it is binary"
  case $real in *.gz | *.xz | *.bz2 | *.zst) ended not_a_log_file 4 "it is compressed" ;; esac
  source=(cat -- "$real")
else
  needs source_error 3 journalctl
  source=(journalctl --quiet --no-pager --utc --output=short-iso)
  if [ "$kind" = unit ]; then source+=("--unit=$name"); else source+=(--dmesg); fi
  # --dmesg alone means this boot; a window that is older must not lose its lines for that.
  if [ -n "$boot" ]; then
    source+=("--boot=$boot")
  elif [ "$kind" = kernel ]; then
    source=("${source[@]/#--dmesg/_TRANSPORT=kernel}")
  fi
  [ -z "$since" ] || source+=("--since=$since")
  [ -z "$until" ] || source+=("--until=$until")
fi

filter() {
  grep -a "${mode:--F}" "${patterns[@]}" # it also ends a last line that the log left open
  local code=$?
  [ "$code" -ne 1 ] || return "$EMPTY"
  return "$code"
}

# Facts go to 4 and the lines to 3, which is our stdout; the substitution ends when all who hold 4
# have ended, so both counts are complete.
exec 3>&1
facts=$(
  exec 4>&1 1>&3 3>&-
  { "${source[@]}" 4>&- </dev/null; printf 'source %d\n' "$?" >&4; } |
    tee >(printf 'scanned %s\n' "$(grep -ac '')" >&4) |
    { filter 4>&-; printf 'filter %d\n' "$?" >&4; } |
    tee >(printf 'matched %s\n' "$(grep -ac '')" >&4) |
    { tail -n "$tail" | tr '\000-\010\013-\037\177' '?' |
      sed -E "s/^(.{$WIDTH}).+\$/\\1 [cut]/; s/^/| /"; } 4>&-
  printf 'shown %d\n' "$?" >&4
)
scanned='' matched='' came='' kept='' shown=''
while read -r key value; do
  case $key in
    source) came=$value ;;
    scanned) scanned=$value ;;
    filter) kept=$value ;;
    matched) matched=$value ;;
    shown) shown=$value ;;
  esac
done <<<"$facts"
printf 'scanned: %s\nmatched: %s\n' "${scanned:-unknown}" "${matched:-unknown}"
if [[ $matched =~ ^[0-9]+$ ]] && [ "$matched" -gt "$tail" ]; then
  printf 'note: the last %d of %d are shown\n' "$tail" "$matched"
fi

if [ "$came" = 126 ] || [ "$came" = 127 ]; then
  ended source_error 3 "${source[0]} could not be started"
elif [ "$came" != 0 ]; then
  ended source_error 5 "${source[0]} ended with ${came:-no code}; lines above are not all"
elif [ "$kept" != 0 ] && [ "$kept" != "$EMPTY" ]; then
  ended filter_error 2 "the filter ended with ${kept:-no code}"
elif [ "$shown" != 0 ] || [[ ! $scanned =~ ^[0-9]+$ || ! $matched =~ ^[0-9]+$ ]]; then
  ended filter_error 2 "a program between the log and this report failed"
elif [ "$scanned" -eq 0 ] && [ "$privileged" = no ]; then
  ended forbidden 3 "nothing that this account may read, so nothing is known"
elif [ "$scanned" -eq 0 ]; then
  if [ "$kind" = unit ] && command -v systemctl >/dev/null &&
    [ "$(systemctl show --property=LoadState --value -- "$name")" = not-found ]; then
    ended not_found 4 "systemd knows no unit of this name, and the journal has no line of it"
  fi
  ended empty_source 4 "the log has no line in this window"
elif [ "$matched" -eq 0 ]; then
  ended no_match 0
fi
ended ok 0
