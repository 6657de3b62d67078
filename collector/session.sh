# shellcheck shell=sh
# The session program: runs on a node, as root where that is wanted, for the whole of a run. Reads requests from
# stdin, answers on stdout, leaves nothing behind.
#
# Written before this text by suil: suil_nonce, suil_name (of the private folder) and suil_early (the text of a first
# job, or nothing).
# A request is a line `VERB SIZE TOKEN` and SIZE bytes of text, whose last line is `#TOKEN`: a text that was cut is
# never run.
#   job  runs the text as `sh` would, as an operation: set -eu, stdout kept in a file so that a daemon it starts
#        does not hold the channel
#   ask  runs the text, stdout straight into the answer
#   do   evaluates the text here and now: uploads, the lock
#   skip ends what the running job has started, but not the job; kill ends the job; quit ends the session
#   ping says that somebody is there, who waits for the answer TOKEN or for none (`-`)
# An answer is `@@BEGIN TOKEN`, stdout, `@@ERR TOKEN`, stderr, `@@END TOKEN STATUS`. The nonce in every token keeps
# the noise of shells and daemons apart from answers.

# shellcheck disable=SC2154 # written before this text
: "$suil_nonce" "$suil_name"

LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
unset LANGUAGE ENV BASH_ENV CDPATH GREP_OPTIONS TAR_OPTIONS POSIXLY_CORRECT
umask 022
cd / || exit 0

suil_shell=${1:-unknown}
suil_login=${2:-unknown}
suil_folder=
suil_staged=
suil_locked=
suil_job=
suil_begun=
suil_asked=
suil_watch=
suil_failed=
suil_armed=
suil_taken=

# Ends however the session ends: end of input, a signal, an error.
suil_leave() {
	trap '' HUP INT TERM PIPE
	trap - EXIT
	! suil_runs || suil_stop "$suil_job" "$suil_job"
	[ -z "$suil_watch" ] || kill "$suil_watch" 2>/dev/null
	# The channel is gone while operations that may have cut it are not yet proven.
	if [ -n "$suil_armed" ]; then
		if (suil_undo) </dev/null >/dev/null 2>&1; then suil_line=back; else suil_line=not; fi
		# The next session tells it, and removes what is left.
		rm -f -- "$suil_folder"/kept-*
		[ "$suil_own" != 0 ] || ! printf '%s\n' "$suil_line" >"$suil_folder/taken" || suil_folder=
	fi
	eval "$suil_staged"
	! suil_owns || rm -rf -- "$suil_locked"
	[ -z "$suil_folder" ] || rm -rf -- "$suil_folder"
	exit 0
}
trap suil_leave EXIT
trap 'exit 0' HUP INT TERM PIPE

# suil_take SIZE: copies exactly SIZE bytes of stdin to stdout, never a byte more.
suil_take() {
	[ "$1" -gt 0 ] || return 0
	if [ "$1" -le 65536 ]; then
		dd bs="$1" count=1 iflag=fullblock 2>/dev/null || dd bs=1 count="$1" 2>/dev/null
		return
	fi
	suil_left=$1
	while [ "$suil_left" -gt 65536 ]; do
		suil_part=$((suil_left / 65536))
		[ "$suil_part" -le 16 ] || suil_part=16
		dd bs=65536 count="$suil_part" iflag=fullblock 2>/dev/null || {
			dd bs=1 count="$suil_left" 2>/dev/null
			return
		}
		suil_left=$((suil_left - suil_part * 65536))
		# No ping comes before the end of an upload, and a slow one is a sign of life.
		[ -z "$suil_watch" ] || true >|"$suil_folder/alive"
	done
	suil_take "$suil_left"
}

# suil_process PID: sets suil_parent and suil_since, the start time that tells a process from a later one of its number.
suil_process() {
	suil_parent='' suil_since=''
	{ IFS= read -r suil_line <"/proc/$1/stat"; } 2>/dev/null || return 1
	suil_line=${suil_line##*) }
	# shellcheck disable=SC2086 # the fields are numbers and one letter
	set -- $suil_line
	[ $# -ge 20 ] || return 1
	suil_parent=$2
	shift 19
	suil_since=$1
}

# suil_runs: true while the job is at work. A process that has its number later is not suil's to end.
suil_runs() {
	[ -n "$suil_job" ] && suil_process "$suil_job" && [ "$suil_since" = "$suil_begun" ] || return 1
	case $suil_line in Z*) return 1 ;; esac
}

# suil_below PID: sets suil_found to the processes under PID, itself left out, suil_near to its own children, and
# suil_ages to the number and start of every process.
suil_below() {
	suil_pairs='' suil_found=' ' suil_near=' ' suil_ages=' '
	for suil_at in /proc/[0-9]*; do
		suil_pid=${suil_at#/proc/}
		suil_process "$suil_pid" || continue
		suil_pairs="$suil_pairs $suil_pid:$suil_parent"
		suil_ages="$suil_ages$suil_pid:$suil_since "
	done
	suil_more=yes
	while [ -n "$suil_more" ]; do
		suil_more=
		for suil_pair in $suil_pairs; do
			suil_pid=${suil_pair%:*} suil_parent=${suil_pair#*:}
			case $suil_found in *" $suil_pid "*) continue ;; esac
			if [ "$suil_parent" = "$1" ]; then
				suil_near="$suil_near$suil_pid "
			else
				case $suil_found in *" $suil_parent "*) ;; *) continue ;; esac
			fi
			suil_found="$suil_found$suil_pid "
			suil_more=yes
		done
	done
}

# suil_stop PID [SELF]: ends what runs under PID, and SELF; first asked to end, then forced.
suil_stop() {
	suil_below "$1"
	suil_list="$suil_found ${2:-}"
	if [ -z "${2:-}" ]; then
		# The job's inner shell stays, so that the job goes on with its next step.
		for suil_pid in $suil_near; do
			suil_list="${suil_list%%" $suil_pid "*} ${suil_list#*" $suil_pid "}"
		done
	fi
	# shellcheck disable=SC2086 # a list of numbers
	kill -TERM $suil_list 2>/dev/null
	for suil_wait in 0.1 0.3 0.6 1 1; do
		suil_alive=
		for suil_pid in $suil_list; do
			suil_process "$suil_pid" || continue
			case $suil_line in Z*) continue ;; esac
			case $suil_ages in *" $suil_pid:$suil_since "*) suil_alive="$suil_alive $suil_pid" ;; esac
		done
		[ -n "$suil_alive" ] || return 0
		sleep "$suil_wait" 2>/dev/null || sleep 1
	done
	# shellcheck disable=SC2086
	kill -KILL $suil_alive 2>/dev/null
	return 0
}

# suil_start VERB TOKEN TEXT: runs a job beside the reading of requests, so that an end of input is seen at once.
suil_start() {
	(
		printf '@@BEGIN %s\n' "$2"
		if [ -n "$suil_failed" ]; then
			eval "$suil_staged"
			printf '@@ERR %s\n%s\n@@END %s upload\n' "$2" "$suil_failed" "$2"
			exit 0
		fi
		suil_token=$2 suil_text=$3
		if [ "$1" = job ] && [ -n "$suil_locked" ] && ! suil_owns; then
			eval "$suil_staged"
			suil_by='somebody who has not said who'
			{ IFS= read -r suil_by; } 2>/dev/null <"$suil_folder/unlocked"
			printf '@@ERR %s\n%s\n@@END %s unlocked\n' "$2" "$suil_by" "$2"
			exit 0
		fi
		if [ "$1" = job ]; then
			(
				unset suil_nonce suil_token
				set -eu
				eval "$suil_text"
			) </dev/null >"$suil_folder/out" 2>"$suil_folder/err"
			suil_status=$?
			eval "$suil_staged"
			[ ! -s "$suil_folder/out" ] || cat "$suil_folder/out"
		else
			(
				unset suil_nonce suil_token
				eval "$suil_text"
			) </dev/null 2>"$suil_folder/err"
			suil_status=$?
		fi
		printf '@@ERR %s\n' "$suil_token"
		[ ! -s "$suil_folder/err" ] || tail -c 65536 "$suil_folder/err"
		# Emptied by the shell itself; the files go with the folder.
		for suil_file in "$suil_folder/out" "$suil_folder/err"; do
			[ ! -s "$suil_file" ] || : >|"$suil_file"
		done
		printf '@@END %s %s\n' "$suil_token" "$suil_status"
	) &
	suil_job=$! suil_asked=$2
	suil_failed=
	suil_process "$suil_job" && printf '%s %s\n' "$suil_job" "$suil_since" >"$suil_folder/job"
	suil_begun=$suil_since
}

# Forgets the uploads of the last job, which has removed what it left of them.
suil_fresh() {
	suil_staged=
	suil_failed=
	rm -f -- "$suil_folder/staged"
}

# suil_receive SIZE SHA256 PATH QUOTED: takes an upload from stdin; what goes wrong is said by the next job. QUOTED is
# the path as sh would write it.
suil_receive() {
	suil_staged="$suil_staged
[ ! -e $4 ] || rm -f -- $4"
	case $3 in
	"$suil_folder"/*) ;;
	*) printf 'rm -f -- %s\n' "$4" >>"$suil_folder/staged" ;;
	esac
	# The second cat keeps the channel in step where the disk is full.
	suil_words=$( (
		umask 077
		set -C
		suil_take "$1" | { cat >"$3" || {
			cat >/dev/null
			exit 1
		}; }
	) 2>&1) || suil_failed="cannot store an upload: $suil_words"
	[ -z "$suil_failed" ] || return 0
	true >"$suil_folder/busy"
	suil_sum=$(sha256sum <"$3" 2>&1)
	suil_status=$?
	rm -f -- "$suil_folder/busy"
	if [ "$suil_status" != 0 ]; then
		suil_failed="needs sha256sum: $suil_sum"
	elif [ "${suil_sum%% *}" != "$2" ]; then
		suil_failed="an upload of $1 bytes arrived damaged: expected sha256 $2, found ${suil_sum%% *}"
	fi
}

# A survey is one job with inner answers: suil_open and suil_shut TOKEN STATUS mark one, stderr is kept in `said`.
suil_open() {
	printf '@@BEGIN %s\n' "$1"
}

suil_shut() {
	printf '@@ERR %s\n' "$1"
	[ ! -s "$suil_folder/said" ] || tail -c 65536 "$suil_folder/said"
	printf '@@END %s %s\n' "$1" "$2"
}

# suil_keep NAME TEXT: a file in the private folder.
suil_keep() {
	printf '%s\n' "$2" >"$suil_folder/$1"
}

# suil_collect TOKEN FILE TEXT CONFIG INTERPRETER…: a module's own collector, with its config as stdin.
suil_collect() {
	suil_mark=$1 suil_file=$2
	suil_keep "$2" "$3"
	suil_keep config "$4"
	shift 4
	suil_open "$suil_mark"
	"$@" "$suil_folder/$suil_file" <"$suil_folder/config" 2>"$suil_folder/said"
	suil_shut "$suil_mark" "$?"
}

# Makes the private folder in the first place that can be written. Nothing is ever executed in it.
suil_settle() {
	suil_tried=
	own_ids
	# shellcheck disable=SC2154 # lib.sh sets it
	suil_own=$own_uid
	# A folder under /run/user goes with its user's last login, and root that came through sudo has none of its own.
	if [ "$suil_own" = 0 ]; then set --; else set -- "/run/user/$suil_own" "${XDG_RUNTIME_DIR:-/run}"; fi
	for suil_base in "$@" /run /var/lib /dev/shm /tmp /var/tmp; do
		suil_tried="$suil_tried $suil_base"
		[ -w "$suil_base" ] || continue
		mkdir -m 700 "$suil_base/suil-$suil_name" 2>/dev/null || continue
		suil_folder=$suil_base/suil-$suil_name
		if { printf '%s %s\n' "$$" "$suil_mine" >"$suil_folder/owner"; } 2>/dev/null; then
			return 0
		fi
		rm -rf -- "$suil_folder"
		suil_folder=
	done
	return 1
}

# suil_lock TOKEN WHO: takes the lock of the node, or says who holds it. The lock is a folder, since that is made in one
# step; `owner` in it names a process by its number and its start, then WHO, then the private folder of the session.
suil_lock() {
	suil_open "$1"
	if suil_hold "$2"; then
		suil_guard 100
		suil_shut "$1" 0
	else
		printf '%s\n' "$suil_who"
		suil_shut "$1" 1
	fi
}

# suil_locus: sets suil_place to where the lock of the node is.
suil_locus() {
	suil_place=/run/suil.lock
	if [ "$suil_own" != 0 ] || [ ! -w /run ]; then
		# Root's lock is the node's; another user's is that user's own.
		for suil_base in "${XDG_RUNTIME_DIR:-/run/user/$suil_own}" "/run/user/$suil_own" /tmp; do
			[ ! -d "$suil_base" ] || [ ! -w "$suil_base" ] || break
		done
		suil_place=$suil_base/suil-$suil_own.lock
	fi
}

# suil_owns: true while the lock is this session's: somebody may have taken it away.
suil_owns() {
	suil_line=
	{ IFS= read -r suil_line; } 2>/dev/null <"$suil_locked/owner"
	[ "$suil_line" = "$$ $suil_mine" ]
}

# suil_claim WHO: makes the lock, where there is none.
suil_claim() {
	mkdir -m 700 "$suil_place" 2>/dev/null || return 1
	suil_locked=$suil_place
	{ printf '%s %s\n%s\n%s\n' "$$" "$suil_mine" "$1" "$suil_folder" >"$suil_place/owner"; } 2>/dev/null && return 0
	# No lock without a name in it: nobody could tell that it is left over.
	rm -rf -- "$suil_place"
	suil_locked=
	return 1
}

suil_hold() {
	[ -z "$suil_locked" ] || return 0
	suil_locus
	for suil_wait in 1 1 0; do
		! suil_claim "$1" || return 0
		suil_pid='' suil_then='' suil_who='somebody who has not said who'
		{ read -r suil_pid suil_then && IFS= read -r suil_who; } 2>/dev/null <"$suil_place/owner"
		if [ -n "$suil_pid" ] && suil_process "$suil_pid" && [ "$suil_since" = "$suil_then" ]; then
			return 1
		fi
		# A holder that is just now writing its name gets a second; one that is gone holds nothing.
		if [ -n "$suil_pid" ] || [ "$suil_wait" = 0 ]; then
			suil_break "$suil_pid $suil_then" || return 1
		else
			sleep 1
		fi
	done
	suil_claim "$1"
}

# suil_break OWNER: removes the lock that OWNER has. Whoever took it in the meantime gets it back.
suil_break() {
	mv "$suil_place" "$suil_folder/lock" 2>/dev/null || return 0
	suil_line=' '
	{ IFS= read -r suil_line; } 2>/dev/null <"$suil_folder/lock/owner"
	if [ "${suil_line:- }" != "${1:- }" ] && mv "$suil_folder/lock" "$suil_place" 2>/dev/null; then
		return 1
	fi
	rm -rf -- "$suil_folder/lock"
}

# suil_guard SECONDS: ends a session that changes its node and has heard nothing for so long: its network is gone, and
# sshd may not notice for hours.
suil_guard() {
	[ -z "$suil_watch" ] || [ "$suil_patience" != "$1" ] || return 0
	[ -z "$suil_watch" ] || kill "$suil_watch" 2>/dev/null
	suil_patience=$1
	: >"$suil_folder/alive"
	(
		suil_nap=
		trap 'kill $suil_nap 2>/dev/null; exit 0' TERM
		while [ -e "$suil_folder/alive" ] || [ -e "$suil_folder/busy" ]; do
			rm -f -- "$suil_folder/alive"
			sleep "$suil_patience" &
			suil_nap=$!
			wait "$suil_nap"
		done
		suil_process $$ && [ "$suil_since" = "$suil_mine" ] || exit 0
		kill -TERM $$
		# Where an upload hangs, the shell ends only when the reader of its input does.
		suil_below $$
		for suil_pid in $suil_found; do
			read -r suil_line <"/proc/$suil_pid/comm" && [ "$suil_line" = dd ] && kill -KILL "$suil_pid"
		done
	) </dev/null >/dev/null 2>&1 &
	suil_watch=$!
}

# suil_lives FILE: true where the process is there whose number and start the file's first line has.
suil_lives() {
	suil_pid='' suil_then=''
	{ read -r suil_pid suil_then; } 2>/dev/null <"$1"
	[ -n "$suil_pid" ] && suil_process "$suil_pid" && [ "$suil_since" = "$suil_then" ]
}

# Removes what a session left that was killed hard. Only in places where nobody else can plant a folder.
suil_sweep() {
	[ "$suil_own" = 0 ] || return 0
	for suil_old in /run/suil-* /run/user/0/suil-* /var/lib/suil-*; do
		[ -f "$suil_old/owner" ] || continue
		# The job of a session that was killed may still be at work, with its uploads.
		if suil_lives "$suil_old/owner" || suil_lives "$suil_old/job"; then continue; fi
		if { IFS= read -r suil_line; } 2>/dev/null <"$suil_old/taken"; then
			suil_taken="${suil_taken}taken $suil_line ${suil_old##*/suil-}
"
		fi
		# shellcheck disable=SC1091
		[ ! -f "$suil_old/staged" ] || . "$suil_old/staged"
		rm -rf -- "$suil_old"
	done
}

suil_process "$$"
suil_mine=${suil_since:-0}
if ! suil_settle; then
	printf '@@FATAL %s no place for a private folder, tried:%s\n' "$suil_nonce" "$suil_tried"
	exit 0
fi
suil_sweep

printf '@@BEGIN %s.0\n' "$suil_nonce"
printf 'acts-as %s\nuser %s\nshell %s\n%s' "$suil_own" "$suil_login" "$suil_shell" "$suil_taken"
for suil_file in /etc/os-release /usr/lib/os-release; do
	[ -r "$suil_file" ] || continue
	printf 'os-release %s\n' "$suil_file"
	# Nobody's os-release is longer, and a runaway one must not hold the greeting up.
	suil_at=0
	while [ "$suil_at" -lt 100 ] && { IFS= read -r suil_line || [ -n "$suil_line" ]; }; do
		printf '%s\n' "$suil_line"
		suil_at=$((suil_at + 1))
	done <"$suil_file"
	break
done
printf '@@END %s.0 0\n' "$suil_nonce"

[ -z "$suil_early" ] || suil_start ask "$suil_nonce.1" "$suil_early"
unset suil_early

while read -r suil_verb suil_size suil_token; do
	suil_text=
	if [ "$suil_size" -gt 0 ]; then
		suil_text=$(suil_take "$suil_size")
		case $suil_text in *"#$suil_token") ;; *) exit 0 ;; esac
	fi
	case $suil_verb in
	job | ask) suil_start "$suil_verb" "$suil_token" "$suil_text" ;;
	do) eval "$suil_text" ;;
	skip) ! suil_runs || suil_stop "$suil_job" ;;
	kill)
		if [ -n "$suil_job" ]; then
			! suil_runs || suil_stop "$suil_job" "$suil_job"
			wait "$suil_job"
			suil_job=
			eval "$suil_staged"
		fi
		suil_open "$suil_token"
		suil_shut "$suil_token" 124
		;;
	ping)
		[ -z "$suil_watch" ] || : >"$suil_folder/alive"
		# Whatever was to answer has ended: it has answered, so that this is passed over, or it was killed.
		if [ "$suil_token" != - ] && ! { [ "$suil_token" = "$suil_asked" ] && suil_runs; }; then
			printf '@@BEGIN %s\n@@END %s gone\n' "$suil_token" "$suil_token"
		fi
		;;
	quit)
		suil_armed=
		exit 0
		;;
	*)
		printf '@@FATAL %s a request that the session does not know: %s\n' "$suil_nonce" "$suil_verb"
		exit 0
		;;
	esac
done
