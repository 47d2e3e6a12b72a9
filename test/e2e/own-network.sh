#!/usr/bin/env bash
# Runs a program in a network of its own, so that suites run side by side: Crossplane's RBAC manager always takes port 8080. It takes Linux with
# iproute2, and root or a kernel that lets other users make user namespaces; elsewhere the program runs in this network, and suites wait for each other.
set -euo pipefail

# connect gives the network a loopback, and a default route, by which API servers find the address that they advertise. It leads nowhere.
# All of 10.200.0.0/16 are addresses of this machine, for pods that a test plays. Name servers are unreachable: a lookup that goes nowhere would last ten seconds.
connect='
	ip link set lo up
	ip link add v0 type veth peer name v1
	ip address add 10.99.0.1/24 dev v0
	ip link set v0 up
	ip link set v1 up
	ip route add default via 10.99.0.2
	ip route add local 10.200.0.0/16 dev lo
	while read -r keyword server rest; do
		[[ $keyword != nameserver ]] || ip route add unreachable "$server" || true
	done < <(cat /etc/resolv.conf)
'

# record writes the network and its suite to the file of a run, which ends the processes that are left in it.
record='[[ -z ${INTENTPLANE_NETWORKS:-} ]] || echo "$(readlink /proc/self/ns/net) ${PWD##*/}" >>"$INTENTPLANE_NETWORKS"'

own=(unshare --net)
if [[ $(id -u) -ne 0 ]]; then
	own=(unshare --map-root-user --net)
fi
if [[ $(uname) == Linux ]] && "${own[@]}" bash -c "set -e; $connect" 2>/dev/null; then
	exec "${own[@]}" bash -c "set -e; $connect $record;"' exec "$@"' -- "$@"
fi
exec "$@"
