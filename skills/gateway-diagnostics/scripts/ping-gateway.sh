#!/usr/bin/env bash
# Ping the default gateways of one interface, or an address through it. Data stands behind "| ".
# The one final line is "status: ...": ok when the answers were counted, also when none came; the
# line "verdict:" says which. Exit codes: 0 ok or no_match, 2 usage, 3 no source, 4 no such
# interface, 5 ping or ip failed.
set -o pipefail # without -u: bash before 4.4 takes an empty list for an unset one
export LC_ALL=C

COUNT=4       # echo requests of one target
MOST_COUNT=20 # of them that may be asked for
WAIT=2        # seconds for the last answer

# --- The same in both scripts, since a script travels alone; a test compares the copies.
MOST=64 # routes of a namespace that are shown

ended() { # STATUS CODE [NOTE]
  [ -z "${3-}" ] || printf 'note: %s\n' "$3"
  printf 'status: %s\n' "$1"
  exit "$2"
}

show() { printf '| %s\n' "${1//[[:cntrl:]]/?}"; }

# ROUTES: the default routes of the family, of one interface where one is asked for.
routes() { # FAMILY INTERFACE
  local text
  text=$(ip "$1" -o route show table main default </dev/null) ||
    ended source_error 5 "ip could not list the routes"
  ROUTES=()
  local line
  while IFS= read -r line; do
    line=${line//\\/ } # where ip -o would begin a new line: the next hops of one route
    [[ -z $line || ($2 != '' && ! " $line " == *" dev $2 "*) ]] || ROUTES+=("$line")
  done <<<"$text"
}

# HOPS: "address interface" of each next hop of one route; "-" for the address of an on-link one.
hops() { # ROUTE INTERFACE
  local word last='' via='-'
  HOPS=()
  for word in $1; do
    case $last in
      via) [[ $word == inet || $word == inet6 ]] && continue || via=$word ;;
      dev)
        [ -n "$2" ] && [ "$word" != "$2" ] || HOPS+=("$via $word")
        via='-'
        ;;
    esac
    last=$word
  done
}

present() { # INTERFACE: that it is there, or the end
  local text code
  text=$(ip -o link show </dev/null)
  code=$?
  [ "$code" -eq 0 ] || ended source_error 5 "ip could not list the interfaces"
  [[ $'\n'"$text" =~ $'\n'[0-9]+:\ "$1"[@:] ]] ||
    ended not_found 4 "no interface of this name in this network namespace"
}
# --- End of what is the same.

usage() {
  printf 'ping-gateway: %s\nusage: --interface NAME [-4 | -6] [--count 1..%d] [--size BYTES]\n' \
    "$1" "$MOST_COUNT" >&2
  exit 2
}

interface='' family=-4 count=$COUNT size=''
while [ $# -gt 0 ]; do
  case $1 in
    --interface)
      [[ ${2-} =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$ ]] || usage "--interface: needs a name"
      interface=$2
      shift 2
      ;;
    --count)
      [[ ${2-} =~ ^[1-9][0-9]?$ ]] && [ "$2" -le "$MOST_COUNT" ] || usage "--count: 1 to $MOST_COUNT"
      count=$2
      shift 2
      ;;
    --size)
      [[ ${2-} =~ ^[1-9][0-9]{0,3}$ ]] && [ "$2" -le 9000 ] || usage "--size: 1 to 9000 bytes"
      size=$2
      shift 2
      ;;
    -4 | -6) family=$1 && shift ;;
    *) usage "$1: unknown" ;;
  esac
done
[ -n "$interface" ] || usage "--interface is needed"

printf 'source: ping %s by %s\nwindow: now, %d requests\nfilter: gateways of default routes\n' \
  "$family" "$interface" "$count"
for program in ip ping; do
  command -v "$program" >/dev/null || ended source_error 3 "$program is not installed here"
done
present "$interface"
routes "$family" "$interface"

gateways=()
for route in "${ROUTES[@]:0:MOST}"; do
  hops "$route" "$interface"
  for hop in "${HOPS[@]}"; do
    address=${hop% *}
    [[ $address == - || " ${gateways[*]-} " == *" $address "* ]] || gateways+=("$address")
  done
done
[ "${#gateways[@]}" -gt 0 ] || ended no_match 0 "the interface has no gateway, so nothing was sent"
# --size asks for the whole path: with "do not fragment", as a storage or RDMA network needs it.
words=(ping "$family" -n -c "$count" -W "$WAIT" -I "$interface")
[ -z "$size" ] || words+=(-M do -s "$size")

sent=0 received=0
summary='([0-9]+) packets transmitted, ([0-9]+) (packets )?received'
for address in "${gateways[@]}"; do
  text=$("${words[@]}" "$address" </dev/null)
  code=$?
  lines=()
  mapfile -t lines <<<"$text"
  for line in "${lines[@]:0:MOST}"; do [ -z "$line" ] || show "$line"; done
  # 0: answers came. 1: none came. Another code, or no count, is a ping that did not do its work.
  if [ "$code" -gt 1 ] || [[ ! $text =~ $summary ]]; then
    ended source_error 5 "ping $address ended with $code and no count, so its answer is unknown"
  fi
  sent=$((sent + BASH_REMATCH[1])) received=$((received + BASH_REMATCH[2]))
  if [ "${BASH_REMATCH[2]}" -eq 0 ]; then
    printf 'verdict: %s did not answer; it may also drop echo requests\n' "$address"
  elif [ "${BASH_REMATCH[2]}" -lt "${BASH_REMATCH[1]}" ]; then
    printf 'verdict: %s answered some\n' "$address"
  else
    printf 'verdict: %s answered all\n' "$address"
  fi
done
printf 'scanned: %d\nmatched: %d\n' "$sent" "$received"
ended ok 0
