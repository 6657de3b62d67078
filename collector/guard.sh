# shellcheck shell=sh
# Evaluated by the session program before the first operation that could cut suil's own access: keeps what such
# operations change, and brings it back. Nothing of this is sent where no operation could.

# shellcheck disable=SC2154 # of the session program
: "$suil_folder" "$suil_armed"

# suil_back TEXT: a step of suil_undo, done before those of earlier operations.
suil_back() {
	suil_restore="(
$1
) || suil_bad=1
$suil_restore"
}

# suil_keep_path PATH QUOTED: what is at PATH. QUOTED is PATH as sh would write it.
suil_keep_path() {
	suil_kept=$((suil_kept + 1))
	if [ -d "$1" ] && [ ! -L "$1" ]; then
		suil_back "chown $(stat -c %u:%g -- "$1") $2 && chmod $(stat -c %a -- "$1") $2"
	elif [ -e "$1" ] || [ -L "$1" ]; then
		cp -pP -- "$1" "$suil_folder/kept-$suil_kept" || return 1
		suil_back "cp -pP -- \"\$suil_folder/kept-$suil_kept\" $2.suil-undo && mv -f -- $2.suil-undo $2"
	else
		suil_back "rm -rf -- $2"
	fi
}

# suil_keep_accounts: who may log in.
suil_keep_accounts() {
	for suil_file in /etc/passwd /etc/shadow /etc/group /etc/gshadow; do
		[ ! -f "$suil_file" ] || suil_keep_path "$suil_file" "$suil_file" || return 1
	done
}

# suil_keep_keys USER: the keys that USER may log in with, and who may read them.
suil_keep_keys() {
	home_of "$1" || return 0
	for suil_file in "$home" "$home/.ssh" "$home/.ssh/authorized_keys"; do
		case $suil_file in *"'"*) return 1 ;; esac
		suil_keep_path "$suil_file" "'$suil_file'" || return 1
	done
}

# suil_keep_script TEXT: what is run once the files are as they were.
suil_keep_script() {
	suil_again="(
$1
) || suil_bad=1
$suil_again"
}

# suil_keep_unit UNIT: whether it runs and is enabled. One that runs reads its files again.
suil_keep_unit() {
	case $suil_units in *" $1 "*) return 0 ;; esac
	need systemctl || return 0
	suil_units="$suil_units$1 "
	suil_line="systemctl daemon-reload"
	case $(systemctl is-enabled -- "$1" 2>/dev/null) in
	masked*) suil_line="$suil_line && systemctl mask -- $1" ;;
	enabled*) suil_line="$suil_line && systemctl unmask -- $1 && systemctl enable -- $1" ;;
	disabled) suil_line="$suil_line && systemctl unmask -- $1 && systemctl disable -- $1" ;;
	esac
	case $(systemctl is-active -- "$1" 2>/dev/null) in
	active | activating | reloading)
		suil_line="$suil_line
systemctl reset-failed -- $1
systemctl reload-or-restart -- $1"
		;;
	*) suil_line="$suil_line
systemctl stop -- $1" ;;
	esac
	suil_keep_script "$suil_line"
}

# suil_keep_net: the rules of the firewall, links, addresses and routes as they are before the first operation.
suil_keep_net() {
	[ -z "$suil_net" ] || return 0
	suil_net=yes
	if need nft; then suil_snap nft nft list ruleset; fi
	for suil_tool in iptables ip6tables; do
		if need "$suil_tool-save"; then suil_snap "$suil_tool" suil_rules "$suil_tool"; fi
	done
	if need ip; then
		suil_snap links ip -o link show up
		suil_snap addresses ip -o addr show
		for suil_tool in 4 6; do suil_snap "routes-$suil_tool" suil_routes "$suil_tool"; done
	fi
}

# suil_snap NAME COMMAND…: keeps what COMMAND prints; nothing where it fails.
suil_snap() {
	suil_file=$suil_folder/kept-net-$1
	shift
	"$@" >"$suil_file" 2>/dev/null || rm -f -- "$suil_file"
}

# suil_rules TOOL: the rules of iptables, without what counts by itself.
suil_rules() {
	"$1-save" | sed -e '/^#/d; s/\[[0-9:]*\]//g'
}

suil_net_back() {
	suil_at=$suil_folder/kept-net
	suil_wrong=0
	if need nft; then
		# What iptables-nft wrote cannot always be read by nft: then iptables brings it back below.
		if [ ! -f "$suil_at-nft" ] || ! { echo 'flush ruleset' && cat "$suil_at-nft"; } | nft -f - 2>/dev/null; then
			nft flush ruleset || suil_wrong=1
		fi
	fi
	for suil_tool in iptables ip6tables; do
		need "$suil_tool-save" || continue
		suil_rules "$suil_tool" >"$suil_at-now" 2>/dev/null
		# Where nft has brought back those of iptables-nft as well, nothing is left to do.
		if cmp -s "$suil_at-now" "$suil_at-$suil_tool"; then
			continue
		elif [ -s "$suil_at-$suil_tool" ]; then
			"$suil_tool-restore" <"$suil_at-$suil_tool" || suil_wrong=1
		else
			for suil_chain in INPUT OUTPUT FORWARD; do "$suil_tool" -P "$suil_chain" ACCEPT; done
			"$suil_tool" -F
			"$suil_tool" -X
		fi
	done
	! need ip || suil_ways_back || suil_wrong=1
	return "$suil_wrong"
}

# suil_routes FAMILY: the routes, one a line as `ip route` takes it. What the kernel learns by itself comes back by itself.
suil_routes() {
	ip -o "-$1" route show | sed -e 's/\\/ /g; s/ linkdown//g; s/ dead//g; s/[[:blank:]]*$//; / expires /d; / proto ra /d'
}

# Links, addresses and routes that are missing come back; routes that are new go.
suil_ways_back() {
	suil_bad_way=0
	while IFS=': @' read -r _ suil_dev _; do
		ip link set dev "$suil_dev" up || suil_bad_way=1
	done <"$suil_at-links"
	ip -o addr show >"$suil_at-now"
	while read -r _ suil_dev suil_kind suil_address suil_word suil_rest; do
		case $suil_address in [Ff][Ee]80:*) continue ;; esac
		! grep -qF " $suil_dev    $suil_kind $suil_address " "$suil_at-now" || continue
		if [ "$suil_word" = brd ]; then
			ip addr replace "$suil_address" brd "${suil_rest%% *}" dev "$suil_dev" || suil_bad_way=1
		else
			ip addr replace "$suil_address" dev "$suil_dev" || suil_bad_way=1
		fi
	done <"$suil_at-addresses"
	for suil_kind in 4 6; do
		# A route may need another one first.
		suil_routes_back 2>/dev/null || suil_routes_back || suil_bad_way=1
	done
	return "$suil_bad_way"
}

suil_routes_back() {
	suil_bad_route=0
	suil_routes "$suil_kind" >"$suil_at-now"
	while IFS= read -r suil_line; do
		# shellcheck disable=SC2086 # the words of a route
		grep -qxF -- "$suil_line" "$suil_at-routes-$suil_kind" || ip "-$suil_kind" route del $suil_line || suil_bad_route=1
	done <"$suil_at-now"
	while IFS= read -r suil_line; do
		# shellcheck disable=SC2086
		grep -qxF -- "$suil_line" "$suil_at-now" || ip "-$suil_kind" route replace $suil_line || suil_bad_route=1
	done <"$suil_at-routes-$suil_kind"
	return "$suil_bad_route"
}

# suil_arm: from now on the session brings back by itself what was kept, where it ends or hears nothing for a while.
suil_arm() {
	suil_armed=yes
	suil_guard 30
}

suil_undo() {
	suil_bad=0
	eval "$suil_restore"
	eval "$suil_again"
	[ -z "$suil_net" ] || suil_net_back || suil_bad=1
	return "$suil_bad"
}

# suil_settled: the access is proven, nothing is brought back any more.
suil_settled() {
	suil_restore='' suil_again='' suil_net='' suil_units=' ' suil_armed=''
	rm -f -- "$suil_folder"/kept-*
	suil_guard 100
}

suil_kept=0 suil_restore='' suil_again='' suil_net='' suil_units=' '
