#!/usr/bin/env bash
# Show the default gateways of this network namespace, of one interface or of all: address, route,
# neighbour entry, link type and whether an RDMA device sits on the link. Data stands behind "| ".
# The one final line is "status: ...". Exit codes: 0 ok or no_match, 2 usage, 3 no source, 4 no such
# interface, 5 the source failed.
set -o pipefail # without -u: bash before 4.4 takes an empty list for an unset one
export LC_ALL=C

SYS=/sys/class

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
  printf 'show-gateway: %s\nusage: [--interface NAME] [-4 | -6]\n' "$1" >&2
  exit 2
}

interface='' family=-4
while [ $# -gt 0 ]; do
  case $1 in
    --interface)
      [[ ${2-} =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$ ]] || usage "--interface: needs a name"
      interface=$2
      shift 2
      ;;
    -4 | -6) family=$1 && shift ;;
    *) usage "$1: unknown" ;;
  esac
done

printf 'source: ip %s route, main table%s\nwindow: now\nfilter: default routes\n' \
  "$family" "${interface:+, interface $interface}"
command -v ip >/dev/null || ended source_error 3 "ip is not installed here"
[ -z "$interface" ] || present "$interface"
routes "$family" "$interface"

# What a link is: the type that its driver reports, and the RDMA devices that sit on it.
link() { # INTERFACE
  local type device port layer
  local -A names=([1]=Ethernet [32]=InfiniBand [772]=loopback [65534]=none)
  if [ -r "$SYS/net/$1/type" ] && read -r type <"$SYS/net/$1/type"; then
    show "link $1: ${names[$type]-type $type}"
  else
    show "link $1: unknown, $SYS/net is not readable"
    return
  fi
  for device in "$SYS/net/$1/device/infiniband/"*; do
    [ -e "$device" ] || continue
    device=${device##*/}
    for port in "$SYS/infiniband/$device/ports/"*/link_layer; do
      layer=unknown
      [ ! -r "$port" ] || read -r layer <"$port"
      [ "$layer" != Ethernet ] || layer='Ethernet (RoCE)'
      show "rdma on $1: $device, $layer"
    done
  done
}

seen=' '
for route in "${ROUTES[@]:0:MOST}"; do
  show "route $route"
  hops "$route" "$interface"
  for hop in "${HOPS[@]}"; do
    read -r address name <<<"$hop"
    if [ "$address" = - ]; then
      show "gateway none on $name: the route is on-link"
    else
      show "gateway $address on $name"
      neighbour=$(ip "$family" neighbour show to "$address" dev "$name" </dev/null) ||
        ended source_error 5 "ip could not read the neighbour entries"
      show "neighbour ${neighbour:-$address: no entry yet, which no traffic would explain too}"
    fi
    [[ $seen == *" $name "* ]] || link "$name"
    seen+="$name "
  done
done
printf 'scanned: %d\nmatched: %d\n' "${#ROUTES[@]}" "${#ROUTES[@]}"
[ "${#ROUTES[@]}" -le "$MOST" ] || printf 'note: the first %d are shown\n' "$MOST"
[ "${#ROUTES[@]}" -gt 0 ] || ended no_match 0 "no default route in the main table; others were not read"
ended ok 0
